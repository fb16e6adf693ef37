"""Recorded conversations: their values, turns built from messages, and reading from files and
store.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeGuard, get_type_hints

from bot.agent.prompt.system_rules import system_rules
from bot.cli.replay.formats import (
    MalformedMessage,
    ParsedMessage,
    parse_message,
    parse_system,
    parse_time,
    parse_tools,
)
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.models.providers.messages import replace_surrogates_in_json
from bot.tools.registry import default_tool_specs
from memory.context.taint import name_outcome
from memory.context.tokens import TokenCounter
from memory.conversation import (
    Document,
    Image,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    load_parts,
)
from memory.store.conversations.titles import shown_title
from memory.store.rows import ConversationRow
from memory.store.store import Store
from memory.workspace.files import Workspace
from memory.workspace.templates import remove_hint

DEFAULT_START = datetime(2026, 1, 1, tzinfo=UTC)  # of messages without times
MESSAGE_INTERVAL = timedelta(seconds=1)  # between two messages without times
MAX_NOTES = 20
PAGE_TURNS = 500
MISSING_CALL_NOTE = "result of a call that is not here"  # label of a tool's result without its call
# A JSON string, so that its content is skipped, or an integer with more digits than Python parses.
_NUMBER = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|(?P<digits>\d{4301,})', re.DOTALL)


class UnreadableRecording(MnemaError):
    """There is no readable conversation; the text names file, position and the expected form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayProbe:
    """A question about something said earlier."""

    #: Number of the turn after which it is asked.
    after: int
    question: str
    #: Text that must occur literally.
    answer: str
    #: Number of the turn in which it was said.
    fact_turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One conversation, oldest turn first; turns keep their recorded numbers."""

    name: str
    turns: tuple[Turn, ...]
    system: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    probes: tuple[ReplayProbe, ...] = ()
    #: Whether the messages have times of their own.
    timed: bool = True
    #: Contents of included files, by SHA-256.
    files: Mapping[str, bytes] = field(default_factory=dict)
    #: What was changed while reading.
    notes: tuple[str, ...] = ()

    @property
    def messages(self) -> list[Message]:
        """All messages, oldest first."""
        return [message for turn in self.turns for message in turn.messages]


def count_recording(recording: Recording, counter: TokenCounter) -> Recording:
    """Count the tokens of every message that was not counted by this counter."""
    turns = tuple(
        replace(turn, messages=tuple(_count_message(message, counter) for message in turn.messages))
        for turn in recording.turns
    )
    return replace(recording, turns=turns)


def model_call_positions(turn: Turn) -> list[int]:
    """Return the positions of a turn's messages that a model wrote in answer to a request."""
    return [
        place
        for place, message in enumerate(turn.messages)
        if place and message.role == "assistant" and message.origin != "house"
    ]


def part_text(part: Part) -> str:
    """Return the text of a part, "" for a picture."""
    match part:
        case Text() | ToolResult() | Thinking():
            return part.text
        case ToolCall():
            return part.input
        case Document():
            return part.text or part.name
        case Image():
            return ""


def recording_start(recording: Recording) -> datetime:
    """Return the time of the first message."""
    return recording.turns[0].messages[0].at


def _count_message(message: Message, counter: TokenCounter) -> Message:
    if message.counter == counter.name:
        return message
    return replace(message, tokens=counter.message(message.parts), counter=counter.name)


