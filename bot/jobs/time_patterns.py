"""How times are written in Chinese and English: a table of patterns and what each of them says.

Pure.
"""

import re
from collections.abc import Sequence
from datetime import date

from bot.jobs.time_words import (
    AFTERNOON,
    AM,
    DAILY,
    DAWN,
    DUSK,
    EVENING,
    FORENOON,
    MORNING,
    NIGHT,
    NOON,
    NUMBER_EN,
    NUMBER_ZH,
    PM,
    SPAN_DIGITS_EN,
    SPAN_EN,
    SPAN_ZH,
    WEEKDAYS,
    WEEKENDS,
    Meaning,
    TimeWord,
    day_of_month_in,
    during,
    every_days,
    every_minutes,
    in_days,
    month_end,
    on_cron,
    read_after,
    read_clock,
    read_cron,
    read_date,
    read_day_of_month,
    read_every_month,
    read_every_month_weekday,
    read_every_span,
    read_every_two_weeks,
    read_every_year,
    read_midnight,
    read_next_weekday,
    read_noon,
    read_slashed_date,
    read_weekday,
    read_weekday_range,
    read_weekdays,
    weekday_of_week,
)
from memory.text.patterns import lazy_pattern

# In all of these a blank stands for one to three blanks.
_AT_START = r"(?<![\s\S])"
_EACH = r"(?:every|each)"
_WEEK = r"(?:周|星期|礼拜)"
_DAY_ZH = r"[一二三四五六日天]"
# 周日天气 is Sunday's weather, but in 下周一三五 there are three days.
_ONE_DAY_ZH = rf"(?P<day>{_DAY_ZH})(?!{_DAY_ZH}(?:[一二三四五六日上下早晚中\s\d]|$))"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?(?![a-z])"
_FULL_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?![a-z'])"
_FULL_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days"
# "sat 9:00" is a day, "sat nav" is not.
_SHORT_DAY = (
    r"(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)(?![a-z])"
    r"(?=,? (?:at |\d|noon|morning|afternoon|evening|night|next week))"
)
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?(?![a-z])"
)
_NTH = r"(?P<date>\d{1,2})(?:st|nd|rd|th)"
_MAYBE_NTH = r"(?P<date>\d{1,2})(?:st|nd|rd|th)?"
_WHICH = r"(?P<which>first|second|third|fourth|last|[1-4](?:st|nd|rd|th))"
_YEAR = r"(?:,? (?P<year>20\d\d))?"
_MONTH_DAY = rf"{_MONTH} {_MAYBE_NTH}(?![\d:.]|\s?[ap]m)"
_DAY_MONTH = rf"(?:the )?{_MAYBE_NTH} (?:of )?{_MONTH}"
_NO_PLACE = r"(?![线楼门桌机院店厅])"
_MONTH_DAY_ZH = rf"(?P<month>{NUMBER_ZH})月(?P<date>{NUMBER_ZH})(?:[日号]{_NO_PLACE}|(?<=\d)(?!\d))"
# A number after the hour that counts something else: 9点20个人.
_NO_COUNT = r"(?![个位名元块斤杯片粒人本次号日月年天份条件张辆台瓶岁页\d分点:])"
_CLOCK_ZH_AHEAD = r"(?=\s?[\d一二三四五六七八九十]{1,3}[点:])"
_MINUTE_ZH = (
    r"钟|整|(?P<half>半)|过?(?P<quarters>[一1二2三3两])刻钟?|过"
    rf"?(?P<minute>{NUMBER_ZH})分(?![享钟之])|"
    r"(?P<bare_minute>[零〇0][一二三四五六七八九1-9]|[一二三四五]?十[一二三四五六七八九]?|\d{2})"
    rf"{_NO_COUNT}"
)
_CRON_END = r"(?=\s|$)(?! [*\d])"

