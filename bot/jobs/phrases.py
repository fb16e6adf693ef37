"""Reads when and what from a reminder in plain Chinese or English, without a model. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from bot.jobs.schedule import (
    DAY_MINUTES,
    LOCAL_FORMAT,
    Schedule,
    ScheduleRefused,
    load_zone,
    resolve_local,
)
from bot.jobs.time_patterns import match_word
from bot.jobs.time_words import (
    DAILY,
    Clock,
    PartOfDay,
    TimeUnclear,
    TimeWord,
    add_months,
)
from channels.phrases import Phrase
from memory.text.patterns import lazy_pattern

# Hours of the day that 0 and 12 may be; 24 is the midnight at its end.
_OPTIONS = {0: (0, 24), 12: (0, 12, 24)}
_ANY_DAY = date(2028, 1, 1)
USUAL_CLOCK = (9, 0)  # of a day that is named without an hour
MAX_TAIL = 60  # characters at the end of a text in which its time may begin
MAX_SEARCHED = 200  # characters in which a word for a time is looked for, to tell words from a time
_FULL_WIDTH = str.maketrans("０１２３４５６７８９：，　’～", "0123456789:, '~")
_PREFIX = lazy_pattern(
    r"(?i)(?:(?:please\s{1,3})?(?:remind\s{1,3})?me\s{1,3}(?:to\s{1,3})?|"
    r"(?:请|麻烦你?|帮我|记得)?(?:提醒我?|叫我|通知我)?在?)"
)
_SUFFIX = lazy_pattern(
    r"(?i)[\s,，:：.。;；、]{0,9}(?:(?:请|记得)?(?:提醒我?|叫我|通知我)|"
    r"(?:please\s{1,3})?(?:remind\s{1,3}me\s{1,3})?to\s{1,3}|remind\s{1,3}me\s{1,3})?"
    r"[\s,，:：]{0,9}"
)
_BETWEEN = lazy_pattern(r"[\s,的]{0,4}")
_LEADING = lazy_pattern(r"(?i)(?:at|on|@)\s{1,3}")
_JOINT = lazy_pattern(
    r"(?i)\s{0,3}(?:(?P<both>and|和|与|及|、"
    r")|or|to|until|till|或者?|还是|到|至|-|~|–)\s{0,3}(?:at\s{1,3})?"
)
# What follows or precedes a time and makes another one of it, or of one time many.
_CHANGED_AFTER = lazy_pattern(
    r"(?i)\s{0,3}(?:[之以]?前(?![台往进途])|[之以]后|后(?![院台])|左右|以内|之内|"
    r"(?:before|earlier|ago|or\sso|except|until|till)(?![a-z]))"
)
_CHANGED_BEFORE = lazy_pattern(
    r"(?i)(?:(?:^|\s)(?:by|before|until|till|from|after|since|about|around|"
    r"than|between|and|or|for|of|the|not|except|next"
    r"|last|remind\sme|cancel)|从|除了|不要?|别|提醒我?|取消|直到|等到|到|和|或|与|上|下)\s{0,3}$"
)
_MORE = lazy_pattern(r"(?i)(?:and|or|to|和|与|及|、|或者?|-|~|–)\s{0,3}\d")
_LIMITED = lazy_pattern(
    r"(?i)直到|为止|截至|除外|除了|连续|(?<![a-z])(?:except|until|till)(?![a-z])"
)
_DIGITS = r"\d零〇一二两三四五六七八九十"
# Signs of a time that was not read: left in a text they mean that part of the time is missing.
# 一点 alone is "a little": 早一点.
_SIGN = lazy_pattern(
    rf"(?i)\d:\d\d|(?!一点(?![钟半整刻{_DIGITS}]))[{_DIGITS}]\s?(?:点|刻|分(?!享)|小时|钟头)|"
    r"^[刻分钟半整多](?=\s|$)|"
    r"\d\s?[ap]\.?m(?![a-z])|o'clock|(?<![a-z])(?:half|quarter)\s(?:past|to)(?![a-z])|"
    r"(?<![a-z])in\s\d{1,3}\s?(?:m|h|d|min|hour|day|week)"
)
_OTHER_HOUR = lazy_pattern(
    r"(?i)^\d|^一?大?早|早中晚|同一时间|这个?时候?|^\S{0,5}[前后](?=[\s,]|$)|"
    r"早上|上午|中午|下午|傍晚|晚上|凌晨|今晚|明晚|"
    r"(?<![a-z])(?:noon|midnight|morning|afternoon|evening|tonight|after|before|"
    r"first\sthing|same\stime|at\s\d{1,2}|at\s(?:one|two|three|four|five|six|seven|eight|nine|ten))(?![a-z])"
)
_HOLIDAY = lazy_pattern(
    r"(?i)春节|除夕|元宵|清明|端午|七夕|中秋|重阳|国庆|元旦|劳"
    r"动节|五一节|圣诞|感恩节|万圣节|情人节|[母父]亲节|儿童节|教"
    r"师节|妇女节|农历|阴历|旧历|正月|腊月|冬月|初[一二三四五六"
    r"七八九十]|大年|复活节|(?<![a-z])(?:christmas|xmas|easter|thanksgiving|halloween|new\syear|valentine|lunar|(?:mother|father)'?s'?\sday|"
    r"mid-autumn|spring\sfestival|diwali|hanukkah|ramadan|"
    r"good\sfriday|pentecost|(?:labou?r|independence)\sday)"
)
_LUNAR = lazy_pattern(r"(?i)\s{0,3}[（(]?\s{0,3}(?:农历|阴历|旧历|lunar)")
_VAGUE = lazy_pattern(
    r"(?i)(?:[下上这本每过隔再]|稍后|等|待会|周末|"
    r"(?:next|this|every|each|in|at|on|by|before|after|later|soon|until|some)(?![a-z]))"
)
_QUOTED = re.compile(r"[\"“「](?P<words>[^\"”」]{1,2000})[\"”」]")

# An example that is near to what was written: what it is recognised by, in Chinese and English.
_EXAMPLES = (
    (
        lazy_pattern(r"(?i)每|隔|工作日|every|each|daily|weekdays"),
        Phrase("every monday 9:00 report"),
    ),
    (
        lazy_pattern(r"(?i)周|星期|礼拜|day(?![a-z])|week"),
        Phrase("friday 9:00 report"),
    ),
    (
        lazy_pattern(
            r"(?i)月|[日号]|\d[/.-]\d|month|(?<![a-z])(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)"
        ),
        Phrase("25 Dec 18:00 dinner"),
    ),
    (
        lazy_pattern(r"(?i)[之以]后|过|分钟|小时|会儿|(?<![a-z])(?:in|min|hour|later|soon|while)"),
        Phrase("in half an hour turn off the stove"),
    ),
)
_ANY_EXAMPLE = Phrase("tomorrow 3pm meeting")

_WEEKDAY_EN = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_CHANNELS_ZH = {
    "企业微信": "wecom",
    "公众号": "wechat_mp",
    "飞书": "feishu",
    "微信": "wechat",
    "网页": "web",
    "终端": "terminal",
}
_NO_CHANNEL = rf"(?:{_WEEKDAY_EN}|the|jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|week(?:day|end)s?)"  # noqa: E501
_CHANNEL = re.compile(
    rf"(?i)(?:on\s{{1,3}}(?!{_NO_CHANNEL}\b)|[在到]\s{{0,3}})"
    rf"(?P<name>{'|'.join(_CHANNELS_ZH)}|[a-z][a-z0-9_]{{0,39}}(?![a-z0-9_]))"
)


class NoTime(TimeUnclear):
    """Nothing in the text looks like a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderPhrase:
    """A reminder as it was read."""

    schedule: Schedule
    #: What to say; "" if the text is a time alone.
    words: str
    #: The text names a day without an hour, so the hour is a usual one.
    hour_assumed: bool = False


