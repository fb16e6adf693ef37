"""What became of one message, as values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

TraceKind = Literal["received", "claimed", "model", "tool", "fold", "ended", "part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One thing that happened. at: None for what has not ended yet.

    name: of the channel, model, tool, fold's method or kind of a part; state: what it is in now, where it has states.
    seconds: since the step before it, for a part since it was stored; input, output, cached: tokens; part, parts: of an
    answer; attempts: how often it was tried; why: what went wrong, or what asked for it.
    """

    at: datetime | None
    kind: TraceKind
    name: str = ""
    state: str = ""
    seconds: float = 0.0
    input: int = 0
    output: int = 0
    cached: int = 0
    part: int = 0
    parts: int = 0
    attempts: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """All of it, in order. id: the trace id; message: the inbox row's id; state: the inbox row's."""

    id: str
    conversation: str
    message: str
    state: str
    events: tuple[TraceEvent, ...]
