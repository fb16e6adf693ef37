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
from memory.text.quoting import neutralize_speakers

_NAME = re.compile(r"[^a-zA-Z0-9_-]")
CUT_STOP_REASONS = ("length", "overflow", "refusal")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedAnswer:
    """An answer as it came over the wire, before ids and cut calls are seen to."""

    parts: tuple[Part, ...]
    stop: StopReason
    raw_stop: str
    usage: TokensUsed
    model: str
    detail: str = ""


def replace_surrogates(text: str) -> str:
    """Text that can be written as UTF-8: halves of a letter that were sent apart are joined, lone ones replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def replace_surrogates_in_json(value: Any) -> Any:
    """The same JSON value with every string in it sound."""
    if isinstance(value, dict):
        return {name: replace_surrogates_in_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [replace_surrogates_in_json(item) for item in value]
    return replace_surrogates(value) if isinstance(value, str) else value


def call_arguments(call: ToolCall) -> dict[str, Any]:
    """A call's input as an object; what is no JSON object travels inside one, so that any wire takes it."""
    try:
        parsed = json.loads(call.input or "{}")
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"invalid_json": call.input}


def to_provider_name(text: str) -> str:
    """A tool's name or a call's id in the letters every wire takes; the same text always gives the same one."""
    return _NAME.sub("_", text)[:64] or "unknown"


def encode_blob(part: Image | Document, blobs: Blobs) -> str | None:
    """The blob in base64, None when it is no longer kept."""
    try:
        return base64.b64encode(blobs(part.sha256)).decode()
    except OSError:
        return None


def describe_file(part: Image | Document) -> str:
    """What stands for a file where its bytes cannot go."""
    if isinstance(part, Image):
        return "[picture no longer kept]"
    return f"[{part.name}]\n{neutralize_speakers(part.text) or '(no text could be read from this file)'}"


def normalize_answer(heard: DecodedAnswer, request: Request) -> Answer:
    """The answer as the bot may store it.

    Call ids are unique in the whole request, a call that may be cut is left out, no text is empty, and the stop
    reason agrees with whether there are calls.
    """
    parts = [_is_sendable(part) for part in heard.parts if not isinstance(part, Text) or part.text.strip()]
    cut = heard.stop in CUT_STOP_REASONS and bool(parts) and isinstance(parts[-1], ToolCall)
    if cut:
        parts.pop()
    stop, calls = heard.stop, any(isinstance(part, ToolCall) for part in parts)
    if stop == "end" and calls:
        stop = "tools"
    if stop == "tools" and not calls:
        stop = "end"
    return Answer(
        parts=tuple(_assign_call_ids(parts, _used_call_ids(request))),
        stop=stop,
        usage=heard.usage,
        model=heard.model or request.model,
        raw_stop=heard.raw_stop,
        detail=heard.detail,
        cut_call=cut,
    )


def _is_sendable(part: Part) -> Part:
    if isinstance(part, (Text, Thinking)):
        return replace(part, text=replace_surrogates(part.text))
    return (
        replace(part, input=replace_surrogates(part.input), name=replace_surrogates(part.name))
        if isinstance(part, ToolCall)
        else part
    )


def _used_call_ids(request: Request) -> set[str]:
    shown = (part for message in request.messages for part in message.parts)
    return {part.id for part in shown if isinstance(part, ToolCall)}


def _assign_call_ids(parts: Sequence[Part], taken: set[str]) -> Iterable[Part]:
    for part in parts:
        if not isinstance(part, ToolCall):
            yield part
            continue
        if not part.id or part.id in taken:
            part = replace(part, id=f"call_{uuid.uuid4().hex[:24]}")
        taken.add(part.id)
        yield part
