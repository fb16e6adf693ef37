"""Reads a conversation out of a file: an export of ours, or a list of messages of either wire."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_type_hints

from bot.agent.prompt import RULES
from bot.cli.replay.formats import MalformedMessage, parse_message, parse_system, parse_time, parse_tools
from bot.cli.replay.recording import Recording, RecordingBuilder, ReplayProbe, UnreadableRecording
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.models.providers.messages import replace_surrogates_in_json
from bot.tools.registry import default_tool_specs
from memory.conversation import Message, load_parts
from memory.store.rows import ConversationRow
from memory.store.store import Store
from memory.workspace.files import Workspace

DEFAULT_START = datetime(2026, 1, 1, tzinfo=UTC)  # when messages without times are said to begin
MAX_NOTES = 20
# A text, so that what stands in it is passed over, or a whole number of more digits than Python takes.
_NUMBER = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|(?P<digits>\d{4301,})', re.DOTALL)


def read_recording(path: Path, begun: datetime = DEFAULT_START) -> Recording:
    """The conversation in a file: JSON Lines as `sessions export` writes them, or one JSON document with a list of
    messages in Anthropic's or OpenAI's form, bare or under "messages" beside "system", "tools" and "probes".

    Raises:
        UnreadableRecording: it holds no conversation; the text says where and why.
        OSError: it cannot be opened.
    """
    try:
        with path.open(encoding="utf-8-sig") as lines:
            first = next((line for line in lines if line.strip()), "")
            more = any(line.strip() for line in lines)
        if _is_lines(first):
            with path.open(encoding="utf-8-sig") as lines:
                return _read_lines(path, lines, begun)
        if more and _is_complete_json(first):
            raise UnreadableRecording(
                f"{path.name}: each line is a conversation of its own; put one of them into a file."
            )
        return _read_document(path, path.read_text("utf-8-sig"), begun)
    except UnicodeDecodeError as err:
        raise UnreadableRecording(f"{path.name}, byte {err.start}: it is not UTF-8 text.") from err


def parse_probes(raw: object, turns: Sequence[int]) -> tuple[ReplayProbe, ...]:
    """The questions of a top-level `probes`.

    Args:
        turns: the numbers of the turns there are.

    Raises:
        MalformedMessage: one is none.
    """
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise MalformedMessage("probes must be a list")
    return tuple(_parse_probe(item, number, set(turns)) for number, item in enumerate(raw, 1))


def _is_lines(first: str) -> bool:
    """Whether the first line is a value of its own, and so one of several."""
    found = _parse_value(first)
    return isinstance(found, dict) and "messages" not in found


def _is_complete_json(first: str) -> bool:
    """Whether the first line holds a list of messages, which is all that a file has."""
    found = _parse_value(first)
    return isinstance(found, list) or (isinstance(found, dict) and "messages" in found)


def _parse_value(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _read_lines(path: Path, lines: Iterator[str], begun: datetime) -> Recording:
    turning, name, probes = RecordingBuilder(begun), path.stem, list[object]()
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
                turning.keep(_from_export(item))
            else:
                turning.hear(parse_message(item), where)
        except (MalformedMessage, ValueError) as err:
            raise UnreadableRecording(f"{path.name}, {where}: {err}.") from err
    return _finish_recording(path, turning, name, None, probes)


def _read_document(path: Path, text: str, begun: datetime) -> Recording:
    whole = _parse_json(path, text, 1)
    document: dict[str, Any] = whole if isinstance(whole, dict) else {"messages": whole}
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise UnreadableRecording(
            f'{path.name}: it must hold a list of messages, or an object with one under "messages".'
        )
    turning = RecordingBuilder(begun)
    try:
        turning.system += parse_system(document.get("system"))
    except MalformedMessage as err:
        raise UnreadableRecording(f"{path.name}, system: {err}.") from err
    for number, item in enumerate(messages, 1):
        try:
            turning.hear(parse_message(item), f"message {number}")
        except MalformedMessage as err:
            raise UnreadableRecording(f"{path.name}, message {number}: {err}.") from err
    return _finish_recording(path, turning, path.stem, document.get("tools"), document.get("probes"))


def _finish_recording(path: Path, turning: RecordingBuilder, name: str, tools: object, probes: object) -> Recording:
    try:
        bare = turning.recording(name, parse_tools(tools or None), ())
        if not bare.turns:
            raise UnreadableRecording(f"{path.name}: it holds no messages.")
        asked = parse_probes(probes or None, [turn.number for turn in bare.turns])
    except MalformedMessage as err:
        raise UnreadableRecording(f"{path.name}: {err}.") from err
    notes = bare.notes
    if len(notes) > MAX_NOTES:
        notes = (*notes[:MAX_NOTES], f"and {len(notes) - MAX_NOTES} more of this kind")
    return replace(bare, probes=asked, notes=notes)


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
        raise UnreadableRecording(f"{path.name}, line {line}: a number in it has too many digits.") from err


def _from_export(item: dict[str, Any]) -> Message:
    """A message as `sessions export` writes it."""
    seq, turn, role, origin = (item.get(name) for name in ("seq", "turn", "role", "origin"))
    if not (isinstance(seq, int) and isinstance(turn, int)) or seq < 1 or turn < 1:
        raise MalformedMessage("its seq and turn must be whole numbers from 1")
    if role not in ("user", "assistant"):
        raise MalformedMessage(f'its role is "{role}"; it must be user or assistant')
    try:
        parts = load_parts(json.dumps(replace_surrogates_in_json(item["parts"])))
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise MalformedMessage("its parts are not as sessions export writes them") from err
    for part in parts:
        for name, kind in get_type_hints(type(part)).items():
            if not isinstance(value := getattr(part, name), kind):
                told = f"the {name} of a {type(part).__name__} is {json.dumps(value)[:60]}"
                raise MalformedMessage(f"its parts are not as sessions export writes them: {told}")
    return Message(
        id=f"m{seq}",
        seq=seq,
        turn=turn,
        role=role,
        parts=parts,
        at=parse_time(item.get("at")),
        origin=origin if isinstance(origin, str) else "person",
        tainted=item.get("tainted", False) is not False,
    )


def _session_title(session: object) -> str:
    held = session if isinstance(session, dict) else {}
    return str(held.get("chat_id") or held.get("title") or "")


def _parse_probe(raw: object, number: int, turns: set[int]) -> ReplayProbe:
    if not isinstance(raw, dict):
        raise MalformedMessage(f"probe {number} must be an object")
    question, answer, after, fact = (raw.get(name) for name in ("question", "answer", "after", "fact_turn"))
    if not (isinstance(question, str) and isinstance(answer, str) and question.strip() and answer.strip()):
        raise MalformedMessage(f"probe {number} must have a question and an answer")
    if not isinstance(after, int) or after not in turns:
        raise MalformedMessage(f"probe {number}: after is {json.dumps(after)[:60]}; it must be the number of a turn")
    if fact is not None and (not isinstance(fact, int) or fact not in turns or fact > after):
        raise MalformedMessage(f"probe {number}: fact_turn is {json.dumps(fact)[:60]}; it must be a turn up to {after}")
    return ReplayProbe(after=after, question=question, answer=answer, fact_turn=fact or after)


# A conversation of this home's own record as a recording: read beside a running bot, nothing is written.

PAGE_TURNS = 500


async def load_stored_recording(
    store: Store, row: ConversationRow, home: HomeFolder, config: Config, *, newest: bool = False
) -> Recording:
    """All turns of a conversation, with the system parts and the tools it has now.

    Args:
        newest: only what came after the newest clear.

    Raises:
        UnreadableRecording: it has no turns.
    """
    turning = RecordingBuilder(DEFAULT_START)
    seq = row.view_from if newest else 1
    while page := await store.sessions.messages(row.id, from_seq=seq, limit=PAGE_TURNS):
        for message in page:
            turning.keep(message)
        seq = page[-1].seq + 1
    workspace = Workspace(home.workspace)
    turning.system += await _load_system_parts(store, row, workspace)
    tools = tuple(spec for spec in default_tool_specs() if spec.name not in config.tools.off)
    recording = turning.recording(row.title or row.place.chat_id, tools, ())
    if not recording.turns:
        raise UnreadableRecording(f"The conversation {row.place.chat_id} has no turns yet.")
    return replace(recording, name=row.place.chat_id)


async def _load_system_parts(store: Store, row: ConversationRow, workspace: Workspace) -> list[str]:
    """SOUL.md and the rules, and what else its newest request showed."""
    try:
        soul = (await asyncio.to_thread(workspace.space("").read, "SOUL.md")).text.strip()
    except FileNotFoundError:
        soul = ""
    snapshot = await store.sessions.snapshot(row.id)
    parts = [part.text for part in snapshot.parts] if snapshot else []
    return [text for text in (soul, RULES, *parts) if text]
