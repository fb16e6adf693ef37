"""What both wires do alike with parts: on the way out arguments and files, on the way in ids and cut calls."""

import base64
import json
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.models.base import Answer, Blobs, Request, StopReason, TokensUsed
from memory.conversation import Document, Image, Part, Text, Thinking, ToolCall
from memory.text.speakers import no_speakers

_NAME = re.compile(r"[^a-zA-Z0-9_-]")
CUT_SHORT = ("length", "overflow", "refusal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """An answer as it came over the wire, before ids and cut calls are seen to."""

    parts: tuple[Part, ...]
    stop: StopReason
    raw_stop: str
    usage: TokensUsed
    model: str
    detail: str = ""


def sound(text: str) -> str:
    """Text that can be written as UTF-8: halves of a letter that were sent apart are joined, lone ones replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def all_sound(value: Any) -> Any:
    """The same JSON value with every string in it sound."""
    if isinstance(value, dict):
        return {name: all_sound(item) for name, item in value.items()}
    if isinstance(value, list):
        return [all_sound(item) for item in value]
    return sound(value) if isinstance(value, str) else value


def arguments(call: ToolCall) -> dict[str, Any]:
    """A call's input as an object; what is no JSON object travels inside one, so that any wire takes it."""
    try:
        parsed = json.loads(call.input or "{}")
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"invalid_json": call.input}


def wire_name(text: str) -> str:
    """A tool's name or a call's id in the letters every wire takes; the same text always gives the same one."""
    return _NAME.sub("_", text)[:64] or "unknown"


def encoded(part: Image | Document, blobs: Blobs) -> str | None:
    """The blob in base64, None when it is no longer kept."""
    try:
        return base64.b64encode(blobs(part.sha256)).decode()
    except OSError:
        return None


def in_words(part: Image | Document) -> str:
    """What stands for a file where its bytes cannot go."""
    if isinstance(part, Image):
        return "[picture no longer kept]"
    return f"[{part.name}]\n{no_speakers(part.text) or '(no text could be read from this file)'}"


def settled(heard: Heard, request: Request) -> Answer:
    """The answer as the house may store it.

    Call ids are unique in the whole request, a call that may be cut is left out, no text is empty, and the stop
    reason agrees with whether there are calls.
    """
    parts = [_kept(part) for part in heard.parts if not isinstance(part, Text) or part.text.strip()]
    cut = heard.stop in CUT_SHORT and bool(parts) and isinstance(parts[-1], ToolCall)
    if cut:
        parts.pop()
    stop, calls = heard.stop, any(isinstance(part, ToolCall) for part in parts)
    if stop == "end" and calls:
        stop = "tools"
    if stop == "tools" and not calls:
        stop = "end"
    return Answer(
        parts=tuple(_with_own_ids(parts, _known_ids(request))),
        stop=stop,
        usage=heard.usage,
        model=heard.model or request.model,
        raw_stop=heard.raw_stop,
        detail=heard.detail,
        cut_call=cut,
    )


def _kept(part: Part) -> Part:
    if isinstance(part, (Text, Thinking)):
        return replace(part, text=sound(part.text))
    return replace(part, input=sound(part.input), name=sound(part.name)) if isinstance(part, ToolCall) else part


def _known_ids(request: Request) -> set[str]:
    shown = (part for message in request.messages for part in message.parts)
    return {part.id for part in shown if isinstance(part, ToolCall)}


def _with_own_ids(parts: Sequence[Part], taken: set[str]) -> Iterable[Part]:
    for part in parts:
        if not isinstance(part, ToolCall):
            yield part
            continue
        if not part.id or part.id in taken:
            part = replace(part, id=f"call_{uuid.uuid4().hex[:24]}")
        taken.add(part.id)
        yield part
