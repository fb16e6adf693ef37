"""Spans of a message, exported by OpenTelemetry's SDK, which is imported only when tracing is
on.
"""

import asyncio
import hashlib
import logging
import os
import random
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import structlog

log = structlog.get_logger(__name__)
Role = Literal["consumer", "internal", "client", "producer"]
# The two spans that others have as parent. Their ids are computed from the trace id, so that a
# process can name a parent that another process has recorded.
RECEIVE_SPAN, HANDLE_SPAN = "receive", "handle"
SpanFact = str | int | float | bool | tuple[str, ...]
FLUSH_SECONDS = 3.0  # how long the end of the program waits for the collector
TRACES_PATH = "/v1/traces"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """A finished operation."""

    name: str
    #: The stored trace id.
    trace: str
    #: RECEIVE_SPAN or HANDLE_SPAN for these two; "" gives it a random id.
    itself: str = ""
    #: RECEIVE_SPAN, HANDLE_SPAN, or "" for the root of the trace.
    parent: str = HANDLE_SPAN
    role: Role = "internal"
    #: Start and end, unix nanoseconds.
    when: tuple[int, int]
    #: Type of the error, "" for success.
    error: str = ""
    #: Attributes; never text that a person wrote.
    facts: Mapping[str, SpanFact] = field(default_factory=dict)


def to_trace_id(trace: str) -> int:
    """Compute the 128-bit OpenTelemetry id of a stored trace id."""
    return _hash_to_int(trace, 16)


def to_span_id(trace: str, itself: str) -> int:
    """Compute the 64-bit id of a trace's RECEIVE_SPAN or HANDLE_SPAN."""
    return _hash_to_int(f"{trace}:{itself}", 8)


def _hash_to_int(text: str, size: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "big") or 1


def create_tracer(endpoint: str) -> "Tracer":
    """Create a tracer that exports in a background thread.

    Args:
        endpoint: URL of the collector; "" takes it from OpenTelemetry's environment variables.

    Raises:
        ImportError: the extra `otel` is not installed.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if endpoint and not endpoint.rstrip("/").endswith(TRACES_PATH):
        endpoint = endpoint.rstrip("/") + TRACES_PATH
    # it logs each failed try; see _LoggingExporter
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    exporter: Any = _LoggingExporter(OTLPSpanExporter(endpoint=endpoint or None))
    return Tracer(BatchSpanProcessor(exporter))


class _LoggingExporter:
    """Logs once when the collector stops taking spans, and once when it takes them again."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter
        self._well = True

    def export(self, spans: Any) -> Any:
        """Send the spans; those that cannot be sent are lost."""
        result = self._exporter.export(spans)
        well = result.name == "SUCCESS"
        if well != self._well:
            log.warning(
                "the collector takes spans again"
                if well
                else "the collector takes no spans, they are lost"
            )
        self._well = well
        return result

    def shutdown(self) -> None:
        """Abort a running export."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 0) -> bool:
        """Return True: this exporter has no buffer."""
        return True


class _FixedIdGenerator:
    """Gives the SDK the ids of the span that is created now."""

    def __init__(self) -> None:
        self.trace = 0
        self.span = 0

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span

    def is_trace_id_random(self) -> bool:
        """Return True: the bits of a hash serve samplers as well as random ones."""
        return True


class Tracer:
    """Records spans with its own provider, so that no library's spans, which may hold text, are
    exported.

    Args:
        processor: the SDK's span processor.
    """

    def __init__(self, processor: Any) -> None:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        self._trace = trace
        self._ids = _FixedIdGenerator()
        service = {
            "service.name": os.environ.get("OTEL_SERVICE_NAME", "mnema"),
            "service.instance.id": str(os.getpid()),
        }
        ids: Any = self._ids
        self._provider: Any = TracerProvider(
            resource=Resource.create(service), id_generator=ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("mnema")

    def emit(self, span: TraceSpan) -> None:
        """Queue a span; returns at once and never raises for an unreachable collector."""
        trace = self._trace
        self._ids.trace = to_trace_id(span.trace)
        self._ids.span = (
            to_span_id(span.trace, span.itself) if span.itself else random.getrandbits(64) or 1
        )
        recorded = self._tracer.start_span(
            span.name,
            context=self._parent_context(span),
            kind=trace.SpanKind[span.role.upper()],
            attributes={**span.facts, "mnema.trace": span.trace},
            start_time=span.when[0],
        )
        if span.error:
            recorded.set_attribute("error.type", span.error)
            recorded.set_status(trace.Status(trace.StatusCode.ERROR))
        recorded.end(span.when[1])

    async def close(self) -> None:
        """Export what is queued, for at most FLUSH_SECONDS."""
        done, loop = asyncio.Event(), asyncio.get_running_loop()

        def shut_down() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # the loop has stopped waiting
                loop.call_soon_threadsafe(done.set)

        # A daemon thread: the interpreter would wait for an executor's at exit.
        threading.Thread(target=shut_down, name="last spans", daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await done.wait()

    def _parent_context(self, span: TraceSpan) -> Any:
        """Build the parent as a remote one, with a sampling decision that is the same in every
        process.
        """
        trace = self._trace
        if not span.parent:
            return trace.set_span_in_context(trace.INVALID_SPAN)
        trace_id = to_trace_id(span.trace)
        sampled = self._provider.sampler.should_sample(
            None, trace_id, RECEIVE_SPAN
        ).decision.is_sampled()
        parent = trace.SpanContext(
            trace_id=trace_id,
            span_id=to_span_id(span.trace, span.parent),
            is_remote=True,
            trace_flags=trace.TraceFlags(
                trace.TraceFlags.SAMPLED if sampled else trace.TraceFlags.DEFAULT
            ),
        )
        return trace.set_span_in_context(trace.NonRecordingSpan(parent))
