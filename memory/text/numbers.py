"""Numbers, amounts, times of day, weekdays and months in a text, comparable in all their usual
notations.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from memory.text.calendar_words import ENGLISH_NUMBERS, MONTHS, weekday_number
from memory.text.patterns import lazy_pattern

# A source supports a number if it has at least one of these tokens. A token is a letter for the
# kind and a value.
Choice = frozenset[str]

MAX_DIGITS = 40  # a longer number is a code, not a value
MAX_PARTS = 12  # a number of more parts is a list, whose parts are not looked up
_UNITS = {
    "%": "%|percent|per cent",
    "cny": "元|块钱|块|人民币|rmb|cny|yuan|¥",
    "usd": "美元|美金|us dollars?|dollars?|bucks|usd|\\$",
    "eur": "欧元|euros?|eur|€",
    "gbp": "英镑|gbp|£",
    "jpy": "日元|yen|jpy",
    "hkd": "港币|港元|hkd",
    "ms": "毫秒|milliseconds?|msec|ms",
    "s": "秒钟|秒|seconds?|secs?|s",
    "min": "分钟|minutes?|mins?",
    "h": "个?小时|个?钟头|hours?|hrs?|h",
    "day": "天|days?",
    "week": "周|个?星期|个?礼拜|weeks?",
    "month": "个月|months?",
    "age": "岁|years? old|year-old|yrs? old",
    "year": "年|years?|yrs?",
    "km": "公里|千米|kilomet[er]{2}s?|km",
    "cm": "厘米|公分|centimet[er]{2}s?|cm",
    "mm": "毫米|millimet[er]{2}s?|mm",
    "m": "米|met[er]{2}s?|m",
    "kg": "公斤|千克|kilograms?|kilos?|kg",
    "g": "克|grams?|g",
    "jin": "斤",
    "ton": "吨|tonnes?|tons?",
    "lb": "磅|lbs?",
    "byte": "字节|bytes?",
    "kb": "kb|kib",
    "mb": "mb|mib",
    "gb": "gb|gib",
    "tb": "tb|tib",
    "degree": "摄氏度|度|°c|°",
    "fahrenheit": "华氏度|°f",
    "times": "倍",
    "person": "个?人|位|名|people|persons?",
    "floor": "楼|层|floors?",
    "page": "页|pages?",
    "unit": "个?单位|units?",
}
_SIGNS = {
    "$": "usd",
    "€": "eur",
    "£": "gbp",
    "¥": "cny",
    "usd": "usd",
    "eur": "eur",
    "rmb": "cny",
    "cny": "cny",
}
_POWERS = {
    "万亿": 10**12,
    "亿": 10**8,
    "千万": 10**7,
    "百万": 10**6,
    "十万": 10**5,
    "万": 10**4,
    "千": 1_000,
    "百": 100,
    "k": 1_000,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
}
# "one" and "a" are rarely numbers.
_NUMBER_WORDS = {word: str(value) for word, value in ENGLISH_NUMBERS.items() if word != "one"} | {
    "hundred": "100"
}


def _longest_first(words: str) -> str:
    """Alternatives as one pattern, longest first; a Latin one matches only whole words."""
    items = sorted(words.split("|"), key=len, reverse=True)
    return "|".join(
        f"{item}(?![a-z0-9_])" if item[-1].isascii() and item[-1] in _LETTERS else item
        for item in items
    )


_LETTERS = "abcdefghijklmnopqrstuvwxyz?"
_UNIT_NAMES = {word: name for name, words in _UNITS.items() for word in words.split("|")}
_UNIT = _longest_first("|".join(_UNIT_NAMES))
_POWER = (
    "万亿|千万|百万|十万|亿|万|千(?![克米瓦字])|百(?!分)|k(?![a-z0-9_])|million|thousand|billion"
)
_AFTERNOON, _NOON = ("pm", "下午", "午后", "傍晚"), ("中午", "正午")
_EVENING = ("晚上", "夜里", "今晚", "明晚", "昨晚", "晚")
_DAY_HALVES = "|".join(
    (*_AFTERNOON[1:], *_NOON, *_EVENING, "凌晨", "清晨", "早晨", "早上", "上午", "早")
)
_TIME = (
    rf"(?P<half>{_DAY_HALVES})? ?(?<![a-z0-9_.:/-])(?P<hour>[01]?\d|2[0-4])"
    r"(?:(?::(?P<minute>[0-5]\d)(?P<second>:[0-5]\d)?(?![\d:]|\.\d)|(?P<clock>点"
    r")钟?(?:(?P<past>[0-5]?\d)分?(?!\d)|(?P<part>半|一刻|三刻))?)(?: "
    r"?(?P<ap>am|pm|a\.m|p\.m)(?![a-z]))?|(?: ?(?P<only>am|pm|a\.m|p\.m)(?![a-z])))"
)
_NUMBER = (
    r"(?:(?P<sign>[$€£¥]|(?<![a-z])(?:usd|eur|rmb|cny)) "
    r"?)?(?<![a-z0-9_])(?P<number>\d+(?:[.:/-]\d+)*)(?: "
    rf"?(?P<power>{_POWER})(?:(?P<low>\d+)(?P<lower>[千百])?)?)?(?:(?P<place>[月"
    rf"日号]|(?:st|nd|rd|th)(?![a-z]))|(?: |-)?(?P<unit>{_UNIT}))?"
)
_MAY_BEGIN = f"(?=[0-9{''.join(_SIGNS)}{_DAY_HALVES.replace('|', '')}])"
_FIGURE = lazy_pattern(f"{_MAY_BEGIN}(?:(?P<time>{_TIME})|{_NUMBER})")
_WORD = lazy_pattern(rf"(?<![a-z-])({'|'.join(_NUMBER_WORDS)})(?![a-z])")
_WEEKDAY = lazy_pattern(
    r"(?:周|星期|礼拜)([一二三四五六日天])(?![次年岁小])|(?<![a-z])(mon|tue|wed|thu|fri|sat|sun)"
    r"(?:s|nes|rs|ur)?(?:day)s?(?![a-z])"
)
_MONTH = lazy_pattern(rf"(?<![a-z])({'|'.join(sorted(MONTHS, key=len, reverse=True))})(?![a-z])")
# A range of days has both dates: 1月23到24日, and "23 to 24 January", which is normalised to "23 to
# 1-24".
_DAYS_OF_MONTH = lazy_pattern(
    r"(\d{1,2})(?<!\d{3}) ?月 ?(\d{1,2}) ?[日号]? ?[到至~–—-] ?(\d{1,2}) ?[日号]"
)
_DAYS_BEFORE_DATE = lazy_pattern(
    r"(?<![\d.-])(\d{1,2})(?: to | and | ?[–—-] ?)(\d{1,2})-\d{1,2}(?![\d-])"
)
_WHOLE_DATE = lazy_pattern(r"\d{4}-\d{1,2}-\d{1,2}")
_SHORT_ZERO = lazy_pattern(r"(?<![\d.])0(?=\d(?!\d))")


@dataclass(frozen=True, slots=True)
class _FoundNumber:
    """A number in a text."""

    #: As written, in digits.
    text: str
    #: Multiplied by its power of ten; "" if there is neither a power nor a unit.
    value: str
    #: A key of _UNITS, "" for none.
    unit: str
    #: It is an ordinal or a part of a date: 3rd, 5月.
    ordinal: bool

    @property
    def single(self) -> bool:
        """Whether it is one number, not a date, a range, a version or an address."""
        return self.text.isdigit() or (
            self.text.count(".") == 1 and self.text.replace(".", "").isdigit()
        )


def wanted_numbers(plain: str) -> Iterator[Choice]:
    """For each number in a normalised sentence, the tokens of which its source must have one."""
    for found in _FIGURE.finditer(plain):
        if found.lastgroup == "time":
            yield _wanted_time(found)
        else:
            yield from _wanted_number(_read_number(found))
    for found in _WEEKDAY.finditer(plain):
        yield frozenset({f"w{weekday_number(found[1] or found[2])}"})


def known_numbers(plain: str) -> set[str]:
    """The tokens of all numbers in a normalised source, in every possible reading."""
    read: set[str] = set()
    tokens: set[str] = set()
    for found in _FIGURE.finditer(plain):
        if found[0] in read:
            continue
        read.add(found[0])
        tokens.update(
            _known_time(found) if found.lastgroup == "time" else _known_number(_read_number(found))
        )
    tokens.update(f"w{weekday_number(found[1] or found[2])}" for found in _WEEKDAY.finditer(plain))
    for word in {found[1] for found in _WORD.finditer(plain)}:
        tokens.update(_plain_tokens(_NUMBER_WORDS[word]))
    tokens.update(f"m{MONTHS[found[1]]}" for found in _MONTH.finditer(plain))
    for found in _DAYS_OF_MONTH.finditer(plain):
        tokens |= {f"n{found[1]}-{found[2]}", f"n{found[1]}-{found[3]}", f"d{found[1]}"}
    tokens.update(f"n{found[2]}-{found[1]}" for found in _DAYS_BEFORE_DATE.finditer(plain))
    return tokens


def wanted_for_name(word: str) -> Choice | None:
    """The tokens for the English name of a month or a weekday; None for any other word."""
    month, day = MONTHS.get(word), _WEEKDAY.fullmatch(word)
    if month:
        return frozenset({f"m{month}", f"d{month}"})
    return frozenset({f"w{weekday_number(day[2])}"}) if day else None


def has_number(plain: str) -> bool:
    """Whether a normalised sentence has a number."""
    return bool(_FIGURE.search(plain) or _WEEKDAY.search(plain))


def is_number_token(token: str) -> bool:
    """Whether a word of digits and letters is a number with its unit, such as 12gb, 1.2k or 3rd."""
    return bool(_FIGURE.fullmatch(token))


def _read_number(found: re.Match[str]) -> _FoundNumber:
    text, power, unit = _SHORT_ZERO.sub("", found["number"]), found["power"], found["unit"] or ""
    unit = _SIGNS[found["sign"]] if found["sign"] else _unit_kind(unit) if unit else ""
    if unit == "year" and len(text) == 4 and not power:
        unit = ""  # the name of a year
    value = ""
    if power or unit:
        value = _scale(text, _POWERS[power] if power else 1, _following_value(found))
    ordinal = found["place"] is not None
    return _FoundNumber(
        text=text, value=value, unit=unit if value or not power else "", ordinal=ordinal
    )


def _unit_kind(unit: str) -> str:
    if unit in _UNIT_NAMES:
        return _UNIT_NAMES[unit]
    return next(name for name, words in _UNITS.items() if re.fullmatch(words, unit))


def _following_value(found: re.Match[str]) -> int:
    """The value of the digits after a power of ten: 5,000 in 3万5千 and in 3万5."""
    if not found["low"] or len(found["low"]) > 4:
        return 0
    low = int(found["low"])
    if found["lower"]:
        return low * _POWERS[found["lower"]]
    return low * _POWERS[found["power"]] // 10 if low < 10 else low


def _scale(text: str, factor: int, more: int) -> str:
    """The number times the factor plus `more`, in digits without trailing zeros; "" if it is not a
    single number.
    """
    whole, _, after = text.partition(".")
    if len(text) > MAX_DIGITS or not whole.isdigit() or (after and not after.isdigit()):
        return ""
    digits, places = int(whole + after) * factor, len(after)
    while places and digits % 10 == 0:
        digits, places = digits // 10, places - 1
    if places:
        padded = str(digits).rjust(places + 1, "0")
        return f"{padded[:-places]}.{padded[-places:]}"
    return str(digits + more)


def _wanted_number(number: _FoundNumber) -> Iterator[Choice]:
    if number.value and number.single:
        value = number.value
        yield frozenset(
            {f"u{value} {number.unit}" if number.unit else f"v{value}", f"b{value}", f"e{value}"}
        )
    elif number.ordinal:
        yield frozenset({f"n{number.text}", f"d{number.text}", f"m{number.text}"})
    else:
        yield frozenset({f"n{number.text}", f"v{number.text}"})
        if number.unit:
            last = re.split("[:/-]", number.text)[-1]
            yield frozenset({f"u{last} {number.unit}", f"b{last}"})


def _known_number(number: _FoundNumber) -> Iterable[str]:
    if not number.unit and not number.value and not number.ordinal and number.text.isdigit():
        return _plain_tokens(number.text)
    return _number_readings(number)


def _known_value_readings(number: _FoundNumber) -> Iterator[str]:
    """Readings of a number whose value is known: the value, and its digits if they stand for it."""
    yield f"v{number.value}"
    yield f"u{number.value} {number.unit}" if number.unit else f"b{number.value}"
    if number.value == number.text or number.unit:
        yield f"n{number.text}"


def _number_readings(number: _FoundNumber) -> Iterator[str]:
    if number.single and number.value:
        yield from _known_value_readings(number)
        return
    last = re.split("[:/-]", number.text)[-1]
    if number.unit:
        yield f"u{last} {number.unit}"
    if number.single:
        yield f"e{_scale(number.text, 1, 0)}"
    for run in _part_runs(number.text):
        yield f"n{run}"
        if not (number.unit and run == last):
            yield f"b{run}"
    if not number.single or number.ordinal:
        yield from (f"d{piece}" for piece in number.text.split("-"))


def _plain_tokens(text: str) -> tuple[str, str]:
    return f"n{text}", f"b{text}"


def _part_runs(number: str) -> Iterator[str]:
    """A compound number and the runs of its parts that have a meaning of their own.

    For 2026-11-20 also 11-20 and 2026, for 10-20 both ends, for an address also its port, but no
    day of a date.
    """
    pieces = re.split(r"([:/-])", number)
    if len(pieces) > 2 * MAX_PARTS:
        yield number
        return
    alone = not _WHOLE_DATE.fullmatch(number) and (
        ":" not in number or any("." in piece for piece in pieces)
    )
    for start, stop in combinations(range(0, len(pieces) + 2, 2), 2):
        if alone or stop - start > 2 or len(pieces) == 1 or len(pieces[start]) == 4:
            yield "".join(pieces[start : stop - 1])


def _read_clock(found: re.Match[str]) -> tuple[int, str, str]:
    """Hour as written, minutes, and the word for the half of the day ("" for none)."""
    past = {"半": "30", "一刻": "15", "三刻": "45"}.get(found["part"] or "", found["past"] or "0")
    half = found["half"] or (found["ap"] or found["only"] or "").replace(".", "")
    return int(found["hour"]), (found["minute"] or past).rjust(2, "0"), half


def _clock_24h(hour: int, minute: str, half: str) -> str:
    """The token of a time on the 24-hour clock."""
    if hour <= 12:
        if half in _AFTERNOON:
            hour = hour % 12 + 12
        elif half in _EVENING:
            hour = hour + 12 if 4 < hour < 12 else hour % 12
        elif half in _NOON:
            hour = hour + 12 if hour < 4 else hour
        else:
            hour %= 12
    return f"t{hour % 24}:{minute}"


def _wanted_time(found: re.Match[str]) -> Choice:
    hour, minute, half = _read_clock(found)
    if found["second"]:
        return frozenset({f"n{_SHORT_ZERO.sub('', found['hour'])}:{minute}{found['second']}"})
    if half:
        return frozenset({_clock_24h(hour, minute, half), f"?{hour}:{minute}"})
    choice = {f"t{hour % 24}:{minute}", f"?{hour}:{minute}"}
    if hour <= 12:
        choice.add(f"t{(hour + 12) % 24}:{minute}")
    if found["clock"] and not found["past"] and not found["part"]:
        choice.add(f"n{hour}")
    return frozenset(choice)


def _known_time(found: re.Match[str]) -> Iterator[str]:
    hour, minute, half = _read_clock(found)
    if half:
        yield _clock_24h(hour, minute, half)
        return
    yield f"t{hour % 24}:{minute}"
    if hour <= 12:
        yield f"?{hour}:{minute}"
    if found["second"]:
        yield f"n{_SHORT_ZERO.sub('', found['hour'])}:{minute}{found['second']}"
    if found["clock"] and minute == "00":
        yield from _plain_tokens(str(hour))
