"""Names of months and weekdays, and words for small numbers, in Chinese and English. Pure.

Shared by the readers of dates in questions (memory/recall/dates), of moments to come in reminders
(bot/jobs/phrases.py) and of numbers in any text (memory/text/numbers.py).
"""

MONTH_NAMES = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
# The number of a month by its name in full, or by its first three letters.
MONTHS = {
    form: number for number, name in enumerate(MONTH_NAMES, 1) for form in (name, name[:3])
} | {"sept": 9}

WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CHINESE_WEEKDAYS = "一二三四五六日"
# Monday is 1; English ones by their first three letters.
_WEEKDAY_NUMBERS = {
    **{name[:3]: number for number, name in enumerate(WEEKDAY_NAMES, 1)},
    **{sign: number for number, sign in enumerate(CHINESE_WEEKDAYS, 1)},
    "天": 7,
}

CHINESE_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_FIRST_NUMBERS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
ENGLISH_NUMBERS = {word: value for value, word in enumerate(_FIRST_NUMBERS, 1)} | {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
}


def weekday_number(name: str) -> int:
    """Return 1 for Monday to 7 for Sunday.

    Args:
        name: an English one of at least three letters, in any case, or a Chinese one such as 周五.

    Raises:
        KeyError: it names no weekday.
    """
    return _WEEKDAY_NUMBERS[name[:3].lower() if name.isascii() else name[-1]]