class RecordingBuilder:
    """Groups messages into turns: a user message begins one, everything up to the next belongs to
    it.

    Args:
        start: time of the first message if it has none.
    """

    def __init__(self, start: datetime) -> None:
        self._at = start - MESSAGE_INTERVAL
        self._turns: list[list[Message]] = []
        self._open_calls: set[str] = set()
        self._seq = 0
        self._timed = False
        self._unanswered = 0
        self._files: dict[str, bytes] = {}
        self.system: list[str] = []
        self.notes: list[str] = []

    def add_parsed(self, message: ParsedMessage, where: str) -> None:
        """Add a message in the form of an API. where: "message 3", for notes."""
        self.notes += [f"{where}: {note}" for note in message.notes]
        self._files.update(message.files)
        self._timed = self._timed or message.at is not None
        self._at = message.at or self._at + MESSAGE_INTERVAL
        if message.system:
            if self._turns:
                self.notes.append(
                    f"{where}: a system message in the middle is shown with the others, at the "
                    "beginning"
                )
            self.system.append(message.system)
            return
        parts = (
            self._match_results(message.parts, where) if message.role == "user" else message.parts
        )
        if not parts:
            return
        by_tool = message.role == "user" and _has_result(message.parts)
        self._append(message.role, parts, where, "tool" if by_tool else "person")
        if message.role == "assistant":
            self._open_calls |= {part.id for part in parts if isinstance(part, ToolCall)}

    def add_exported(self, message: Message) -> None:
        """Add a message that has its turn and position already.

        Raises:
            ValueError: it does not come after the previous one.
        """
        last = self._turns[-1][-1] if self._turns else None
        if last and (message.seq <= last.seq or message.turn < last.turn):
            raise ValueError(
                f"its seq {message.seq} and turn {message.turn} do not come after {last.seq}, "
                f"{last.turn}"
            )
        if last is None or message.turn > last.turn:
            self._turns.append([])
        self._turns[-1].append(message)
        self._timed = True

    def recording(
        self, name: str, tools: tuple[ToolSpec, ...], probes: Sequence[ReplayProbe]
    ) -> Recording:
        """Return the recording."""
        unanswered = self._unanswered + len(self._open_calls)
        if unanswered:
            self.notes.append(
                f"{unanswered} tool calls have no result; a request shows that none was recorded"
            )
        return Recording(
            name=name,
            turns=tuple(
                Turn(number=messages[0].turn, messages=tuple(messages)) for messages in self._turns
            ),
            system=tuple(self.system),
            tools=tools,
            probes=tuple(probes),
            timed=self._timed,
            files=self._files,
            notes=tuple(self.notes),
        )

    def _append(self, role: Role, parts: tuple[Part, ...], where: str, author: str) -> None:
        """Append to the last message if it continues that one, else as a new message or a new
        turn.
        """
        results = _has_result(parts)
        last = self._turns[-1][-1] if self._turns else None
        if (
            last
            and last.role == role
            and (role == "assistant" or (results and _has_result(last.parts)))
        ):
            self._turns[-1][-1] = replace(last, parts=(*last.parts, *parts))
            return
        if last is None and role == "assistant":
            self.notes.append(f"{where}: it answers nothing, so no request is made of it")
        if last is None or (role == "user" and not results):
            self._turns.append([])
            self._unanswered += len(self._open_calls)
            self._open_calls.clear()
        self._seq += 1
        self._turns[-1].append(
            Message(
                id=f"m{self._seq}",
                seq=self._seq,
                turn=len(self._turns),
                role=role,
                parts=parts,
                at=self._at,
                origin="model" if role == "assistant" else author,
            )
        )

    def _match_results(self, parts: tuple[Part, ...], where: str) -> tuple[Part, ...]:
        """Close the calls that the results answer; a result without a call becomes text.

        Results come first.
        """
        matched: list[Part] = []
        for part in parts:
            if isinstance(part, ToolResult) and part.call_id not in self._open_calls:
                self.notes.append(f"{where}: a result has no call before it and is kept as words")
                part = Text(text=part.text, aside=MISSING_CALL_NOTE)
            elif isinstance(part, ToolResult):
                self._open_calls.discard(part.call_id)
            matched.append(part)
        return tuple(sorted(matched, key=lambda part: not isinstance(part, ToolResult)))


def _has_result(parts: Sequence[Part]) -> bool:
    return any(isinstance(part, ToolResult) for part in parts)


# Files: our export, or a list of messages in the form of either API.


