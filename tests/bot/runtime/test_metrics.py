"""Metrics report the store and the process; a parser of another project reads them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from bot.console.site import attach_console
from bot.errors import RateLimited, Transient
from bot.gateway.channel_status import ChannelStatus
from bot.models.providers.offline import Script
from bot.runtime.metrics import REFRESH_SECONDS, MetricsCollector
from bot.telemetry.metrics import (
    BUCKETS,
    MAX_SERIES,
    METRIC_TABLE,
    OTHER_LABEL,
    Metric,
    MetricStore,
    format_exposition,
)
from channels.errors import Ambiguous, Retryable
from channels.testing import ScriptedChannel as Channel
from memory.conversation import Text, ToolCall
from memory.store.open import open_store
from memory.store.store import Store
from tests.bot.inside import Inside, inside
from tests.channels.web.server import ScriptedBot, running
from tests.contracts.store_words import arrival, begin, folded, oldest, parts, reply, talk

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
# Every metric of INVARIANTS.md, section 6.
NAMES = (
    *(
        "inbox_depth",
        "inbox_oldest_age_s",
        "updates_total",
        "ack_seconds",
        "turns_total",
        "turn_seconds",
    ),
    *("outbox_depth", "outbox_unknown_total", "send_total", "ratelimited_seconds", "channel_up"),
    *(
        "channel_last_ok_age_s",
        "llm_requests_total",
        "llm_tokens_total",
        "llm_cost_total",
        "tool_seconds",
    ),
    *(
        "folds_total",
        "ledger_faults_total",
        "history_repairs_total",
        "prefix_breaks_total",
        "db_busy_total",
    ),
    *("db_bytes", "wal_bytes", "disk_free_bytes", "auth_denied_total", "loop_lag_seconds"),
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    held = await open_store(tmp_path / "m.db")
    yield held
    await held.close()


def of(
    store: Store, folder: Path, clock: Callable[[], float] = lambda: 0.0, **states: ChannelStatus
) -> MetricsCollector:
    return MetricsCollector(
        store=store,
        root=folder,
        started=NOON,
        counters=MetricStore(),
        channels=lambda: states,
        servers=lambda: {"files": True, "web": False},
        lag=lambda: 0.25,
        clock=clock,
    )


def samples(text: str) -> dict[str, float]:
    """The values by name and labels, as prometheus-client reads them."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert family.type in ("counter", "gauge", "histogram")
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            key = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert key not in found
            found[key] = sample.value
    return found


async def told(it: Inside) -> dict[str, float]:
    """All figures of a bot now, totals counted anew."""
    it.bot.metrics._totals.next_at = 0.0
    found = samples(await it.bot.metrics.text())
    return {name.removeprefix("mnema_"): value for name, value in found.items()}


async def test_every_metric_is_told_even_before_anything_has_happened(
    store: Store, tmp_path: Path
) -> None:
    text = await of(store, tmp_path).text()
    typed = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
    assert {f"mnema_{name}" for name in NAMES} <= typed
    assert {f"mnema_{known.name}" for known in METRIC_TABLE} <= typed
    known = samples(text)
    counters = [
        f"mnema_{one.name}" for one in METRIC_TABLE if one.kind == "counter" and not one.labels
    ]
    assert {known[name] for name in counters} == {0}


