"""What happens to messages, told where it happens: counted and timed always, traced where tracing is on."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from bot.telemetry.metrics import MetricStore
from bot.telemetry.tracing import HANDLE_SPAN, RECEIVE_SPAN, SpanFact, Tracer, TraceSpan
from channels.errors import Ambiguous, AwaitsUser, BadFormat, ChannelError, ChatMoved, LoggedOut, Rejected, Retryable
from memory.store.rows import AcceptedRow, CallRow, NewInboxRow, OutboxRow

_WORD_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Metric labels (docs/metrics.md), the most specific class first; they stay when a class is renamed.
_ERROR_CODES = {
    AwaitsUser: "waits",
    BadFormat: "bad_format",
    ChatMoved: "moved",
    Rejected: "rejected",
    LoggedOut: "logged_out",
    Ambiguous: "ambiguous",
}


def to_snake_case(name: str) -> str:
    """A class's name as labels have it: RateLimited as rate_limited."""
    return _WORD_BOUNDARY.sub("_", name).lower()


def send_error_code(err: Exception) -> str:
    """Return the metric label of a failed send."""
    if isinstance(err, Retryable) and not isinstance(err, AwaitsUser):
        return "retryable" if err.retry_after is None else "rate_limited"
    unlisted = "refused" if isinstance(err, ChannelError) else "broken"
    return next((code for kind, code in _ERROR_CODES.items() if isinstance(err, kind)), unlisted)


class Telemetry:
    """The ear of everything that is watched. Every `began` is a `time.perf_counter()`.

    tracer: None where tracing is off; then a call costs a count.
    """

    def __init__(self, tally: MetricStore | None = None, tracer: Tracer | None = None) -> None:
        self.tally = tally or MetricStore()
        self.tracer = tracer

    def received(
        self, channel: str, arrivals: Sequence[NewInboxRow], rows: Sequence[AcceptedRow], began: float
    ) -> None:
        """T1 is committed: the platform may be told."""
        self.tally.took("ack_seconds", time.perf_counter() - began)
        for arrival, row in zip(arrivals, rows, strict=True):
            self.tally.count("updates_total", channel, "false" if row.new else "true")
            if self.tracer is not None and row.new:
                facts = {"mnema.channel": channel, "mnema.kind": arrival.kind, "mnema.state": row.state}
                span = TraceSpan(name="receive", trace=row.trace_id, when=elapsed_span(began), facts=facts)
                self.tracer.emit(replace(span, itself=RECEIVE_SPAN, parent="", role="consumer"))

    def handled(self, trace: str, name: str, began: float) -> None:
        """An inbox row is brought to its end without a turn. name: "command" or "refusal"."""
        if self.tracer is not None:
            self.tracer.emit(
                TraceSpan(name=name, trace=trace, itself=HANDLE_SPAN, parent=RECEIVE_SPAN, when=elapsed_span(began))
            )

    def turned(self, trace: str, outcome: str, began: float, facts: Mapping[str, SpanFact]) -> None:
        """A turn is finished in the store. outcome: the state it ended in."""
        self.tally.took("turn_seconds", time.perf_counter() - began)
        if self.tracer is not None:
            told = {"mnema.outcome": outcome, **facts}
            span = TraceSpan(
                name="turn", trace=trace, itself=HANDLE_SPAN, parent=RECEIVE_SPAN, when=elapsed_span(began), facts=told
            )
            self.tracer.emit(replace(span, error=outcome if outcome in ("failed", "interrupted") else ""))

    def asked(self, model: str, outcome: str, began: float, facts: Mapping[str, SpanFact], trace: str = "") -> None:
        """One request to a model is over. outcome: "ok", "stopped", or the error's name; trace: "" for nobody's."""
        self.tally.count("llm_requests_total", model, outcome)
        if self.tracer is not None and trace:
            told: dict[str, SpanFact] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, **facts}
            error = "" if outcome == "ok" else outcome
            name = f"chat {model}"
            self.tracer.emit(
                TraceSpan(name=name, trace=trace, role="client", when=elapsed_span(began), error=error, facts=told)
            )

    def ran(self, call: CallRow, tool: str, outcome: str, began: float, trace: str) -> None:
        """A tool call is over. tool: its name, known to us; outcome: the state it ended in."""
        self.tally.took("tool_seconds", time.perf_counter() - began, tool, outcome)
        if self.tracer is not None:
            told: dict[str, SpanFact] = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": tool,
                "gen_ai.tool.call.id": call.call_id,
                "mnema.outcome": outcome,
            }
            error = "" if outcome == "done" else outcome
            name = f"execute_tool {tool}"
            self.tracer.emit(TraceSpan(name=name, trace=trace, when=elapsed_span(began), error=error, facts=told))

    def sent(self, row: OutboxRow, code: str, began: float) -> None:
        """One try to send a part is over. code: "ok", or see `code_of`."""
        self.tally.count("send_total", row.place.channel, code)
        if self.tracer is not None and row.trace_id:
            told: dict[str, SpanFact] = {
                "mnema.channel": row.place.channel,
                "mnema.kind": row.kind,
                "mnema.part": row.part_no + 1,
                "mnema.parts": row.parts,
                "mnema.attempt": row.attempts,
                "mnema.code": code,
            }
            span = TraceSpan(name="send", trace=row.trace_id, role="producer", when=elapsed_span(began), facts=told)
            self.tracer.emit(replace(span, error="" if code == "ok" else code))

    def limited(self, seconds: float) -> None:
        """A platform asked for a pause."""
        self.tally.took("ratelimited_seconds", seconds)

    def unknown(self, parts: int = 1) -> None:
        """Nobody knows whether these parts of answers arrived."""
        self.tally.count("outbox_unknown_total", by=parts)

    def fault(self, error: str) -> None:
        """A try to answer a message ended in an error of this machine, or of ours. error: its class."""
        self.tally.count("turn_faults_total", error)

    def denied(self) -> None:
        """Somebody asked for what they may not have."""
        self.tally.count("auth_denied_total")

    def repaired(self) -> None:
        """A history was not valid for models and had to be mended for the view."""
        self.tally.count("history_repairs_total")

    async def close(self) -> None:
        """Nothing more will happen: send the last spans."""
        if self.tracer is not None:
            await self.tracer.close()


def elapsed_span(began: float) -> tuple[int, int]:
    """From when to when, in unix nanoseconds, what ends now and began at that `time.perf_counter()`."""
    end = time.time_ns()
    return end - int((time.perf_counter() - began) * 1e9), end


def current_trace() -> str:
    """The trace of the row that this task works for, "" for none; see bot.telemetry.log.traced."""
    return str(structlog.contextvars.get_contextvars().get("trace", ""))
