"""Writes stored messages as lines, for the daily log and the summarising model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo
from itertools import groupby

from memory.context.reductions import part_handle, snip_text
from memory.context.taint import speaker_of
from memory.conversation import (
    BOT_SPEAKER,
    UNANSWERED_PARTS,
    Document,
    Image,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    inner_call,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One part of a message as text, with its speaker."""

    message: Message
    #: Index of the part in the message.
    part: int
    #: Speaker as shown.
    speaker: str
    text: str


def list_utterances(messages: Iterable[Message]) -> Iterator[Utterance]:
    """All utterances in order and in full, without the model's reasoning and the mark of a turn
    without an answer.
    """
    names: dict[str, str] = {}
    for message in messages:
        if message.origin == "house" and message.parts == UNANSWERED_PARTS:
            continue
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                names[part.id] = inner_call(part).name
            if not isinstance(part, Thinking):
                speaker = _speaker_name(message, part, names)
                yield Utterance(
                    message=message, part=number, speaker=speaker, text=_part_text(part, speaker)
                )


def shorten_utterance(utterance: Utterance, most: int) -> Utterance:
    """At most about `most` characters: head and tail with the handle to the rest."""
    if len(utterance.text) <= most:
        return utterance
    where = part_handle(utterance.message, utterance.part)
    return replace(utterance, text=snip_text(utterance.text, most * 2 // 3, most // 3, where))


def is_tool_utterance(utterance: Utterance) -> bool:
    """Whether it is a tool call or result."""
    return isinstance(utterance.message.parts[utterance.part], ToolCall | ToolResult)


def utterance_line(utterance: Utterance, zone: tzinfo) -> str:
    """The utterance as one list item: `- HH:MM Speaker: text`, on the zone's clock."""
    at = utterance.message.at.astimezone(zone)
    return f"- {at:%H:%M} {utterance.speaker}: {' '.join(utterance.text.split())}"


def write_turns(messages: Iterable[Message], zone: tzinfo) -> str:
    """Write messages in full, each turn under a heading with its number and day."""
    lines: list[str] = []
    for number, turn in groupby(messages, key=lambda message: message.turn):
        group = list(turn)
        lines.append(f"## turn {number} · {group[0].at.astimezone(zone):%Y-%m-%d}")
        lines += (utterance_line(utterance, zone) for utterance in list_utterances(group))
    return "\n".join(lines)


def _speaker_name(message: Message, part: Part, names: dict[str, str]) -> str:
    match part:
        case ToolCall():
            return f"{BOT_SPEAKER} used {inner_call(part).name}"
        case ToolResult():
            failed = " (failed)" if part.is_error else ""
            return f"{names.get(part.call_id, 'tool')} answered{failed}"
    return speaker_of(message, part)


def _part_text(part: Part, speaker: str) -> str:
    match part:
        case Text() if part.aside and part.aside not in speaker:
            return f"[{part.aside}] {part.text}"
        case Text() | ToolResult() | Thinking():
            return part.text
        case ToolCall():
            return part.input
        case Image():
            return "[picture]"
        case Document():
            return f"[file {part.name}] {part.text}".rstrip()
