"""The metrics say what the record holds, in a format that is read line by line, and look at the ledger seldom."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.console.metrics import LOOK_EVERY, Metric, Metrics, exposition
from bot.console.wiring import open_console
from memory.store.open import open_store
from memory.store.store import SqlStore
from tests.bot.inside import inside
from tests.channels.web.house import ScriptedHouse, running
from tests.contracts.store_words import arrival, begin, folded, oldest, parts, reply, talk

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SAMPLE = re.compile(r'[a-z_]+(?:\{[a-z]+="[a-z]+"\})? -?\d+(?:\.\d+)?(?:e[+-]\d+)?')


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    held = await open_store(tmp_path / "m.db")
    yield held
    await held.close()


def samples(text: str) -> dict[str, float]:
    """The values by name and label; every line is a comment or a sample, and every sample has its type before it."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    typed = ""
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            typed = line.split()[2]
        elif not line.startswith("# HELP "):
            assert SAMPLE.fullmatch(line), line
            name, value = line.rsplit(" ", 1)
            assert name.split("{")[0] == typed
            found[name] = float(value)
    return found


async def test_the_figures_are_those_of_the_record(store: SqlStore) -> None:
    metrics = Metrics(store, NOON)
    empty = samples(await metrics.text())
    assert {empty[f"mnema_{name}"] for name in ("ledger_faults", "folds_open", "inbox_waiting", "outbox_unsent")} == {0}
    assert (empty['mnema_folds_total{method="model"}'], empty["mnema_conversations"]) == (0, 0)
    home = await talk(store, "1", "2", "3", "4", chat="a")
    await folded(store, home, 1)
    await folded(store, home, 1)
    await store.folds.undo(home)
    await store.folds.plan(oldest(await store.sessions.load(home), 1))
    turn = await begin(store, "5", chat="b")
    await store.delivery.finish(turn, "done", reply(), parts("one", "two"))
    await begin(store, "6", chat="b")
    await store.delivery.accept([arrival("7")])
    told = samples(await metrics.text())
    assert {name: told[f"mnema_{name}"] for name in ("folds_open", "inbox_waiting", "outbox_unsent")} == {
        "folds_open": 1,
        "inbox_waiting": 2,
        "outbox_unsent": 2,
    }
    assert (told['mnema_folds_total{method="extract"}'], told['mnema_folds_total{method="model"}']) == (2, 0)
    assert (told["mnema_conversations"], told["mnema_prefix_changes_total"]) == (3, 3)
    assert told["process_start_time_seconds"] == NOON.timestamp()
    assert told["process_cpu_seconds_total"] > 0


async def test_I36_a_fault_shows_at_the_next_look_and_looks_are_seldom(store: SqlStore, tmp_path: Path) -> None:
    now = 0.0
    metrics = Metrics(store, NOON, lambda: now)
    home = await talk(store, "1", "2")
    await folded(store, home, 1)
    assert samples(await metrics.text())["mnema_ledger_faults"] == 0
    with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as outside:
        outside.execute("DELETE FROM coverage")
    now = LOOK_EVERY - 1
    assert samples(await metrics.text())["mnema_ledger_faults"] == 0
    now = LOOK_EVERY
    texts = await asyncio.gather(*(metrics.text() for _ in range(5)))
    assert {samples(text)["mnema_ledger_faults"] for text in texts} == {2}


async def test_a_record_that_takes_long_to_check_is_checked_more_seldom(store: SqlStore) -> None:
    ticks = iter([0.0, 0.0, 10.0])
    now = 0.0
    metrics = Metrics(store, NOON, lambda: next(ticks, now))
    await metrics.text()
    await talk(store, "1")
    now = 900.0
    before = metrics._look_at
    await metrics.text()
    assert metrics._look_at == before == 1_010.0
    now = 1_010.0
    await metrics.text()
    assert metrics._look_at == 1_010.0 + LOOK_EVERY


def test_the_format_has_help_type_and_values_with_labels() -> None:
    metric = Metric(name="a_total", kind="counter", help="All.", values={"x": 1.0, "y": 2.5e9}, label="kind")
    assert exposition((metric,)) == (
        '# HELP a_total All.\n# TYPE a_total counter\na_total{kind="x"} 1\na_total{kind="y"} 2500000000\n'
    )


async def test_a_running_house_tells_them_to_whoever_has_the_token_and_stays_asleep(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda asked: "yes") as here, running(ScriptedHouse(), opened=False) as site:
        open_console(site.site, here.house)
        async with site.client() as owner, site.nobody() as nobody:
            assert (await nobody.get("/metrics")).status_code == 401
            assert (await nobody.get("/metrics", headers={"authorization": "Bearer x"})).status_code == 401
            told = await owner.get("/metrics")
            assert told.status_code == 200
            assert samples(told.text)["mnema_ledger_faults"] == 0
            assert not here.house._stirred
            await owner.get("/api/status")
            assert here.house._stirred