def read_reminder(text: str, now: datetime, zone: str) -> ReminderPhrase:
    """Read "when what" or "what when", such as "20m tea", "明天早上八点半 开会", "call mum on
    friday at 9am".

    Args:
        now: local time of the zone, with a zone.
        zone: name of the person's zone.

    Raises:
        NoTime: it names none.
        ScheduleRefused: a time that is not understood, has two meanings, or is a holiday's.
    """
    try:
        return _read(text.strip(), now, zone)
    except TimeUnclear as err:
        if err.phrase:
            raise
        example = next((example for sign, example in _EXAMPLES if sign.search(text)), _ANY_EXAMPLE)
        raise type(err)(
            Phrase("I did not understand the time; write for example: {example}", example=example)
        ) from err


def read_quoted(text: str) -> str:
    """Return what stands between quotation marks, if that is the whole text; else ""."""
    found = _QUOTED.fullmatch(text.strip())
    return found["words"] if found else ""


def read_channel(text: str) -> tuple[str, str]:
    """Split "on telegram 20m tea" or "在飞书 明天9点 开会" into the channel's name, "" for none,
    and the rest.
    """
    found = _CHANNEL.match(text)
    if found is None:
        return "", text
    name = found["name"].lower()
    return _CHANNELS_ZH.get(name, name), text[found.end() :].lstrip(" ,，:：\t\n")


