"""An answer of the Messages API as it grows, event by event. Pure."""

from collections import Counter
from typing import Any

from bot.errors import Transient
from bot.models.base import Event, StopReason, TextDelta, ThinkingDelta, TokensUsed, ToolStarted
from bot.models.parts import Heard, sound
from memory.conversation import Part, Text, Thinking, ToolCall

STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "overflow",
}
_GROWS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
_KNOWN = frozenset(("text", "thinking", "redacted_thinking", "tool_use"))
_QUIET = frozenset(("ping", "content_block_stop"))


class Hearing:
    """Takes the events of one call. unknown: counts what nobody here knows, by the wire's word for it."""

    def __init__(self, model: str, unknown: Counter[str]) -> None:
        self._asked, self._unknown = model, unknown
        self._model, self._stop, self._detail = "", "", ""
        self._usage: dict[str, int] = {}
        self._blocks: dict[int, dict[str, str]] = {}
        self.ended = False

    def take(self, event: dict[str, Any]) -> Event | None:
        """Note one event; return what of it may be shown.

        Raises:
            Transient: the event has not the form its type promises.
        """
        try:
            return self._note(event)
        except (LookupError, TypeError, ValueError, AttributeError) as err:
            raise Transient(f"the stream is damaged: {err!r}", status=200, kind="damaged") from err

    def _note(self, event: dict[str, Any]) -> Event | None:
        match event.get("type"):
            case "message_start":
                message = event["message"]
                self._model = str(message.get("model") or "")
                self._count(message.get("usage"))
            case "content_block_start":
                return self._begin(event)
            case "content_block_delta":
                return self._grow(event)
            case "message_delta":
                self._close(event)
            case "message_stop":
                self.ended = True
            case kind if kind not in _QUIET:
                self._unknown[f"event {kind}"] += 1
        return None

    def heard(self) -> Heard:
        """The whole answer.

        Raises:
            Transient: the stream ended before the answer did.
        """
        if not self.ended or not self._stop:
            raise Transient("the stream ended before the answer did", status=200, kind="cut")
        if self._stop not in STOPS:
            self._unknown[f"stop {self._stop}"] += 1
        parts = (self._part(block) for _, block in sorted(self._blocks.items()))
        return Heard(
            parts=tuple(part for part in parts if part is not None),
            stop=STOPS.get(self._stop, "unknown"),
            raw_stop=self._stop,
            usage=self._tokens(),
            model=self._model,
            detail=self._detail,
        )

    def _begin(self, event: dict[str, Any]) -> Event | None:
        block = event["content_block"]
        kind = str(block.get("type"))
        if kind not in _KNOWN:
            self._unknown[f"block {kind}"] += 1
        grown = {
            name: block[name] for name in ("text", "thinking", "signature", "data", "id", "name") if block.get(name)
        }
        self._blocks[int(event["index"])] = {"type": kind, **grown}
        return ToolStarted(name=str(block.get("name") or "")) if kind == "tool_use" else None

    def _grow(self, event: dict[str, Any]) -> Event | None:
        delta = event["delta"]
        field = _GROWS.get(str(delta.get("type")))
        block = self._blocks.get(int(event["index"]))
        if field is None or block is None:
            self._unknown[f"delta {delta.get('type')}"] += 1
            return None
        piece = str(delta.get(field) or "")
        block[field] = block.get(field, "") + piece
        if field == "text" and piece and block["type"] == "text":
            return TextDelta(text=sound(piece))
        return ThinkingDelta(text=sound(piece)) if field == "thinking" and piece else None

    def _close(self, event: dict[str, Any]) -> None:
        delta = event.get("delta") or {}
        self._stop = str(delta.get("stop_reason") or self._stop)
        details = delta.get("stop_details") or {}
        self._detail = ": ".join(str(details[name]) for name in ("category", "explanation") if details.get(name))
        self._count(event.get("usage"))

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Counts are cumulative; null says nothing new."""
        self._usage.update({name: value for name, value in (usage or {}).items() if isinstance(value, int)})

    def _tokens(self) -> TokensUsed:
        read = self._usage.get("cache_read_input_tokens", 0)
        write = self._usage.get("cache_creation_input_tokens", 0)
        return TokensUsed(
            input=self._usage.get("input_tokens", 0) + read + write,
            output=self._usage.get("output_tokens", 0),
            cache_read=read,
            cache_write=write,
        )

    def _part(self, block: dict[str, str]) -> Part | None:
        match block["type"]:
            case "text":
                return Text(text=block.get("text", ""))
            case "tool_use":
                name, written = block.get("name", ""), block.get("partial_json", "")
                return ToolCall(id=block.get("id", ""), name=name, input=written or "{}")
            case "thinking":
                thought, signature = block.get("thinking", ""), block.get("signature", "")
                return Thinking(text=thought, signature=signature, model=self._asked)
            case "redacted_thinking":
                return Thinking(text=block.get("data", ""), model=self._asked, redacted=True)
        return None
