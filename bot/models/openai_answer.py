"""An answer of chat completions as it grows, chunk by chunk, in all the forms met in the wild. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.errors import Transient
from bot.models.base import Event, StopReason, TextDelta, ThinkingDelta, TokensUsed, ToolStarted
from bot.models.parts import Heard, sound
from memory.conversation import Part, Text, ToolCall

STOPS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
    "sensitive": "refusal",
    "model_context_window_exceeded": "overflow",
}
FAILED = frozenset(("network_error", "insufficient_system_resource"))
"""Finish reasons that say the server failed, not that the answer ended."""


@dataclass(slots=True)
class _Call:
    """One call as it grows. index: the server's number of it, None where it gives none."""

    index: int | None
    id: str = ""
    name: str = ""
    written: str = ""


class Hearing:
    """Takes the chunks of one call. unknown: counts what nobody here knows, by the wire's word for it."""

    def __init__(self, unknown: Counter[str]) -> None:
        self._unknown = unknown
        self._model, self._stop, self._refusal = "", "", ""
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._usage: dict[str, Any] = {}

    @property
    def ended(self) -> bool:
        """Whether the answer is whole; its usage may still come."""
        return bool(self._stop)

    def take(self, chunk: dict[str, Any]) -> list[Event]:
        """Note one chunk, or a whole completion; return what of it may be shown.

        Raises:
            Transient: the chunk has not the form of one, or says that the server failed.
        """
        try:
            return list(self._note(chunk))
        except (LookupError, TypeError, ValueError, AttributeError) as err:
            raise Transient(f"the stream is damaged: {err!r}", status=200, kind="damaged") from err

    def heard(self) -> Heard:
        """The whole answer.

        Raises:
            Transient: the stream ended before the answer did, or the server failed.
        """
        if not self._stop or self._stop in FAILED:
            raise Transient("the stream ended before the answer did", status=200, kind=self._stop or "cut")
        if self._stop not in STOPS:
            self._unknown[f"stop {self._stop}"] += 1
        calls = (ToolCall(id=call.id, name=call.name, input=call.written or "{}") for call in self._calls)
        parts: list[Part] = [Text(text="".join(self._text)), *calls]
        return Heard(
            parts=tuple(parts),
            stop="refusal" if self._refusal else STOPS.get(self._stop, "unknown"),
            raw_stop=self._stop,
            usage=self._tokens(),
            model=self._model,
            detail=self._refusal,
        )

    def _note(self, chunk: dict[str, Any]) -> Iterator[Event]:
        self._model = str(chunk.get("model") or self._model)
        self._usage.update(chunk.get("usage") or {})
        for choice in (chunk.get("choices") or [])[:1]:
            # Some servers do not stream, whatever is asked, and send one message; some put usage in the choice.
            self._usage.update(choice.get("usage") or {})
            yield from self._grow(choice.get("delta") or choice.get("message") or {})
            self._stop = str(choice.get("finish_reason") or self._stop)

    def _grow(self, delta: dict[str, Any]) -> Iterator[Event]:
        self._refusal += delta.get("refusal") or ""
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            yield ThinkingDelta(text=sound(str(thought)))
        if piece := delta.get("content"):
            self._text.append(piece)
            yield TextDelta(text=sound(piece))
        for called in delta.get("tool_calls") or []:
            yield from self._grow_call(called)

    def _grow_call(self, called: dict[str, Any]) -> Iterator[Event]:
        function = called.get("function") or {}
        index, id, name = called.get("index"), str(called.get("id") or ""), str(function.get("name") or "")
        call = self._open_call(index, id, name)
        if call is None:
            call = _Call(index=index, id=id, name=name)
            self._calls.append(call)
            yield ToolStarted(name=name)
        call.id, call.name = call.id or id, call.name or name
        call.written += function.get("arguments") or ""

    def _open_call(self, index: int | None, id: str, name: str) -> _Call | None:
        """The call this piece belongs to; None when it begins a new one.

        With an index: the newest call of that index, unless the piece names another id. Without: the newest call,
        unless the piece names another id, or a function without any.
        """
        known = [call for call in self._calls if index is None or call.index == index]
        if not known or (id and known[-1].id and id != known[-1].id):
            return None
        return None if index is None and name and not id else known[-1]

    def _tokens(self) -> TokensUsed:
        details = self._usage.get("prompt_tokens_details") or {}
        cached = details.get("cached_tokens") or self._usage.get("prompt_cache_hit_tokens") or 0
        return TokensUsed(
            input=int(self._usage.get("prompt_tokens") or 0),
            output=int(self._usage.get("completion_tokens") or 0),
            cache_read=int(cached),
        )