def _read(text: str, now: datetime, zone: str) -> ReminderPhrase:
    plain = text.translate(_FULL_WIDTH)
    start = _end_of(_PREFIX, plain, 0)
    reading = _read_time(plain, start, now.date())
    if reading is not None:
        words = text[_end_of(_SUFFIX, plain, reading.end) :].strip()
        if _CHANGED_AFTER.match(plain, reading.end):
            raise TimeUnclear
    else:
        reading, words = _read_at_end(text, plain, start, now.date())
    _check_rest(reading, words.translate(_FULL_WIDTH))
    schedule = _schedule(reading, now, zone)
    return ReminderPhrase(schedule=schedule, words=words, hour_assumed=reading.hour_is_usual)


def _end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _read_at_end(text: str, plain: str, start: int, today: date) -> "tuple[_Reading, str]":
    """Read a time at the end of a text; return it and the words before it."""
    end = len(plain.rstrip(" .。!！,"))
    for position in _boundaries(plain, max(start, end - MAX_TAIL), end):
        reading = _read_time(plain, position, today)
        if reading is None or reading.end < end:
            continue
        words = text[start:position].rstrip(" ,，:：在于")
        if _CHANGED_BEFORE.search(words):
            raise TimeUnclear
        return reading, re.sub(r"(?i)\s(?:at|on)$", "", words)
    if _HOLIDAY.search(plain):
        raise _holiday()
    vague = _VAGUE.match(plain, start) or _SIGN.search(plain)
    raise TimeUnclear if vague or _has_word(plain, start, today) else NoTime


def _has_word(text: str, start: int, today: date) -> bool:
    """Tell whether a word for a time stands anywhere in a text."""
    return any(_read_time(text, position, today) for position in _boundaries(text, start))


def _boundaries(text: str, start: int, end: int = MAX_SEARCHED) -> Iterator[int]:
    """Yield where a word may begin: not in the middle of a number or of letters."""
    for position in range(start, min(end, len(text))):
        before, here = text[position - 1 : position] if position > start else "", text[position]
        inside = (before.isascii() and before.isalpha() and here.isascii() and here.isalpha()) or (
            before.isdigit() and here.isdigit()
        )
        if not here.isspace() and not inside:
            yield position


def _check_rest(reading: "_Reading", rest: str) -> None:
    """Refuse a time of which a part may have been left in the words.

    Raises:
        TimeUnclear: with the words a person would mean another time.
    """
    if _LUNAR.match(rest) or (not reading.has_day and _HOLIDAY.search(rest)):
        raise _holiday()
    unread = (
        _SIGN.search(rest),
        _MORE.match(rest),
        reading.repeats and _LIMITED.search(rest),
        reading.hour_is_usual and _OTHER_HOUR.search(rest),
        not reading.has_day and _names_day(rest),
    )
    if any(unread):
        raise TimeUnclear


def _names_day(rest: str) -> bool:
    """Tell whether words begin with a word for a time, or name a day, which a time without one may
    be of.
    """
    if _read_time(rest, 0, _ANY_DAY) is not None:
        return True
    readings = (_read_time(rest, position, _ANY_DAY) for position in _boundaries(rest, 0))
    return any(reading and reading.has_day for reading in readings)


def _holiday() -> TimeUnclear:
    return TimeUnclear(
        Phrase(
            "I do not know holidays or the lunar calendar; write the date, for example: 25 Dec "
            "9:00 call mum"
        ),
    )


# ---- from words to a time


