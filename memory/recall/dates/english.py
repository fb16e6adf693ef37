"""Dates in English questions. Pure."""

import re
from collections.abc import Iterable
from datetime import date

from memory.recall.dates.calendar import (
    A_FEW,
    EARLY,
    END,
    HALF,
    LATE,
    MIDDLE,
    DateRule,
    DateSpan,
    ReadDates,
    any_year,
    day_at_distance,
    days,
    days_ago,
    days_back,
    in_month,
    month_at_distance,
    month_end,
    months,
    newest_weekday,
    newest_weekend,
    season,
    seasons_of,
    up_to_today,
    weekday_at_distance,
    weekend_at_distance,
)
from memory.text.calendar_words import ENGLISH_NUMBERS, MONTHS, WEEKDAY_NAMES, weekday_number
from memory.text.patterns import lazy_pattern

MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
NTH = "(?:st|nd|rd|th)"
WHICH = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
WHICH_ONE = "(?P<which>last|previous|current|next|coming|(?:this )?past|this)"
PART = r"(?P<part>early|mid|late|(?:the )?(?:start|beginning|middle|end) of)[\s-](?:in )?"
PARTS = {"early": EARLY, "start": EARLY, "begin": EARLY, "mid": MIDDLE, "late": LATE, "end": END}
_MONTH_WORDS = tuple(name for name in MONTHS if len(name) == 3)
_CENTURIES = ("19", "20")
_SEASON_WORDS = ("spring", "summer", "autumn", "fall", "winter")
_NAME = f"(?P<name>{MONTH})"
# Months that are not also a person's name or another word.
_UNAMBIGUOUS_MONTH = "(?P<name>january|february|july|september|october|november|december)"
_VERBS = ("may", "mar", "march")
_DAY = r"(?P<day>\d{1,2})"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b(?![-/.:]\d{1,2}\b)"
_A_YEAR = rf"(?:{_YEAR}|(?P<that>last|this|next) year\b)"
_IN_YEAR = rf"(?:(?:,\s?| )(?:of |in )?{_A_YEAR})?"
# A number before these counts them, and is no day or year.
_COUNTED = (
    r"(?!\s?(?:%|people|persons?|men\b|women|guests|kids|times|steps|words|miles?\b|km|kilomet|met(?:er|re)|kg|pounds"
    r"|dollars|bucks|hours?|minutes?|days?\b|weeks?|months?|years?|[ap]\.?m\b|o['’]clock|[:.]\d))"
)
_TO = "(?:-|–|—|to|and|until|till|through)"
_AND = "-|–|—|to|through|until|till|and|&"
_BEFORE_A_DATE = lazy_pattern(
    r"\b(?:on|since|until|till|by|before|after|from|to|between|of)\s+$", re.IGNORECASE
)
_IN = (
    r"\b(?:in|of|during|since|until|till|throughout|through|around|before|after) (?:the month of )?"
)
_THIRDS = {
    "early": (1, 4),
    "start": (1, 2),
    "begin": (1, 2),
    "mid": (5, 8),
    "late": (9, 12),
    "end": (11, 12),
}
_SEASON = f"(?P<season>{'|'.join(_SEASON_WORDS)})"
_HOLIDAYS = {
    "new year": (12, 31, 1, 1),
    "valentine": (2, 14, 2, 14),
    "april fool": (4, 1, 4, 1),
    "mother": (5, 8, 5, 14),
    "father": (6, 15, 6, 21),
    "independence day": (7, 4, 7, 4),
    "fourth of july": (7, 4, 7, 4),
    "halloween": (10, 31, 10, 31),
    "thanksgiving": (11, 22, 11, 28),
    "christmas eve": (12, 24, 12, 24),
    "christmas": (12, 24, 12, 25),
    "xmas": (12, 24, 12, 25),
    "boxing day": (12, 26, 12, 26),
}
_HOLIDAY_WORDS = tuple({name.split()[0] for name in _HOLIDAYS})
_HOLIDAY = (
    "(?P<feast>new year(?=['’]?s| day)|valentine(?=['’]?s)|april fool(?=['’]?s)|mother(?=['’]?s "
    "day)|father(?=['’]?s day)|independence day|fourth of july|halloween|thanksgiving|christmas eve"
    r"|christmas(?! (?:tree|song|carol|card))|xmas|boxing day)\b(?:['’]?s)?(?: (?:day|eve)\b)?"
)


