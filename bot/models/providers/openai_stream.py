"""Decodes the stream of chat completions, in all forms that compatible servers send. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.errors import Damaged, Transient
from bot.models.base import (
    ModelEvent,
    Restarted,
    StopReason,
    TextDelta,
    ThinkingDelta,
    TokensUsed,
    ToolStarted,
)
from bot.models.providers.messages import CallBudget, DecodedAnswer, replace_surrogates
from memory.conversation import Part, Text, ToolCall
from memory.text.quoting import SplitPiece, ThinkingSplitter

OPENAI_STOP_REASONS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
    "sensitive": "refusal",
    "model_context_window_exceeded": "overflow",
}
# Finish reasons for a failure of the server.
FAILED_STOP_REASONS = frozenset(("network_error", "insufficient_system_resource"))
THINKING_SHOWN = "what was shown was thinking"


@dataclass(slots=True)
class _PartialCall:
    """A tool call while it is streamed."""

    #: The server's number of the call; None if it gives none.
    index: int | None
    id: str = ""
    name: str = ""
    written: str = ""


class OpenAIStreamDecoder:
    """Decodes the chunks of one call in all forms seen. Pure.

    Args:
        unknown: counts unknown stop reasons.
        holds_text: the model ends its thinking with a closing tag alone; see ThinkingSplitter.
    """

    def __init__(self, unknown: Counter[str], *, holds_text: bool = False) -> None:
        self._unknown = unknown
        self._model, self._stop, self._refusal = "", "", ""
        self._text: list[str] = []
        self._splitter = ThinkingSplitter(holds=holds_text)
        #: Thinking that came in a field of its own.
        self._thought: list[str] = []
        self._calls: list[_PartialCall] = []
        self._budget = CallBudget()
        self._usage: dict[str, Any] = {}

    @property
    def ended(self) -> bool:
        """Whether the answer is complete; its usage may still follow."""
        return bool(self._stop)

    @property
    def thought(self) -> str:
        """The thinking that came in a field of its own."""
        return "".join(self._thought)

    @property
    def thinks_in_tags(self) -> bool:
        """Whether thinking came in tags."""
        return self._splitter.has_thought

    def finish(self) -> list[ModelEvent]:
        """Return what can be shown of text that was held until the end of a complete answer."""
        if not self.ended:
            return []
        is_cut = OPENAI_STOP_REASONS.get(self._stop) == "length"
        return list(self._to_events(self._splitter.finish(cut=is_cut)))

    def take(self, chunk: dict[str, Any]) -> list[ModelEvent]:
        """Add one chunk, or a whole completion; return what can be shown of it.

        Raises:
            Damaged: it does not have the form of a chunk.
        """
        try:
            return list(self._add(chunk))
        except (LookupError, TypeError, ValueError, AttributeError) as err:
            raise Damaged(f"the stream is damaged: {err!r}", status=200, kind="damaged") from err

    def answer(self) -> DecodedAnswer:
        """Return the complete answer.

        Raises:
            Damaged: the stream ended before the answer did.
            Transient: the server failed.
        """
        if not self._stop:
            raise Damaged("the stream ended before the answer did", status=200, kind="cut")
        if self._stop in FAILED_STOP_REASONS:
            raise Transient(
                "the server failed in the middle of the answer", status=200, kind=self._stop
            )
        if self._stop not in OPENAI_STOP_REASONS:
            self._unknown[f"stop {self._stop}"] += 1
        calls = (
            ToolCall(id=call.id, name=call.name, input=call.written or "{}") for call in self._calls
        )
        parts: list[Part] = [Text(text="".join(self._text)), *calls]
        return DecodedAnswer(
            parts=tuple(parts),
            stop="refusal" if self._refusal else OPENAI_STOP_REASONS.get(self._stop, "unknown"),
            raw_stop=self._stop,
            usage=self._tokens(),
            model=self._model,
            detail=self._refusal,
            has_thought=bool(self._thought) or self.thinks_in_tags,
        )

    def _add(self, chunk: dict[str, Any]) -> Iterator[ModelEvent]:
        self._model = str(chunk.get("model") or self._model)
        self._usage.update(chunk.get("usage") or {})
        for choice in (chunk.get("choices") or [])[:1]:
            # Some servers never stream and send one message; some put the usage into the choice.
            self._usage.update(choice.get("usage") or {})
            yield from self._add_delta(choice.get("delta") or choice.get("message") or {})
            self._stop = str(choice.get("finish_reason") or self._stop)

    def _add_delta(self, delta: dict[str, Any]) -> Iterator[ModelEvent]:
        self._refusal += delta.get("refusal") or ""
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            self._thought.append(str(thought))
            yield ThinkingDelta(text=replace_surrogates(str(thought)))
        if piece := delta.get("content"):
            yield from self._to_events(self._splitter.feed(piece))
        for called in delta.get("tool_calls") or []:
            yield from self._add_call(called)

    def _to_events(self, pieces: Iterator[SplitPiece]) -> Iterator[ModelEvent]:
        for piece in pieces:
            if piece.kind == "thinking":
                yield ThinkingDelta(text=replace_surrogates(piece.text))
                continue
            if piece.kind == "withdrawn":
                self._text.clear()
                yield Restarted(why=THINKING_SHOWN)
            self._text.append(piece.text)
            # Empty after what is withdrawn, so that it disappears at once.
            yield TextDelta(text=replace_surrogates(piece.text))

    def _add_call(self, called: dict[str, Any]) -> Iterator[ModelEvent]:
        function = called.get("function") or {}
        index, id, name = (
            called.get("index"),
            str(called.get("id") or ""),
            str(function.get("name") or ""),
        )
        call = self._open_call(index, id, name)
        if call is None:
            self._budget.add_call()
            call = _PartialCall(index=index, id=id, name=name)
            self._calls.append(call)
            yield ToolStarted(name=name)
        call.id, call.name = call.id or id, call.name or name
        arguments = function.get("arguments") or ""
        self._budget.add_arguments(arguments)
        call.written += arguments

    def _open_call(self, index: int | None, id: str, name: str) -> _PartialCall | None:
        """Return the call that a piece belongs to; None if it starts a new one.

        With an index: the newest call of that index, unless the piece names another id. Without:
        the newest call, unless the piece names another id, or a function without any.
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