@dataclass(slots=True, kw_only=True)
class _Reading:
    """The words for a time that stand together in a text."""

    days: tuple[date, ...] = ()
    cron: str = ""
    whole_cron: str = ""
    every: int = 0
    after: tuple[int, int] | None = None
    #: Each with the parts of the day that are named with it.
    clocks: list[tuple[Clock, list[PartOfDay]]] = field(default_factory=list)
    #: Parts of the day without a clock so far.
    parts: list[PartOfDay] = field(default_factory=list)
    #: Where the words end.
    end: int = 0

    @property
    def repeats(self) -> bool:
        return bool(self.cron or self.whole_cron or self.every)

    @property
    def has_day(self) -> bool:
        return self.repeats or bool(self.days or self.after)

    @property
    def hour_is_usual(self) -> bool:
        """Tell whether an hour is needed and none is named."""
        return not (self.clocks or self.after or self.has_no_hour)

    @property
    def has_no_hour(self) -> bool:
        """Tell whether no hour can be named with it: a cron expression, every so many minutes."""
        return bool(self.whole_cron or (self.every and not self.days))

    def add(self, word: TimeWord, *, is_joined: bool) -> None:
        """Add a word.

        Raises:
            TimeUnclear: the same was said before.
        """
        for name in ("days", "cron", "whole_cron", "every", "after"):
            if value := getattr(word, name):
                if getattr(self, name):
                    raise TimeUnclear
                setattr(self, name, value)
        if word.part:
            parts = self.clocks[-1][1] if self.clocks and not is_joined else self.parts
            parts.append(word.part)
        if word.clock:
            self.clocks.append((word.clock, self.parts))
            self.parts = []


def _read_time(text: str, start: int, today: date) -> _Reading | None:
    """Read the words for a time that begin at a position; None if there are none.

    Raises:
        TimeUnclear: they contradict each other.
    """
    first = _next_word(text, start, today, is_first=True)
    if first is None:
        return None
    reading = _Reading(end=first[1])
    reading.add(first[0], is_joined=False)
    while True:
        found, is_joined = _next_word(text, reading.end, today, is_first=False), False
        if found is None:
            found, is_joined = _next_joined(text, reading, today), True
        if found is None:
            return reading
        word, end = found
        if not is_joined and _is_of_words(text[end - 1], word, reading):
            return reading
        reading.add(word, is_joined=is_joined)
        reading.end = end


def _next_joined(text: str, reading: _Reading, today: date) -> tuple[TimeWord, int] | None:
    """Read a word after "and", as in "every day at 8am and 8pm".

    Raises:
        TimeUnclear: it is another time, or the end of one.
    """
    joint = _JOINT.match(text, reading.end)
    found = _next_word(text, joint.end(), today, is_first=False) if joint else None
    is_second_clock = joint and joint["both"] and reading.clocks and reading.repeats
    if found is not None and not is_second_clock:
        raise TimeUnclear
    return found


def _is_of_words(last: str, word: TimeWord, reading: _Reading) -> bool:
    """Tell whether the words of a reminder begin here: in Chinese a day and its part come before
    the hour.
    """
    is_chinese = not last.isascii()
    return is_chinese and bool(reading.clocks) and word.clock is None and not reading.parts


def _next_word(
    text: str, position: int, today: date, *, is_first: bool
) -> tuple[TimeWord, int] | None:
    begin = position if is_first else _end_of(_BETWEEN, text, position)
    found = match_word(text, begin, today, is_first=is_first)
    if found is None and (leading := _LEADING.match(text, begin)):
        return match_word(text, leading.end(), today, is_first=is_first)
    return found


def _schedule(reading: _Reading, now: datetime, zone: str) -> Schedule:
    """Return when it is.

    Raises:
        TimeUnclear: the words do not go together.
    """
    on_days = reading.every or reading.days
    kinds = [kind for kind in (reading.cron, reading.whole_cron, reading.after, on_days) if kind]
    if len(kinds) > 1:
        raise TimeUnclear
    if reading.has_no_hour:
        return _schedule_without_hour(reading, now, zone)
    if reading.after and not (reading.clocks or reading.parts):
        moment = _add_span(now, reading.after)
        return Schedule(zone=zone, at=moment.strftime("%Y-%m-%dT%H:%M:%S"))
    clocks = _read_clocks(reading, now)
    if reading.cron:
        return Schedule(zone=zone, cron=_format_cron(reading.cron, clocks))
    if len(clocks) > 1:
        raise TimeUnclear
    moment = _first_moment(_days_of(reading, now), clocks[0], now)
    local = moment.strftime(LOCAL_FORMAT)
    if reading.every:
        start = resolve_local(local, load_zone(zone)).timestamp()
        return Schedule(zone=zone, minutes=reading.every, start=start)
    return Schedule(zone=zone, at=local)


def _schedule_without_hour(reading: _Reading, now: datetime, zone: str) -> Schedule:
    """Return the schedule of a cron expression, or of every so many minutes from now on."""
    if reading.clocks or reading.parts:
        raise TimeUnclear
    if reading.whole_cron:
        return Schedule(zone=zone, cron=reading.whole_cron)
    start = now.timestamp() + reading.every * 60
    return Schedule(zone=zone, minutes=reading.every, start=start)


