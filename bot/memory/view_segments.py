"""The text of a request, piece by piece: what the console shows of a view."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory.context.policies.tool_lines import call_subject
from memory.context.taint import judge_parts, speaker_of
from memory.context.tokens import TokenCounter
from memory.context.view import TurnView, count_text, summary_text, summary_tokens, turn_views
from memory.conversation import (
    Document,
    Image,
    Message,
    Part,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
    inner_call,
)

MAX_SEGMENT_CHARS = 50_000
MAX_SOURCES = 5  # that are named of a turn, the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideSource:
    """Something from outside in a view."""

    #: The turn that it came in; 0 for the summary.
    turn: int
    #: Such as "web_fetch https://example.org" or "file bill.pdf"; "" for the summary.
    name: str


def outside_sources(session: Session) -> dict[int, list[OutsideSource]]:
    """Return what taints each turn of a view: all from outside up to its end, newest first.
    Pure.
    """
    newest: list[OutsideSource] = []  # at most MAX_SOURCES
    if session.summary is not None and session.summary.tainted:
        newest = [OutsideSource(turn=0, name="")]
    messages = [
        replace(message, tainted=False) for turn in session.turns for message in turn.messages
    ]
    calls = {
        part.id: inner_call(part)
        for message in messages
        for part in message.parts
        if isinstance(part, ToolCall)
    }
    named: dict[int, list[OutsideSource]] = {}
    for message, place, outside in judge_parts(messages):
        if outside:
            source = OutsideSource(
                turn=message.turn, name=_name_source(message, message.parts[place], calls)
            )
            others = [other for other in newest if other != source]
            newest = [source, *others][:MAX_SOURCES]
        named[message.turn] = newest
    return named


def _name_source(message: Message, part: Part, calls: Mapping[str, ToolCall]) -> str:
    match part:
        case ToolResult(call_id=id):
            call = calls.get(id)
            return " ".join(filter(None, (call.name if call else "", call_subject(call))))
        case Image(media_type=kind):
            return kind
        case _:
            return speaker_of(message, part)


def fixed_segments(
    parts: Sequence[tuple[str, str]],
    tools: Sequence[ToolSpec],
    counter: TokenCounter,
    most: int = MAX_SEGMENT_CHARS,
) -> Iterator[dict[str, Any]]:
    """Return the parts before the conversation as JSON values. parts: name and text of each. most:
    see make_segment.
    """
    for name, text in parts:
        if text:
            yield make_segment(
                "system", name, count_text(counter, text), [{"kind": "text", "text": text}], most
            )
    for tool in tools:
        pieces = [{"kind": "text", "text": f"{tool.description}\n\n{tool.schema}"}]
        yield make_segment("tools", tool.name, counter.tools((tool,)), pieces, most)


def session_segments(
    session: Session,
    counter: TokenCounter,
    suffix: str = "",
    note: str = "",
    most: int = MAX_SEGMENT_CHARS,
) -> Iterator[dict[str, Any]]:
    """Return summary and turns as JSON values, in the order in which the model reads them. Pure.

    Args:
        suffix: text after the first message of the running turn.
        note: text at the very end.
    """
    if session.summary:
        pieces = [{"kind": "text", "text": summary_text(session.summary)}]
        tokens = summary_tokens(session.summary, counter)
        yield {
            **make_segment("summary", "", tokens, pieces, most),
            "tainted": session.summary.tainted,
        }
    sources = outside_sources(session)
    for turn in turn_views(session, counter):
        extra = (suffix, note) if turn.running else ("", "")
        tokens = turn.tokens + sum(count_text(counter, text) for text in extra)
        segment = make_segment(
            "running" if turn.running else "history",
            "",
            tokens,
            list(_turn_pieces(turn, *extra)),
            most,
        )
        named = [{"turn": one.turn, "name": one.name} for one in sources.get(turn.number, ())]
        tainted = turn.tainted or bool(named)
        yield {**segment, "turn": turn.number, "tainted": tainted, "sources": named}


def _turn_pieces(turn: TurnView, suffix: str, note: str) -> Iterator[dict[str, Any]]:
    for number, message in enumerate(turn.shown):
        for part in message.parts:
            yield {"role": message.role, **to_piece(part)}
        if suffix and number == 0:
            yield {"role": message.role, "kind": "text", "name": "suffix", "text": suffix}
    if note and turn.shown:
        yield {"role": turn.shown[-1].role, "kind": "text", "name": "note", "text": note}


def to_piece(part: Part) -> dict[str, Any]:
    """Return a part of a message as JSON values."""
    match part:
        case Text():
            return {"kind": "text", "text": part.shown}
        case ToolCall():
            return {"kind": "call", "name": part.name, "text": part.input}
        case ToolResult():
            return {"kind": "result", "text": part.text, "failed": part.is_error}
        case Thinking():
            return {"kind": "thinking", "text": part.text}
        case Image():
            return {"kind": "image", "text": f"{part.media_type} {part.width} × {part.height}"}
        case Document():
            return {"kind": "document", "name": part.media_type, "text": part.text}


def make_segment(
    kind: str, name: str, tokens: int, pieces: list[dict[str, Any]], most: int = MAX_SEGMENT_CHARS
) -> dict[str, Any]:
    """Return one segment of at most `most` characters; what does not fit is left out at the end,
    and said to be so.
    """
    left, shown = most, []
    for piece in pieces:
        text = piece["text"]
        if not left and text:
            break
        shown.append({**piece, "text": text[:left]})
        left -= min(left, len(text))
    whole = sum(len(piece["text"]) for piece in pieces)
    return {"kind": kind, "name": name, "tokens": tokens, "pieces": shown, "cut": whole > most}
