"""Finds the dates in a question, absolute and relative, in Chinese and English. Pure.

Known limits: holidays of the lunar calendar, Easter, dates without a month ("the 5th", 5号),
numbers with a point or a slash that nothing shows to be a date (5.3), ordinals in words (May the
third), seasons without a year, names that are also words for days (周一鸣). A week begins on
Monday, and seasons are those north of the equator.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from memory.recall.dates import chinese, english
from memory.recall.dates.calendar import (
    DAY,
    DateRule,
    DateSpan,
    days,
    days_beside,
    in_month,
    month_end,
    read_nothing,
)
from memory.text.calendar_words import WEEKDAY_NAMES
from memory.text.patterns import lazy_pattern

MAX_SPANS = 32  # spans of one question; the first ones
_FULL_WIDTH_TO_ASCII = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_ISO = lazy_pattern(
    r"(?<![\d.])(?P<year>(?:19|20)\d\d)(?:(?P<by>[-/.])(?P<month>\d{1,2})(?P=by)(?P<day>\d{1,2})(?![\d]|[-/]\d)"
    r"|[-/](?P<only>0[1-9]|1[0-2])(?![\d/-]))"
)
_SLASHES = lazy_pattern(
    r"(?<![\d/.])(?P<one>\d{1,2})/(?P<other>\d{1,2})(?:/(?P<year>(?:19|20)\d\d))(?![\d/])"
)
_VERSION = lazy_pattern(r"\b(?:v|ver|version|release)\.?\s{0,2}\d[\d.]{0,20}", re.IGNORECASE)
_TO = lazy_pattern(
    r"\s{0,2}(?:[-~～—–－]|到|至|to|through|until|till)\s{0,2}(?:the\s)?", re.IGNORECASE
)
_AND = lazy_pattern(r"\s{0,2}(?:and|和|与|跟)\s{0,2}", re.IGNORECASE)
_BESIDE_EN = lazy_pattern(
    rf"\b(?:the\s{{1,2}})?(?P<unit>day|night|weekend|week|month|{'|'.join(WEEKDAY_NAMES)})\s{{1,2}}"
    r"(?P<side>before|after|following|of)\s{1,2}(?:the\s{1,2})?$",
    re.IGNORECASE,
)
_BESIDE_ZH = lazy_pattern(r"的?(?P<side>[前后])一?(?P<unit>天|晚|周(?!年)|个?星期|个月)")
_OPEN_EN = lazy_pattern(r"\b(?P<side>since|before|after)\s{1,2}(?:the\s{1,2})?$", re.IGNORECASE)
_OPEN_ZH = lazy_pattern(r"(?P<since>以来|至今|到现在)|[之以](?P<side>[前后])")
_SIDES = {"before": -1, "after": 1, "following": 1, "of": 0, "前": -1, "后": 1}
_UNITS = {
    "night": "day",
    "天": "day",
    "晚": "day",
    "周": "week",
    "星期": "week",
    "个星期": "week",
    "个月": "month",
}
_MAX_CONTEXT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _DateMention:
    """Words that name days."""

    start: int
    end: int
    #: Empty for words that only look like a date.
    readings: tuple[DateSpan, ...]


def find_dates(question: str, now: datetime) -> tuple[DateSpan, ...]:
    """The spans of days that a question names, in its order; several for words with several
    meanings.

    Args:
        now: in the person's time zone; relative dates count from its day.
    """
    today, plain = now.date(), question.translate(_FULL_WIDTH_TO_ASCII)
    joined = _join_ranges(plain, _without_overlaps(_find_mentions(plain, today)))
    named = _without_overlaps(_apply_context(plain, one, today) for one in joined)
    found = (
        replace(span, text=question[one.start : one.end], start=one.start)
        for one in named
        for span in one.readings
    )
    return tuple(span for _, span in zip(range(MAX_SPANS), found, strict=False))


def is_in_spans(spans: Iterable[DateSpan], day: date) -> bool:
    """Whether a day is in one of the spans; for a span without a year only month and day count."""
    return any(_contains(span, day) for span in spans)


def remove_dates(question: str, spans: Sequence[DateSpan]) -> str:
    """The question without the words that name these spans."""
    pieces, end = [], 0
    for span in sorted(spans, key=lambda one: one.start):
        if span.start >= end:
            pieces.append(question[end : span.start])
            end = span.start + len(span.text)
    return " ".join((*pieces, question[end:])) if pieces else question


def _contains(span: DateSpan, day: date) -> bool:
    if not span.yearless:
        return span.first <= day <= span.last
    first, last = (span.first.month, span.first.day), (span.last.month, span.last.day)
    wanted = (day.month, day.day)
    return first <= wanted <= last if first <= last else wanted >= first or wanted <= last


def _find_mentions(question: str, today: date) -> Iterator[_DateMention]:
    for rule in _rules_with_a_word_in(question.casefold()):
        for match in rule.pattern.finditer(question):
            start, end = match.span("here" if "here" in rule.pattern.groupindex else 0)
            yield _DateMention(start=start, end=end, readings=_read_match(rule, match, today))


def _rules_with_a_word_in(folded: str) -> Iterator[DateRule]:
    has_one: dict[tuple[str, ...], bool] = {}
    for rule in RULES:
        found = has_one.get(rule.words)
        if found is None:
            found = has_one[rule.words] = any(word in folded for word in rule.words)
        if found:
            yield rule


def _read_match(rule: DateRule, match: re.Match[str], today: date) -> tuple[DateSpan, ...]:
    try:
        return tuple(rule.read(match, today))
    except (ValueError, OverflowError):
        return ()


def _without_overlaps(found: Iterable[_DateMention]) -> list[_DateMention]:
    """Drop overlapping mentions: the one that begins first stays, then the longer one."""
    kept: list[_DateMention] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _join_ranges(question: str, named: Sequence[_DateMention]) -> list[_DateMention]:
    """Join two dates with "to" between them."""
    joined: list[_DateMention] = []
    for one in named:
        whole = _range(question, joined[-1], one) if joined else None
        if whole:
            joined[-1] = whole
        elif one.readings:
            joined.append(one)
    return joined


def _range(question: str, one: _DateMention, other: _DateMention) -> _DateMention | None:
    between = question[one.end : other.start] if other.start - one.end < _MAX_CONTEXT else "?"
    closed = question[max(0, one.start - 10) : one.start].lower().rstrip().endswith(
        "between"
    ) or question.startswith("之间", other.end)
    if not (
        one.readings
        and other.readings
        and (_TO.fullmatch(between) or (closed and _AND.fullmatch(between)))
    ):
        return None
    span = _from_to(one.readings[-1], other.readings[0])
    return _DateMention(start=one.start, end=other.end, readings=(span,)) if span else None


def _from_to(first: DateSpan, last: DateSpan) -> DateSpan | None:
    """The span from the first to the last; a year said with one of them applies to both."""
    try:
        if first.yearless and not last.yearless:
            begin = first.first.replace(year=last.last.year)
            return days(
                begin if begin <= last.last else begin.replace(year=begin.year - 1), last.last
            )
        if last.yearless:
            end = last.last.replace(year=first.first.year)
            end = end if end >= first.first else end.replace(year=end.year + 1)
            return replace(days(first.first, end), yearless=first.yearless)
        return days(first.first, last.last)
    except ValueError:
        return None


def _apply_context(question: str, one: _DateMention, today: date) -> _DateMention:
    """Apply words beside a date: the day before, the week of, since, after."""
    before = question[max(0, one.start - _MAX_CONTEXT) : one.start]
    try:
        if found := _BESIDE_EN.search(before):
            return replace(
                one, start=one.start - len(found[0]), readings=_apply_side(one.readings, found)
            )
        if found := _BESIDE_ZH.match(question, one.end):
            return replace(one, end=found.end(), readings=_apply_side(one.readings, found))
        if found := _OPEN_EN.search(before):
            return replace(
                one, readings=_apply_open_end(one.readings, found["side"].lower(), today)
            )
        if found := _OPEN_ZH.match(question, one.end):
            return replace(
                one,
                end=found.end(),
                readings=_apply_open_end(one.readings, found["side"] or "", today),
            )
    except (ValueError, OverflowError):
        pass  # beyond the years of the calendar
    return one


def _apply_side(readings: Iterable[DateSpan], found: re.Match[str]) -> tuple[DateSpan, ...]:
    side, unit = _SIDES[found["side"].lower()], found["unit"].lower()
    if unit in WEEKDAY_NAMES:
        unit = str(WEEKDAY_NAMES.index(unit))
    in_any_year = unit != "weekend" and not unit.isdecimal()
    moved = ((span, days_beside(span, _UNITS.get(unit, unit), side)) for span in readings)
    return tuple(replace(near, yearless=span.yearless and in_any_year) for span, near in moved)


def _apply_open_end(readings: Iterable[DateSpan], side: str, today: date) -> tuple[DateSpan, ...]:
    """The days before a span, or those after it, or those from its beginning to today."""
    if _SIDES.get(side) == -1:
        return tuple(days(date.min, span.first - DAY) for span in readings)
    if _SIDES.get(side) == 1:
        return tuple(days(span.last + DAY, date.max) for span in readings)
    return tuple(days(span.first, max(span.last, today)) for span in readings)


def _iso(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    year = int(found["year"])
    if found["only"]:
        return [in_month(today, year, int(found["only"]))]
    month, day = int(found["month"]), int(found["day"])
    return [in_month(today, year, month, day, day)]


def _slashes(found: re.Match[str], today: date) -> Iterator[DateSpan]:
    """Month first or day first, whatever is possible."""
    year, one, other = int(found["year"]), int(found["one"]), int(found["other"])
    for month, day in dict.fromkeys(((one, other), (other, one))):
        if month <= 12 and day <= month_end(month):
            yield in_month(today, year, month, day, day)


RULES = (
    DateRule(_ISO, _iso, ("19", "20")),
    DateRule(_SLASHES, _slashes, ("/",)),
    *chinese.RULES,
    *english.RULES,
    DateRule(_VERSION, read_nothing, ("v", "release")),
)
