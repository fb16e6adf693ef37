"""Spans as plain values: what happened to one message, with ids that any process finds again from the store."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

Role = Literal["consumer", "internal", "client", "producer"]
# The two spans that others stand under; their ids follow from the trace, so a process need not have seen them.
RECEIVE_SPAN, HANDLE_SPAN = "receive", "handle"
SpanFact = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """Something that is over."""

    name: str
    #: As the store names it.
    trace: str
    #: RECEIVE_SPAN, HANDLE_SPAN or "": a span of no name of its own, one without a parent.
    itself: str = ""
    #: RECEIVE_SPAN, HANDLE_SPAN or "": a span of no name of its own, one without a parent.
    parent: str = HANDLE_SPAN
    role: Role = "internal"
    #: Start and end, unix nanoseconds.
    when: tuple[int, int]
    #: Its type, "" where it went well. facts hold no word of a person.
    error: str = ""
    facts: Mapping[str, SpanFact] = field(default_factory=dict)


class Tracer(Protocol):
    """Where spans go."""

    def emit(self, span: TraceSpan) -> None:
        """Take one; returns at once and never raises for a collector that is away."""
        ...

    async def close(self) -> None:
        """Send what waits, for a few seconds at most."""
        ...


def to_trace_id(trace: str) -> int:
    """The 128-bit id that tracing knows a stored trace id by."""
    return _hash_to_int(trace, 16)


def to_span_id(trace: str, itself: str) -> int:
    """The 64-bit id of a trace's span RECEIVE_SPAN or HANDLE_SPAN."""
    return _hash_to_int(f"{trace}:{itself}", 8)


def _hash_to_int(text: str, size: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "big") or 1
