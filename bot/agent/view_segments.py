"""The text of a request, piece by piece: what the console shows of a conversation's view."""

from collections.abc import Iterator
from typing import Any

from bot.agent.context_fitter import FitLimits
from memory.context.tokens import TokenCounter
from memory.context.view import TurnView, summary_text, summary_tokens, turn_views
from memory.conversation import Document, Image, Part, Session, Text, Thinking, ToolCall, ToolResult

MAX_SEGMENT_CHARS = 50_000


def list_segments(session: Session, fit_limits: FitLimits, counter: TokenCounter) -> list[dict[str, Any]]:
    """Return the pieces of the next request as JSON values, in the order in which the model reads them. Pure."""
    return [*_fixed_segments(fit_limits, counter), *_session_segments(session, counter)]


def _fixed_segments(fit_limits: FitLimits, counter: TokenCounter) -> Iterator[dict[str, Any]]:
    for part in fit_limits.parts:
        if part.text:
            pieces = [{"kind": "text", "text": part.text}]
            yield _segment("system", part.name, counter.text(part.text), pieces)
    for tool in fit_limits.tools:
        pieces = [{"kind": "text", "text": f"{tool.description}\n\n{tool.schema}"}]
        yield _segment("tools", tool.name, counter.tools((tool,)), pieces)


def _session_segments(session: Session, counter: TokenCounter) -> Iterator[dict[str, Any]]:
    if session.summary:
        pieces = [{"kind": "text", "text": summary_text(session.summary)}]
        tokens = summary_tokens(session.summary, counter)
        yield {**_segment("summary", "", tokens, pieces), "tainted": session.summary.tainted}
    for turn in turn_views(session, counter):
        segment = _segment("running" if turn.running else "history", "", turn.tokens, list(_turn_pieces(turn)))
        yield {**segment, "turn": turn.number, "tainted": turn.tainted}


def _turn_pieces(turn: TurnView) -> Iterator[dict[str, Any]]:
    for message in turn.shown:
        for part in message.parts:
            yield {"role": message.role, **_piece(part)}


def _piece(part: Part) -> dict[str, Any]:
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


def _segment(kind: str, name: str, tokens: int, pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one segment; what has no room in it is left out of the last pieces, and said to be so."""
    room, shown = MAX_SEGMENT_CHARS, []
    for piece in pieces:
        text = piece["text"]
        if not room and text:
            break
        shown.append({**piece, "text": text[:room]})
        room -= min(room, len(text))
    whole = sum(len(piece["text"]) for piece in pieces)
    return {"kind": kind, "name": name, "tokens": tokens, "pieces": shown, "cut": whole > MAX_SEGMENT_CHARS}
