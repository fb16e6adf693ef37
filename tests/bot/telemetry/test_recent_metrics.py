"""Figures of the last day and spans of the newest messages: right, and bounded."""

import pytest

from bot.telemetry.metrics import MetricStore
from bot.telemetry.recent_metrics import MAX_CHANNELS, MINUTES, RecentMetrics
from bot.telemetry.recorder import MAX_SPANS, MAX_TRACE_SPANS, Span, SpanLog


async def test_a_minute_has_what_happened_in_it_and_the_ring_never_grows() -> None:
    counters, depths = MetricStore(), [2, 0]

    async def load() -> tuple[int, int]:
        return depths[0], depths[1]

    recent = RecentMetrics(counters, load, lambda: 0.25)
    counters.observe("turn_seconds", 3.0)
    counters.observe("turn_seconds", 5.0)
    counters.count("llm_requests_total", "m", "ok")
    counters.count("llm_requests_total", "m", "overloaded")
    counters.count("send_total", "telegram", "rejected")
    await recent.sample()
    depths[0] = 7
    await recent.sample()
    columns = recent.columns()
    assert {name: values[-2:] for name, values in columns.items()} == {
        "queue": [2.0, 7.0],
        "unsent": [0.0, 0.0],
        "turns": [2.0, 0.0],
        "turn_seconds": [4.0, None],
        "model_errors": [1.0, 0.0],
        "send_errors": [1.0, 0.0],
        "faults": [0.0, 0.0],
        "lag": [0.25, 0.25],
    }
    assert columns["queue"][:-2] == [None] * (MINUTES - 2)
    for _ in range(MINUTES - 1):
        await recent.sample()
    assert recent.columns()["queue"] == [7.0] * MINUTES


async def test_each_channel_has_a_day_of_phases_and_only_so_many_channels_have_one() -> None:
    phases = {"telegram": "up"}

    async def load() -> tuple[int, int]:
        return 0, 0

    recent = RecentMetrics(MetricStore(), load, lambda: 0.0, lambda: phases)
    for phase in ("up", "up", "down", "up"):
        phases["telegram"] = phase
        await recent.sample()
    assert recent.channels() == {"telegram": [("", MINUTES - 4), ("up", 2), ("down", 1), ("up", 1)]}
    phases["wechat"] = phases.pop("telegram")
    for _ in range(MINUTES):
        await recent.sample()
    assert recent.channels() == {"telegram": [("", MINUTES)], "wechat": [("up", MINUTES)]}
    phases |= {f"c{number}": "up" for number in range(MAX_CHANNELS)}
    await recent.sample()
    assert len(recent.channels()) == MAX_CHANNELS


def test_the_oldest_messages_make_room_for_new_ones() -> None:
    spans = SpanLog()
    for number in range(MAX_SPANS + 1):
        spans.add(f"t{number // 2}", Span("tool", "x", float(-number), 0.0))
    assert spans.of("t0") == ()
    assert [span.start for span in spans.of("t1")] == [-3.0, -2.0]
    one = SpanLog()
    for _ in range(MAX_TRACE_SPANS + 1):
        one.add("t", Span("tool", "x", 0.0, 1.0))
    assert len(one.of("t")) == MAX_TRACE_SPANS


@pytest.mark.parametrize("trace", ["", "unknown"])
def test_an_unknown_message_has_no_spans(trace: str) -> None:
    assert SpanLog().of(trace) == ()
