"""Splitting and cleaning: the parts joined are the text."""

import time

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.toolkit.text import Unit, replace_unstorable, split_text, text_length
from tests.by_night import examples, first_by_day
from tests.cases import every_case

UNITS: tuple[Unit, ...] = ("code_points", "utf16", "utf8")
CLUSTERS = (
    "a",
    "é",
    "e\u0301",
    "中",
    "。",
    " ",
    "\n",
    "\n\n",
    ". ",
    "🙂",
    "👨‍👩‍👧‍👦",
    "🇩🇪",
    "क्षि",
    "\r\n",
    "ש",
    "`x y`",
    "[a](http://b)",
)

PROSE = st.lists(st.sampled_from(CLUSTERS), max_size=300).map("".join)
CODE = st.lists(
    st.sampled_from(("x = 1\n", "\n", "中文\n", "a" * 70 + "\n", "é🙂")), max_size=60
).map("".join)


def fenceless(text: str) -> bool:
    return "```" not in text and "~~~" not in text


@given(
    text=st.text(max_size=2000).filter(fenceless) | PROSE,
    limit=st.integers(4, 200),
    unit=st.sampled_from(UNITS),
)
def test_parts_joined_are_the_text_and_each_is_within_the_limit(
    text: str, limit: int, unit: Unit
) -> None:
    parts = split_text(text, limit, unit)
    assert "".join(parts) == text
    assert all(0 < text_length(part, unit) <= limit for part in parts)


@given(text=PROSE, unit=st.sampled_from(UNITS))
def test_no_grapheme_is_cut(text: str, unit: Unit) -> None:
    whole = {match.end() for match in regex.finditer(r"\X", text)}
    place = 0
    for part in split_text(text, 40, unit):
        place += len(part)
        assert place in whole


@given(
    before=PROSE.filter(fenceless), code=CODE, after=PROSE.filter(fenceless), closed=st.booleans()
)
def test_a_cut_code_block_is_whole_in_every_part(
    before: str, code: str, after: str, closed: bool
) -> None:
    text = f"{before}\n```python\n{code}"
    if closed:
        text += f"\n```\n{after}"
    parts = split_text(text, 200, "utf16")
    assert all(text_length(part, "utf16") <= 200 for part in parts)
    for part in parts[:-1]:
        assert sum(line.startswith("```") for line in part.split("\n")) % 2 == 0
    lines = [line for part in parts for line in part.split("\n") if not line.startswith("```")]
    assert "".join(lines) == "".join(
        line for line in text.split("\n") if not line.startswith("```")
    )


@given(text=st.text(alphabet="`~ \nab", max_size=600), limit=st.integers(4, 120))
@settings(max_examples=examples(200))
def test_no_arrangement_of_fences_breaks_the_limit_or_loses_a_letter(text: str, limit: int) -> None:
    parts = split_text(text, limit, "utf8")
    assert all(0 < text_length(part, "utf8") <= limit for part in parts)
    letters = [sign for part in parts for sign in part if sign in "ab"]
    assert len(letters) >= sum(sign in "ab" for sign in text)


@every_case(
    ("text", "first"),
    [
        ("first paragraph\n\nsecond line one\nline", "first paragraph\n\n"),
        ("many words here.\nand then there is more", "many words here.\n"),
        ("one sentence ends. Another one follows it", "one sentence ends. "),
        (
            "这是第一句话，它比较长一点点。这是第二句话，它也比较长",
            "这是第一句话，它比较长一点点。",
        ),
        ("words without any stop at all in them", "words without any stop at "),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    ],
)
def test_cuts_where_a_reader_would(text: str, first: str) -> None:
    limit = 28 if text.isascii() else 20
    assert split_text(text, limit, "utf16")[0] == first


def test_a_link_stays_whole() -> None:
    parts = split_text(
        "words before it and [the very link](http://example.org/a) after", 40, "utf16"
    )
    assert any("[the very link](http://example.org/a)" in part for part in parts)


def test_a_reopened_block_keeps_its_language() -> None:
    parts = split_text("```python\n" + "x = 1\n" * 60 + "```\n", 100, "utf16")
    assert all(part.startswith("```python\n") for part in parts)
    assert all(part.rstrip().endswith("\n```") for part in parts)


def test_a_code_block_is_not_cut_between_its_code_and_its_last_line() -> None:
    text = "```\n" + "a" * 80 + "\n```\n" + "b" * 60
    assert split_text(text, 100, "utf16") == ["```\n" + "a" * 80 + "\n```\n", "b" * 60]


@pytest.mark.parametrize(
    "piece",
    first_by_day(
        4, ["👨‍👩‍👧‍👦", "```\n", "[", "\u0301", "a", "中", "\n", " ", "`", "e\u0301", "**"]
    ),
)
def test_a_huge_text_takes_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    begun = time.process_time()
    parts = split_text(text, 4096, "utf16")
    assert time.process_time() - begun < 5
    assert all(text_length(part, "utf16") <= 4096 for part in parts)


def test_a_cluster_longer_than_the_limit_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 500
    parts = split_text(text, 100, "code_points")
    assert "".join(parts) == text
    assert max(map(len, parts)) <= 100


def test_nothing_gives_no_parts_and_a_limit_below_one_sign_is_refused() -> None:
    assert split_text("", 10, "utf8") == []
    with pytest.raises(ValueError, match="limit 3"):
        split_text("x", 3, "utf8")


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200))
def test_cleaned_text_can_be_stored_and_nothing_else_changes(text: str) -> None:
    cleaned = replace_unstorable(text)
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert len(cleaned) == len(text)
    assert all(new in (old, "\ufffd") for old, new in zip(text, cleaned, strict=True))
    assert replace_unstorable(cleaned) == cleaned


@given(st.text(max_size=100))
def test_length_is_what_the_encodings_say(text: str) -> None:
    assert text_length(text, "code_points") == len(text)
    assert text_length(text, "utf8") == len(text.encode())
    assert text_length(text, "utf16") == sum(1 + (ord(sign) > 0xFFFF) for sign in text)
