"""The event loop's lag: measured while it lasts, forgotten after half a minute, and reported by
/healthz.
"""

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from bot.console.site import HealthProbes
from bot.telemetry.metrics import LAG_POLL_SECONDS, LAG_WINDOW_SECONDS, LoopLag
from tests.bot.inside import inside
from tests.walk.harness import until


def test_the_worst_of_half_a_minute_is_told_and_then_forgotten() -> None:
    lag = LoopLag()
    for at, late in ((1.0, 0.2), (2.0, 3.0), (3.0, 0.1), (4.0, 0.5), (5.0, -0.1)):
        lag.note(late, at)
    assert lag.worst() == 3.0
    lag.note(0.0, 2.1 + LAG_WINDOW_SECONDS)
    assert lag.worst() == 0.5
    lag.note(0.0, 100.0)
    assert lag.worst() == 0.0


async def test_a_loop_that_hangs_is_late_at_once_and_well_again_after_a_beat() -> None:
    lag = LoopLag()
    watching = asyncio.create_task(lag.watch())
    await asyncio.sleep(0)
    time.sleep(LAG_POLL_SECONDS + 0.3)  # noqa: ASYNC251
    assert lag.now() >= 0.25
    await until(lambda: lag.worst() >= 0.25 and lag.now() < 0.25, "the next beat is in time")
    watching.cancel()


async def test_a_bot_whose_loop_hung_for_a_second_is_not_healthy(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda asked: "yes") as it:
        await it.text("hello")
        assert (await HealthProbes(it.bot).healthy()).ok
        it.bot.lag.note(1.5, time.monotonic())
        told = await HealthProbes(it.bot).healthy()
        assert (told.ok, told.reasons) == (False, {"loop_lag_seconds": 1.5})


async def test_a_bot_tells_why_it_is_ready(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda asked: "yes") as it:
        told = await HealthProbes(it.bot).ready()
        assert told.ok
        assert {
            name: told.reasons[name]
            for name in ("writes", "schema", "model", "model_key", "config")
        } == {"writes": True, "schema": "ok", "model": "ok", "model_key": "ok", "config": "ok"}
        assert told.reasons["channels"] == {"terminal": {"state": "up", "last_ok_age_s": None}}


async def test_tables_that_another_process_brought_further_make_it_unready(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda asked: "yes") as it:
        with closing(sqlite3.connect(it.bot.home.db, isolation_level=None)) as outside:
            outside.execute("UPDATE alembic_version SET version_num = 'r9999'")
        told = await HealthProbes(it.bot).ready()
        assert (told.ok, told.reasons["schema"]) == (False, "the tables are not of this version")
