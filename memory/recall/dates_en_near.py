"""How English names days by how far they are from today. Pure."""

import re
from collections.abc import Iterable
from datetime import date

from memory.recall.calendar import (
    Span,
    ago,
    away,
    days,
    month_away,
    months,
    newest_weekday,
    newest_weekend,
    weekday_away,
    weekend_away,
    within,
)
from memory.recall.dates_en import MONTH, NTH, PART, PARTS, WHICH, WHICH_ONE, part_of, part_of_year, rules, words

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_DAY = rf"(?P<day>{'|'.join(WEEKDAYS)})\b"
_SHORT_DAY = r"(?P<day>mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:r?s?)?(?:day)?|fri(?:day)?|saturday|sunday)\b"
_OF_A_DATE = rf"(?!,? (?:the )?(?:{MONTH}\.? \d|\d{{1,2}}{NTH}?(?: of)? {MONTH}))"
_PARTS_OF_WEEK = {"early": (0, 2), "start": (0, 1), "begin": (0, 1), "mid": (1, 4), "late": (3, 6), "end": (4, 6)}
_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_COUNTS = {
    **{word: at for at, word in enumerate(_NUMBERS, 1)},
    "a": 1,
    "an": 1,
    "couple": 2,
    "couple of": 2,
    "a couple": 2,
    "a couple of": 2,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
}
_VAGUE = ("few", "a few", "several", "some")
_COUNT = (
    rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)}|fifteen|twenty|thirty|(?:a )?few|several|some|(?:a )?couple(?: of)?"
    r"|half an?|an?)"
)
_UNIT = r"(?P<unit>day|night|week|fortnight|month|year|hour|minute)s?\b"
_VAGUE_DAYS = {"day": (10, 1), "week": (56, 10), "fortnight": (84, 21), "month": (240, 45), "year": (8 * 365, 365)}
_HALF = {"month": (15, "day"), "year": (6, "month"), "hour": (0, "day")}
_NEAR = {"yesterday": -1, "last night": -1, "tomorrow": 1}
_LATELY = {"the other day": (10, 1), "the other night": (10, 1), "the other week": (28, 7)}


def _unit_near(found: re.Match[str], today: date) -> Iterable[Span]:
    which, unit, part = words(found["which"]) or "this", words(found["unit"]), part_of(found)
    distance = WHICH[which.split()[-1]]
    if unit == "weekend":
        return newest_weekend(today)[:1] if which.endswith("past") else [weekend_away(today, distance)]
    if which.endswith("past"):
        return [within(today, 1, unit)]
    either = found["the"] and distance < 0 and not part
    return [_whole(today, distance, unit, part), *([within(today, 1, unit)] if either else [])]


def _whole(today: date, distance: int, unit: str, part: str) -> Span:
    if unit == "year":
        return months(today.year + distance, *part_of_year(part))
    if unit == "month":
        return month_away(today, distance, PARTS.get(part, (1, 31)))
    first, last = _PARTS_OF_WEEK.get(part, (0, 6))
    return days(weekday_away(today, distance, first).first, weekday_away(today, distance, last).last)


def _before_last(found: re.Match[str], today: date) -> Iterable[Span]:
    unit = words(found["unit"])
    if unit == "night":
        return [away(today, -2)]
    return [weekend_away(today, -2) if unit == "weekend" else _whole(today, -2, unit, "")]


def _weekend(found: re.Match[str], today: date) -> Iterable[Span]:
    return newest_weekend(today)


def _weekday(found: re.Match[str], today: date) -> Iterable[Span]:
    """Last Tuesday is the newest one or that of last week; next Tuesday likewise."""
    day, which = _number_of(found["day"]), words(found["which"])
    if which in ("", "on"):
        return newest_weekday(today, day, today_too=True)
    if which.endswith("past"):
        return newest_weekday(today, day, today_too=False)
    distance = WHICH[which]
    if distance == 0:
        return [weekday_away(today, 0, day)]
    newest = newest_weekday(today, day, today_too=False)[0]
    nearest = newest if distance < 0 else away(today, (day - today.weekday() - 1) % 7 + 1)
    return dict.fromkeys((nearest, weekday_away(today, distance, day)))