def compile_rules(*said: tuple[str, ReadDates, tuple[str, ...]]) -> tuple[DateRule, ...]:
    """Compile patterns, in which a space means up to three spaces, with what reads them and
    DateRule.words.

    Only English letters are word characters, so that a word may stand between Chinese ones without
    a space.
    """
    flags = re.IGNORECASE | re.ASCII
    return tuple(
        DateRule(lazy_pattern(pattern.replace(" ", r"\s{1,3}"), flags), read, words)
        for pattern, read, words in said
    )


def normalize_question(said: str | None) -> str:
    """Lower case, single spaces; "" for None."""
    return " ".join((said or "").lower().split())


def part_of(found: re.Match[str]) -> str:
    """The key of PARTS for the part of a month, year or week in a match, or ""."""
    said = normalize_question(found["part"]).removeprefix("the ").partition(" ")[0]
    return {"middle": "mid", "beginning": "begin"}.get(said, said)


def _month(name: str) -> int:
    return MONTHS[name.lower()[:3]]


def _year(found: re.Match[str], today: date) -> int | None:
    said = found.groupdict()
    if that := said.get("that"):
        return today.year + WHICH[that.lower()]
    return int(said["year"]) if said.get("year") else None


def _before(found: re.Match[str]) -> str:
    return found.string[max(0, found.start() - 10) : found.start()]


