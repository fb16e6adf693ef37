"""When each step of the newest messages began and ended, in memory: what a waterfall is drawn from."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

SpanKind = Literal["receive", "claim", "recall", "model", "tool", "store", "turn", "send"]
MAX_SPANS = 8_000  # in all, some 2 MB; the spans of the oldest messages go first
MAX_TRACE_SPANS = 5_000  # of one message


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a message, without any text that a person wrote. Times are unix seconds."""

    kind: SpanKind
    #: The channel, the model or the tool.
    name: str
    start: float
    end: float
    #: When a model sent its first words, 0.0 for none.
    first: float = 0.0
    #: "" for success, else the label of the error.
    error: str = ""
    #: Tokens.
    input: int = 0
    #: Tokens.
    output: int = 0
    #: Tokens.
    cached: int = 0


class SpanLog:
    """The spans of the newest messages by trace id. Only for the event loop's thread."""

    def __init__(self) -> None:
        self._spans: OrderedDict[str, list[Span]] = OrderedDict()
        self._count = 0

    def add(self, trace: str, span: Span) -> None:
        """Add a span; those of the oldest messages are dropped for it."""
        spans = self._spans.setdefault(trace, [])
        if len(spans) >= MAX_TRACE_SPANS:
            return
        spans.append(span)
        self._count += 1
        while self._count > MAX_SPANS:
            _, dropped = self._spans.popitem(last=False)
            self._count -= len(dropped)

    def of(self, trace: str) -> tuple[Span, ...]:
        """Return the spans of a message by their start; () when it is not one of the newest."""
        return tuple(sorted(self._spans.get(trace, ()), key=lambda span: (span.start, -span.end)))
