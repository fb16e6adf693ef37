"""Reads when and what from a reminder in plain Chinese or English, without a model. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.jobs.schedule import LOCAL_FORMAT, Schedule
from memory.text.patterns import lazy_pattern

_NUMBERS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_WEEKDAYS_EN = {"mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6, "sun": 7}
_WEEKDAYS_ZH = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 7, "天": 7}
_N = r"(?:\d{1,4}|[零一二两三四五六七八九十]{1,3}|半)"
_UNIT_MINUTES = {"m": 1, "h": 60, "d": 1440, "分": 1, "小": 60, "钟": 60, "天": 1440}
_UNIT_EN = r"(?P<unit>m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)\b"
_UNIT_ZH = r"(?P<unit>分钟?|个?小时|个?钟头|天)"
_DAYPART_ZH = r"(?P<part>凌晨|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|今晚|夜里)?"
_CLOCK = (
    rf"{_DAYPART_ZH}\s{{0,3}}(?:(?P<h>\d{{1,2}})[:：](?P<m>\d{{2}})|(?P<hz>{_N})\s{{0,3}}[点时](?:(?P<half>半)|(?P<mz>{_N})\s{{0,3}}分?|整|钟)?)"
    r"\s{0,3}(?P<ampm>[ap]\.?m\b\.?)?|(?P<h12>\d{1,2})\s{0,3}(?P<ampm12>[ap]\.?m\b\.?)"
)
_GAP = r"[\s,，:：]{0,4}(?:at\s{1,3})?"
_WEEKDAY_EN = r"(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_CHANNELS_ZH = {
    "企业微信": "wecom", "公众号": "wechat_mp", "飞书": "feishu", "微信": "wechat", "网页": "web", "终端": "terminal",
}  # fmt: skip
_CHANNEL = re.compile(
    rf"(?i)(?:on\s{{1,3}}(?!{_WEEKDAY_EN}\b)|[在到]\s{{0,3}})"
    rf"(?P<name>{'|'.join(_CHANNELS_ZH)}|[a-z][a-z0-9_]{{0,39}}(?![a-z0-9_]))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderPhrase:
    """A reminder as it was read."""

    schedule: Schedule
    #: What to say.
    words: str


def read_reminder(text: str, now: datetime, zone: str) -> ReminderPhrase | None:
    """Read "when what", such as "20m tea", "明天早上八点半 开会", "weekdays 9:00 x"; None if it is not understood.

    Args:
        now: local time of the zone, with a zone.
        zone: name of the person's zone.
    """
    text = text.strip()
    for pattern, build in _FORMS:
        found = pattern.match(text)
        if found is None:
            continue
        words = re.sub(r"^(?:提醒我|叫我|to\s+)", "", text[found.end() :].lstrip(" ,，:：\t\n")).strip()
        schedule = build(found, now, zone)
        if schedule is not None and words:
            return ReminderPhrase(schedule=schedule, words=words)
    return None


def read_channel(text: str) -> tuple[str, str]:
    """Split "on telegram 20m tea" or "在飞书 明天9点 开会" into the channel's name, "" for none, and the rest."""
    found = _CHANNEL.match(text)
    if found is None:
        return "", text
    name = found["name"].lower()
    return _CHANNELS_ZH.get(name, name), text[found.end() :].lstrip(" ,，:：\t\n")


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    left, ten, right = text.partition("十")
    if ten:
        return (_NUMBERS.get(left, 1) if left else 1) * 10 + (_NUMBERS[right] if right else 0)
    return _NUMBERS.get(text, 0)


def _clock(found: re.Match[str]) -> tuple[int, int] | None:
    """Return hour and minute; None if they are none."""
    given = found.groupdict()
    if given["h12"]:
        hour, minute, half_day = int(given["h12"]), 0, given["ampm12"]
    elif given["h"]:
        hour, minute, half_day = int(given["h"]), int(given["m"]), given["ampm"] or ""
    else:
        hour, half_day = _number(given["hz"]), given["ampm"] or ""
        minute = 30 if given["half"] else _number(given["mz"]) if given["mz"] else 0
    part = given["part"] or ""
    if half_day:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half_day.lower().startswith("p") else 0)
    elif (part in ("下午", "傍晚", "晚上", "今晚", "夜里") and 1 <= hour < 12) or (part == "中午" and 1 <= hour <= 2):
        hour += 12
    return (hour, minute) if hour < 24 and minute < 60 else None


def _at(local: datetime, clock: tuple[int, int] | None, zone: str) -> Schedule | None:
    if clock is None:
        return None
    return Schedule(zone=zone, at=local.replace(hour=clock[0], minute=clock[1]).strftime(LOCAL_FORMAT))