# What is longer or more special comes first.
_ROWS: tuple[tuple[str, Meaning], ...] = (
    # A cron expression
    (rf"cron (?P<cron>[\d*,/a-z#-]{{1,40}}(?: [\d*,/a-z#-]{{1,40}}){{4}}){_CRON_END}", read_cron),
    (
        rf"{_AT_START}(?=[\d/,\s-]{{0,40}}\*)"
        rf"(?P<cron>[\d*,/-]{{1,40}}(?: [\d*,/-]{{1,40}}){{3}} [\d*,/a-z#-]{{1,40}}){_CRON_END}",
        read_cron,
    ),
    # Again and again, in Chinese
    (r"每个?月(?:的?最后一天|[底末])", on_cron("L * *")),
    (
        rf"每个?月的?(?P<which>第{NUMBER_ZH}|最后一)个?{_WEEK}(?P<day>{_DAY_ZH})",
        read_every_month_weekday,
    ),
    (rf"每个?月的?(?P<date>{NUMBER_ZH})[号日]", read_every_month),
    (rf"每年的?{_MONTH_DAY_ZH}", read_every_year),
    (
        rf"(?:每(?:隔一|两|2|二)个?{_WEEK}|隔周)的?{_WEEK}?(?P<day>{_DAY_ZH})",
        read_every_two_weeks,
    ),
    (r"每?隔[天日]|每隔一[天日]", every_days(2)),
    (r"每个?小时", every_minutes(60)),
    (rf"每(?:隔(?!{NUMBER_ZH}个?[天日周星礼月年]))?{SPAN_ZH}(?!后)", read_every_span),
    (r"每个?(?:工作日|上班日)|工作日", on_cron(WEEKDAYS)),
    (r"每个?周末", on_cron(WEEKENDS)),
    (
        rf"每?个?{_WEEK}(?P<first>{_DAY_ZH})\s?(?:到|至|-|~)\s?{_WEEK}?(?P<last>{_DAY_ZH})",
        read_weekday_range,
    ),
    (
        rf"每个?{_WEEK}"
        rf"(?P<days>{_DAY_ZH}(?:[、,和及跟与/]?{_WEEK}?{_DAY_ZH}(?![点时十月号])){{0,6}})",
        read_weekdays,
    ),
    (r"每[天日]|天天|每(?=[早晚]|上午|中午|下午|傍晚|凌晨)", on_cron(DAILY)),
    # Again and again, in English
    (rf"(?:the )?(?:last day (?:of )?|end of ){_EACH} month", on_cron("L * *")),
    (rf"(?:{_EACH} month|monthly) on the last day", on_cron("L * *")),
    (rf"(?:the )?{_WHICH} (?P<day>{_DAY}) (?:of|in) {_EACH} month", read_every_month_weekday),
    (rf"{_EACH} {_WHICH} (?P<day>{_DAY}) (?:of|in) (?:the|each) month", read_every_month_weekday),
    (rf"{_EACH} month on the {_WHICH} (?P<day>{_DAY})", read_every_month_weekday),
    (rf"(?:{_EACH} month|monthly) on (?:the )?{_NTH}", read_every_month),
    (rf"(?:on )?the {_NTH} of {_EACH} month", read_every_month),
    (rf"(?:{_EACH} (?:year (?:on )?)?|yearly (?:on )?){_MONTH_DAY}", read_every_year),
    (rf"(?:{_EACH} (?:year (?:on )?)?|yearly (?:on )?){_DAY_MONTH}", read_every_year),
    (
        rf"{_EACH} {_NTH}(?: of (?:the|each|every) month)?(?! (?:{_DAY}|day|week|month))",
        read_every_month,
    ),
    (rf"{_EACH} (?:day|night) at midnight", on_cron("0 0 * * *")),
    (rf"every (?:other|second|(?:two|2) weeks on) (?P<day>{_DAY})", read_every_two_weeks),
    (r"every (?:other|second) day", every_days(2)),
    (r"every hour(?! and)|hourly", every_minutes(60)),
    (r"every half(?: an)? hour", every_minutes(30)),
    (rf"every {SPAN_EN}", read_every_span),
    (rf"(?:{_EACH}|on) (?:week|work)\s?days?|weekdays", on_cron(WEEKDAYS)),
    (rf"{_EACH} weekend|(?:on )?weekends", on_cron(WEEKENDS)),
    (
        rf"(?:(?:every|from) )?(?P<first>{_DAY})\s?(?:to|through|-|–)\s?(?P<last>{_DAY})",
        read_weekday_range,
    ),
    (rf"{_EACH} (?P<days>{_DAY}(?:(?:,\s?(?:and )?| and ){_DAY}){{0,6}})", read_weekdays),
    (
        rf"(?:on )?(?P<days>{_FULL_DAYS}(?:(?:,\s?(?:and )?| and ){_FULL_DAYS}){{0,6}})(?![a-z])",
        read_weekdays,
    ),
    (
        rf"{_EACH} day|daily|{_EACH}(?= (?:morning|afternoon|evening|night)(?![a-z]))",
        on_cron(DAILY),
    ),
    # Some time from now
    (rf"(?:再?过\s?)?{SPAN_ZH}\s?[之以]?后", read_after),
    (rf"再?过\s?{SPAN_ZH}", read_after),
    (rf"{_AT_START}{SPAN_ZH}(?<=分钟|小时|钟头)(?=\s|$)", read_after),
    (rf"in {SPAN_EN}(?: from now)?(?!')", read_after),
    (rf"{SPAN_EN} from now", read_after),
    (rf"{_AT_START}{SPAN_DIGITS_EN}(?: later)?", read_after),
    # Days
    (r"昨[天日晚]|yesterday", in_days(-1)),
    (r"前天|the day before yesterday", in_days(-2)),
    (r"大后[天日]", in_days(3)),
    (r"后[天日]|(?:the )?day after tomorrow", in_days(2)),
    (r"明[天日儿]|明(?=[早晚])|tomorrow(?!')|tmrw|tmr(?![a-z])", in_days(1)),
    (r"今[天日儿]|今(?=[早晚])|today(?!')", in_days(0)),
    (rf"下下个?{_WEEK}{_ONE_DAY_ZH}", weekday_of_week(2)),
    (rf"下个?{_WEEK}{_ONE_DAY_ZH}", weekday_of_week(1)),
    (rf"[这本]个?{_WEEK}{_ONE_DAY_ZH}", weekday_of_week(0)),
    (rf"上个?{_WEEK}{_ONE_DAY_ZH}", weekday_of_week(-1)),
    (rf"{_WEEK}{_ONE_DAY_ZH}", read_weekday),
    (rf"(?P<day>{_DAY}) (?:of )?next week", weekday_of_week(1)),
    (rf"next (?P<day>{_DAY})", read_next_weekday),
    (rf"(?:this|coming|on) (?P<day>{_DAY})", read_weekday),
    (rf"(?P<day>{_FULL_DAY}|{_SHORT_DAY})", read_weekday),
    # Dates
    (
        r"(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<date>\d{1,2})[日号]?"
        r"(?:t(?=\d\d:)|(?!\d))",
        read_date,
    ),
    (rf"(?:(?P<year>今年|明年|\d{{4}}(?=年))年?的?)?{_MONTH_DAY_ZH}", read_date),
    (rf"(?:on )?{_MONTH_DAY}{_YEAR}", read_date),
    (rf"(?:on )?{_DAY_MONTH}{_YEAR}", read_date),
    (r"(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\d/])", read_slashed_date),
    (r"(?:[这本]个?)?月(?:[底末]|的?最后一天)", month_end(0)),
    (r"下个?月(?:[底末]|的?最后一天)", month_end(1)),
    (rf"下个?月(?P<date>{NUMBER_ZH})[号日]", day_of_month_in(1)),
    (rf"[这本]个?月(?P<date>{NUMBER_ZH})[号日]", day_of_month_in(0)),
    (rf"(?P<date>{NUMBER_ZH})[号日]{_NO_PLACE}", read_day_of_month),
    (r"(?:(?:at|on) )?(?:the )?(?:end|last day) of (?:(?:the|this) )?month", month_end(0)),
    (r"(?:(?:at|on) )?(?:the )?(?:end|last day) of next month", month_end(1)),
    (rf"on the {_NTH}", read_day_of_month),
    (rf"the {_NTH}(?=,? (?:at |\d{{1,2}}(?::|\s?[ap]m)))", read_day_of_month),
    # Parts of the day
    (r"凌晨", during(DAWN)),
    (rf"早上|早晨|清晨|(?<=[明今每])早(?![餐饭茶会班])|早{_CLOCK_ZH_AHEAD}", during(MORNING)),
    (r"上午", during(FORENOON)),
    (r"中午|正午", during(NOON)),
    (r"(?:下午|午后)(?![茶班])", during(AFTERNOON)),
    (r"傍晚|黄昏", during(DUSK)),
    (
        r"晚上|晚间|夜里|夜晚|半夜|深夜|(?<=[明今每])晚(?![餐饭会])|"
        rf"晚{_CLOCK_ZH_AHEAD}",
        during(NIGHT),
    ),
    (r"(?:later )?tonight(?!')", during(NIGHT, 0)),
    (r"this morning", during(MORNING, 0)),
    (r"this afternoon", during(AFTERNOON, 0)),
    (r"this evening", during(EVENING, 0)),
    (r"in the morning", during(MORNING)),
    (r"in the afternoon", during(AFTERNOON)),
    (r"in the evening", during(EVENING)),
    (r"at night", during(NIGHT)),
    # Clocks
    (r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::00)?(?!:?\d)", read_clock),
    (r"(?P<hour>\d{1,2})[.](?P<minute>\d{2})(?=\s?[ap]\.?m)", read_clock),
    (rf"(?P<hour>\d{{1,2}}|{NUMBER_EN}(?= ))(?=\s{{0,2}}[ap]\.?m\.?(?![a-z]))", read_clock),
    (
        rf"(?P<hour>{NUMBER_EN})(?= (?:in the (?:morning|afternoon|evening)|at night))",
        read_clock,
    ),
    (rf"(?P<hour>{NUMBER_ZH})\s?[点时](?:{_MINUTE_ZH})?", read_clock),
    (rf"(?:at )?(?P<hour>{NUMBER_EN})\s?o'?\s?clock", read_clock),
    (
        rf"(?:at )?(?P<minute>(?:a )?quarter|half|{NUMBER_EN}(?= past| minutes)|five|ten|twenty)"
        rf"(?: minutes)? (?P<side>past|to) (?P<hour>{NUMBER_EN})(?![a-z\d])",
        read_clock,
    ),
    (r"(?:at )?noon(?![a-z])", read_noon),
    (r"(?:at )?midnight(?![a-z])", read_midnight),
    (rf"at (?P<hour>(?!an? ){NUMBER_EN})(?![a-z\d/:.%-]|\s?(?:km|%))", read_clock),
)
# These say something only together with a day or a clock: "morning run" is no time.
_INNER_ROWS: tuple[tuple[str, Meaning], ...] = (
    (r"a\.?m\b\.?", during(AM)),
    (r"p\.?m\b\.?", during(PM)),
    (r"mornings?(?![a-z'])", during(MORNING)),
    (r"afternoons?(?![a-z'])", during(AFTERNOON)),
    (r"evenings?(?![a-z'])", during(EVENING)),
    (r"nights?(?![a-z'])", during(NIGHT)),
)


def _compile(
    rows: Sequence[tuple[str, Meaning]],
) -> tuple[tuple[re.Pattern[str], Meaning], ...]:
    blank = r"\s{1,3}"
    return tuple((lazy_pattern(f"(?i){text.replace(' ', blank)}"), read) for text, read in rows)


_FIRST = _compile(_ROWS)
_LATER = (*_FIRST, *_compile(_INNER_ROWS))


def match_word(
    text: str, position: int, today: date, *, is_first: bool
) -> tuple[TimeWord, int] | None:
    """Read the word for a time that begins at a position of a text; None if there is none.

    Args:
        is_first: nothing of the time was read before.

    Returns:
        What it says, and where it ends.

    Raises:
        TimeUnclear: it is one, but says no time or more than one.
    """
    for pattern, read in _FIRST if is_first else _LATER:
        if (found := pattern.match(text, position)) is not None:
            return read(found, today), found.end()
    return None
