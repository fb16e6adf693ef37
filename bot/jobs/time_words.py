"""The words for times in Chinese and English, as a table: how each is written, and what it says.

Pure.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from bot.jobs.schedule import DAY_MINUTES, ScheduleRefused
from channels.phrases import NO_PHRASE, Phrase
from memory.text.calendar_words import (
    CHINESE_DIGITS,
    ENGLISH_NUMBERS,
    MONTHS,
    weekday_number,
)
from memory.text.patterns import lazy_pattern

WEEKDAYS = "* * 1-5"
WEEKENDS = "* * 6,7"
DAILY = "* * *"
# "ninety" as in "ninety minutes"
_NUMBERS_EN = ENGLISH_NUMBERS | {"a": 1, "an": 1, "ninety": 90}
_ORDINALS = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfDay:
    """A part of the day: which hours it has."""

    #: Of a day; 24 and later are those after the midnight at its end.
    first: int
    last: int
    #: The hour where only the part is named; None if that says too little.
    usual: int | None = None
    #: Its hours are 1 to 12: am and pm.
    is_half: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """An hour and a minute as they are written."""

    hour: int
    minute: int
    #: Written with a colon.
    has_colon: bool = False
    #: Written so that it can only be meant of 24 hours: 08:00, 15:30, 0点.
    is_exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWord:
    """What one expression says about a time."""

    #: Days that may be meant, the nearest first; the first one counts whose moment is to come.
    days: tuple[date, ...] = ()
    #: Of a cron expression: day of the month, month, day of the week.
    cron: str = ""
    #: All five fields of one.
    whole_cron: str = ""
    #: It happens again after so many minutes.
    every: int = 0
    #: Months and minutes from now.
    after: tuple[int, int] | None = None
    clock: Clock | None = None
    part: PartOfDay | None = None


class TimeUnclear(ScheduleRefused):
    """The words for a time have no meaning, or more than one; without a text there is nothing more
    to say of them.
    """

    def __init__(self, phrase: Phrase = NO_PHRASE) -> None:
        super().__init__(phrase)


Meaning = Callable[[re.Match[str], date], TimeWord]

# ---- numbers

NUMBER_ZH = r"(?:\d{1,4}|[零〇一二两三四五六七八九十]{1,3})"
NUMBER_EN = (
    r"(?:(?<![a-z])(?:(?:twenty|thirty|forty|fifty)-(?:one|two|three|four|five|six|seven|eight|nine)|"
    + "|".join(sorted(_NUMBERS_EN, key=len, reverse=True))
    + r")(?![a-z])|\d{1,4})"
)


def read_number(text: str) -> int:
    """Read a whole number in digits, Chinese (up to 99) or English."""
    if text.isdigit():
        return int(text)
    if text.isascii():
        return sum(_NUMBERS_EN[word] for word in text.lower().split("-"))
    tens, ten, ones = text.partition("十")
    if ten:
        return (read_number(tens) if tens else 1) * 10 + (read_number(ones) if ones else 0)
    return int("".join(str(CHINESE_DIGITS[digit]) for digit in text))


# ---- spans of time: "一个半小时", "1h30m", "an hour and a half"

_UNIT_ZH = r"分钟?|小时|钟头|刻钟|天|日|周|星期|礼拜|月|年"
_UNIT_EN = r"m(?:in(?:ute)?s?)?(?![a-z])|h(?:(?:ou)?rs?)?(?![a-z])|d(?:ays?)?(?![a-z])|w(?:eeks?)?(?![a-z])|months?|years?"  # noqa: E501
_AMOUNT_ZH = (
    rf"(?:(?P<number>\d{{1,4}}\.\d|{NUMBER_ZH})\s{{0,2}}|(?=半))个"
    rf"?(?P<half>半)?个?\s{{0,2}}(?P<unit>{_UNIT_ZH})"
)
_AMOUNT_EN = (
    rf"(?P<number>\d{{1,4}}\.\d|(?:a\s)?quarter\sof\san?|half\san?|{NUMBER_EN})(?P<half>\sand\sa\shalf)?"
    rf"\s{{0,3}}(?P<unit>{_UNIT_EN})(?P<half_after>\sand\sa\shalf)?"
)
_ZH_AMOUNT, _EN_AMOUNT = (lazy_pattern(f"(?i){text}") for text in (_AMOUNT_ZH, _AMOUNT_EN))
_UNNAMED_ZH, _UNNAMED_EN = (re.sub(r"\?P<\w+>", "?:", text) for text in (_AMOUNT_ZH, _AMOUNT_EN))
SPAN_ZH = rf"(?P<span>{_UNNAMED_ZH}(?:[零又]?{_UNNAMED_ZH}){{0,2}})"
SPAN_EN = rf"(?P<span>{_UNNAMED_EN}(?:,?\s{{0,2}}(?:and\s)?{_UNNAMED_EN}){{0,2}})"
SPAN_DIGITS_EN = (
    rf"(?P<span>(?=\d){_UNNAMED_EN}(?:,?\s{{0,2}}(?:and\s)?(?=\d){_UNNAMED_EN}){{0,2}})"
)
_UNIT_MINUTES = {
    "刻": 15,
    "分": 1,
    "小": 60,
    "钟": 60,
    "天": DAY_MINUTES,
    "日": DAY_MINUTES,
    "周": 7 * DAY_MINUTES,
    "星": 7 * DAY_MINUTES,
    "礼": 7 * DAY_MINUTES,
    "m": 1,
    "h": 60,
    "d": DAY_MINUTES,
    "w": 7 * DAY_MINUTES,
}


def _read_span(text: str) -> tuple[int, int]:
    """Return months and minutes of a span.

    Raises:
        TimeUnclear: half a day, a number without a unit, or nothing at all.
    """
    months, minutes = 0, 0.0
    for found in (_EN_AMOUNT if text.isascii() else _ZH_AMOUNT).finditer(text):
        amount, unit = _read_amount(found), found["unit"].lower()
        if unit[0] in "月年" or unit.startswith(("month", "year")):
            months += int(amount * (12 if unit[0] in "年y" else 1))
        else:
            minutes += amount * _UNIT_MINUTES[unit[0]]
        is_part = amount != int(amount)
        if is_part and unit[0] not in "hm小钟":
            raise TimeUnclear
    if not months and minutes < 1:
        raise TimeUnclear
    return months, round(minutes)


def _read_amount(found: re.Match[str]) -> float:
    number = (found["number"] or "").lower()
    halves = 0.5 if found["half"] or found.groupdict().get("half_after") else 0.0
    if number.startswith("half"):
        return 0.5
    if "quarter" in number:
        return 0.25
    if "." in number:
        return float(number)
    return (read_number(number) if number else 0) + halves


def read_after(found: re.Match[str], today: date) -> TimeWord:
    """Read a span from now: "20分钟后", "in half an hour"."""
    return TimeWord(after=_read_span(found["span"]))


def read_every_span(found: re.Match[str], today: date) -> TimeWord:
    """Read what happens again after a span: "每两小时", "every 2 days"."""
    months, minutes = _read_span(found["span"])
    if months:
        raise TimeUnclear
    if minutes % DAY_MINUTES == 0:
        return TimeWord(every=minutes, days=_from(today))
    return TimeWord(every=minutes)


# ---- days


def _from(day: date) -> tuple[date, ...]:
    return (day, day + timedelta(days=1))


def in_days(days: int) -> Meaning:
    """The day so many days from today."""
    return lambda found, today: TimeWord(days=(today + timedelta(days=days),))


def every_days(days: int) -> Meaning:
    """It happens again after so many days."""
    return lambda found, today: TimeWord(every=days * DAY_MINUTES, days=_from(today))


def every_minutes(minutes: int) -> Meaning:
    """It happens again after so many minutes."""
    return lambda found, today: TimeWord(every=minutes)


def on_cron(cron: str) -> Meaning:
    """It happens by a cron expression: all five fields of one, or those of the days."""
    if len(cron.split()) == 5:
        return lambda found, today: TimeWord(whole_cron=cron)
    return lambda found, today: TimeWord(cron=cron)


_WEEKDAY_NAME = lazy_pattern(r"(?i)(?<![a-z])(?:mon|tue|wed|thu|fri|sat|sun)|[一二三四五六日天]")


def read_weekday(found: re.Match[str], today: date) -> TimeWord:
    """Read "周五", "friday": the next one whose moment is to come."""
    ahead = (weekday_number(found["day"]) - today.isoweekday()) % 7
    return TimeWord(days=tuple(today + timedelta(days=ahead + weeks * 7) for weeks in range(2)))


def weekday_of_week(weeks: int) -> Meaning:
    """A weekday of this week, the next one, ...; a week begins on Monday."""

    def read(found: re.Match[str], today: date) -> TimeWord:
        ahead = weekday_number(found["day"]) - today.isoweekday()
        return TimeWord(days=(today + timedelta(days=ahead + weeks * 7),))

    return read


def read_next_weekday(found: re.Match[str], today: date) -> TimeWord:
    """Read "next friday": clear only where the next one is also that of the next week."""
    number = weekday_number(found["day"])
    if number > today.isoweekday():
        day = found["day"]
        raise TimeUnclear(
            Phrase(
                'does "next {day}" mean this week\'s or next week\'s? Write "{day}" or "{day} '
                'next week"',
                day=day,
            ),
        )
    return weekday_of_week(1)(found, today)


def read_weekdays(found: re.Match[str], today: date) -> TimeWord:
    """Read several weekdays of every week: "每周一三五", "every mon and thu"."""
    numbers = [weekday_number(name) for name in _WEEKDAY_NAME.findall(found["days"])]
    return TimeWord(cron=f"* * {','.join(map(str, sorted(set(numbers))))}")


def read_weekday_range(found: re.Match[str], today: date) -> TimeWord:
    """Read "周一到周五", "mon-fri", every week."""
    first, last = weekday_number(found["first"]), weekday_number(found["last"])
    if first >= last:
        raise TimeUnclear
    return TimeWord(cron=f"* * {first}-{last}")


def read_every_two_weeks(found: re.Match[str], today: date) -> TimeWord:
    """Read "每两周周一", "every other monday"."""
    return TimeWord(every=14 * DAY_MINUTES, days=read_weekday(found, today).days)


# ---- dates


def _make_date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError as err:
        raise TimeUnclear(Phrase("there is no such date")) from err


def _month_of(today: date, months: int) -> tuple[int, int]:
    years, month = divmod(today.month - 1 + months, 12)
    return today.year + years, month + 1


def add_months(day: date, months: int) -> date:
    """Return the same day some months later, or the last one of a month that has none such."""
    year, month = _month_of(day, months)
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def _month_number(name: str) -> int:
    if name.isascii() and not name.isdigit():
        return MONTHS[name[:3].lower()]
    return read_number(name)


def read_date(found: re.Match[str], today: date) -> TimeWord:
    """Read a month and a day, with or without a year."""
    given = found.groupdict()
    month, day, year = (
        _month_number(given["month"]),
        read_number(given["date"]),
        given.get("year") or "",
    )
    if year in ("今年", "明年"):
        year = str(today.year + (year == "明年"))
    if year:
        return TimeWord(days=(_make_date(int(year), month, day),))
    _make_date(2028, month, day)  # a leap year: 29 February is one
    years = range(today.year, today.year + 9)
    return TimeWord(
        days=tuple(date(year, month, day) for year in years if day <= monthrange(year, month)[1])
    )


def read_slashed_date(found: re.Match[str], today: date) -> TimeWord:
    """Read 12/25 or 25/12; of 3/4 nobody knows which is the month."""
    first, second = int(found["first"]), int(found["second"])
    if first <= 12 and second <= 12:
        raise TimeUnclear(
            Phrase(
                "which of {first}/{second} is the month? Write it like 25 December or 2026-12-25",
                first=first,
                second=second,
            ),
        )
    month, day = (first, second) if first <= 12 else (second, first)
    _make_date(2028, month, day)
    return TimeWord(
        days=tuple(_make_date(year, month, day) for year in (today.year, today.year + 1))
    )


def read_day_of_month(found: re.Match[str], today: date) -> TimeWord:
    """Read "28号", "on the 31st": the next month that has it."""
    day = read_number(found["date"])
    if not 1 <= day <= 31:
        raise TimeUnclear(Phrase("there is no such date"))
    months = (_month_of(today, ahead) for ahead in range(3))
    return TimeWord(
        days=tuple(
            date(year, month, day) for year, month in months if day <= monthrange(year, month)[1]
        )
    )


def day_of_month_in(months: int) -> Meaning:
    """A day of the month so many months from now."""

    def read(found: re.Match[str], today: date) -> TimeWord:
        year, month = _month_of(today, months)
        return TimeWord(days=(_make_date(year, month, read_number(found["date"])),))

    return read


def month_end(months: int) -> Meaning:
    """The last day of the month so many months from now."""

    def read(found: re.Match[str], today: date) -> TimeWord:
        year, month = _month_of(today, months)
        return TimeWord(days=(date(year, month, monthrange(year, month)[1]),))

    return read


def read_every_month(found: re.Match[str], today: date) -> TimeWord:
    """Read a day of every month: "每月1号"."""
    day = read_number(found["date"])
    if not 1 <= day <= 28:
        raise TimeUnclear(
            Phrase("not every month has that day; write for example: every month on the last day"),
        )
    return TimeWord(cron=f"{day} * *")


def read_every_month_weekday(found: re.Match[str], today: date) -> TimeWord:
    """Read "每月第一个周一", "last friday of every month"."""
    day, which = weekday_number(found["day"]), found["which"].lower()
    if which in ("last", "最后一"):
        return TimeWord(cron=f"* * {day}L")
    number = _ORDINALS[which] if which in _ORDINALS else read_number(which[1:])
    if not 1 <= number <= 4:
        raise TimeUnclear
    return TimeWord(cron=f"* * {day}#{number}")


def read_every_year(found: re.Match[str], today: date) -> TimeWord:
    """Read "每年12月25日", "every year on Dec 25"."""
    month, day = _month_number(found["month"]), read_number(found["date"])
    if (month, day) == (2, 29):
        raise TimeUnclear(Phrase("not every year has that day"))
    _make_date(today.year, month, day)
    return TimeWord(cron=f"{day} {month} *")


def read_cron(found: re.Match[str], today: date) -> TimeWord:
    """Read five fields of a cron expression."""
    return TimeWord(whole_cron=found["cron"])


# ---- parts of the day, and clocks

DAWN = PartOfDay(first=0, last=6)
MORNING = PartOfDay(first=1, last=11, usual=9)
FORENOON = PartOfDay(first=5, last=12, usual=9)
NOON = PartOfDay(first=11, last=14, usual=12)
AFTERNOON = PartOfDay(first=12, last=19, usual=15)
DUSK = PartOfDay(first=16, last=20, usual=18)
EVENING = PartOfDay(first=16, last=24, usual=18)
NIGHT = PartOfDay(first=17, last=24, usual=20)
AM = PartOfDay(first=0, last=11, is_half=True)
PM = PartOfDay(first=12, last=23, is_half=True)


def during(part: PartOfDay, day: int | None = None) -> Meaning:
    """A part of the day: of any day, or of the one so many days from today."""

    def read(found: re.Match[str], today: date) -> TimeWord:
        return TimeWord(part=part, days=() if day is None else (today + timedelta(days=day),))

    return read


def read_clock(found: re.Match[str], today: date) -> TimeWord:
    """Read 8:30, 八点半, three o'clock, half past eight, quarter to nine."""
    given = found.groupdict()
    hour, minute = read_number(given["hour"]), 0
    if given.get("quarters"):
        minute = read_number(given["quarters"]) * 15
    elif given.get("half"):
        minute = 30
    elif written := given.get("minute") or given.get("bare_minute"):
        minute = _minutes_of(written.lower())
    if (given.get("side") or "").lower() == "to":
        hour, minute = (hour - 2) % 12 + 1, 60 - minute
    if hour > 24 or minute > 59:
        raise TimeUnclear(Phrase("there is no such time of day"))
    is_exact = hour > 12 or hour == 0 or given["hour"].startswith("0")
    has_colon = ":" in found[0]
    return TimeWord(clock=Clock(hour=hour, minute=minute, has_colon=has_colon, is_exact=is_exact))


def _minutes_of(text: str) -> int:
    return {"half": 30, "quarter": 15, "a quarter": 15}.get(text) or read_number(text)


def read_noon(found: re.Match[str], today: date) -> TimeWord:
    """Read noon, which is exact."""
    return TimeWord(clock=Clock(hour=12, minute=0, is_exact=True))


def read_midnight(found: re.Match[str], today: date) -> TimeWord:
    """Read midnight: the end of its day."""
    return TimeWord(clock=Clock(hour=24, minute=0, is_exact=True))