async def test_the_figures_are_those_of_the_record(store: Store, tmp_path: Path) -> None:
    metrics = of(store, tmp_path)
    empty = samples(await metrics.text())
    assert {
        empty[f"mnema_{name}"]
        for name in ("ledger_faults", "folds_open", "inbox_depth", "outbox_depth")
    } == {0}
    assert empty["mnema_conversations"] == 0
    home = await talk(store, "1", "2", "3", "4", chat="a")
    await folded(store, home, 1)
    await folded(store, home, 1)
    await store.folds.undo(home)
    await store.folds.plan(oldest(await store.sessions.load(home), 1))
    turn = await begin(store, "5", chat="b")
    await store.delivery.finish(turn, "done", reply(), parts("one", "two"))
    await begin(store, "6", chat="b")
    await store.delivery.accept([arrival("7")])
    known = samples(await metrics.text())
    assert {
        name: known[f"mnema_{name}"] for name in ("folds_open", "inbox_depth", "outbox_depth")
    } == {
        "folds_open": 1,
        "inbox_depth": 2,
        "outbox_depth": 2,
    }
    assert 0 < known["mnema_inbox_oldest_age_s"] < 60
    assert known["mnema_folds_total{method=extract,outcome=folded}"] == 1
    assert known["mnema_folds_total{method=extract,outcome=undone}"] == 1
    assert known["mnema_turns_total{outcome=done}"] == 5
    assert known["mnema_turns_total{outcome=failed}"] == 0
    assert known["mnema_conversations"] == 3
    assert known["mnema_prefix_breaks_total{reason=fold}"] == 2
    assert known["mnema_prefix_breaks_total{reason=fold undone}"] == 1
    assert known["mnema_db_bytes"] > 0
    assert known["mnema_wal_bytes"] > 0
    assert known["mnema_disk_free_bytes"] > 0
    assert known["mnema_loop_lag_seconds"] == 0.25
    assert known["process_start_time_seconds"] == NOON.timestamp()
    assert known["process_cpu_seconds_total"] > 0


async def test_I36_a_fault_shows_at_the_next_look_and_looks_are_seldom(
    store: Store, tmp_path: Path
) -> None:
    now = 0.0
    metrics = of(store, tmp_path, lambda: now)
    home = await talk(store, "1", "2")
    await folded(store, home, 1)
    assert samples(await metrics.text())["mnema_ledger_faults"] == 0
    with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as outside:
        kept = outside.execute("SELECT * FROM coverage").fetchall()
        outside.execute("DELETE FROM coverage")
        now = REFRESH_SECONDS - 1
        assert samples(await metrics.text())["mnema_ledger_faults"] == 0
        now = REFRESH_SECONDS
        texts = await asyncio.gather(*(metrics.text() for _ in range(5)))
        assert {samples(text)["mnema_ledger_faults"] for text in texts} == {2}
        outside.executemany("INSERT INTO coverage VALUES (?, ?, ?)", kept)
    now = 2 * REFRESH_SECONDS
    healed = samples(await metrics.text())
    assert (healed["mnema_ledger_faults"], healed["mnema_ledger_faults_total"]) == (0, 2)


async def test_a_record_that_takes_long_to_read_is_read_more_seldom(
    store: Store, tmp_path: Path
) -> None:
    ticks = iter([0.0, 0.0, 10.0, 10.0, 10.0, 12.0])
    now = 12.0
    metrics = of(store, tmp_path, lambda: next(ticks, now))
    await metrics.text()
    assert (metrics._ledger.next_at, metrics._totals.next_at) == (1_010.0, 212.0)
    now = 211.0
    await metrics.text()
    assert (metrics._ledger.next_at, metrics._totals.next_at) == (1_010.0, 212.0)
    now = 1_010.0
    await metrics.text()
    assert (metrics._ledger.next_at, metrics._totals.next_at) == (
        1_010.0 + REFRESH_SECONDS,
        1_010.0,
    )


async def test_channels_are_up_or_not_and_heard_some_time_ago(store: Store, tmp_path: Path) -> None:
    heard = datetime.now(UTC).timestamp() - 40
    states = {
        "wechat": ChannelStatus(name="wechat", phase="deaf", since=0.0, last_contact=heard),
        "web": ChannelStatus(name="web", phase="up", since=0.0),
    }
    known = samples(await of(store, tmp_path, **states).text())
    assert (known["mnema_channel_up{channel=wechat}"], known["mnema_channel_up{channel=web}"]) == (
        0,
        1,
    )
    assert 40 <= known["mnema_channel_last_ok_age_s{channel=wechat}"] < 50
    assert "mnema_channel_last_ok_age_s{channel=web}" not in known


