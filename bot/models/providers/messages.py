"""Conversions that provider clients share: arguments, files and names to send, received answers."""

import base64
import json
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from bot.models.base import Answer, Blobs, Request, StopReason, TokensUsed
from memory.conversation import Document, Image, Part, Text, Thinking, ToolCall
from memory.text.quoting import neutralize_speakers

_NAME = re.compile(r"[^a-zA-Z0-9_-]")
# Strict JSON without blanks, as providers read it. Non-finite numbers raise ValueError.
to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
# 16,000 characters take 40 µs to quote and 5 to find. The cache takes at most 8 MB, or 16 of
# Chinese.
MIN_CACHED_CHARS, MAX_CACHED_CHARS = 1_000, 16_000
MAX_CACHED_TEXTS = 256
CUT_STOP_REASONS = ("length", "overflow", "refusal")
MAX_CALLS = 128  # of tools in one answer
MAX_ARGUMENT_BYTES = 512 * 1024  # of all of them, in UTF-8


@dataclass(slots=True)
class CallBudget:
    """Bounds the tool calls of one answer while it is streamed; beyond them the stream counts as
    damaged.
    """

    _calls: int = 0
    _bytes: int = 0

    def add_call(self) -> None:
        """Count a call; raises ValueError for one too many."""
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise ValueError(f"more than {MAX_CALLS} tool calls in one answer")

    def add_arguments(self, piece: str) -> None:
        """Count a piece of a call's arguments; raises ValueError for one too many."""
        self._bytes += len(piece.encode("utf-8", "surrogatepass"))
        if self._bytes > MAX_ARGUMENT_BYTES:
            raise ValueError(
                f"more than {MAX_ARGUMENT_BYTES} bytes of tool arguments in one answer"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedAnswer:
    """An answer as decoded from the stream; see `normalize_answer`."""

    parts: tuple[Part, ...]
    stop: StopReason
    raw_stop: str
    usage: TokensUsed
    model: str
    detail: str = ""
    #: There was thinking, in a field or in tags.
    has_thought: bool = False


def replace_surrogates(text: str) -> str:
    """Make a text encodable as UTF-8: join surrogate pairs that were sent apart, replace lone
    surrogates.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def replace_surrogates_in_json(value: Any) -> Any:
    """Return the JSON value with `replace_surrogates` applied to every string."""
    if isinstance(value, dict):
        return {name: replace_surrogates_in_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [replace_surrogates_in_json(item) for item in value]
    return replace_surrogates(value) if isinstance(value, str) else value


def quote(text: str) -> str:
    """Return the JSON text of a string; long ones are cached, as most of a request repeats the one
    before.
    """
    return (
        _quote_cached(text) if MIN_CACHED_CHARS <= len(text) <= MAX_CACHED_CHARS else to_json(text)
    )


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _quote_cached(text: str) -> str:
    return to_json(text)


def encode_body(text: str) -> bytes:
    """Encode the JSON text of a request; surrogates are replaced as `replace_surrogates` does in
    each string.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return replace_surrogates(text).encode()


def compact_arguments(call: ToolCall) -> str | None:
    """Return a call's input as compact JSON text; None unless it is a JSON object (NaN and Infinity
    are no JSON).
    """
    try:
        parsed = json.loads(call.input or "{}")
        return to_json(parsed) if isinstance(parsed, dict) else None
    except (ValueError, RecursionError):
        return None


def wrap_arguments(call: ToolCall) -> str:
    """Return the JSON text of an object around an input that is none: providers accept only
    objects.
    """
    return to_json({"invalid_json": call.input})


def to_provider_name(text: str) -> str:
    """Convert a tool name or call id to the characters that every provider accepts.
    Deterministic.
    """
    return _NAME.sub("_", text)[:64] or "unknown"


def has_files(request: Request) -> bool:
    """Tell whether encoding the request reads files, which may block."""
    return any(
        isinstance(part, Image | Document) for message in request.messages for part in message.parts
    )


def encode_blob(part: Image | Document, blobs: Blobs) -> str | None:
    """Return the file in base64; None if it is no longer stored."""
    try:
        return base64.b64encode(blobs(part.sha256)).decode()
    except OSError:
        return None


def describe_file(part: Image | Document) -> str:
    """Return the text to send instead of a file's bytes."""
    if isinstance(part, Image):
        return "[picture no longer kept]"
    return (
        f"[{part.name}]\n"
        f"{neutralize_speakers(part.text) or '(no text could be read from this file)'}"
    )


def normalize_answer(decoded: DecodedAnswer, request: Request) -> Answer:
    """Convert a decoded answer to one that can be stored.

    Call ids become unique within the request, a call that may be cut and empty texts are dropped,
    and the stop reason agrees with whether there are calls.
    """
    parts = [
        _clean_part(part)
        for part in decoded.parts
        if not isinstance(part, Text) or part.text.strip()
    ]
    cut = decoded.stop in CUT_STOP_REASONS and bool(parts) and isinstance(parts[-1], ToolCall)
    if cut:
        parts.pop()
    is_empty = not parts and not cut
    return Answer(
        parts=tuple(_assign_call_ids(parts, request)),
        stop=_agreeing_stop(decoded.stop, parts),
        usage=decoded.usage,
        model=decoded.model or request.model,
        raw_stop=decoded.raw_stop,
        detail=decoded.detail,
        cut_call=cut,
        only_thought=is_empty and decoded.stop == "length" and decoded.has_thought,
    )


def _agreeing_stop(stop: StopReason, parts: Sequence[Part]) -> StopReason:
    """Return the stop reason as it agrees with whether there are calls."""
    has_calls = any(isinstance(part, ToolCall) for part in parts)
    if stop == "end" and has_calls:
        return "tools"
    if stop == "tools" and not has_calls:
        return "end"
    return stop


def _clean_part(part: Part) -> Part:
    if isinstance(part, (Text, Thinking)):
        return replace(part, text=replace_surrogates(part.text))
    if isinstance(part, ToolCall):
        return replace(
            part, input=replace_surrogates(part.input), name=replace_surrogates(part.name)
        )
    return part


def _assign_call_ids(parts: Sequence[Part], request: Request) -> Iterable[Part]:
    used: set[str] = set()
    if any(isinstance(part, ToolCall) for part in parts):
        used = {
            part.id
            for message in request.messages
            for part in message.parts
            if isinstance(part, ToolCall)
        }
    for part in parts:
        if isinstance(part, ToolCall):
            if not part.id or part.id in used:
                part = replace(part, id=f"call_{uuid.uuid4().hex[:24]}")
            used.add(part.id)
        yield part