def read_recording(path: Path, start: datetime = DEFAULT_START) -> Recording:
    """Read a conversation from a file.

    The file is JSON Lines as `sessions export` writes them, or one JSON document: a list of
    messages in Anthropic's or OpenAI's form, bare or under "messages" next to "system", "tools" and
    "probes".

    Raises:
        UnreadableRecording: it holds no conversation.
        OSError: it cannot be opened.
    """
    try:
        with path.open(encoding="utf-8-sig") as lines:
            first = next((line for line in lines if line.strip()), "")
            more = any(line.strip() for line in lines)
        value = _parse_value(first)
        if isinstance(value, dict) and "messages" not in value:  # one message in each line
            with path.open(encoding="utf-8-sig") as lines:
                return _read_lines(path, lines, start)
        if more and isinstance(value, dict | list):
            raise UnreadableRecording(
                f"{path.name}: each line is a conversation of its own; put one of them into a file."
            )
        return _read_document(path, path.read_text("utf-8-sig"), start)
    except UnicodeDecodeError as err:
        raise UnreadableRecording(f"{path.name}, byte {err.start}: it is not UTF-8 text.") from err


def _parse_value(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _read_lines(path: Path, lines: Iterator[str], start: datetime) -> Recording:
    builder, name, probes = RecordingBuilder(start), path.stem, list[object]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"line {number}"
        item = _parse_json(path, line, number)
        try:
            if not isinstance(item, dict):
                raise MalformedMessage("it must be an object")
            if "session" in item:
                name = _session_title(item["session"]) or name
            elif "probes" in item:
                probes += item["probes"] if isinstance(item["probes"], list) else [item["probes"]]
            elif "parts" in item:
                builder.add_exported(_from_export(item))
            else:
                builder.add_parsed(parse_message(item), where)
        except (MalformedMessage, ValueError) as err:
            raise UnreadableRecording(f"{path.name}, {where}: {err}.") from err
    return _finish_recording(path, builder, name, None, probes)


def _read_document(path: Path, text: str, start: datetime) -> Recording:
    value = _parse_json(path, text, 1)
    document: dict[str, Any] = value if isinstance(value, dict) else {"messages": value}
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise UnreadableRecording(
            f'{path.name}: it must hold a list of messages, or an object with one under "messages".'
        )
    builder = RecordingBuilder(start)
    try:
        builder.system += parse_system(document.get("system"))
    except MalformedMessage as err:
        raise UnreadableRecording(f"{path.name}, system: {err}.") from err
    for number, item in enumerate(messages, 1):
        try:
            builder.add_parsed(parse_message(item), f"message {number}")
        except MalformedMessage as err:
            raise UnreadableRecording(f"{path.name}, message {number}: {err}.") from err
    return _finish_recording(
        path, builder, path.stem, document.get("tools"), document.get("probes")
    )


def _finish_recording(
    path: Path, builder: RecordingBuilder, name: str, tools: object, probes: object
) -> Recording:
    try:
        recording = builder.recording(name, parse_tools(tools or None), ())
        if not recording.turns:
            raise UnreadableRecording(f"{path.name}: it contains no messages.")
        items = probes or []
        if not isinstance(items, list):
            raise MalformedMessage("probes must be a list")
        turns = {turn.number for turn in recording.turns}
        parsed = tuple(_parse_probe(item, number, turns) for number, item in enumerate(items, 1))
    except MalformedMessage as err:
        raise UnreadableRecording(f"{path.name}: {err}.") from err
    notes = recording.notes
    if len(notes) > MAX_NOTES:
        notes = (*notes[:MAX_NOTES], f"and {len(notes) - MAX_NOTES} more of this kind")
    return replace(recording, probes=parsed, notes=notes)


def _parse_json(path: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as err:
        where = f"line {line + err.lineno - 1}, column {err.colno}"
        raise UnreadableRecording(f"{path.name}, {where}: it is not JSON ({err.msg}).") from err
    except RecursionError as err:
        raise UnreadableRecording(f"{path.name}, line {line}: it is nested too deeply.") from err
    except ValueError as err:
        number = next((found for found in _NUMBER.finditer(text) if found["digits"]), None)
        line += text.count("\n", 0, number.start()) if number else 0
        raise UnreadableRecording(
            f"{path.name}, line {line}: a number in it has too many digits."
        ) from err


def _from_export(item: dict[str, Any]) -> Message:
    """Parse a message of `sessions export`."""
    seq, turn, role, origin = (item.get(name) for name in ("seq", "turn", "role", "origin"))
    if not (isinstance(seq, int) and isinstance(turn, int)) or seq < 1 or turn < 1:
        raise MalformedMessage("its seq and turn must be whole numbers from 1")
    if role == "notice":  # the outcome of a call, which models get as a user message
        role = "user"
    if role not in ("user", "assistant"):
        raise MalformedMessage(f'its role is "{role}"; it must be user, assistant or notice')
    try:
        parts = load_parts(json.dumps(replace_surrogates_in_json(item["parts"])))
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise MalformedMessage("its parts are not as sessions export writes them") from err
    for part in parts:
        for name, kind in get_type_hints(type(part)).items():
            if not isinstance(value := getattr(part, name), kind):
                problem = f"the {name} of a {type(part).__name__} is {json.dumps(value)[:60]}"
                raise MalformedMessage(
                    f"its parts are not as sessions export writes them: {problem}"
                )
    message = Message(
        id=f"m{seq}",
        seq=seq,
        turn=turn,
        role=role,
        parts=parts,
        at=parse_time(item.get("at")),
        origin=origin if isinstance(origin, str) else "person",
        tainted=item.get("tainted", False) is not False,
    )
    return name_outcome(message)


def _session_title(session: object) -> str:
    facts = session if isinstance(session, dict) else {}
    return str(facts.get("chat_id") or facts.get("title") or "")


def _has_words(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _parse_probe(raw: object, number: int, turns: set[int]) -> ReplayProbe:
    if not isinstance(raw, dict):
        raise MalformedMessage(f"probe {number} must be an object")
    question, answer, after, fact = (
        raw.get(name) for name in ("question", "answer", "after", "fact_turn")
    )
    if not (_has_words(question) and _has_words(answer)):
        raise MalformedMessage(f"probe {number} must have a question and an answer")
    if not isinstance(after, int) or after not in turns:
        raise MalformedMessage(
            f"probe {number}: after is {json.dumps(after)[:60]}; it must be the number of a turn"
        )
    if fact is not None and (not isinstance(fact, int) or fact not in turns or fact > after):
        raise MalformedMessage(
            f"probe {number}: fact_turn is {json.dumps(fact)[:60]}; it must be a turn up to {after}"
        )
    return ReplayProbe(after=after, question=question, answer=answer, fact_turn=fact or after)


async def load_stored_recording(
    store: Store, row: ConversationRow, home: HomeFolder, config: Config, *, newest: bool = False
) -> Recording:
    """Load a stored conversation with its current system parts and tools; writes nothing.

    Args:
        newest: only what came after the newest clear.

    Raises:
        UnreadableRecording: it has no turns.
    """
    builder = RecordingBuilder(DEFAULT_START)
    seq = row.view_from if newest else 1
    while page := await store.sessions.messages(row.id, from_seq=seq, limit=PAGE_TURNS):
        for message in page:
            builder.add_exported(message)
        seq = page[-1].seq + 1
    workspace = Workspace(home.workspace)
    tools = tuple(spec for spec in default_tool_specs() if spec.name not in config.tools.off)
    builder.system += await _load_system_parts(
        store, row, workspace, system_rules(tuple(spec.name for spec in tools))
    )
    recording = builder.recording(shown_title(row) or row.place.chat_id, tools, ())
    if not recording.turns:
        raise UnreadableRecording(f"The conversation {row.place.chat_id} has no turns yet.")
    return replace(recording, name=row.place.chat_id)


async def _load_system_parts(
    store: Store, row: ConversationRow, workspace: Workspace, rules: str
) -> list[str]:
    """Load SOUL.md, the rules, and the other system parts of the newest request."""
    try:
        soul = remove_hint(
            (await asyncio.to_thread(workspace.space("").read, "SOUL.md")).text
        ).strip()
    except FileNotFoundError:
        soul = ""
    snapshot = await store.sessions.snapshot(row.id)
    parts = [part.text for part in snapshot.parts] if snapshot else []
    return [text for text in (soul, rules, *parts) if text]
