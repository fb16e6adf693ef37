"""Spans on their way to a collector, by OpenTelemetry's SDK; nothing of it is imported where tracing is off."""

import asyncio
import logging
import os
import random
import threading
from contextlib import suppress
from typing import Any

import structlog

from bot.config.extras import install_command
from bot.config.schema import Config
from bot.errors import ConfigError
from bot.telemetry.recorder import Telemetry
from bot.telemetry.tracing import RECEIVE_SPAN, Tracer, TraceSpan, to_span_id, to_trace_id

log = structlog.get_logger(__name__)
FLUSH_SECONDS = 3.0  # seconds that the end of the program waits for a collector
TRACES_PATH = "/v1/traces"
ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def create_telemetry(config: Config) -> Telemetry:
    """The ear of a bot: with a tracer where `log.otel` or OpenTelemetry's own variables ask for one.

    Raises:
        ConfigError: `log.otel` is set and the extra is not installed.
    """
    told = (
        any(os.environ.get(name) for name in ENDPOINT_VARIABLES)
        and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
    )
    if not config.log.otel and not told:
        return Telemetry()
    try:
        return Telemetry(tracer=create_tracer(config.log.otel))
    except ImportError as err:
        if config.log.otel:
            raise ConfigError(f'log.otel is set, but {_not_installed()}, or set log.otel to ""') from err
        log.warning("tracing is off", why=_not_installed())  # the variables may be there for other programs
        return Telemetry()


def _not_installed() -> str:
    return f"OpenTelemetry is not installed; install it with: {install_command('otel')}"


def create_tracer(endpoint: str) -> Tracer:
    """A tracer that sends to that address in the background. endpoint: "" takes what the variables say.

    Raises:
        ImportError: the extra is not installed.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    whole = (
        endpoint if not endpoint or endpoint.rstrip("/").endswith(TRACES_PATH) else endpoint.rstrip("/") + TRACES_PATH
    )
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # it tells of every try; see _LoggingExporter
    exporter: Any = _LoggingExporter(OTLPSpanExporter(endpoint=whole or None))
    return SdkTracer(BatchSpanProcessor(exporter))


class _LoggingExporter:
    """An exporter that says once that spans are not taken, and once that they are again; called from its thread."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter
        self._well = True

    def export(self, spans: Any) -> Any:
        """Send them; what cannot be sent is lost."""
        result = self._exporter.export(spans)
        well = result.name == "SUCCESS"
        if well != self._well:
            log.warning("the collector takes spans again" if well else "the collector takes no spans, they are lost")
        self._well = well
        return result

    def shutdown(self) -> None:
        """Give up what is on its way."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 0) -> bool:
        """Nothing waits here."""
        return True


class _FixedIdGenerator:
    """Gives the SDK the ids of the span that is made now."""

    def __init__(self) -> None:
        self.trace = 0
        self.span = 0

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span

    def is_trace_id_random(self) -> bool:
        """It is a hash: its bits are as good as random ones for samplers that take a share."""
        return True


class SdkTracer:
    """A Tracer on a provider of its own: nothing global is set, so no library's spans or texts get into it.

    processor: of the SDK, what spans go through when they are over.
    """

    def __init__(self, processor: Any) -> None:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        self._trace = trace
        self._ids = _FixedIdGenerator()
        known = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "mnema"), "service.instance.id": str(os.getpid())}
        resource = Resource.create(known)
        ids: Any = self._ids
        self._provider: Any = TracerProvider(resource=resource, id_generator=ids, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("mnema")

    def emit(self, span: TraceSpan) -> None:
        """See Tracer.emit."""
        trace = self._trace
        self._ids.trace = to_trace_id(span.trace)
        self._ids.span = to_span_id(span.trace, span.itself) if span.itself else random.getrandbits(64) or 1
        made = self._tracer.start_span(
            span.name,
            context=self._under(span),
            kind=trace.SpanKind[span.role.upper()],
            attributes={**span.facts, "mnema.trace": span.trace},
            start_time=span.when[0],
        )
        if span.error:
            made.set_attribute("error.type", span.error)
            made.set_status(trace.Status(trace.StatusCode.ERROR))
        made.end(span.when[1])

    async def close(self) -> None:
        """See Tracer.close."""
        over, loop = asyncio.Event(), asyncio.get_running_loop()

        def end() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # nobody waits any more
                loop.call_soon_threadsafe(over.set)

        threading.Thread(target=end, name="last spans", daemon=True).start()  # an executor's would be waited for
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await over.wait()

    def _under(self, span: TraceSpan) -> Any:
        """The parent, as if it had come from elsewhere: it is sampled if its trace is, whoever asks."""
        trace = self._trace
        if not span.parent:
            return trace.set_span_in_context(trace.INVALID_SPAN)
        number = to_trace_id(span.trace)
        sampled = self._provider.sampler.should_sample(None, number, RECEIVE_SPAN).decision.is_sampled()
        parent = trace.SpanContext(
            trace_id=number,
            span_id=to_span_id(span.trace, span.parent),
            is_remote=True,
            trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED if sampled else trace.TraceFlags.DEFAULT),
        )
        return trace.set_span_in_context(trace.NonRecordingSpan(parent))
