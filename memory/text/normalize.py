"""Normalises width, case, digit groups, dates and Chinese numerals of a text."""

import re
import unicodedata
from functools import lru_cache

from memory.text.calendar_words import CHINESE_DIGITS, MONTHS
from memory.text.patterns import lazy_pattern

_POWER_VALUES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_DIGIT_SIGNS = "〇零一二两三四五六七八九"
_NUMERAL_RUN = lazy_pattern(f"[{_DIGIT_SIGNS}十百千万亿]+")
# A numeral of more than 20 characters is not a real number and stays as it is.
_FRACTION = lazy_pattern(
    f"(?<![{_DIGIT_SIGNS}十百千])([{_DIGIT_SIGNS}十百千]{{1,20}}+)分之"
    f"([{_DIGIT_SIGNS}十百]{{1,20}}+(?![{_DIGIT_SIGNS}十百])(?:点"
    f"[{_DIGIT_SIGNS}]{{1,20}}+(?![{_DIGIT_SIGNS}]))?)"
)
_COUNTED = (
    "个|天(?!空|下)|日|号|月|年|周|岁|次|人|位|名|点|分钟|秒|元"
    "|块|毛|角|件|条|张|台|本|部|章|节|页|行|步|层|楼|间|套|份"
    "|种|类|项|批|组|轮|期|集|版|杯|瓶|斤|克|千克|吨|米|千米|公"
    "里|公斤|厘米|毫米|小时|星期|礼拜|倍|度|美元|欧元|遍|场|只"
    "|封|辆|座|棵|家|所|口|片|粒|颗|碗|盘|支|把|双|顿|趟|头牛|单元|室|学期"
)
_DECIMAL = lazy_pattern(
    f"(?<![{_DIGIT_SIGNS}十])([{_DIGIT_SIGNS}十]{{1,20}}+)点([{_DIGIT_SIGNS}]{{1,20}}+)"
    f"(?=个|万|亿|{_COUNTED.replace('|点', '')})"
)
_AFTER = lazy_pattern(f"{_COUNTED}|分(?!之)")
_AFTER_FIRST = lazy_pattern("[章节页条版集层期轮卷回]")
_DIGIT_GROUP = lazy_pattern(r",(?<=\d,)(?=\d{3}(?!\d))")
_DATE = lazy_pattern(
    r"(\d{4})(?<!\d{5})(?:[-/.]| ?年 ?)(\d{1,2})(?:[-/.]| ?月 ?)(\d{1,2})(?: ?日)?(?!\d)"
)
_MONTH_DAY = lazy_pattern(r"(\d{1,2})(?<!\d{3}) ?月 ?(\d{1,2}) ?[日号]")
_YEAR_MONTH = lazy_pattern(r"(\d{4})(?<!\d{5}) ?年 ?(\d{1,2}) ?月(?! ?\d)")
_VERSION = lazy_pattern(r"v(?<![a-z0-9_]v)(?=\d+(?:\.\d+)+)")
_MONTH_PATTERN = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY_FIRST = lazy_pattern(
    rf"(\d{{1,2}})(?<!\d\d\d)(?:st|nd|rd|th)? (?:of )?({_MONTH_PATTERN})(?![a-z])\.?(?:,? "
    rf"(\d{{4}})(?!\d))?"
)
_MONTH_FIRST = lazy_pattern(
    rf"(?<![a-z])({_MONTH_PATTERN})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]|[.,]\d)(?:,? "
    rf"(\d{{4}})(?!\d))?"
)
_MONTH_YEAR = lazy_pattern(rf"(?<![a-z])({_MONTH_PATTERN})\.?,? (\d{{4}})(?!\d)")
_SHORT_MONTHS = tuple(name for name in MONTHS if len(name) == 3)
_ANY_DIGIT = lazy_pattern(r"\d")
_SPACE_BESIDE_CJK = lazy_pattern("(?<=[\u3000-\u9fff]) | (?=[\u3000-\u9fff])")
MAX_CACHED_CHARS = 300  # longer texts are not cached; a sentence is normalised several times


def normalize_text(text: str) -> str:
    """Fold width, case, digit groups, spaces, and the notation of dates and numbers.

    Chinese numerals that are clearly numbers become digits; line ends stay.
    """
    return _normalize_cached(text) if len(text) <= MAX_CACHED_CHARS else _normalize(text)


def _normalize(text: str) -> str:
    folded = (
        text
        if text.isascii()
        else unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    )
    lines = "\n".join(" ".join(line.split()) for line in folded.casefold().splitlines())
    if not lines.isascii():
        lines = _replace_numerals(lines)
    if _ANY_DIGIT.search(lines) is None:
        return lines
    return _replace_dates(_VERSION.sub("", _DIGIT_GROUP.sub("", lines)))


