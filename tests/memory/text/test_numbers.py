"""Numbers, times and dates mean the same however they are written, and words that hold numerals
stay words.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.summary.grounding import GroundingSource, ground_text
from memory.text import numbers
from memory.text.normalize import normalize_text
from tests.by_night import examples
from tests.cases import every_case
from tests.memory.context.summary.grounding_cases import CASES

SAME = [
    ("三百元", "300元"),
    ("两千零五十块", "2050块"),
    ("一万八", "18000"),
    ("一亿二千万", "120000000"),
    ("二〇二六年十一月二十日", "2026-11-20"),
    ("三月五日", "3-5"),
    ("百分之三十", "30%"),
    ("三分之一", "1/3"),
    ("三点五公里", "3.5公里"),
    ("第三章", "第3章"),
    ("下午三点", "下午3点"),
    ("March 5th, 2026", "2026-3-5"),
    ("5 Mar", "3-5"),
    ("1,234,567", "1234567"),
    ("version v1.2.3", "version 1.2.3"),
    ("2026 年 1 月 2 日", "2026-1-2"),
    ("周二十点开会", "周二10点开会"),
]
WORDS = [
    "一起去",
    "千万别忘",
    "万一下雨",
    "十分满意",
    "百度一下",
    "三心二意",
    "乱七八糟",
    "二三十人",
    "七八个",
    "一些",
    "周三天气",
    "两者",
]


@every_case(("written", "meant"), SAME)
def test_numbers_and_dates_come_to_one_writing(written, meant):
    assert normalize_text(written).strip() == meant


@every_case("word", WORDS)
def test_a_numeral_inside_a_word_stays_a_word(word):
    assert normalize_text(word) == word


@every_case(
    ("source", "said", "held"),
    [
        ("下午3点", "15:00", True),
        ("15:00", "3 pm", True),
        ("3:30 pm", "3:30 am", False),
        ("晚上10点半", "22:30", True),
        ("中午12点", "12:00 pm", True),
        ("凌晨1点", "13:00", False),
        ("1.2k", "1200", True),
        ("1200", "1.2k", True),
        ("12", "12k", False),
        ("3万5千", "35,000", True),
        ("5 million", "500万", True),
        ("12 GB", "12gb", True),
        ("12 GB", "12 MB", False),
        ("300", "300 元", True),
        ("30分钟", "30 minutes", True),
        ("30分钟", "30小时", False),
        ("10-20分钟", "20 min", True),
        ("10-20分钟", "10分钟", True),
        ("周五", "on Friday", True),
        ("周五", "on Monday", False),
        ("10.0.0.1:8080", "port 8080", True),
        ("2.10", "version 2.1", False),
        ("12,345.50 元", "12345.5 元", True),
        ("8" * 5_000 + "元", "8" * 5_000 + "元", True),
    ],
)
def test_a_figure_is_known_by_what_it_means(source, said, held):
    assert GroundingSource(source).holds(said) is held


@settings(max_examples=examples(300), deadline=None)
@given(
    st.text(
        alphabet="〇零一二两三四五六七八九十百千万亿点分之个元月日年周第0123456789.,:/-k %\n早晚半",
        max_size=30,
    )
)
def test_whatever_is_written_says_at_least_itself(text):
    plain = normalize_text(text)
    known = numbers.known_numbers(plain)
    assert all(not known.isdisjoint(choice) for choice in numbers.wanted_numbers(plain))
    assert normalize_text(plain) == normalize_text(normalize_text(plain))


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(2, 99_999_999))
def test_every_number_is_read_back_from_its_chinese_writing(number):
    assert normalize_text(f"共{_in_chinese(number)}元") == f"共{number}元"


def _in_chinese(number: int) -> str:
    """The usual long writing of a number below a hundred million."""
    high, low = divmod(number, 10_000)
    if high:
        gap = "零" if 0 < low < 1_000 else ""
        return f"{_below(high)}万{gap}{_below(low) if low else ''}"
    return _below(low)


def _below(number: int) -> str:
    digits, out, gap = "零一二三四五六七八九", "", False
    for power, sign in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, power)
        if digit:
            out += ("零" if gap and out else "") + digits[digit] + sign
        gap = not digit
    return out


TRUE = [(case.source, sentence) for case in CASES for sentence in case.true]
ALTERED = [(case.source, kind, sentence) for case in CASES for kind, sentence in case.altered]


def test_there_are_enough_cases_of_every_kind():
    assert len(TRUE) >= 120
    assert len(ALTERED) >= 120
    kinds = {kind for _, kind, _ in ALTERED}
    assert kinds >= {
        "number",
        "date",
        "time",
        "path",
        "url",
        "id",
        "quote",
        "name",
        "amount",
        "unit",
        "hash",
        "mail",
        "port",
    }


def test_true_sentences_are_kept_all_but_three_of_a_hundred():
    dropped = [sentence for source, sentence in TRUE if not GroundingSource(source).holds(sentence)]
    assert len(dropped) / len(TRUE) <= 0.03, dropped


@every_case(("source", "kind", "sentence"), ALTERED)
def test_an_altered_sentence_is_dropped(source, kind, sentence):
    assert ground_text(sentence, source).dropped, kind