def _days_of(reading: _Reading, now: datetime) -> tuple[date, ...]:
    """Return the days that may be meant: without any that is today, or tomorrow."""
    if not reading.after:
        return reading.days or (now.date(), now.date() + timedelta(days=1))
    if reading.after[1] % DAY_MINUTES:
        raise TimeUnclear
    return (_add_span(now, reading.after).date(),)


def _add_span(now: datetime, span: tuple[int, int]) -> datetime:
    """Return the local time a span later; days and months go by the clock on the wall."""
    months, minutes = span
    days, minutes = divmod(minutes, DAY_MINUTES)
    try:
        day = add_months(now.date(), months) + timedelta(days=days)
    except (ValueError, OverflowError) as err:
        raise ScheduleRefused(Phrase("that is more than five years ahead")) from err
    local = datetime.combine(day, now.timetz())
    return (
        (local.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(now.tzinfo)
        if minutes
        else local
    )


def _first_moment(days: tuple[date, ...], clock: tuple[int, int], now: datetime) -> datetime:
    """Return the first local time of these days that is to come; the last one if all are past."""
    hour, minute = clock
    moments = [
        datetime.combine(day, time()) + timedelta(hours=hour, minutes=minute) for day in days
    ]
    local = now.replace(tzinfo=None)
    return next((moment for moment in moments if moment > local), moments[-1])


def _format_cron(days: str, clocks: list[tuple[int, int]]) -> str:
    hours, minutes = {hour for hour, _ in clocks}, {minute for _, minute in clocks}
    if len(minutes) > 1:
        raise TimeUnclear
    if max(hours) >= 24:
        if days != DAILY:
            raise TimeUnclear
        hours = {hour % 24 for hour in hours}
    return f"{minutes.pop()} {','.join(map(str, sorted(hours)))} {days}"


def _read_clocks(reading: _Reading, now: datetime) -> list[tuple[int, int]]:
    """Return the hours and minutes; an hour from 24 on is of the night at the end of the day."""
    if reading.clocks and reading.parts:
        raise TimeUnclear
    if reading.clocks:
        return [
            (_read_hour(clock, parts, reading, now), clock.minute)
            for clock, parts in reading.clocks
        ]
    if not reading.parts:
        return [USUAL_CLOCK]
    usual = reading.parts[0].usual
    if len(reading.parts) > 1 or usual is None:
        raise TimeUnclear
    return [(usual, 0)]


def _read_hour(clock: Clock, parts: list[PartOfDay], reading: _Reading, now: datetime) -> int:
    """Return which hour of the day is meant.

    Raises:
        TimeUnclear: none, or it may be one before or after noon.
    """
    if parts:
        return _hour_in_parts(clock.hour, parts)
    minute, later = f"{clock.minute:02}", clock.hour + 12
    if clock.hour == 24 and reading.has_day and not clock.has_colon:
        raise _two_hours(Phrase("midnight"), "00:00", "24:00")
    if clock.is_exact:
        return clock.hour
    is_early = clock.hour < 6 if clock.has_colon else clock.hour <= 6
    # only the clock on the wall says which one is meant
    is_open = not (reading.has_day or clock.has_colon)
    is_past = (clock.hour, clock.minute) <= (now.hour, now.minute) < (later, clock.minute)
    if is_early or (is_open and is_past):
        raise _two_hours(
            Phrase("{hour}", hour=clock.hour), f"{clock.hour:02}:{minute}", f"{later}:{minute}"
        )
    return clock.hour


def _hour_in_parts(hour: int, parts: list[PartOfDay]) -> int:
    """Return the hour of the day that lies in the named parts of it.

    Raises:
        TimeUnclear: none does, or more than one.
    """
    options = _OPTIONS.get(hour) or ((hour, hour + 12) if hour < 12 else (hour,))
    fits = [
        option for option in options if all(part.first <= option <= part.last for part in parts)
    ]
    is_of_24 = hour not in range(1, 13)
    if len(fits) != 1 or (is_of_24 and any(part.is_half for part in parts)):
        raise TimeUnclear
    return fits[0]


def _two_hours(hour: Phrase, first: str, second: str) -> TimeUnclear:
    return TimeUnclear(
        Phrase(
            "{hour} may be {first} or {second}; write one of these, or add am, pm, noon, morning "
            "or evening",
            hour=hour,
            first=first,
            second=second,
        )
    )
