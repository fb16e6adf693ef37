"""Dates in Chinese questions. Pure."""

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
    read_nothing,
    seasons_of,
    up_to_today,
    week_at_distance,
    weekday_at_distance,
    weekend_at_distance,
)
from memory.text.calendar_words import weekday_number
from memory.text.normalize import numeral_value
from memory.text.patterns import lazy_pattern

_GAP = r"[ \u3000]{0,2}"
_DIGIT = "[一二三四五六七八九]"
_NOT_AFTER_DIGIT = r"(?<![\d.一二三四五六七八九十百第])"
_MONTH = rf"(?:1[0-2]|0?[1-9]|十[一二]?|{_DIGIT})"
_DAY = rf"(?:[0-3]?\d(?!\d)|三十一?|廿{_DIGIT}?|二?十{_DIGIT}?|{_DIGIT})"
_COUNT = rf"(?:\d{{1,3}}|{_DIGIT}?十{_DIGIT}?|[一二两三四五六七八九])"
_TO = r"(?:[-~～—–－]|到|至)"
_YEAR = (
    rf"(?:(?P<year>(?:19|20)\d\d|[一二][〇零○一二三四五六七八九]{{3}}){_GAP}年"
    rf"|(?P<short>\d\d){_GAP}年(?={_GAP}\d{{1,2}}{_GAP}月)"
    r"|(?P<that>大前年|(?<![以之从当])前年|(?<!过)去年|今年|本年|明年|(?<![以之])后年)(?![轻龄]))"
)
_OF_YEAR = rf"(?:{_YEAR}{_GAP}的?{_GAP})?"
_YEAR_OFFSETS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_OFFSETS = {"上上上": -3, "上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_PARTS = {"初": EARLY, "上旬": EARLY, "中旬": MIDDLE, "下旬": LATE, "底": END, "末": END}
_PART = "(?P<part>初(?!中)|上旬|中旬|下旬|底|末)?"
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_HALVES = {"上半年": (1, 6), "下半年": (7, 12), "初": (1, 2), "底": (11, 12), "末": (11, 12)}
_NO_MONTH = "天(?!气)|兰|怀胎|流火|之?内|不知|[一两几]次"
_WEEKDAY = (
    r"(?P<weekday>一(?![起直共定样些下次个])|[二三四五六]|日(?![本记常程志])|天(?![气天])|末)"
)
_WEEK = "(?:周|星期|礼拜)"
_UNITS = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
}
_UNIT = "(?P<unit>多?天|个?多?(?:周|星期|礼拜)|个多?月|多?年)"
_HOLIDAYS = {
    "元旦": (1, 1, 1, 3),
    "跨年": (12, 31, 1, 1),
    "情人节": (2, 14, 2, 14),
    "妇女节": (3, 8, 3, 8),
    "植树节": (3, 12, 3, 12),
    "愚人节": (4, 1, 4, 1),
    "清明": (4, 4, 4, 6),
    "五一": (5, 1, 5, 5),
    "劳动节": (5, 1, 5, 5),
    "青年节": (5, 4, 5, 4),
    "母亲节": (5, 8, 5, 14),
    "六一": (6, 1, 6, 1),
    "儿童节": (6, 1, 6, 1),
    "父亲节": (6, 15, 6, 21),
    "建军节": (8, 1, 8, 1),
    "教师节": (9, 10, 9, 10),
    "十一": (10, 1, 10, 7),
    "国庆": (10, 1, 10, 7),
    "万圣节": (10, 31, 10, 31),
    "双十一": (11, 11, 11, 11),
    "双11": (11, 11, 11, 11),
    "感恩节": (11, 22, 11, 28),
    "双十二": (12, 12, 12, 12),
    "双12": (12, 12, 12, 12),
    "平安夜": (12, 24, 12, 24),
    "圣诞": (12, 24, 12, 25),
}
_HOLIDAY = (
    "(?P<feast>元旦|跨年|情人节|妇女节|植树节|愚人节|清明(?=节"
    "|假|期间|那)|五一(?=节|劳动|假|期间|小?长假|黄金周|那|去|的"
    "时候)|劳动节|青年节|母亲节|六一(?=节|儿童|那)|儿童节|父亲"
    "节|建军节|教师节|十一(?=长假|假期|黄金周|期间|国庆)|国庆|万"
    "圣节|双十一|双11|感恩节|双十二|双12|平安夜|圣诞(?!老人|树|歌|帽))"
)
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_RECENTLY = {
    **dict.fromkeys(("最近", "近来", "近期", "近日", "近些天", "这些天"), (14, 0)),
    **dict.fromkeys(("这段时间", "这阵子", "这段日子"), (45, 0)),
    **dict.fromkeys(("前几天", "前两天", "前些天", "前些日子"), (10, 1)),
    **dict.fromkeys(("前段时间", "前一阵子", "前阵子", "前不久", "不久前", "不久之前"), (90, 3)),
    **dict.fromkeys(("刚才", "刚刚"), (0, 0)),
}


