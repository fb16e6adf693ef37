"""Counts, times and traces what happens to messages; called where it happens."""

import os
import re
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import structlog

from bot.config.extras import install_command
from bot.config.schema import Config
from bot.errors import ConfigError
from bot.telemetry.metrics import MetricStore
from bot.telemetry.tracing import (
    HANDLE_SPAN,
    RECEIVE_SPAN,
    SpanFact,
    Tracer,
    TraceSpan,
    create_tracer,
)
from channels.errors import (
    Ambiguous,
    AwaitsUser,
    BadFormat,
    ChannelError,
    ChatMoved,
    LoggedOut,
    Rejected,
    Retryable,
)
from memory.store.rows import AcceptedRow, CallRow, NewInboxRow, OutboxRow

log = structlog.get_logger(__name__)
ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
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
    """Convert a class name to a label: RateLimited to rate_limited."""
    return _WORD_BOUNDARY.sub("_", name).lower()


def send_error_code(err: Exception) -> str:
    """Return the metric label of a failed send."""
    if isinstance(err, Retryable) and not isinstance(err, AwaitsUser):
        return "retryable" if err.retry_after is None else "rate_limited"
    unlisted = "refused" if isinstance(err, ChannelError) else "broken"
    return next((code for kind, code in _ERROR_CODES.items() if isinstance(err, kind)), unlisted)


# When each step of the newest messages began and ended, in memory: what a waterfall is drawn from.

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


