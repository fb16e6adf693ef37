"""Texts made to hold the interpreter: what the functions of a fold make of them, and how their time
grows.
"""

from collections.abc import Callable
from functools import partial
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.summary.grounding import GroundingSource, find_literals, ground_text
from memory.context.summary.validation import parse_sections
from memory.text import numbers
from memory.text.language import split_line, split_segments
from memory.text.normalize import normalize_text
from tests.cases import every_case

UNITS = (
    *(
        "x",
        "\n",
        "-",
        "《",
        "a. ",
        "A",
        "@",
        "/",
        "1",
        "1-",
        "1:",
        "1/",
        "1.",
        "一",
        "一点",
        "点一个",
        "分之",
        "十分之一",
        "a1 ",
    ),
    *(
        "中",
        "中/",
        "a/b ",
        '"',
        "“",
        "`",
        "*",
        "> ",
        "# ",
        "http://",
        "a@b.c ",
        "v1",
        "2024-",
        "3月",
        "monday ",
    ),
)


@every_case(
    "read",
    [
        normalize_text,
        GroundingSource,
        lambda text: list(find_literals(text)),
        numbers.known_numbers,
        parse_sections,
    ],
)
def test_a_text_of_one_sign_is_read_in_proportion_to_its_length(
    read: Callable[[str], object],
) -> None:
    assert not [unit for unit in UNITS if not in_proportion(partial(over, read, unit))]


def test_sentences_are_cut_and_borne_out_in_proportion_to_their_length() -> None:
    def check(text: str) -> object:
        return [split_line(line) for line in text.splitlines()], ground_text(
            text, "nothing"
        ).dropped

    assert not [unit for unit in UNITS if not in_proportion(partial(over, check, unit))]


@pytest.mark.parametrize(
    "text", ["一" * 5_000 + "点五个", "一" * 5_000 + "分之一", "三分之" + "一" * 5_000]
)
def test_a_numeral_that_is_no_number_stays_as_it_is_written(text: str) -> None:
    assert normalize_text(text).startswith(("1111", "一一", "3分之", "三分之"))


@every_case(
    ("written", "read"),
    [
        ("三分之二", "2/3"),
        ("百分之二十五", "25%"),
        ("三点五个百分点", "3.5个百分点"),
        ("十二个人", "12个人"),
        ("一九八四年", "1984年"),
    ],
)
def test_numerals_become_digits(written: str, read: str) -> None:
    assert normalize_text(written) == read


@every_case(
    ("line", "section"),
    [
        ("## Open items", "open"),
        ("# 决定与理由 ##", "decisions"),
        ("**Errors**:", "errors"),
        ("  ###### Facts ######  ", "facts"),
        ("**目标与现状**：", "state"),
    ],
)
def test_headings_of_a_summary_are_known(line: str, section: str) -> None:
    assert parse_sections(f"{line}\n- one")[section] == ["- one"]


@every_case(
    ("said", "found"),
    [
        ("see 1.https://a.b/c_d?e=1.", "https://a.b/c_d?e=1"),
        ("write to first.last+tag@mail.example.com, please", "first.last+tag@mail.example.com"),
        ("open ~/src/main.py now", "~/src/main.py"),
        ("edit src/deep/tool.py", "src/deep/tool.py"),
        ("it is in /数据/报告.pdf", "/数据/报告.pdf"),
        ("read notes.txt", "notes.txt"),
        ("称为《红楼梦》的书", "红楼梦"),
        ("commit 3f2a9bc", "3f2a9bc"),
    ],
)
def test_what_must_occur_to_the_letter_is_found(said: str, found: str) -> None:
    assert found in set(find_literals(said))


@given(st.text("ab \n中。.", max_size=4_000))
def test_segments_make_up_the_text_again_and_none_is_too_long(text: str) -> None:
    pieces = list(split_segments(text))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= 1_000 for piece in pieces)


def test_a_long_paragraph_is_cut_where_its_sentences_end() -> None:
    said = [
        f'Sentence {number} says that v1.{number} of the "tool. It" costs 3.50 a month. '
        for number in range(200)
    ]
    said[-1] = "「这是。引用」也是一句。"
    assert split_line("- " + "".join(said)) == ("- ", said)


def test_what_stands_across_a_cut_is_known() -> None:
    words = "the rent is due again " * 363  # 7,986 characters
    known = GroundingSource(f"{words}on 3 May 2031 at 9 pm, {words} and 4500 yuan")
    assert known.holds("It is due on 3 May 2031 at 9 pm.", names=False)
    assert known.holds("They owe 4500 yuan.", names=False)
    assert not known.holds("They owe 4501 yuan.", names=False)


def over(read: Callable[[str], object], unit: str, size: int) -> float:
    text = unit * (size // len(unit))
    begun = thread_time()
    read(text)
    return thread_time() - begun


def in_proportion(took: Callable[[int], float]) -> bool:
    """Four times the text takes less than eight times as long, in one of a few tries; what takes 10
    ms is no matter.
    """
    if took(4_000) < 0.0006:
        return True
    return any(
        (long := took(16_000)) < 0.01 or long < 8 * min(took(4_000), took(4_000)) for _ in range(5)
    )
