"""The hour of dreams: by the wall clock, once a day, caught up, and moved with the
configuration.
"""

import asyncio
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.runtime.scheduler import (
    DreamSchedule,
    QuarterHourTrigger,
    Scheduler,
    latest_night,
    run_until_stopped,
)
from tests.cases import every_case
from tests.memory.longterm.sleeping import sleeper

BERLIN = ZoneInfo("Europe/Berlin")
TWICE = "## Facts\n- has two cats\n- Has two cats.\n- works at night\n- lives in Leeds\n"


def at(text, zone=BERLIN, fold=0):
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


async def nothing(*about):
    return None


@every_case(
    ("now", "hour", "day"),
    [
        ("2026-11-20T03:29", "03:30", "2026-11-19"),
        ("2026-11-20T03:30", "03:30", "2026-11-20"),
        ("2026-11-20T23:59", "03:30", "2026-11-20"),
        ("2026-11-20T22:00", "23:00", "2026-11-19"),
        ("2026-01-01T00:10", "00:15", "2025-12-31"),
        ("2026-03-29T01:59", "02:30", "2026-03-28"),
        ("2026-03-29T03:00", "02:30", "2026-03-29"),
    ],
)
def test_the_newest_night_is_the_one_whose_hour_has_come(now, hour, day):
    assert latest_night(at(now), hour) == date.fromisoformat(day)


def test_an_hour_that_a_day_has_twice_is_one_night():
    both = [latest_night(at("2026-10-25T02:30", fold=fold), "02:30") for fold in (0, 1)]
    assert both == [date(2026, 10, 25)] * 2


@given(st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)), st.times())
def test_every_day_has_exactly_one_night(moment, hour):
    start = moment.replace(tzinfo=UTC)
    nights = {
        latest_night((start + timedelta(minutes=15 * n)).astimezone(BERLIN), f"{hour:%H:%M}")
        for n in range(400)
    }
    first, last = min(nights), max(nights)
    assert nights == {first + timedelta(days=n) for n in range((last - first).days + 1)}


@given(st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)), st.integers(0, 3_600))
def test_the_end_of_a_day_is_looked_for_a_minute_after_each_quarter(moment, later):
    trigger, now = QuarterHourTrigger(), moment.replace(tzinfo=UTC)
    first = trigger.get_next_fire_time(None, now)
    assert now < first <= now + timedelta(minutes=15)
    assert (first.minute % 15, first.second, first.microsecond) == (1, 0, 0)
    at = first + timedelta(seconds=later)
    second = trigger.get_next_fire_time(first, at)
    assert at < second <= at + timedelta(minutes=15)


def test_it_is_a_minute_after_midnight_in_zones_with_odd_offsets_and_on_days_that_change_them():
    for zone in ("Asia/Kathmandu", "Australia/Lord_Howe", "America/Havana", "Pacific/Chatham"):
        midnight = datetime(2026, 11, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC)
        fired = QuarterHourTrigger().get_next_fire_time(None, midnight)
        assert fired - midnight == timedelta(minutes=1)


async def started(dreams, zone=BERLIN):
    scheduler = Scheduler(zone, nothing, dreams, nothing)
    await scheduler.start()
    return scheduler


async def test_the_next_dream_comes_at_the_configured_hour_and_moves_with_it():
    hour = ["03:30"]
    zone = [BERLIN]
    dreams = DreamSchedule(at=lambda: hour[0], now=lambda: datetime.now(zone[0]), night=nothing)
    scheduler = await started(dreams)
    try:
        assert f"{scheduler.next_dream().astimezone(BERLIN):%H:%M}" == "03:30"
        hour[0], zone[0] = "22:15", ZoneInfo("Asia/Shanghai")
        scheduler.reschedule_dreams()
        assert f"{scheduler.next_dream().astimezone(zone[0]):%H:%M}" == "22:15"
    finally:
        scheduler.stop()
    assert scheduler.next_dream() is None
    scheduler.reschedule_dreams()