class Telemetry:
    """Metrics and spans of one process. Every `began` is a `time.perf_counter()`.

    Args:
        tracer: None while tracing is off; recording then costs one count.
    """

    def __init__(self, tally: MetricStore | None = None, tracer: Tracer | None = None) -> None:
        self.tally = tally or MetricStore()
        self.tracer = tracer
        self.spans = SpanLog()

    def messages_received(
        self,
        channel: str,
        arrivals: Sequence[NewInboxRow],
        rows: Sequence[AcceptedRow],
        began: float,
    ) -> None:
        """Record messages whose inbox rows are committed."""
        self.tally.observe("ack_seconds", time.perf_counter() - began)
        for arrival, row in zip(arrivals, rows, strict=True):
            self.tally.count("updates_total", channel, "false" if row.new else "true")
            if row.new:
                self._add_span(row.trace_id, "receive", channel, began)
            if self.tracer is not None and row.new:
                self.tracer.emit(
                    TraceSpan(
                        name="receive",
                        trace=row.trace_id,
                        itself=RECEIVE_SPAN,
                        parent="",
                        role="consumer",
                        when=elapsed_span(began),
                        facts={
                            "mnema.channel": channel,
                            "mnema.kind": arrival.kind,
                            "mnema.state": row.state,
                        },
                    )
                )

    def stage_ended(self, trace: str, kind: SpanKind, began: float) -> None:
        """Record a step of a message that is no request: its claim, the recall of memories, the
        store of its reply.
        """
        self._add_span(trace, kind, "", began)

    def row_handled(self, trace: str, name: str, began: float) -> None:
        """Record an inbox row that ended without a turn. name: "command" or "refusal"."""
        if self.tracer is not None:
            self.tracer.emit(
                TraceSpan(
                    name=name,
                    trace=trace,
                    itself=HANDLE_SPAN,
                    parent=RECEIVE_SPAN,
                    when=elapsed_span(began),
                )
            )

    def turn_ended(
        self, trace: str, outcome: str, began: float, facts: Mapping[str, SpanFact]
    ) -> None:
        """Record a finished turn. outcome: its final state."""
        self.tally.observe("turn_seconds", time.perf_counter() - began)
        self._add_span(trace, "turn", "", began, error="" if outcome == "done" else outcome)
        if self.tracer is not None:
            self.tracer.emit(
                TraceSpan(
                    name="turn",
                    trace=trace,
                    itself=HANDLE_SPAN,
                    parent=RECEIVE_SPAN,
                    when=elapsed_span(began),
                    error=outcome if outcome in ("failed", "interrupted") else "",
                    facts={"mnema.outcome": outcome, **facts},
                )
            )

    def model_called(
        self,
        model: str,
        outcome: str,
        began: float,
        facts: Mapping[str, SpanFact],
        trace: str = "",
        *,
        first: float = 0.0,
        tokens: tuple[int, ...] = (),
    ) -> None:
        """Record a model request.

        Args:
            outcome: "ok", "stopped", or the error's label.
            trace: "" if it belongs to no message; then there is no span.
            first: when its first words came, as `began`; 0.0 for none.
            tokens: in, out, and in from the cache.
        """
        self.tally.count("llm_requests_total", model, outcome)
        if trace:
            self._add_span(
                trace,
                "model",
                model,
                began,
                first=first,
                error="" if outcome == "ok" else outcome,
                tokens=tokens,
            )
        if self.tracer is not None and trace:
            self.tracer.emit(
                TraceSpan(
                    name=f"chat {model}",
                    trace=trace,
                    role="client",
                    when=elapsed_span(began),
                    error="" if outcome == "ok" else outcome,
                    facts={"gen_ai.operation.name": "chat", "gen_ai.request.model": model, **facts},
                )
            )

    def tool_called(self, call: CallRow, tool: str, outcome: str, began: float, trace: str) -> None:
        """Record a tool call.

        Args:
            tool: name of a known tool; a name that the model made up must not become a label.
            outcome: its final state.
        """
        self.tally.observe("tool_seconds", time.perf_counter() - began, tool, outcome)
        self._add_span(trace, "tool", tool, began, error="" if outcome == "done" else outcome)
        if self.tracer is not None:
            facts: dict[str, SpanFact] = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": tool,
                "gen_ai.tool.call.id": call.call_id,
                "mnema.outcome": outcome,
            }
            error = "" if outcome == "done" else outcome
            name = f"execute_tool {tool}"
            self.tracer.emit(
                TraceSpan(
                    name=name, trace=trace, when=elapsed_span(began), error=error, facts=facts
                )
            )

    def part_sent(self, row: OutboxRow, code: str, began: float) -> None:
        """Record one attempt to send a part. code: "ok", or of `send_error_code`."""
        self.tally.count("send_total", row.place.channel, code)
        if row.trace_id:
            self._add_span(
                row.trace_id, "send", row.place.channel, began, error="" if code == "ok" else code
            )
        if self.tracer is not None and row.trace_id:
            facts: dict[str, SpanFact] = {
                "mnema.channel": row.place.channel,
                "mnema.kind": row.kind,
                "mnema.part": row.part_no + 1,
                "mnema.parts": row.parts,
                "mnema.attempt": row.attempts,
                "mnema.code": code,
            }
            self.tracer.emit(
                TraceSpan(
                    name="send",
                    trace=row.trace_id,
                    role="producer",
                    when=elapsed_span(began),
                    error="" if code == "ok" else code,
                    facts=facts,
                )
            )

    def rate_limited(self, seconds: float) -> None:
        """Record a pause that a platform requested."""
        self.tally.observe("ratelimited_seconds", seconds)

    def outcome_unknown(self, parts: int = 1) -> None:
        """Count parts that may or may not have arrived."""
        self.tally.count("outbox_unknown_total", by=parts)

    def turn_failed(self, error: str) -> None:
        """Count an attempt to answer that failed by an error of this machine or of mnema. error:
        its class.
        """
        self.tally.count("turn_faults_total", error)

    def job_fired(self, kind: str, state: str, late: float) -> None:
        """Count a due moment of a reminder or task, and how many seconds after it that was
        stored.
        """
        self.tally.count("jobs_fired_total", kind, state)
        self.tally.observe("job_lag_seconds", late)

    def command_ended(self, outcome: str) -> None:
        """Count a command: done, failed (exit code), limit, stopped, or refused (not run)."""
        self.tally.count("exec_total", outcome)

    def beat(self, decision: str) -> None:
        """Count a look of the heartbeat. decision: "skipped" where the model was not asked."""
        self.tally.count("beats_total", decision)

    def access_denied(self) -> None:
        """Count an action that was not allowed."""
        self.tally.count("auth_denied_total")

    def history_repaired(self) -> None:
        """Count a request whose history had to be repaired to be valid."""
        self.tally.count("history_repairs_total")

    def _add_span(
        self,
        trace: str,
        kind: SpanKind,
        name: str,
        began: float,
        *,
        first: float = 0.0,
        error: str = "",
        tokens: tuple[int, ...] = (),
    ) -> None:
        offset = time.time() - time.perf_counter()
        moments = (offset + began, time.time(), offset + first if first else 0.0)
        self.spans.add(trace, Span(kind, name, *moments, error, *tokens))

    async def close(self) -> None:
        """Export the last spans."""
        if self.tracer is not None:
            await self.tracer.close()


def create_telemetry(config: Config) -> Telemetry:
    """Create the telemetry, with a tracer if `log.otel` or OpenTelemetry's variables name a
    collector.

    Raises:
        ConfigError: `log.otel` is set and the extra is not installed.
    """
    by_environment = (
        any(os.environ.get(name) for name in ENDPOINT_VARIABLES)
        and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
    )
    if not config.log.otel and not by_environment:
        return Telemetry()
    try:
        return Telemetry(tracer=create_tracer(config.log.otel))
    except ImportError as err:
        why = f"OpenTelemetry is not installed; install it with: {install_command('otel')}"
        if config.log.otel:
            raise ConfigError(f'log.otel is set, but {why}, or set log.otel to ""') from err
        log.warning("tracing is off", why=why)  # the variables may be meant for other programs
        return Telemetry()


def elapsed_span(began: float) -> tuple[int, int]:
    """Return start and end, in unix nanoseconds, of what began at that `time.perf_counter()` and
    ends now.
    """
    end = time.time_ns()
    return end - int((time.perf_counter() - began) * 1e9), end


def current_trace() -> str:
    """Return the trace id that `bind_trace` has set for this task, "" for none."""
    return str(structlog.contextvars.get_contextvars().get("trace", ""))
