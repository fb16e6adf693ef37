"""Splits the turns that the daily log lacks into ranges of one day each.

Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSpan:
    """One turn of a conversation, as its messages are stored."""

    turn: int
    from_seq: int
    to_seq: int
    #: Unix seconds of its first message.
    began: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRange:
    """Turns that follow one another and began on the same day."""

    day: date
    from_turn: int
    to_turn: int
    from_seq: int
    to_seq: int
    tokens: int


def without_ranges(
    turns: Iterable[TurnSpan], ranges: Sequence[tuple[int, int]]
) -> tuple[TurnSpan, ...]:
    """Return the turns of which no message is in one of the ranges (first and last seq)."""
    return tuple(
        span
        for span in turns
        if not any(first <= span.to_seq and span.from_seq <= last for first, last in ranges)
    )


def split_by_day(turns: Iterable[TurnSpan], zone: tzinfo) -> tuple[DayRange, ...]:
    """Split turns into ranges without gaps; a turn belongs to the day on which it began."""
    ranges: list[DayRange] = []
    for span in turns:
        day = datetime.fromtimestamp(span.began, UTC).astimezone(zone).date()
        newest = ranges[-1] if ranges else None
        if newest and newest.day == day and newest.to_seq + 1 == span.from_seq:
            ranges[-1] = replace(
                newest,
                to_turn=span.turn,
                to_seq=span.to_seq,
                tokens=newest.tokens + span.tokens,
            )
            continue
        ranges.append(
            DayRange(
                day=day,
                from_turn=span.turn,
                to_turn=span.turn,
                from_seq=span.from_seq,
                to_seq=span.to_seq,
                tokens=span.tokens,
            )
        )
    return tuple(ranges)