def _weekday_of(found: re.Match[str], today: date) -> Iterable[Span]:
    return [weekday_away(today, WHICH[words(found["week"])], _number_of(found["day"]))]


def _number_of(day: str) -> int:
    return next(at for at, name in enumerate(WEEKDAYS) if name.startswith(day.lower()[:3]))


def _long_ago(found: re.Match[str], today: date) -> Iterable[Span]:
    count, unit = words(found["count"]), _unit(found)
    if unit in ("hour", "minute"):
        return [days(away(today, -1).first, today)]
    if count in _VAGUE:
        far, near = _VAGUE_DAYS[unit]
        return [days(away(today, -far).first, away(today, -near).last)]
    if count.startswith("half"):
        return [ago(today, *_HALF.get(unit, (3, "day")))]
    return [ago(today, *_counted(count, unit))]


def _up_to_now(found: re.Match[str], today: date) -> Iterable[Span]:
    count, unit = words(found["count"]), _unit(found)
    if unit in ("hour", "minute"):
        return [days(away(today, -1).first, today)]
    if count in _VAGUE:
        return [days(away(today, -_VAGUE_DAYS[unit][0]).first, today)]
    return [within(today, *_counted(count, unit))]


def _unit(found: re.Match[str]) -> str:
    unit = words(found["unit"])
    return "day" if unit == "night" else unit


def _counted(count: str, unit: str) -> tuple[float, str]:
    number = int(count) if count.isdecimal() else _COUNTS.get(count, 0.5)
    return (2 * number, "week") if unit == "fortnight" else (number, unit)


def _near_day(found: re.Match[str], today: date) -> Iterable[Span]:
    return [away(today, _NEAR.get(words(found[0]), 0))]


def _lately(found: re.Match[str], today: date) -> Iterable[Span]:
    far, near = _LATELY.get(words(found[0]), (14, 0))
    return [days(away(today, -far).first, away(today, -near).last)]


RULES = rules(
    (rf"\b(?:{PART})?(?P<the>the )?{WHICH_ONE} (?P<unit>weekend|week|month|year)\b(?! of)", _unit_near),
    (rf"\b{PART}(?P<the>)(?P<which>)the (?P<unit>week|month|year)\b(?! of)", _unit_near),
    (r"\b(?:the )?(?P<unit>week|weekend|month|year|night) before last\b(?! (?:week|month|year))", _before_last),
    (r"\bthe weekend\b", _weekend),
    (rf"\b(?P<which>last|previous|(?:this )?past|this|next|on) {_SHORT_DAY}{_OF_A_DATE}", _weekday),
    (
        rf"(?P<which>)(?<!every\s)(?<!each\s)(?<!other\s)(?<!black\s)(?<!good\s)(?<!easter\s)\b{_DAY}{_OF_A_DATE}",
        _weekday,
    ),
    (rf"\b{_DAY} (?:of |in )?(?P<week>last|this|next) week\b", _weekday_of),
    (rf"\b(?P<week>last|this|next) week(?:['’]s)?(?: on)? {_SHORT_DAY}", _weekday_of),
    (rf"(?<![\d.])\b{_COUNT} {_UNIT} (?:ago|back|earlier)\b", _long_ago),
    (rf"\b(?:the |these )?(?:last|past|previous) {_COUNT} {_UNIT}(?! of)", _up_to_now),
    (r"\b(?:yesterday|last night|today|tonight|tomorrow|this (?:morning|afternoon|evening))\b", _near_day),
    (r"\b(?:recently|lately|these days|the other (?:day|night|week))\b", _lately),
)