async def test_a_turn_with_a_tool_moves_what_tells_of_it(tmp_path: Path) -> None:
    script = iter([[ToolCall(id="t1", name="list_files", input="{}")], [Text(text="noon")]])
    async with inside(tmp_path, lambda asked: next(script)) as it:
        before = await told(it)
        assert await it.text("what time is it?") == "noon"
        await it.bot.settled()
        after = await told(it)
    moved = {name for name, value in after.items() if value != before.get(name)}
    assert moved >= {
        "updates_total{channel=terminal,dup=false}",
        "ack_seconds_count",
        "ack_seconds_sum",
        "turns_total{outcome=done}",
        "turn_seconds_count",
        "send_total{channel=terminal,code=ok}",
        "llm_requests_total{model=scripted,outcome=ok}",
        "llm_tokens_total{kind=input}",
        "llm_tokens_total{kind=output}",
        "tool_seconds_count{outcome=done,tool=list_files}",
    }


async def test_a_repeat_is_counted_as_one(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda asked: "yes") as it:
        message = it.channel.hear("once", key="k1")
        await it.answer("k1")
        it.channel.redeliver(message)
        await it.channel.until(lambda: it.channel.confirmed.count("k1") == 2)
        assert (await told(it))["updates_total{channel=terminal,dup=true}"] == 1


async def test_a_model_that_fails_is_counted_by_how_it_failed(tmp_path: Path) -> None:
    failures: Script = [Transient("down"), RateLimited("slower", retry_after=None)]
    async with inside(tmp_path, failures) as it:
        await it.text("one")
        await it.text("two")
        known = await told(it)
    assert known["llm_requests_total{model=scripted,outcome=transient}"] == 1
    assert known["llm_requests_total{model=scripted,outcome=rate_limited}"] == 1
    assert known["turns_total{outcome=failed}"] == 2


async def test_sends_that_fail_are_counted_by_code_and_pauses_by_length(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda asked: "yes") as it:
        it.channel.fail(Retryable("429", retry_after=0.02), Ambiguous("no answer"))
        await it.text("hello")
        known = await told(it)
    codes = {
        code: known[f"send_total{{channel=terminal,code={code}}}"]
        for code in ("rate_limited", "ambiguous", "ok")
    }
    assert codes == {"rate_limited": 1, "ambiguous": 1, "ok": 1}
    assert (known["ratelimited_seconds_count"], known["ratelimited_seconds_sum"]) == (1, 0.02)
    assert known["outbox_unknown_total"] == 1


async def test_tools_that_the_model_makes_up_become_no_label(tmp_path: Path) -> None:
    script = iter([[ToolCall(id="t1", name="rm_rf", input="{}")], "sorry"])
    async with inside(tmp_path, lambda asked: next(script)) as it:
        await it.text("go")
        known = await told(it)
    assert known["tool_seconds_count{outcome=failed,tool=none}"] == 1
    assert not [name for name in known if "rm_rf" in name]


def test_who_asks_for_many_names_fills_no_memory() -> None:
    tally = MetricStore()
    for number in range(MAX_SERIES + 50):
        tally.count("send_total", "x", str(number))
        tally.observe("tool_seconds", 0.1, str(number), "done")
    assert len(tally.counts("send_total")) == len(tally.times("tool_seconds")) == MAX_SERIES + 1
    assert tally.counts("send_total")[OTHER_LABEL, OTHER_LABEL] == 50
    assert sum(tally.times("tool_seconds")[OTHER_LABEL, OTHER_LABEL].counts) == 50


