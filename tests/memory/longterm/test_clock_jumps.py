"""Folds and dreams that are interrupted by a crash and a jump of the clock, also over midnight."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory import failpoints
from memory.failpoints import FailpointError
from tests.memory.longterm.sleeping import sleeper

BERLIN = ZoneInfo("Europe/Berlin")
TWICE = "## Facts\n- has two cats\n- Has two cats.\n- works at night\n- lives in Leeds\n"


@pytest.fixture(autouse=True)
def no_failpoints():
    yield
    failpoints.arm({})


@pytest.mark.parametrize(
    "jump", [timedelta(minutes=2), timedelta(hours=26), timedelta(hours=-5), timedelta(days=-2)]
)
@pytest.mark.parametrize("place", ["dream.planned", "dream.file_written", "dream.diary_written"])
async def test_a_dream_broken_off_before_a_jump_of_the_clock_is_one_dream_of_its_day(
    tmp_path, place, jump
):
    # a minute before the midnight of the day that has an hour twice
    start = datetime(2026, 10, 24, 21, 59, tzinfo=UTC)
    async with sleeper(tmp_path, now=start, zone=BERLIN) as it:
        it.write(TWICE)
        failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{place}:raise"})
        with pytest.raises(FailpointError):
            await it.dreamer.night(date(2026, 10, 24))
        failpoints.arm({})
        it.now += jump
        await it.restart()
        await it.dreamer.resume()
        await it.dreamer.night(date(2026, 10, 24))
        assert it.diary("2026-10-24").count("<!-- dream ") == 1
        assert [path.name for path in (it.workspace.root / "memory/dreams").iterdir()] == [
            "2026-10-24.md"
        ]
        assert it.read().count("two cats") == 1
        changes = [
            change for change in await it.store.memories.changes("") if change.kind == "dream"
        ]
        assert len(changes) == 1


@pytest.mark.parametrize("jump", [timedelta(minutes=2), timedelta(hours=26), timedelta(hours=-5)])
@pytest.mark.parametrize(
    "place", ["fold.planned", "fold.checked", "fold.log_written", "fold.log_synced"]
)
async def test_a_fold_planned_before_a_jump_of_the_clock_is_logged_once_on_its_day(
    tmp_path, place, jump
):
    start = datetime(2026, 10, 24, 21, 59, tzinfo=UTC)
    async with sleeper(tmp_path, now=start, zone=BERLIN) as it:
        failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{place}:raise"})
        with pytest.raises(FailpointError):
            await it.talk("I have two cats", "They are called Ada and Bo", "I live in Leeds")
        failpoints.arm({})
        it.now += jump
        await it.restart()
        (row,) = (await it.store.delivery.recover()).folds
        done = await it.folder().run_fold(row, extract=True)
        assert (done.state, done.log_ref) == ("folded", "memory/2026-10-24.md")
        [path] = (it.workspace.root / "memory").glob("*.md")
        text = path.read_text()
        assert text.startswith("# 2026-10-24\n\n## 23:59 · ")
        assert text.count(f"<!-- fold {row.id} -->") == 1
        assert await it.store.folds.check_ledger() == []
