"""Days on which clocks change: each has one night, and the machine's own zone follows its rules."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.config.schema import Config, time_zone
from bot.runtime.scheduler import DailyTrigger, DreamSchedule, Scheduler
from tests.cases import every_case

ROOT = Path(__file__).resolve().parents[3]


def fires(zone: str, hour: int, minute: int, first: str, days: int) -> list[datetime]:
    """When it fires from the noon of a day on, each time a moment after the one before."""
    there = ZoneInfo(zone)
    now = [datetime.fromisoformat(f"{first}T12:00").replace(tzinfo=there)]
    end = now[0].astimezone(UTC) + timedelta(days=days)
    found: list[datetime] = []
    cron, last = DailyTrigger(hour, minute, there, lambda: now[0]), None
    while True:
        last = cron.get_next_fire_time(last, now[0])
        if last > end:
            return found
        found.append(last.astimezone(there))
        now[0] = (last + timedelta(milliseconds=10)).astimezone(there)


@every_case(
    ("zone", "at", "first", "told"),
    [
        ("Europe/Berlin", (3, 30), "2026-03-28", "2026-03-29T03:30+02:00"),
        ("Europe/Berlin", (2, 30), "2026-03-28", "2026-03-29T03:30+02:00"),
        ("Europe/Berlin", (2, 30), "2026-10-24", "2026-10-25T02:30+02:00"),
        ("Europe/Berlin", (3, 30), "2026-10-24", "2026-10-25T03:30+01:00"),
        ("America/Santiago", (0, 30), "2026-09-05", "2026-09-06T01:30-03:00"),
        ("America/Sao_Paulo", (0, 0), "2018-11-03", "2018-11-04T01:00-02:00"),
        ("America/Sao_Paulo", (23, 30), "2018-02-17", "2018-02-17T23:30-02:00"),
        ("Asia/Shanghai", (3, 30), "2026-10-24", "2026-10-25T03:30+08:00"),
    ],
)
def test_a_day_on_which_clocks_change_has_its_hour_once(
    zone: str, at: tuple[int, int], first: str, told: str
) -> None:
    found = fires(zone, *at, first, 3)
    assert f"{found[0].isoformat(timespec='minutes')}" == told
    assert [moment.date() - found[0].date() for moment in found] == [
        timedelta(days=n) for n in range(3)
    ]


def test_a_day_that_a_zone_leaves_out_has_no_night() -> None:
    found = fires("Pacific/Apia", 3, 30, "2011-12-28", 3)
    assert [moment.date() for moment in found] == [
        date(2011, 12, 29),
        date(2011, 12, 31),
        date(2012, 1, 1),
    ]


@pytest.fixture
def machine() -> Iterator[Callable[[str], None]]:
    """Sets the zone of this machine, as this process sees it."""
    held = os.environ.get("TZ")

    def put(name: str | None) -> None:
        if name is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = name
        time.tzset()

    yield put
    put(held)


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/Santiago", "Asia/Shanghai", "UTC"])
def test_the_machines_zone_tells_every_moment_by_its_own_rule(
    machine: Callable[[str], None], name: str
) -> None:
    machine(name)
    zone, same = time_zone(Config()), ZoneInfo(name)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for moment in (start + timedelta(minutes=30, hours=n) for n in range(366 * 24)):
        here, there = moment.astimezone(zone), moment.astimezone(same)
        assert (here.isoformat(), here.fold, here.tzname()) == (
            there.isoformat(),
            there.fold,
            there.tzname(),
        )
        assert here.astimezone(UTC) == moment
    assert datetime(2026, 3, 29, 2, 30, tzinfo=zone).astimezone(UTC) == datetime(
        2026, 3, 29, 2, 30, tzinfo=same
    ).astimezone(UTC)


async def test_with_the_machines_zone_the_hour_of_dreams_moves_with_its_clock(
    machine: Callable[[str], None],
) -> None:
    """The process starts in summer, and its next dream comes after clocks have changed."""
    machine("Europe/Berlin")
    zone = time_zone(Config())
    ahead = datetime(2026, 10, 24, 12, tzinfo=UTC) - datetime.now(UTC)
    dreamt = []

    async def night(day: date) -> None:
        dreamt.append(day)

    async def nothing() -> None:
        return None

    dreams = DreamSchedule(
        at=lambda: "03:30",
        now=lambda: (datetime.now(UTC) + ahead).astimezone(time_zone(Config())),
        night=night,
    )
    scheduler = Scheduler(zone, nothing, dreams, nothing)
    await scheduler.start()
    try:
        due = scheduler.next_dream()
        assert due is not None
        there = (due + ahead + timedelta(seconds=1)).astimezone(ZoneInfo("Europe/Berlin"))
        assert f"{there:%Y-%m-%d %H:%M %z}" == "2026-10-25 03:30 +0100"
    finally:
        scheduler.stop()
    await DreamSchedule(at=lambda: "03:30", now=lambda: there.astimezone(zone), night=night).dream()
    assert dreamt == [date(2026, 10, 25)]


def test_nights_come_after_a_jump_of_the_clock_as_after_any_other_hour(tmp_path: Path) -> None:
    """A machine that slept for hours, or whose clock is set: timers of the process have not passed
    that time.
    """
    clock = tmp_path / "clock"
    clock.write_text(f"{0:+16d}")
    moved = {"PYTHONPATH": str(ROOT / "tests/walk/moved_clock"), "MNEMA_TEST_CLOCK": str(clock)}
    words = [sys.executable, "-m", "tests.bot.clock_jumps", str(clock), "20", "30", "-50", "24"]
    ran = subprocess.run(
        words,
        cwd=ROOT,
        env=os.environ | moved,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "dream 2026-11-20", "nightly", "next in 15.5 h",
        "dream 2026-11-21", "nightly", "next in 19.4 h",
        "dream 2026-11-22", "nightly", "next in 13.4 h",
        "next in 15.4 h",
        "dream 2026-11-21", "nightly", "next in 15.3 h",
    ]  # fmt: skip