_normalize_cached = lru_cache(maxsize=2_048)(_normalize)


def tighten_text(plain: str) -> str:
    """A normalised text on one line, without the spaces beside Chinese characters."""
    return _SPACE_BESIDE_CJK.sub("", plain.replace("\n", " "))


def _replace_numerals(text: str) -> str:
    if "分之" in text:
        text = _FRACTION.sub(_replace_fraction, text)
    if "点" in text:
        text = _DECIMAL.sub(lambda found: _decimal_text(found[1], found[2]) or found[0], text)
    return _NUMERAL_RUN.sub(_replace_run, text)


def _replace_fraction(found: re.Match[str]) -> str:
    whole, _, after = found[2].partition("点")
    above = _decimal_text(whole, after) if after else _number_text(numeral_value(whole))
    below = "100" if found[1] == "百" else _number_text(numeral_value(found[1]))
    if not above or not below:
        return found[0]
    return f"{above}%" if below == "100" else f"{above}/{below}"


def _decimal_text(whole: str, after: str) -> str:
    value = numeral_value(whole)
    return (
        "" if value is None else f"{value}.{''.join(str(CHINESE_DIGITS[sign]) for sign in after)}"
    )


def _number_text(value: int | None) -> str:
    return "" if value is None else str(value)


def _replace_run(found: re.Match[str]) -> str:
    """Write the run in digits if it is a number; leave it if it may be part of a word."""
    run, before = found[0], found.string[max(0, found.start() - 2) : found.start()]
    after = found.string[found.end() : found.end() + 2]
    day = before[-1:] in ("周", "期", "拜") and before[-2:] != "每周" and run[0] in "一二三四五六"
    kept, run, before = (run[0], run[1:], run[0]) if day else ("", run, before)
    return kept + (_run_number(run, before, after) if run else "")


def _run_number(run: str, before: str, after: str) -> str:
    if len(run) == 1:
        return _single_numeral(run, before, after)
    if not set(run) & set(_POWER_VALUES):
        return "".join(str(CHINESE_DIGITS[sign]) for sign in run) if len(run) > 2 else run
    value = None if run[0] in "百千万亿零〇" else numeral_value(run)
    return run if value is None else str(value)


def _single_numeral(sign: str, before: str, after: str) -> str:
    if sign in "零〇百千万亿" or before[-1:] in ("几", "数", "多"):
        return sign
    if sign == "一":
        ordinal = before.endswith("第") and _AFTER_FIRST.match(after)
        return (
            "1"
            if ordinal or (after[:1] == "月" and before[-1:] not in ("这", "那", "每", "个"))
            else sign
        )
    if sign == "十":
        return "10" if _AFTER.match(after) and (after[:1] != "分" or after == "分钟") else sign
    return str(CHINESE_DIGITS[sign]) if _AFTER.match(after) else sign


def numeral_value(run: str) -> int | None:
    """The value of a run of Chinese numerals; None if it is not one number, such as 二三十 or
    七八.
    """
    if not set(run) & set(_POWER_VALUES):
        return (
            int("".join(str(CHINESE_DIGITS[sign]) for sign in run))
            if len(run) == 1 or len(run) > 2
            else None
        )
    total = section = digit = last = 0
    for sign in run:
        if sign in _POWER_VALUES:
            last, power = _POWER_VALUES[sign], _POWER_VALUES[sign]
            if power >= 10_000:
                total, section = total + (section + digit or 1) * power, 0
            else:
                section += (digit or 1) * power
            digit = 0
        elif digit:
            return None
        else:
            digit, last = CHINESE_DIGITS[sign], last if CHINESE_DIGITS[sign] else 0
    return total + section + digit * (last // 10 if last >= 100 else 1)


def _replace_dates(text: str) -> str:
    text = _DATE.sub(r"\1-\2-\3", text)
    if "月" in text:
        text = _YEAR_MONTH.sub(r"\1-\2 ", _MONTH_DAY.sub(r"\1-\2 ", text))
    if not any(name in text for name in _SHORT_MONTHS):
        return text
    text = _DAY_FIRST.sub(lambda found: _date_text(found[3], found[2], found[1]) or found[0], text)
    text = _MONTH_FIRST.sub(
        lambda found: _date_text(found[3], found[1], found[2]) or found[0], text
    )
    return _MONTH_YEAR.sub(lambda found: f"{found[2]}-{MONTHS[found[1]]}", text)


def _date_text(year: str | None, month: str, day: str) -> str:
    """The date with hyphens; "" if there is no such day."""
    return f"{year + '-' if year else ''}{MONTHS[month]}-{day}" if 1 <= int(day) <= 31 else ""