@every_case("hours", [0, 3, -3, 30])
async def test_the_hour_is_that_of_the_clock_that_is_asked_and_not_of_the_machine(hours):
    """As in a process whose own clock is wrong, where the time is the database's."""
    ahead = timedelta(hours=hours)
    dreams = DreamSchedule(
        at=lambda: "03:30", now=lambda: datetime.now(BERLIN).astimezone(UTC) + ahead, night=nothing
    )
    scheduler = await started(dreams, UTC)
    try:
        there = scheduler.next_dream() + ahead
        assert f"{there:%H:%M}" == "03:30"
        assert timedelta(0) < there - dreams.now() <= timedelta(days=1)
    finally:
        scheduler.stop()


async def test_a_scheduler_stopped_before_it_began_never_begins():
    async def never(*about):
        raise AssertionError("the night came")

    dreams = DreamSchedule(at=lambda: "03:30", now=lambda: datetime.now(UTC), night=never)
    scheduler = Scheduler(UTC, never, dreams, never)
    starting = asyncio.create_task(scheduler.start())
    await asyncio.sleep(0)
    scheduler.stop()
    await starting
    scheduler.stop()


async def test_the_hour_that_strikes_dreams_of_that_day():
    """The clock that wakes is a little ahead of the one that is asked."""
    dreamt = []

    async def night(day):
        dreamt.append(day)

    now = at("2026-11-20T03:29:58")
    await DreamSchedule(at=lambda: "03:30", now=lambda: now, night=night).dream()
    assert dreamt == [date(2026, 11, 20)]


async def test_nights_that_a_machine_slept_through_are_one_dream_at_its_start(tmp_path):
    async with sleeper(tmp_path) as it:
        dreams = DreamSchedule(
            at=lambda: "03:30", now=lambda: it.now, night=lambda day: it.dreamer.night(day)
        )
        it.write(TWICE)
        await dreams.dream()
        assert (await it.store.dreams.last("")).day == "2026-11-01"
        it.write(TWICE)
        it.now += timedelta(days=3)
        await it.restart()
        await dreams.dream()
        await dreams.dream()
        assert (await it.store.dreams.last("")).day == "2026-11-04"
        assert [path.name for path in sorted((it.workspace.root / "memory/dreams").iterdir())] == [
            "2026-11-01.md",
            "2026-11-04.md",
        ]


@pytest.mark.parametrize(
    "moments", [("2026-03-29T03:30",), ("2026-10-25T02:30", "2026-10-25T02:30+")]
)
async def test_on_days_when_clocks_change_there_is_one_dream(tmp_path, moments):
    async with sleeper(tmp_path, zone=BERLIN) as it:
        dreams = DreamSchedule(
            at=lambda: "02:30",
            now=lambda: it.now.astimezone(BERLIN),
            night=lambda day: it.dreamer.night(day),
        )
        for moment in moments:
            it.write(TWICE)
            it.now = at(moment.rstrip("+"), fold=moment.count("+")).astimezone(UTC)
            await dreams.dream()
        row = await it.store.dreams.last("")
        assert row.day == moments[0][:10]
        changes = [
            change for change in await it.store.memories.changes("") if change.kind == "dream"
        ]
        assert len(changes) == 1


async def test_a_night_waits_for_the_one_that_is_under_way(tmp_path):
    async with sleeper(tmp_path) as it:
        it.write(TWICE)
        rows = await asyncio.gather(
            it.dreamer.night(date(2026, 11, 1)), it.dreamer.night(date(2026, 11, 1))
        )
        assert sorted(map(len, rows)) == [0, 1]


@pytest.mark.parametrize(("stopped", "cancelled"), [(True, False), (False, True)])
async def test_a_job_that_the_end_of_the_program_cuts_off_is_no_fault(stopped, cancelled):
    begun = asyncio.Event()

    async def dream():
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(run_until_stopped(dream, lambda: stopped)())
    await begun.wait()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled() == cancelled
