"""A conversation as it was recorded, whoever recorded it: turns, what stood before them, questions to put."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.errors import MnemaError
from memory.context.counter import Counter
from memory.conversation import Document, Image, Message, Part, Text, Thinking, ToolCall, ToolResult, ToolSpec, Turn


class Unreadable(MnemaError):
    """What was given holds no conversation that can be read; the text names file, place and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question put after turn `after`. answer: text that must occur to the letter; fact_turn: where it was said."""

    after: int
    question: str
    answer: str
    fact_turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One conversation, oldest turn first; turns keep the numbers they were recorded under.

    timed: whether the messages' times are its own, or ours because it had none. files: bytes that came along, by
    SHA-256. notes: sentences on what was not taken as it stood.
    """

    name: str
    turns: tuple[Turn, ...]
    system: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    probes: tuple[Probe, ...] = ()
    timed: bool = True
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def messages(self) -> list[Message]:
        """All messages in order."""
        return [message for turn in self.turns for message in turn.messages]


def counted(recording: Recording, counter: Counter) -> Recording:
    """The same with every message counted by this counter; a count it made itself is kept."""
    turns = tuple(
        replace(turn, messages=tuple(_counted(message, counter) for message in turn.messages))
        for turn in recording.turns
    )
    return replace(recording, turns=turns)


def asked_at(turn: Turn) -> list[int]:
    """Before which messages of a turn a model was asked: its answers, but for words of ours and for what no user
    message stands before."""
    return [
        place
        for place, message in enumerate(turn.messages)
        if place and message.role == "assistant" and message.origin != "house"
    ]


def words(part: Part) -> str:
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


def begun_at(recording: Recording) -> datetime:
    """When its first message was written."""
    return recording.turns[0].messages[0].at


def _counted(message: Message, counter: Counter) -> Message:
    if message.counter == counter.name:
        return message
    return replace(message, tokens=counter.message(message.role, message.parts), counter=counter.name)