@given(st.lists(st.floats(0, 2_000), max_size=50))
def test_a_histogram_counts_every_time_in_the_first_bucket_that_holds_it(
    seconds: list[float],
) -> None:
    tally = MetricStore()
    for one in seconds:
        tally.observe("a_seconds", one)
    metric = Metric(name="a_seconds", kind="histogram", help="All.", times=tally.times("a_seconds"))
    if not seconds:
        return
    found = samples(format_exposition([metric]))
    for bound in BUCKETS:
        assert found[f"a_seconds_bucket{{le={bound:g}}}"] == sum(one <= bound for one in seconds)
    assert found["a_seconds_bucket{le=+Inf}"] == found["a_seconds_count"] == len(seconds)
    assert found["a_seconds_sum"] == pytest.approx(sum(seconds))


@given(
    st.dictionaries(
        st.tuples(st.text(max_size=20), st.text(max_size=20)), st.floats(0, 1e15), min_size=1
    )
)
def test_labels_come_through_whatever_stands_in_them(values: dict[tuple[str, ...], float]) -> None:
    metric = Metric(name="a", kind="gauge", help="All.", labels=("x", "y"), values=values)
    [family] = text_string_to_metric_families(format_exposition([metric]))
    found = {(sample.labels["x"], sample.labels["y"]): sample.value for sample in family.samples}
    assert found == {labels: pytest.approx(number) for labels, number in values.items()}


async def test_a_running_bot_tells_them_to_whoever_has_the_token_and_stays_asleep(
    tmp_path: Path,
) -> None:
    async with (
        inside(tmp_path, lambda asked: "yes") as here,
        running(ScriptedBot(), opened=False) as site,
    ):
        attach_console(site.site, here.bot)
        async with site.client() as owner, site.nobody() as nobody:
            assert (await nobody.get("/metrics")).status_code == 401
            assert (
                await nobody.get("/metrics", headers={"authorization": "Bearer x"})
            ).status_code == 401
            answer = await owner.get("/metrics")
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
            assert answer.headers["cache-control"] == "no-store"
            known = samples(answer.text)
            assert (known["mnema_ledger_faults"], known["mnema_auth_denied_total"]) == (0, 1)
            assert not here.bot._warmed_up
            await owner.get("/api/status")
            assert here.bot._warmed_up


async def test_whoever_may_not_is_counted_wherever_they_ask(tmp_path: Path) -> None:
    script = iter([[ToolCall(id="t1", name="memory_search", input='{"query": "tea"}')], "no"])
    people = {"language": "en", "channels": {"telegram": {"allow": ["ann", "g"]}}}
    async with inside(tmp_path, lambda asked: next(script), people, Channel(name="telegram")) as it:
        it.channel.hear("let me in", sender="mallory", chat="m")
        await it.channel.until(lambda: bool(it.channel.confirmed))
        assert (await told(it))["auth_denied_total"] == 1
        await it.text("/model other", sender="ann")
        assert (await told(it))["auth_denied_total"] == 2
        assert (
            await it.text(
                "what do I like?", sender="mallory", chat="g", kind="group", addressed=True
            )
            == "no"
        )
        known = await told(it)
        assert known["auth_denied_total"] == 3
        assert known["tool_seconds_count{outcome=denied,tool=memory_search}"] == 1


async def test_a_history_that_had_to_be_mended_is_counted_for_each_request(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda asked: "yes") as it:
        await it.text("one")
        await it.bot.settled()
        assert (await told(it))["history_repairs_total"] == 0
        with closing(sqlite3.connect(it.bot.home.db, isolation_level=None)) as outside:
            outside.row_factory = sqlite3.Row
            last = dict(
                outside.execute("SELECT * FROM message ORDER BY seq DESC LIMIT 1").fetchone()
            )
            last |= {"id": "another", "seq": last["seq"] + 1}
            names = ", ".join(last)
            outside.execute(
                f"INSERT INTO message ({names}) VALUES ({', '.join('?' * len(last))})",
                [*last.values()],
            )
            outside.execute("UPDATE conversation SET next_seq = next_seq + 1")
        assert await it.text("two") == "yes"
        assert (await told(it))["history_repairs_total"] == 1
