"""A conversation as it was recorded, whoever recorded it: turns, what stood before them, questions to put."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.cli.replay.formats import ParsedMessage
from bot.errors import MnemaError
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
)


class UnreadableRecording(MnemaError):
    """What was given holds no conversation that can be read; the text names file, place and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayProbe:
    """A question put after turn `after`."""

    after: int
    question: str
    #: Text that must occur to the letter.
    answer: str
    #: Where it was said.
    fact_turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One conversation, oldest turn first; turns keep the numbers they were recorded under."""

    name: str
    turns: tuple[Turn, ...]
    system: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    probes: tuple[ReplayProbe, ...] = ()
    #: Whether the messages' times are its own, or ours because it had none.
    timed: bool = True
    #: Bytes that came along, by SHA-256.
    files: Mapping[str, bytes] = field(default_factory=dict)
    #: Sentences on what was not taken as it stood.
    notes: tuple[str, ...] = ()

    @property
    def messages(self) -> list[Message]:
        """All messages in order."""
        return [message for turn in self.turns for message in turn.messages]


def count_recording(recording: Recording, counter: TokenCounter) -> Recording:
    """The same with every message counted by this counter; a count it made itself is kept."""
    turns = tuple(
        replace(turn, messages=tuple(_count_message(message, counter) for message in turn.messages))
        for turn in recording.turns
    )
    return replace(recording, turns=turns)


def model_call_positions(turn: Turn) -> list[int]:
    """Before which messages of a turn a model was asked: its answers, but for words of ours and for what no user
    message stands before."""
    return [
        place
        for place, message in enumerate(turn.messages)
        if place and message.role == "assistant" and message.origin != "house"
    ]


def part_text(part: Part) -> str:
    """What a part says, "" for a picture."""
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
    """When its first message was written."""
    return recording.turns[0].messages[0].at


def _count_message(message: Message, counter: TokenCounter) -> Message:
    if message.counter == counter.name:
        return message
    return replace(message, tokens=counter.message(message.parts), counter=counter.name)


# Messages in a row become turns: a user's words begin one, and everything they lead to belongs to it. Pure.

# The aside of a tool's words where nobody knows which tool gave them.
MISSING_CALL_NOTE = "result of a call that is not here"
MESSAGE_INTERVAL = timedelta(seconds=1)  # between two messages that have no time of their own


class RecordingBuilder:
    """Takes messages one by one. begun: the time of the first one where it has none."""

    def __init__(self, begun: datetime) -> None:
        self._at = begun - MESSAGE_INTERVAL
        self._turns: list[list[Message]] = []
        self._open: set[str] = set()
        self._seq = 0
        self._timed = False
        self._unanswered = 0
        self._files: dict[str, bytes] = {}
        self.system: list[str] = []
        self.notes: list[str] = []

    def hear(self, heard: ParsedMessage, where: str) -> None:
        """Take a message off a wire. where: "message 3", for notes."""
        self.notes += [f"{where}: {note}" for note in heard.notes]
        self._files.update(heard.files)
        self._timed = self._timed or heard.at is not None
        self._at = heard.at or self._at + MESSAGE_INTERVAL
        if heard.system:
            if self._turns:
                self.notes.append(f"{where}: a system message in the middle is shown with the others, at the beginning")
            self.system.append(heard.system)
            return
        parts = self._paired(heard.parts, where) if heard.role == "user" else heard.parts
        if not parts:
            return
        by_tool = heard.role == "user" and any(isinstance(part, ToolResult) for part in heard.parts)
        self._place(heard.role, parts, where, "tool" if by_tool else "person")
        if heard.role == "assistant":
            self._open |= {part.id for part in parts if isinstance(part, ToolCall)}

    def keep(self, message: Message) -> None:
        """Take a message that was exported with its turn and its place.

        Raises:
            ValueError: it does not come after the one before it.
        """
        last = self._turns[-1][-1] if self._turns else None
        if last and (message.seq <= last.seq or message.turn < last.turn):
            raise ValueError(f"its seq {message.seq} and turn {message.turn} do not come after {last.seq}, {last.turn}")
        if last is None or message.turn > last.turn:
            self._turns.append([])
        self._turns[-1].append(message)
        self._timed = True

    def recording(self, name: str, tools: tuple[ToolSpec, ...], probes: Sequence[ReplayProbe]) -> Recording:
        """All that was taken."""
        unanswered = self._unanswered + len(self._open)
        if unanswered:
            self.notes.append(f"{unanswered} tool calls have no result; a request shows that none was recorded")
        return Recording(
            name=name,
            turns=tuple(Turn(number=held[0].turn, messages=tuple(held)) for held in self._turns),
            system=tuple(self.system),
            tools=tools,
            probes=tuple(probes),
            timed=self._timed,
            files=self._files,
            notes=tuple(self.notes),
        )

    def _place(self, role: Role, parts: tuple[Part, ...], where: str, by: str) -> None:
        results = any(isinstance(part, ToolResult) for part in parts)
        before = self._turns[-1][-1] if self._turns else None
        same = before is not None and before.role == role and (role == "assistant" or (results and _is_answer(before)))
        if before is not None and same:
            self._turns[-1][-1] = replace(before, parts=(*before.parts, *parts))
            return
        if before is None and role == "assistant":
            self.notes.append(f"{where}: it answers nothing, so no request is made of it")
        if before is None or (role == "user" and not results):
            self._turns.append([])
            self._unanswered += len(self._open)
            self._open.clear()
        self._seq += 1
        self._turns[-1].append(
            Message(
                id=f"m{self._seq}",
                seq=self._seq,
                turn=len(self._turns),
                role=role,
                parts=parts,
                at=self._at,
                origin="model" if role == "assistant" else by,
            )
        )

    def _paired(self, parts: tuple[Part, ...], where: str) -> tuple[Part, ...]:
        """Results that answer a call of this turn; any other one becomes words."""
        kept: list[Part] = []
        for part in parts:
            if isinstance(part, ToolResult) and part.call_id not in self._open:
                self.notes.append(f"{where}: a result has no call before it and is kept as words")
                kept.append(Text(text=part.text, aside=MISSING_CALL_NOTE))
                continue
            if isinstance(part, ToolResult):
                self._open.discard(part.call_id)
            kept.append(part)
        return tuple(sorted(kept, key=lambda part: not isinstance(part, ToolResult)))


def _is_answer(message: Message) -> bool:
    return any(isinstance(part, ToolResult) for part in message.parts)