def number(text: str) -> int:
    """A number up to 99 or a year, in ASCII or Chinese digits."""
    if text.isdecimal():
        return int(text)
    value = numeral_value(text.replace("廿", "二十").replace("○", "零"))
    if value is None:
        raise ValueError(f"{text} is not a number")
    return value


def _year(found: re.Match[str], today: date) -> int | None:
    if found["year"]:
        return number(found["year"])
    if found["short"]:
        return 2000 + int(found["short"])
    return today.year + _YEAR_OFFSETS[found["that"]] if found["that"] else None


def _date(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    year, month, day = _year(found, today), number(found["month"]), number(found["day"])
    if not found["end"]:
        return [in_month(today, year, month, day, day)]
    end = number(found["end"])
    if re.fullmatch(_TO, found["sep"]):
        if (
            in_month(today, year, month, end, end).first
            < in_month(today, year, month, day, day).first
        ):
            raise ValueError("a range that ends before it begins")
        return [in_month(today, year, month, day, end)]
    return [in_month(today, year, month, one, one) for one in (day, end)]


def _month(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    year, month = _year(found, today), number(found["month"])
    if not found["end"]:
        return [in_month(today, year, month, *_PARTS.get(found["part"], (1, 31)))]
    end = number(found["end"])
    if year is None:
        return [any_year(today, (month, 1), (end, month_end(end)))]
    return [months(year, month, end)]


def _named_year(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    year, part = _year(found, today) or today.year, found["part"] or ""
    if part[:1] in _SEASONS:
        return seasons_of(year, _SEASONS[part[0]])
    if "季度" in part:
        first = 3 * number(part.removeprefix("第")[0]) - 2
        return [months(year, first, first + 2)]
    return [months(year, *_HALVES.get(part if "半" in part else part[-1:], (1, 12)))]


def _part_of_any_year(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    first, last = _HALVES[found["part"]]
    return [any_year(today, (first, 1), (last, 29 if last == 2 else 31))]


def _month_near(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    part = _PARTS.get(found["part"], (1, 31))
    if found["day"]:
        part = (number(found["day"]), number(found["end"] or found["day"]))
    return [month_at_distance(today, _OFFSETS[found["which"]], part)]


def _part_of_this_month(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    part = _PARTS[found["part"]]
    return [
        span
        for span in (month_at_distance(today, 0, part), month_at_distance(today, -1, part))
        if span.first <= today
    ]


def _week_near(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    which, weekday = _OFFSETS[found["which"]], found["weekday"]
    if not weekday:
        return [week_at_distance(today, which)]
    if weekday == "末":
        return [weekend_at_distance(today, which)]
    exact = weekday_at_distance(today, which, weekday_number(weekday) - 1)
    loose = (
        newest_weekday(today, weekday_number(weekday) - 1, today_too=False)
        if found["one"] and which == -1
        else ()
    )
    return dict.fromkeys((exact, *loose))


def _weekday_alone(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    if found["weekday"] == "末":
        return newest_weekend(today)
    return newest_weekday(today, weekday_number(found["weekday"]) - 1, today_too=True)


def _long_ago(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    count, unit = found["count"], _unit(found["unit"])
    if "几" in count:
        return [days_back(today, *A_FEW[unit])]
    if "半" in count:
        return [days_ago(today, *HALF[unit])]
    return [days_ago(today, number(count) + (0.5 if found["half"] else 0), unit)]


def _up_to_now(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    count, unit = found["count"], _unit(found["unit"])
    if "几" in count:
        return [days_back(today, A_FEW[unit][0], 0)]
    return [up_to_today(today, 0.5 if count == "半" else number(count), unit)]


def _recently(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    return [days_back(today, *_RECENTLY[found[0]])]


def _unit(word: str) -> str:
    return _UNITS[word.lstrip("个多")]


def _holiday(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    first_month, first, last_month, last = _HOLIDAYS[found["feast"]]
    year = _year(found, today)
    if year is None:
        return [any_year(today, (first_month, first), (last_month, last))]
    return [
        days(
            date(year, first_month, first),
            date(year + (last_month < first_month), last_month, last),
        )
    ]


def _near_day(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    return [day_at_distance(today, _DAYS[found["which"] or found["other"]])]


def _day_number(found: re.Match[str], today: date) -> Iterable[DateSpan]:
    month, day = number(found["month"]), number(found["day"])
    return [in_month(today, None, month, day, day)]


RULES = tuple(
    DateRule(lazy_pattern(pattern), read, words)
    for pattern, read, words in (
        (
            rf"{_NOT_AFTER_DIGIT}{_OF_YEAR}(?P<month>{_MONTH}|\d\d){_GAP}月"
            rf"{_GAP}(?P<day>{_DAY}){_GAP}(?:[日号]?{_GAP}(?P<sep>{_TO}|[、"
            rf"和与]){_GAP}(?P<end>{_DAY}){_GAP})?(?:日|号(?![线楼店院]))",
            _date,
            ("月",),
        ),
        (
            rf"{_NOT_AFTER_DIGIT}{_OF_YEAR}(?P<month>{_MONTH}){_GAP}(?:月"
            rf"?{_GAP}{_TO}{_GAP}(?P<end>{_MONTH}){_GAP})?月(?:份)?{_PART}(?!{_NO_MONTH})",
            _month,
            ("月",),
        ),
        (
            (
                rf"{_NOT_AFTER_DIGIT}{_YEAR}的?(?P<part>年?[初底末](?![中"
                r"一二三])|上半年|下半年|[春夏秋冬][天季]|第?[一二三四1-4]季度)?"
            ),
            _named_year,
            ("年",),
        ),
        (
            r"(?<![\d今去明前后大几多一二两三四五六七八九十半])年(?P<part>[底末初])(?!中)",
            _part_of_any_year,
            ("年",),
        ),
        (
            r"(?P<which>上上上?|(?<![晚天早])上|这|本|下下|(?<!以)下"
            rf")(?:一?个月|一?月(?![亮球光色牙饼]))(?:份)?的?(?:(?P<day>{_DAY})[日"
            rf"号](?:{_TO}(?P<end>{_DAY})[日号])?|{_PART})",
            _month_near,
            ("月",),
        ),
        (
            r"(?<![\d一二三四五六七八九十个上下这本每满])月(?P<part>[底初])",
            _part_of_this_month,
            ("月",),
        ),
        (
            (
                r"(?P<which>上上上?|上|这|本|下下|下)(?P<one>一?个|一"
                rf")?{_WEEK}(?:的?{_WEEK}?{_WEEKDAY})?"
            ),
            _week_near,
            ("周", "星期", "礼拜"),
        ),
        (
            (
                r"(?<![每逢一两二三四五六七八九十几上下这本个\d圆日"
                rf"号])(?<![日号][（(]){_WEEK}{_WEEKDAY}(?!次)"
            ),
            _weekday_alone,
            ("周", "星期", "礼拜"),
        ),
        (
            (
                r"(?:(?P<which>大前|昨|今|明|大后)天|(?P<other>(?<![以"
                r"之从天年月周])前|(?<![以之先然最])后)天(?![气性空努天]))"
            ),
            _near_day,
            ("天",),
        ),
        (
            (
                r"(?P<which>昨|今|(?<![文光说照证透声聪小黎清])明)(?:日"
                r"(?!头条|重现|香)|儿(?![子童女])|晚|夜|早(?!期))(?P<other>)"
            ),
            _near_day,
            ("昨", "今", "明"),
        ),
        (r"(?<![以之从])(?P<which>前)[晚日](?!子)(?P<other>)", _near_day, ("前",)),
        (
            (
                rf"{_NOT_AFTER_DIGIT}(?P<count>{_COUNT}|半|(?<!十)好"
                rf"?几){_GAP}{_UNIT}(?P<half>半)?多?(?:之|以)?前(?!后)"
            ),
            _long_ago,
            ("前",),
        ),
        (
            (
                rf"(?:最近|过去|(?<![附靠接将])近|这(?!一天))的?这?(?P<count>{_COUNT}|半"
                rf"|几){_UNIT}(?:以?来|[里内])?"
            ),
            _up_to_now,
            ("近", "过去", "这"),
        ),
        (
            rf"(?:{'|'.join(sorted(_RECENTLY, key=len, reverse=True))})",
            _recently,
            ("近", "这", "前", "刚"),
        ),
        (rf"{_OF_YEAR}{_HOLIDAY}节?", _holiday, tuple(_HOLIDAYS)),
        (
            r"(?<![\d./])(?P<month>\d{1,2})[./](?P<day>\d{1,2})(?=[日号]|[那这当]天)",
            _day_number,
            ("日", "号", "天"),
        ),
        (
            (
                r"离[^，。！？,.!?\s]{1,8}最近|最近的(?=[^，。！？"
                r",.!?\s]{0,4}[站店院场馆厅市行路所校园])"
            ),
            read_nothing,
            ("最近",),
        ),
        (r"二月花|三月三(?!十|[日号])|六月雪", read_nothing, ("月",)),
        (r"版本?(?:号|是|为)?\s{0,2}[:：]?\s{0,2}v?\d[\d.]{0,20}", read_nothing, ("版",)),
    )
)
