"""Turns that the log lacks, in ranges of one day each."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.workspace.day_ranges import TurnSpan, split_by_day, without_ranges

# Havana's clocks go back from 01:00 to 00:00, Beirut's went forward from 00:00 to 01:00.
ZONES = ("UTC", "Europe/Berlin", "Asia/Shanghai", "America/Havana", "Asia/Beirut")


@st.composite
def views(draw: st.DrawFn) -> list[TurnSpan]:
    """Turns that follow one another, some of them long after the one before."""
    began, seq, spans = draw(st.integers(1_600_000_000, 1_900_000_000)), draw(st.integers(1, 9)), []
    for turn in range(1, draw(st.integers(0, 12)) + 1):
        began += draw(st.integers(1, 2 * 86_400))
        count = draw(st.integers(1, 4))
        spans.append(
            TurnSpan(turn=turn, from_seq=seq, to_seq=seq + count - 1, began=began, tokens=count)
        )
        seq += count
    return spans


def day_of(span: TurnSpan, zone: ZoneInfo) -> date:
    return datetime.fromtimestamp(span.began, UTC).astimezone(zone).date()


@given(views(), st.sampled_from(ZONES), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9))))
def test_each_turn_is_in_one_range_of_its_day_unless_it_is_logged(
    spans: list[TurnSpan], zone_name: str, logged: list[tuple[int, int]]
) -> None:
    zone, ranges = ZoneInfo(zone_name), [(first, first + more) for first, more in logged]
    left = without_ranges(spans, ranges)
    assert {span.turn for span in spans} - {span.turn for span in left} == {
        span.turn
        for span in spans
        for first, last in ranges
        if any(first <= seq <= last for seq in range(span.from_seq, span.to_seq + 1))
    }
    days = split_by_day(left, zone)
    told = [
        [span for span in left if day.from_seq <= span.from_seq and span.to_seq <= day.to_seq]
        for day in days
    ]
    assert [span for group in told for span in group] == list(left), "all, once and in order"
    for day, group in zip(days, told, strict=True):
        assert {day_of(span, zone) for span in group} == {day.day}
        assert (day.from_turn, day.to_turn) == (group[0].turn, group[-1].turn)
        assert (day.from_seq, day.to_seq) == (group[0].from_seq, group[-1].to_seq)
        assert day.tokens == sum(span.tokens for span in group)
        assert day.to_seq - day.from_seq + 1 == sum(
            span.to_seq - span.from_seq + 1 for span in group
        ), "no gap"


@pytest.mark.parametrize(
    ("zone", "moments", "days"),
    [
        # a turn belongs to the day on which it began
        ("Europe/Berlin", ["2026-05-03 21:59:59", "2026-05-03 22:00:00"], ["05-03", "05-04"]),
        # the hour from 00:00 comes twice on one day
        ("America/Havana", ["2026-11-01 04:30", "2026-11-01 05:30"], ["11-01"]),
        # the day begins at 01:00
        ("Asia/Beirut", ["2021-03-27 21:59", "2021-03-27 22:00"], ["03-27", "03-28"]),
    ],
)
def test_midnight_is_that_of_the_zone(zone: str, moments: list[str], days: list[str]) -> None:
    spans = [
        TurnSpan(
            turn=at,
            from_seq=at,
            to_seq=at,
            began=datetime.fromisoformat(f"{moment}+00:00").timestamp(),
            tokens=1,
        )
        for at, moment in enumerate(moments, 1)
    ]
    found = split_by_day(spans, ZoneInfo(zone))
    assert [f"{one.day:%m-%d}" for one in found] == days
    assert timedelta(0) <= found[-1].day - found[0].day <= timedelta(1)