def _day_of_month(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    shown = (
        found["nth"]
        or _year(found, today)
        or found["name"] not in _VERBS
        or _BEFORE_A_DATE.search(_before(found))
    )
    if not shown:
        raise ValueError("a verb: may, march")
    year, month, day, end = (
        _year(found, today),
        _month(found["name"]),
        int(found["day"]),
        int(found["end"] or 0),
    )
    first = in_month(today, year, month, day, day)
    if not end:
        return [first]
    if found["between"] in ("and", "&") and "between" not in _before(found).lower():
        return [first, in_month(today, year, month, end, end)] if found["end_nth"] else [first]
    in_month(today, year, month, end, end)
    return [in_month(today, year, month, day, end)]


def _month_of_year(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    return [
        in_month(
            today, _year(found, today), _month(found["name"]), *PARTS.get(part_of(found), (1, 31))
        )
    ]


def _month_near(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    """Last May is the newest one that is over, or that of last year; next May likewise."""
    if found["name"] in _VERBS:
        raise ValueError("a verb: may, march")
    month, which = _month(found["name"]), WHICH[normalize_question(found["which"]).split()[-1]]
    nearest = {
        -1: today.year - (month >= today.month),
        0: today.year,
        1: today.year + (month <= today.month),
    }[which]
    return dict.fromkeys(
        (in_month(today, nearest, month), in_month(today, today.year + which, month))
    )


def _months(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    first, last, year = _month(found["name"]), _month(found["last"]), _year(found, today)
    if year is None:
        return [any_year(today, (first, 1), (last, month_end(last)))]
    return [months(year - (last < first), first, last + 12 * (last < first))]


def _week_of_month(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    nth = ["first", "second", "third", "fourth", "last"].index(found["week"].lower())
    first, last = (25, 31) if nth == 4 else (7 * nth + 1, 7 * nth + 7)
    return [in_month(today, _year(found, today), _month(found["name"]), first, last)]


def _years(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    first = int(found["year"])
    if found["end"]:
        return [months(first, 1, 12 * (int(found["end"]) - first + 1))]
    return [months(first, *part_of_year(part_of(found)))]


def part_of_year(part: str) -> tuple[int, int]:
    """First and last month of a part of the year."""
    return _THIRDS.get(part, (1, 12))


def _season(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    name = normalize_question(found["season"]).replace("fall", "autumn")
    if year := _year(found, today):
        return seasons_of(year, name)
    which = WHICH[normalize_question(found["which"]).split()[-1]]
    if which >= 0:
        return [season(today.year + which, name)]
    over = max(
        span.first
        for year in range(-2, 1)
        if (span := season(today.year + year, name)).last < today
    )
    return dict.fromkeys((season(over.year, name), season(today.year - 1, name)))


def _holiday(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    fixed, which = _HOLIDAYS[normalize_question(found["feast"])], normalize_question(found["which"])
    if year := _year(found, today):
        return [_holiday_in_year(year, fixed)]
    newest = any_year(today, fixed[:2], fixed[2:])
    if which == "last":
        before = _holiday_in_year(newest.last.year - 1, fixed)
        return [
            days(newest.first, newest.last),
            *([before] if (today - before.last).days < 400 else []),
        ]
    if which:
        return [_holiday_in_year(newest.last.year + (newest.last < today), fixed)]
    return [newest]


def _holiday_in_year(year: int, fixed: tuple[int, int, int, int]) -> DateSpan:
    month, first, last_month, last = fixed
    return days(date(year - (last_month < month), month, first), date(year, last_month, last))


_CALENDAR_RULES = compile_rules(
    (
        rf"\b{_NAME}\.? (?:the )?{_DAY}(?P<nth>{NTH})?\b{_COUNTED}"
        rf"(?:\s?(?P<between>{_AND})\s?(?P<end>\d{{1,2}})(?P<end_nth>{NTH})?\b{_COUNTED})?{_IN_YEAR}",
        _day_of_month,
        _MONTH_WORDS,
    ),
    (
        rf"(?<![\d.,:/$#-])\b{_DAY}(?P<nth>{NTH}(?: of)?| of)?(?:\s?(?P<between>{_AND})"
        rf"\s?(?P<end>\d{{1,2}})(?P<end_nth>{NTH}(?: of)?)?)? {_NAME}(?!['’]s){_IN_YEAR}",
        _day_of_month,
        _MONTH_WORDS,
    ),
    (
        rf"\b(?:{PART})?{_NAME}\.?(?:,\s?| )(?:of )?{_A_YEAR}{_COUNTED}",
        _month_of_year,
        _MONTH_WORDS,
    ),
    (rf"{_IN}(?P<here>(?:{PART})?{_NAME})(?P<year>)(?!['’]s|\.? \d)", _month_of_year, _MONTH_WORDS),
    (rf"\b{PART}{_NAME}(?!['’]s|\.? \d)", _month_of_year, _MONTH_WORDS),
    (rf"(?P<part>)\b{_UNAMBIGUOUS_MONTH}\b", _month_of_year, _MONTH_WORDS),
    (rf"\b{WHICH_ONE} {_NAME}(?!['’]s| \d)", _month_near, _MONTH_WORDS),
    (
        (
            rf"\b(?:from|between) (?P<here>{_NAME}\s?{_TO}\s?(?P<last>{MONTH})(?!\.? "
            rf"\d\d?\b){_IN_YEAR})"
        ),
        _months,
        _MONTH_WORDS,
    ),
    (
        rf"\b(?P<week>first|second|third|fourth|last) week (?:of|in) {_NAME}{_IN_YEAR}",
        _week_of_month,
        _MONTH_WORDS,
    ),
    (
        r"\b(?:in|during|of|since|from|between|until|till|by|year|throughout|before|after) "
        rf"(?P<here>(?:{PART})?{_YEAR}(?:\s?{_TO}\s?(?P<end>(?:19|20)\d\d)\b)?){_COUNTED}",
        _years,
        _CENTURIES,
    ),
    (rf"\b{PART}{_YEAR}(?P<end>)", _years, _CENTURIES),
    (rf"\b{WHICH_ONE} {_SEASON}\b", _season, _SEASON_WORDS),
    (rf"\b{_SEASON} (?:of )?{_A_YEAR}", _season, _SEASON_WORDS),
    (
        rf"\b(?:(?P<which>last|this|next) )?{_HOLIDAY}(?: (?:of |in )?{_A_YEAR})?",
        _holiday,
        _HOLIDAY_WORDS,
    ),
)


# Dates relative to today

_WEEKDAY = rf"(?P<day>{'|'.join(WEEKDAY_NAMES)})\b"
_SHORT_DAY = r"(?P<day>mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:r?s?)?(?:day)?|fri(?:day)?|saturday|sunday)\b"  # noqa: E501
_DAY_WORDS = tuple(name[:3] for name in WEEKDAY_NAMES)
_OF_A_DATE = rf"(?!,? (?:the )?(?:{MONTH}\.? \d|\d{{1,2}}{NTH}?(?: of)? {MONTH}))"
_PARTS_OF_WEEK = {
    "early": (0, 2),
    "start": (0, 1),
    "begin": (0, 1),
    "mid": (1, 4),
    "late": (3, 6),
    "end": (4, 6),
}
_COUNTS = {
    **ENGLISH_NUMBERS,
    "a": 1,
    "an": 1,
    "couple": 2,
    "couple of": 2,
    "a couple": 2,
    "a couple of": 2,
}
_VAGUE = ("few", "a few", "several", "some")
_COUNT = (
    rf"(?P<count>\d{{1,3}}|{'|'.join(ENGLISH_NUMBERS)}|(?:a )?few|several|some|(?:a "
    r")?couple(?: of)?|half an?|an?)"
)
_UNIT = r"(?P<unit>day|night|week|fortnight|month|year|hour|minute)s?\b"
_NEAR = {"yesterday": -1, "last night": -1, "tomorrow": 1}
_RECENTLY = {"the other day": (10, 1), "the other night": (10, 1), "the other week": (28, 7)}


def _unit_near(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    which, unit, part = (
        normalize_question(found["which"]) or "this",
        normalize_question(found["unit"]),
        part_of(found),
    )
    distance = WHICH[which.split()[-1]]
    if unit == "weekend":
        return (
            newest_weekend(today)[:1]
            if which.endswith("past")
            else [weekend_at_distance(today, distance)]
        )
    if which.endswith("past"):
        return [up_to_today(today, 1, unit)]
    either = found["the"] and distance < 0 and not part
    return [
        _whole_unit(today, distance, unit, part),
        *([up_to_today(today, 1, unit)] if either else []),
    ]


def _whole_unit(today: date, distance: int, unit: str, part: str) -> DateSpan:
    if unit == "year":
        return months(today.year + distance, *part_of_year(part))
    if unit == "month":
        return month_at_distance(today, distance, PARTS.get(part, (1, 31)))
    first, last = _PARTS_OF_WEEK.get(part, (0, 6))
    return days(
        weekday_at_distance(today, distance, first).first,
        weekday_at_distance(today, distance, last).last,
    )


def _before_last(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    unit = normalize_question(found["unit"])
    if unit == "night":
        return [day_at_distance(today, -2)]
    return [
        weekend_at_distance(today, -2) if unit == "weekend" else _whole_unit(today, -2, unit, "")
    ]


def _weekend(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    return newest_weekend(today)


def _weekday(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    """Last Tuesday is the newest one or that of last week; next Tuesday likewise."""
    day, which = _number_of(found["day"]), normalize_question(found["which"])
    if which in ("", "on"):
        return newest_weekday(today, day, today_too=True)
    if which.endswith("past"):
        return newest_weekday(today, day, today_too=False)
    distance = WHICH[which]
    if distance == 0:
        return [weekday_at_distance(today, 0, day)]
    newest = newest_weekday(today, day, today_too=False)[0]
    nearest = (
        newest if distance < 0 else day_at_distance(today, (day - today.weekday() - 1) % 7 + 1)
    )
    return dict.fromkeys((nearest, weekday_at_distance(today, distance, day)))


def _weekday_of(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    return [
        weekday_at_distance(
            today, WHICH[normalize_question(found["week"])], _number_of(found["day"])
        )
    ]


def _number_of(day: str) -> int:
    return weekday_number(day) - 1


def _long_ago(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    count, unit = normalize_question(found["count"]), _unit(found)
    if unit in ("hour", "minute"):
        return [days_back(today, 1, 0)]
    if count in _VAGUE:
        return [days_back(today, *A_FEW[unit])]
    if count.startswith("half"):
        return [days_ago(today, *HALF.get(unit, HALF["week"]))]
    return [days_ago(today, *_counted(count, unit))]


def _up_to_now(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    count, unit = normalize_question(found["count"]), _unit(found)
    if unit in ("hour", "minute"):
        return [days_back(today, 1, 0)]
    if count in _VAGUE:
        return [days_back(today, A_FEW[unit][0], 0)]
    return [up_to_today(today, *_counted(count, unit))]


def _unit(found: re.Match[str]) -> str:
    unit = normalize_question(found["unit"])
    return "day" if unit == "night" else unit


def _counted(count: str, unit: str) -> tuple[float, str]:
    number = int(count) if count.isdecimal() else _COUNTS.get(count, 0.5)
    return (2 * number, "week") if unit == "fortnight" else (number, unit)


def _near_day(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    return [day_at_distance(today, _NEAR.get(normalize_question(found[0]), 0))]


def _recently(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    return [days_back(today, *_RECENTLY.get(normalize_question(found[0]), (14, 0)))]


_RELATIVE_RULES = compile_rules(
    (
        rf"\b(?:{PART})?(?P<the>the )?{WHICH_ONE} (?P<unit>weekend|week|month|year)\b(?! of)",
        _unit_near,
        ("week", "month", "year"),
    ),
    (
        rf"\b{PART}(?P<the>)(?P<which>)the (?P<unit>week|month|year)\b(?! of)",
        _unit_near,
        ("week", "month", "year"),
    ),
    (
        r"\b(?:the )?(?P<unit>week|weekend|month|year|night) before last\b(?! (?:week|month|year))",
        _before_last,
        ("before",),
    ),
    (r"\bthe weekend\b", _weekend, ("weekend",)),
    (
        rf"\b(?P<which>last|previous|(?:this )?past|this|next|on) {_SHORT_DAY}{_OF_A_DATE}",
        _weekday,
        _DAY_WORDS,
    ),
    (
        rf"(?P<which>)(?<!every\s)(?<!each\s)(?<!other\s)(?<!black\s)(?<!good\s)(?<!easter\s)\b{_WEEKDAY}{_OF_A_DATE}",
        _weekday,
        _DAY_WORDS,
    ),
    (rf"\b{_WEEKDAY} (?:of |in )?(?P<week>last|this|next) week\b", _weekday_of, _DAY_WORDS),
    (rf"\b(?P<week>last|this|next) week(?:['’]s)?(?: on)? {_SHORT_DAY}", _weekday_of, _DAY_WORDS),
    (
        rf"(?<![\d.])\b{_COUNT} {_UNIT} (?:ago|back|earlier)\b",
        _long_ago,
        ("ago", "back", "earlier"),
    ),
    (
        rf"\b(?:the |these )?(?:last|past|previous) {_COUNT} {_UNIT}(?! of)",
        _up_to_now,
        ("last", "past", "previous"),
    ),
    (
        r"\b(?:yesterday|last night|today|tonight|tomorrow|this (?:morning|afternoon|evening))\b",
        _near_day,
        ("yesterday", "night", "today", "tomorrow", "morning", "afternoon", "evening"),
    ),
    (
        r"\b(?:recently|lately|these days|the other (?:day|night|week))\b",
        _recently,
        ("recently", "lately", "days", "other"),
    ),
)

RULES = (*_CALENDAR_RULES, *_RELATIVE_RULES)
