"""One trace from inbox to outbox: the same ids in every process, every span ended, no text of a
person.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from structlog.testing import capture_logs

from bot.config.schema import Config
from bot.errors import Transient
from bot.models.base import Request
from bot.models.providers.offline import Script
from bot.telemetry.recorder import Telemetry, create_telemetry
from bot.telemetry.tracing import (
    FLUSH_SECONDS,
    HANDLE_SPAN,
    RECEIVE_SPAN,
    Tracer,
    _LoggingExporter,
    create_tracer,
    to_span_id,
    to_trace_id,
)
from channels.errors import Retryable
from channels.message import Capabilities
from channels.testing import ScriptedChannel as Channel
from memory.conversation import Text, ToolCall
from tests.bot.inside import Inside, inside
from tests.by_night import by_night
from tests.conventions.sources import ROOT
from tests.emulators.collector import Collector
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply
from tests.walk.harness import Bot, settings

SECRET = "zanzibar"  # what the person says, and the model to it: not to be found in any span


@asynccontextmanager
async def traced(
    folder: Path, script: Script, **others: Any
) -> AsyncIterator[tuple[Inside, InMemorySpanExporter]]:
    """A bot whose spans are collected in memory."""
    kept = InMemorySpanExporter()
    async with inside(folder, script, **others) as it:
        it.bot.telemetry.tracer = Tracer(SimpleSpanProcessor(kept))
        yield it, kept


async def trace_of(it: Inside) -> str:
    """Return the trace id of the only message from the store."""
    [line] = [
        line
        for line in await it.bot.store.sessions.lines(await it.conversation())
        if line.role == "user"
    ]
    row = await it.bot.store.delivery.inbox(line.id)
    assert row is not None
    return row.trace_id


def by_name(kept: InMemorySpanExporter) -> dict[str, Any]:
    spans = kept.get_finished_spans()
    assert len({span.name for span in spans}) == len(spans)
    return {span.name: span for span in spans}


def with_a_tool() -> Script:
    lines = iter(
        [[ToolCall(id="t1", name="list_files", input="{}")], [Text(text=f"{SECRET} at noon")]]
    )
    return lambda asked: next(lines)


async def test_a_message_with_a_tool_call_is_one_trace_with_the_right_parents(
    tmp_path: Path,
) -> None:
    async with traced(tmp_path, with_a_tool()) as (it, kept):
        await it.text(f"{SECRET}?", key="k1")
        await it.bot.settled()
        trace = await trace_of(it)
        spans = kept.get_finished_spans()
    assert [span.name for span in spans] == [
        "receive", "chat scripted", "execute_tool list_files", "chat scripted", "turn", "send"
    ]  # fmt: skip
    assert {span.context.trace_id for span in spans} == {to_trace_id(trace)}
    received, handled = to_span_id(trace, RECEIVE_SPAN), to_span_id(trace, HANDLE_SPAN)
    assert [span.parent.span_id if span.parent else 0 for span in spans] == [
        0, handled, handled, handled, received, handled
    ]  # fmt: skip
    assert (spans[0].context.span_id, spans[4].context.span_id) == (received, handled)
    assert len({span.context.span_id for span in spans}) == 6
    assert all(
        (span.start_time <= span.end_time and span.status.is_ok) or span.status.is_unset
        for span in spans
    )
    turn = spans[4]
    assert all(
        turn.start_time <= span.start_time and span.end_time <= turn.end_time for span in spans[1:4]
    )
    assert SECRET not in "".join(span.to_json() for span in spans)
    asked = spans[1].attributes
    assert (asked["gen_ai.operation.name"], asked["gen_ai.request.model"]) == ("chat", "scripted")
    assert asked["gen_ai.usage.output_tokens"] == 1
    assert spans[2].attributes["gen_ai.tool.call.id"] == "t1"
    assert spans[5].attributes["mnema.code"] == "ok"


async def test_a_turn_that_fails_ends_all_its_spans_and_says_so(tmp_path: Path) -> None:
    async with traced(tmp_path, [Transient("down"), "never"]) as (it, kept):
        await it.text("hello")
        await it.bot.settled()
        spans = by_name(kept)
    assert set(spans) == {"receive", "chat scripted", "turn", "send"}
    assert {name: spans[name].attributes.get("error.type") for name in spans} == {
        "receive": None, "chat scripted": "transient", "turn": "failed", "send": None
    }  # fmt: skip
    assert not spans["turn"].status.is_ok
    assert len({span.context.trace_id for span in spans.values()}) == 1


async def test_a_turn_that_is_stopped_ends_all_its_spans(tmp_path: Path) -> None:
    class Slow(Channel):
        def show(self, event: Any) -> None:
            super().show(event)
            if event.name == "delta":
                it.bot.stop_soon(conversation, "")

    conversation = ""
    async with traced(
        tmp_path,
        lambda asked: "a long story",
        channel=Slow("terminal", "local", Capabilities(live=True)),
    ) as (it, kept):
        await it.text("first")
        conversation = await it.conversation()
        kept.clear()
        await it.text("second")
        await it.bot.settled()
        spans = by_name(kept)
    assert spans["turn"].attributes["mnema.outcome"] == "cancelled"
    assert set(spans) == {"receive", "chat scripted", "turn", "send"}


async def test_tries_to_send_and_commands_stand_in_the_trace_too(tmp_path: Path) -> None:
    async with traced(tmp_path, lambda asked: "yes") as (it, kept):
        it.channel.fail(Retryable("429", retry_after=0.01))
        await it.text("/whoami", key="k1")
        await it.bot.settled()
        trace, spans = await trace_of(it), kept.get_finished_spans()
    assert [span.name for span in spans] == ["receive", "command", "send", "send"]
    assert [span.attributes.get("mnema.code") for span in spans[2:]] == ["rate_limited", "ok"]
    assert {span.parent.span_id for span in spans[2:]} == {to_span_id(trace, HANDLE_SPAN)}


async def test_what_another_life_goes_on_with_joins_the_same_trace(tmp_path: Path) -> None:
    """The first process ends during the second model call, the second one finishes the turn."""
    asked = asyncio.Event()

    async def first() -> tuple[Any, ...]:
        lines = iter([[ToolCall(id="t1", name="list_files", input="{}")]])

        def script(request: Request) -> Any:
            try:
                return next(lines)
            except StopIteration:
                asked.set()
                raise asyncio.CancelledError from None

        async with traced(tmp_path, script) as (it, kept):
            it.channel.hear("what time is it?", key="k1")
            await asked.wait()
        return kept.get_finished_spans()

    before = await first()
    kept = InMemorySpanExporter()
    heard = Channel(
        name="terminal",
        account="local",
        capabilities=Capabilities(live=True, keyed=True, key_valid=1e9),
    )
    async with inside(tmp_path, lambda request: "noon", channel=heard) as it:
        it.bot.telemetry.tracer = Tracer(SimpleSpanProcessor(kept))
        await it.channel.until(lambda: bool(it.channel.sent))
        await it.bot.settled()
        trace = await trace_of(it)
    after = kept.get_finished_spans()
    assert [span.name for span in before] == [
        "receive",
        "chat scripted",
        "execute_tool list_files",
        "chat scripted",
    ]
    assert [span.name for span in after] == ["chat scripted", "turn", "send"]
    assert {span.context.trace_id for span in (*before, *after)} == {to_trace_id(trace)}
    assert {span.parent.span_id for span in before[1:]} == {after[1].context.span_id}


async def test_a_real_bot_sends_one_trace_to_a_real_collector(tmp_path: Path) -> None:
    async with ModelEmulator() as model, Collector() as collector:
        model.script(
            [Reply(calls=(Call(name="list_files", input={}),)), Reply(text=f"{SECRET} at noon")]
        )
        bot = Bot(
            tmp_path / "home", settings(model.url, provider="openai", log={"otel": collector.url})
        )
        bot.extra = {"OTEL_BSP_SCHEDULE_DELAY": "50"}
        await bot.start()
        assert (await bot.web.send("c1", f"{SECRET}?", "k1")).status_code == 202
        got = await collector.until(lambda got: any(span.name == "send" for span in got))
        await bot.term()
    in_order = sorted(got, key=lambda span: span.end)
    assert [span.name.split()[0] for span in in_order] == [
        "receive",
        "chat",
        "execute_tool",
        "chat",
        "turn",
        "send",
    ]
    received, asked, ran, again, turn, sent = in_order
    assert {span.trace for span in got} == {received.trace}
    assert received.parent == ""
    assert turn.parent == received.span
    assert {asked.parent, ran.parent, again.parent, sent.parent} == {turn.span}
    assert [span.kind for span in in_order] == [
        "consumer",
        "client",
        "internal",
        "client",
        "internal",
        "producer",
    ]
    assert (asked.facts["gen_ai.provider.name"], ran.facts["gen_ai.tool.name"]) == (
        "openai",
        "list_files",
    )
    assert again.facts["gen_ai.response.finish_reasons"] == ["end"]
    assert again.resource["service.name"] == "mnema"
    assert SECRET not in json.dumps([span.facts for span in got])


@pytest.mark.parametrize("how", [{"refuse": True}, {"silent": True}])
async def test_a_collector_that_is_unwell_holds_nothing_up(
    tmp_path: Path, how: dict[str, bool]
) -> None:
    async with Collector(**how) as collector, inside(tmp_path, lambda asked: "yes") as it:
        it.bot.telemetry.tracer = create_tracer(collector.url)
        assert await it.text("hello") == "yes"
        began = time.perf_counter()
        await it.bot.telemetry.close()
        assert time.perf_counter() - began < FLUSH_SECONDS + 1


async def test_a_collector_that_goes_and_comes_is_told_of_once_each() -> None:
    class Moody:
        result = SpanExportResult.FAILURE

        def export(self, spans: object) -> SpanExportResult:
            return self.result

    with capture_logs() as lines:
        moody = Moody()
        telling = _LoggingExporter(moody)
        for result in (
            SpanExportResult.FAILURE,
            SpanExportResult.FAILURE,
            SpanExportResult.SUCCESS,
        ):
            moody.result = result
            assert telling.export([]) is result
    assert [line["event"] for line in lines] == [
        "the collector takes no spans, they are lost", "the collector takes spans again"
    ]  # fmt: skip


async def test_standard_variables_are_heeded_and_off_is_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert create_telemetry(Config()).tracer is None
    async with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "our bot")
        telemetry = create_telemetry(Config())
        telemetry.row_handled("t", "command", time.perf_counter())
        await telemetry.close()
        assert [(span.name, span.resource["service.name"]) for span in collector.got] == [
            ("command", "our bot")
        ]
        monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
        assert create_telemetry(Config()).tracer is None


@pytest.mark.parametrize("sampler", ["traceidratio", "parentbased_traceidratio"])
async def test_a_share_of_traces_is_whole_traces(
    monkeypatch: pytest.MonkeyPatch, sampler: str
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", sampler)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    kept = InMemorySpanExporter()
    telemetry = Telemetry(tracer=Tracer(SimpleSpanProcessor(kept)))
    for number in range(200):
        telemetry.row_handled(str(number), "command", 0.0)
        telemetry.turn_ended(str(number), "done", 0.0, {})
    traces = [span.context.trace_id for span in kept.get_finished_spans()]
    assert 50 < len(set(traces)) < 150
    assert {traces.count(trace) for trace in traces} == {2}


def test_a_missing_extra_is_one_sentence() -> None:
    code = (
        "import sys; sys.modules['opentelemetry.sdk'] = None\n"
        "from bot.config.schema import Config, LogConfig; from bot.telemetry.recorder import "
        "create_telemetry\nfrom bot.errors import ConfigError\n"
        "try: create_telemetry(Config(log=LogConfig(otel='http://127.0.0.1:4318')))\n"
        "except ConfigError as err: print(err)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60
    )
    assert re.fullmatch(
        r"log\.otel is set, but OpenTelemetry is not installed; install it with: "
        r"(make -C \S+ extras NAME=otel|mnema extras add otel), "
        r'or set log\.otel to ""\n',
        ran.stdout,
    ), ran.stderr


@by_night
def test_nothing_of_the_sdk_is_imported_where_tracing_is_off() -> None:
    code = (
        "import sys, bot.cli.run, bot.runtime.bot, bot.console.services, bot.cli.chat, "
        "bot.config.schema\nfrom bot.telemetry.recorder import create_telemetry; "
        "create_telemetry(bot.config.schema.Config())\nprint([name for name in sys.modules if "
        "name.startswith('opentelemetry')])\n"
    )
    known = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=known,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert ran.stdout == "[]\n", ran.stderr


@given(st.text(max_size=40), st.text(max_size=40))
def test_ids_are_of_the_right_size_and_never_zero(trace: str, other: str) -> None:
    assert 0 < to_trace_id(trace) < 2**128
    assert 0 < to_span_id(trace, RECEIVE_SPAN) < 2**64
    assert to_span_id(trace, RECEIVE_SPAN) != to_span_id(trace, HANDLE_SPAN)
    assert (trace == other) == (to_trace_id(trace) == to_trace_id(other))