def _after(found: re.Match[str], now: datetime, zone: str) -> Schedule:
    unit = _UNIT_MINUTES[found["unit"].lstrip("个")[0].lower()]
    minutes = unit // 2 if found["n"] == "半" else _number(found["n"]) * unit
    later = (now.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(now.tzinfo)
    return Schedule(zone=zone, at=later.strftime("%Y-%m-%dT%H:%M:%S"))


def _every(found: re.Match[str], now: datetime, zone: str) -> Schedule | None:
    unit = _UNIT_MINUTES[found["unit"].lstrip("个")[0].lower()]
    minutes = unit // 2 if found["n"] == "半" else _number(found["n"] or "1") * unit
    return Schedule(zone=zone, minutes=minutes, start=now.timestamp() + minutes * 60) if minutes else None


def _day(found: re.Match[str], now: datetime, zone: str) -> Schedule | None:
    days = {"今": 0, "to": 0, "明": 1, "tomorrow": 1, "后": 2, "大后": 3}
    name = found["day"].lower().rstrip("天日晚早上").removesuffix("day").removesuffix("night")
    later = found["day"].lower() in ("今晚", "tonight") or "晚" in found["day"]
    clock = _clock(found)
    if clock and later and clock[0] < 12:
        clock = (clock[0] + 12, clock[1])
    return _at(now + timedelta(days=days.get(name, 0)), clock, zone)


def _clock_alone(found: re.Match[str], now: datetime, zone: str) -> Schedule | None:
    """The next time that the clock shows it."""
    clock = _clock(found)
    if clock is None:
        return None
    return _at(now if clock > (now.hour, now.minute) else now + timedelta(days=1), clock, zone)


def _date(found: re.Match[str], now: datetime, zone: str) -> Schedule | None:
    clock = _clock(found) if found["clock"] else (9, 0)
    try:
        day = datetime(int(found["year"] or now.year), int(found["month"]), int(found["date"]))
    except ValueError:
        return None
    if not found["year"] and day.date() < now.date():
        day = day.replace(year=day.year + 1)
    return _at(day, clock, zone)


def _repeated(
    days: Callable[[re.Match[str]], str | None],
) -> "Callable[[re.Match[str], datetime, str], Schedule | None]":
    def build(found: re.Match[str], now: datetime, zone: str) -> Schedule | None:
        clock, on = _clock(found), days(found)
        return Schedule(zone=zone, cron=f"{clock[1]} {clock[0]} {on}") if clock and on else None

    return build


def _weekday(found: re.Match[str]) -> str | None:
    name = found["weekday"]
    number = _WEEKDAYS_ZH.get(name) or _WEEKDAYS_EN.get(name[:3].lower())
    return f"* * {number}" if number else None


def _month_day(found: re.Match[str]) -> str | None:
    day = _number(found["date"])
    return f"{day} * *" if 1 <= day <= 31 else None


def _cron(found: re.Match[str], now: datetime, zone: str) -> Schedule:
    return Schedule(zone=zone, cron=found["cron"])


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime, str], Schedule | None]], ...] = (
    (lazy_pattern(r"(?i)cron\s{1,3}(?P<cron>[\d*,/LlA-Za-z#-]+(?:\s{1,3}[\d*,/LlA-Za-z#-]+){4})(?=\s)"), _cron),
    (lazy_pattern(rf"(?i)every\s{{1,3}}(?P<n>\d{{1,4}})?\s{{0,3}}{_UNIT_EN}(?!\s{{0,3}}at)(?!\s{{0,3}}\d)"), _every),
    (lazy_pattern(rf"(?i)每隔?\s{{0,3}}(?P<n>{_N})\s{{0,3}}{_UNIT_ZH}"), _every),
    (lazy_pattern(rf"(?i)(?:in\s{{1,3}})?(?P<n>\d{{1,4}})\s{{0,3}}{_UNIT_EN}"), _after),
    (lazy_pattern(rf"(?i)(?P<n>{_N})\s{{0,3}}{_UNIT_ZH}[之以]?后"), _after),
    (
        lazy_pattern(rf"(?i)(?:every\s{{1,3}}(?:week|work)\s{{0,3}}days?|weekdays|每?个?工作日){_GAP}(?:{_CLOCK})"),
        _repeated(lambda _: "* * 1-5"),
    ),
    (lazy_pattern(rf"(?i)(?:every\s{{1,3}}day|daily|每天|每日|天天){_GAP}(?:{_CLOCK})"), _repeated(lambda _: "* * *")),
    (lazy_pattern(rf"(?i)(?:every|on)\s{{1,3}}{_WEEKDAY_EN}{_GAP}(?:{_CLOCK})"), _repeated(_weekday)),
    (lazy_pattern(rf"(?i)每个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天]){_GAP}(?:{_CLOCK})"), _repeated(_weekday)),
    (lazy_pattern(rf"(?i)每个?月(?P<date>{_N})[号日]{_GAP}(?:{_CLOCK})"), _repeated(_month_day)),
    (
        lazy_pattern(rf"(?i)(?P<day>大后天|后天|明天|明早|明晚|今天|今晚|tomorrow|today|tonight){_GAP}(?:{_CLOCK})"),
        _day,
    ),
    (
        lazy_pattern(
            r"(?i)(?:(?P<year>\d{4})[-/年])?(?P<month>\d{1,2})[-/月](?P<date>\d{1,2})[号日]?"
            rf"(?P<clock>(?:[Tt\s,，]|(?=[凌早清上中下傍晚夜])){_GAP}(?:{_CLOCK}))?(?=[\s,，]|$)"
        ),
        _date,
    ),
    (lazy_pattern(rf"(?i)(?:at\s{{1,3}})?(?:{_CLOCK})"), _clock_alone),
)  # fmt: skip
