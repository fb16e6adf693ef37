"""Days, weeks, months, seasons and years as spans of dates, relative to a given day. Pure.

Impossible dates (30 February, a year below 1) raise ValueError or OverflowError.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

DAY = timedelta(days=1)
# first and last days of parts of a month
EARLY, MIDDLE, LATE, END = (1, 10), (11, 20), (21, 31), (24, 31)
# "A few days ago" and the like: the farthest and the nearest of the days that may be meant, in days
# back.
A_FEW = {
    "day": (10, 1),
    "week": (56, 10),
    "fortnight": (84, 21),
    "month": (240, 45),
    "year": (8 * 365, 365),
}
# "Half a week" and the like, in whole units.
HALF = {"day": (0, "day"), "week": (3, "day"), "month": (15, "day"), "year": (6, "month")}
# The first of each season's three months, north of the equator.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_LONGEST_MONTHS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MAX_YEARS_TO_LEAP_DAY = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """Days that a question names, both inclusive."""

    first: date
    last: date
    #: The words that name them.
    text: str = ""
    #: Index of these words in the question.
    start: int = 0
    #: No year was said, so days of any year match; first and last are of the newest year in which
    #: they have begun.
    yearless: bool = False


def day_pairs(span: DateSpan) -> tuple[tuple[str, str], ...]:
    """A span as (first, last) days, without the year if none was said."""
    if not span.yearless:
        return ((span.first.isoformat(), span.last.isoformat()),)
    first, last = f"{span.first:%m-%d}", f"{span.last:%m-%d}"
    return ((first, last),) if first <= last else ((first, "12-31"), ("01-01", last))


# Returns the spans that a match names, one for each reading; raises as above. Takes the match and
# the current day.
ReadDates = Callable[[re.Match[str], date], Iterable[DateSpan]]


@dataclass(frozen=True, slots=True)
class DateRule:
    """A pattern that names days, or one that only looks like it and is skipped (see
    `read_nothing`).

    If the pattern has a group "here", that group names the days; the rest is context.
    """

    pattern: re.Pattern[str]
    read: ReadDates
    #: Each text that the pattern matches has one of them, with case folded: most questions have
    #: none of most rules.
    words: tuple[str, ...]


def read_nothing(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    """Read a match that only looks like a date."""
    return ()


def days(first: date, last: date) -> DateSpan:
    """The span from one day to another; raises ValueError if the last is before the first."""
    if last < first:
        raise ValueError(f"{last} is before {first}")
    return DateSpan(first=first, last=last)


def day_at_distance(today: date, distance: int) -> DateSpan:
    """The day so many days from today."""
    day = today + distance * DAY
    return DateSpan(first=day, last=day)


def days_back(today: date, far: int, near: int) -> DateSpan:
    """The days from `far` to `near` days before today."""
    return days(today - far * DAY, today - near * DAY)


def in_month(today: date, year: int | None, month: int, first: int = 1, last: int = 31) -> DateSpan:
    """Days of a month, at most to its end; of any year if `year` is None."""
    if year is None:
        return any_year(today, (month, first), (month, min(last, month_end(month))))
    return days(date(year, month, first), date(year, month, min(last, monthrange(year, month)[1])))


def any_year(today: date, first: tuple[int, int], last: tuple[int, int]) -> DateSpan:
    """From one (month, day) to another in any year, across New Year if the last is the smaller."""
    for year in range(today.year, max(today.year - _MAX_YEARS_TO_LEAP_DAY, 0), -1):
        span = DateSpan(
            first=_day_or_next(year, first),
            last=_day_or_next(year + (last < first), last),
            yearless=True,
        )
        if (span.first.month, span.first.day, span.last.month, span.last.day) == (
            *first,
            *last,
        ) and (span.first <= today):
            return span
    raise ValueError(f"no year has {first} to {last}")


def months(year: int, first: int, last: int) -> DateSpan:
    """Whole months of a year; `last` may be above 12, in the next year."""
    start, end = _month(year, first), _month(year, last)
    return days(date(*start, 1), date(*end, monthrange(*end)[1]))


def season(year: int, name: str) -> DateSpan:
    """The season that begins in this year."""
    return months(year, SEASONS[name], SEASONS[name] + 2)


def seasons_of(year: int, name: str) -> list[DateSpan]:
    """What a season of a year may mean: for winter, the one that begins in it and the one that ends
    in it.
    """
    return [season(year, name), *([season(year - 1, name)] if name == "winter" else [])]


def month_end(month: int) -> int:
    """The last day of a month, in a leap year."""
    if not 1 <= month <= 12:
        raise ValueError(f"there is no month {month}")
    return _LONGEST_MONTHS[month]


def month_at_distance(today: date, distance: int, part: tuple[int, int] = (1, 31)) -> DateSpan:
    """Days of the month that is so many months from this one."""
    return in_month(today, *_month(today.year, today.month + distance), *part)


def week_at_distance(today: date, distance: int) -> DateSpan:
    """The week that is so many weeks from this one, Monday to Sunday."""
    monday = today + (7 * distance - today.weekday()) * DAY
    return days(monday, monday + 6 * DAY)


def weekend_at_distance(today: date, distance: int) -> DateSpan:
    """Saturday and Sunday of the week that is so many weeks from this one."""
    week = week_at_distance(today, distance)
    return days(week.last - DAY, week.last)


def weekday_at_distance(today: date, distance: int, weekday: int) -> DateSpan:
    """A day (0 for Monday) of the week that is so many weeks from this one."""
    return day_at_distance(week_at_distance(today, distance).first, weekday)


def newest_weekday(today: date, weekday: int, today_too: bool) -> list[DateSpan]:
    """The last such weekday before today; with `today_too` also today, if it is one."""
    passed = day_at_distance(today, -((today.weekday() - weekday - 1) % 7 + 1))
    return (
        [day_at_distance(today, 0), passed]
        if today_too and today.weekday() == weekday
        else [passed]
    )


def newest_weekend(today: date) -> list[DateSpan]:
    """The last weekend before today, and the current one if today is in it."""
    return [
        weekend_at_distance(today, -1),
        *([weekend_at_distance(today, 0)] if today.weekday() > 4 else []),
    ]


def days_ago(today: date, count: float, unit: str) -> DateSpan:
    """The days around one that long ago; the longer ago, the more days, as people count less
    exactly.

    Two weeks ago may be four days off, a year ago three months.

    Args:
        unit: "day", "week", "month" or "year".
    """
    if unit == "day":
        middle, off = today - int(count) * DAY, count // 5
    elif unit == "week":
        middle, off = today - round(7 * count) * DAY, 3 + count // 2
    elif unit == "month":
        middle, off = _months_back(today, count), min(31.0, 7 + 3 * count)
    else:
        middle, off = _months_back(today, 12 * count), min(183.0, 60 + 30 * count)
    return days(middle - int(off) * DAY, min(middle + int(off) * DAY, today))


def up_to_today(today: date, count: float, unit: str) -> DateSpan:
    """So many days, weeks, months or years up to today."""
    if unit in ("day", "week"):
        return days(today - round(count * (7 if unit == "week" else 1)) * DAY, today)
    return days(_months_back(today, count * (1 if unit == "month" else 12)), today)


def days_beside(span: DateSpan, unit: str, side: int) -> DateSpan:
    """The day, week, weekend or month just before a span (side -1), just after it (1), or around
    its first day (0).

    Args:
        unit: "day", "week", "weekend", "month", or the number of a weekday (0 for Monday): the
            nearest such day.
    """
    edge = (span.first, span.first, span.last)[side + 1]
    if unit.isdecimal():
        return day_at_distance(edge, side * (((edge.weekday() - int(unit)) * -side - 1) % 7 + 1))
    if unit == "weekend":
        step = {-1: -1, 0: -(edge.weekday() < 2), 1: edge.weekday() > 4}[side]
        return weekend_at_distance(edge, step)
    if side == 0:
        return {"day": day_at_distance, "week": week_at_distance, "month": month_at_distance}[unit](
            edge, 0
        )
    length = {"day": 1, "week": 7, "month": 30}[unit]
    near, far = edge + side * DAY, edge + side * length * DAY
    return days(min(near, far), max(near, far))


def _day_or_next(year: int, day: tuple[int, int]) -> date:
    """That day of the year; 1 March for 29 February of a year without one."""
    month, number = day
    return date(year, month, 1) + (number - 1) * DAY


def _month(year: int, month: int) -> tuple[int, int]:
    return year + (month - 1) // 12, (month - 1) % 12 + 1


def _months_back(today: date, count: float) -> date:
    """The same day of the month so many months ago; half a month is 15 days."""
    year, month = _month(today.year, today.month - int(count))
    return (
        date(year, month, min(today.day, monthrange(year, month)[1]))
        - (15 if count % 1 else 0) * DAY
    )
