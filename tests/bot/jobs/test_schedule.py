"""When jobs are due: clock changes, cron expressions, limits."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.schedule import (
    Schedule,
    ScheduleRefused,
    check_schedule,
    format_moment,
    format_repetition,
    iter_runs,
    resolve_local,
)
from tests.cases import every_case

BERLIN, SHANGHAI = "Europe/Berlin", "Asia/Shanghai"
NOW = datetime(2026, 11, 26, 8, 30, tzinfo=UTC)


def runs(schedule: Schedule, after: datetime, count: int) -> list[str]:
    zone = ZoneInfo(schedule.zone)
    return [
        f"{run.astimezone(zone):%m-%d %a %H:%M%z}"
        for run in islice(iter_runs(schedule, after), count)
    ]


@every_case(
    ("cron", "after", "told"),
    [
        ("0 9 * * 5", NOW, ["11-27 Fri 09:00+0100", "12-04 Fri 09:00+0100"]),
        ("0 9 * * 7", NOW, ["11-29 Sun 09:00+0100", "12-06 Sun 09:00+0100"]),
        (
            "30 2 * * *",
            datetime(2026, 3, 28, 12, tzinfo=UTC),
            ["03-29 Sun 03:00+0200", "03-30 Mon 02:30+0200"],
        ),
        (
            "30 2 * * *",
            datetime(2026, 10, 24, 12, tzinfo=UTC),
            ["10-25 Sun 02:30+0200", "10-26 Mon 02:30+0100"],
        ),
        (
            "0 * * * *",
            datetime(2026, 10, 24, 23, 30, tzinfo=UTC),
            ["10-25 Sun 02:00+0200", "10-25 Sun 02:00+0100"],
        ),
        ("0 0 L * *", NOW, ["11-30 Mon 00:00+0100", "12-31 Thu 00:00+0100"]),
        ("0 9 13 * 5", NOW, ["11-27 Fri 09:00+0100", "12-04 Fri 09:00+0100"]),
    ],
)
def test_cron_keeps_the_clock_of_its_zone(cron: str, after: datetime, told: list[str]) -> None:
    assert runs(Schedule(zone=BERLIN, cron=cron), after, 2) == told


@pytest.mark.parametrize(
    ("local", "told"),
    [
        ("2026-03-29T02:30", "2026-03-29T01:00:00+00:00"),  # the end of the gap
        ("2026-10-25T02:30", "2026-10-25T00:30:00+00:00"),  # the first of two
        ("2026-11-30T09:00", "2026-11-30T08:00:00+00:00"),
    ],
)
def test_a_local_time_is_one_moment(local: str, told: str) -> None:
    assert resolve_local(local, ZoneInfo(BERLIN)).isoformat() == told


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1)),
    st.sampled_from([BERLIN, SHANGHAI, "America/New_York", "Australia/Lord_Howe", "UTC"]),
)
def test_any_local_time_becomes_a_moment_at_or_just_after_it(local: datetime, zone: str) -> None:
    local = local.replace(second=0, microsecond=0)
    back = (
        resolve_local(local.isoformat(), ZoneInfo(zone))
        .astimezone(ZoneInfo(zone))
        .replace(tzinfo=None)
    )
    assert timedelta(0) <= back - local <= timedelta(hours=1)


def test_minutes_are_counted_from_their_start() -> None:
    schedule = Schedule(zone=SHANGHAI, minutes=30, start=NOW.timestamp())
    assert runs(schedule, NOW - timedelta(hours=1), 2) == [
        "11-26 Thu 16:30+0800",
        "11-26 Thu 17:00+0800",
    ]
    assert runs(schedule, NOW, 1) == ["11-26 Thu 17:00+0800"]
    until = Schedule(zone=SHANGHAI, minutes=30, start=NOW.timestamp(), until="2026-11-26T17:10")
    assert runs(until, NOW, 5) == ["11-26 Thu 17:00+0800"]


@every_case(
    ("schedule", "told"),
    [
        (Schedule(zone=SHANGHAI, at="2026-11-26T16:00"), "passed"),
        (Schedule(zone=SHANGHAI, at="2026-11-27T09:00+08:00"), "without an offset"),
        (Schedule(zone=SHANGHAI, at="tomorrow"), "not a local time"),
        (Schedule(zone=SHANGHAI, at="2099-01-01T00:00"), "five years"),
        (Schedule(zone="CST", at="2026-11-27T09:00"), "no time zone"),
        (Schedule(zone="../etc/passwd", at="2026-11-27T09:00"), "no time zone"),
        (Schedule(zone=SHANGHAI, cron="0 0 9 * * *"), "five fields"),
        (Schedule(zone=SHANGHAI, cron="61 9 * * *"), "not a cron expression"),
        (Schedule(zone=SHANGHAI, cron="0 0 30 2 *"), "day-of-month"),
        (Schedule(zone=SHANGHAI, cron="*/14 * * * *"), "the shortest interval is 15 minutes"),
        (Schedule(zone=SHANGHAI, cron="0,59 * * * *"), "the shortest interval is 15 minutes"),
        (
            Schedule(zone=SHANGHAI, minutes=14, start=NOW.timestamp() + 1),
            "the shortest interval is 15 minutes",
        ),
        (Schedule(zone=SHANGHAI, minutes=10**9, start=NOW.timestamp() + 6e10), "five years"),
        (Schedule(zone=SHANGHAI, at="2026-11-27T09:00", cron="0 9 * * *"), "exactly one"),
        (Schedule(zone=SHANGHAI), "exactly one"),
    ],
)
def test_an_impossible_schedule_is_refused(schedule: Schedule, told: str) -> None:
    with pytest.raises(ScheduleRefused, match=told):
        check_schedule(schedule, NOW, owner=False)


def test_the_owner_may_have_every_minute_and_no_less() -> None:
    schedule = Schedule(zone=SHANGHAI, minutes=1, start=NOW.timestamp() + 60)
    assert check_schedule(schedule, NOW, owner=True) == NOW + timedelta(minutes=1)
    assert check_schedule(Schedule(zone=SHANGHAI, cron="*/15 * * * *"), NOW, owner=False)


def test_a_moment_is_shown_with_zone_and_distance() -> None:
    moment = datetime(2026, 11, 27, 0, 0, tzinfo=UTC)
    assert (
        format_moment(moment, SHANGHAI, NOW).text("en")
        == "2026-11-27 Fri 08:00 Asia/Shanghai (in 16 h)"
    )
    assert (
        format_moment(moment, SHANGHAI, NOW).text("zh")
        == "2026-11-27 周五 08:00 Asia/Shanghai（16 小时后）"
    )
    assert "3 d ago" in format_moment(NOW - timedelta(days=3), SHANGHAI, NOW).text("en")


REPEATED = {
    "0 9 * * *": ("daily 9:00", "每天 9:00"),
    "5 8,20 * * *": ("daily 8:05, 20:05", "每天 8:05, 20:05"),
    "0 9 * * 1-5": ("weekdays 9:00", "工作日 9:00"),
    "0 9 * * MON-FRI": ("weekdays 9:00", "工作日 9:00"),
    "0 10 * * 6,7": ("weekends 10:00", "周末 10:00"),
    "0 9 * * 1,3,5": ("every Mon, Wed, Fri 9:00", "每周一、三、五 9:00"),
    "0 9 * * 0": ("every Sun 9:00", "每周日 9:00"),
    "0 9 * * sat": ("every Sat 9:00", "每周六 9:00"),
    "0 9 * * 2-4": ("every Tue-Thu 9:00", "每周二到四 9:00"),
    "0 9 * * 1#2": ("second Mon of the month 9:00", "每月第 2 个周一 9:00"),
    "0 9 * * 5L": ("last Fri of the month 9:00", "每月最后一个周五 9:00"),
    "0 9 L * *": ("last day of the month 9:00", "每月最后一天 9:00"),
    "30 9 15 * *": ("monthly on day 15 9:30", "每月 15 日 9:30"),
    "0 9 25 12 *": ("yearly on 25 Dec 9:00", "每年 12 月 25 日 9:00"),
    "*/20 9 * * *": ("cron */20 9 * * *", "cron */20 9 * * *"),
    "0 9-17 * * *": ("cron 0 9-17 * * *", "cron 0 9-17 * * *"),
    "0 9 1,15 * *": ("cron 0 9 1,15 * *", "cron 0 9 1,15 * *"),
}


def test_a_schedule_is_said_in_words() -> None:
    said = {}
    for cron in REPEATED:
        schedule = Schedule(zone=SHANGHAI, cron=cron)
        said[cron] = (
            format_repetition(schedule).text("en"),
            format_repetition(schedule).text("zh"),
        )
    assert said == REPEATED
    spans = {
        1: "every min",
        30: "every 30 min",
        60: "every h",
        120: "every 2 h",
        2880: "every 2 days",
        20160: "every 2 weeks",
    }
    for minutes, words in spans.items():
        assert (
            format_repetition(Schedule(zone=SHANGHAI, minutes=minutes, start=1.0)).text("en")
            == words
        )
    assert format_repetition(Schedule(zone=SHANGHAI, at="2026-11-30T09:00")).text("en") == ""


def test_every_other_day_keeps_its_hour_when_the_clocks_change() -> None:
    zone = ZoneInfo("Europe/Berlin")
    start = datetime(2026, 10, 24, 9, 0, tzinfo=zone)
    schedule = Schedule(zone=zone.key, minutes=2880, start=start.timestamp())
    runs = [
        run.astimezone(zone) for run in islice(iter_runs(schedule, start - timedelta(days=9)), 3)
    ]
    assert [f"{run:%m-%d %H:%M}" for run in runs] == ["10-24 09:00", "10-26 09:00", "10-28 09:00"]
    after = datetime(2027, 3, 27, 9, 0, tzinfo=zone)  # 28 March has 23 hours
    runs = [run.astimezone(zone) for run in islice(iter_runs(schedule, after), 2)]
    assert [f"{run:%m-%d %H:%M}" for run in runs] == ["03-29 09:00", "03-31 09:00"]
