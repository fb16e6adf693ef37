"""What mentions something, in Chinese and in English, and where it stands to the letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.mentions import (
    FORGOTTEN_MARKS,
    MentionMatcher,
    find_spans,
    fold_spelling,
    is_mentioned,
)
from memory.text.tokenizer import fold_text
from tests.cases import every_case

DO = [
    ("My PIN is 4711.", "4711"),
    ("my  pin\nis 4711", "My PIN is"),
    ("ＰＩＮ 是 ４７１１", "pin 是 4711"),
    ("She lives in Berlin now", "that I live in Berlin"),
    ("Cats are her favourite animals", "her favourite animal is the cat"),
    ("我在柏林住了三年。", "我住在柏林"),
    ("他喜欢喝绿茶", "绿茶"),
    ("我的银行卡密码是八八六六", "银行卡密码"),
    ("记得：密码=hunter2", "hunter2"),
    ("API_KEY_4711", "4711"),
    ("我 喜欢 绿茶", "喜欢绿茶"),
    ("Re\u0301sume\u0301 sent", "résumé"),
    ("straße 5", "STRASSE"),
]
DO_NOT = [
    ("The number is 54711.", "4711"),
    ("A steak with team mates", "tea"),
    ("Berlin is a big city with a zoo", "that I live in Berlin"),
    ("我喜欢红茶", "绿茶"),
    ("他的银行在城里", "银行卡密码"),
    ("ok, sure", "her"),
    ("", "anything"),
    ("[forgotten] and ［已忘记］", "forgotten"),
]


@every_case(("text", "query"), DO)
def test_what_mentions_it(text: str, query: str) -> None:
    assert is_mentioned(text, query)


@every_case(("text", "query"), DO_NOT)
def test_what_does_not(text: str, query: str) -> None:
    assert not is_mentioned(text, query)


LETTERS = st.text("aBé ß１Ａ绿茶喜我ｶﾞが\u0301\n.。,", max_size=30)


@given(LETTERS, LETTERS.filter(str.strip), LETTERS)
def test_a_query_between_spaces_is_found_where_it_stands(
    before: str, query: str, after: str
) -> None:
    text = f"{before} {query} {after}"
    if not fold_text(query).strip():
        return
    found = find_spans(text, query)
    assert found
    for begin, end in found:
        assert fold_spelling(query).replace(" ", "") in fold_spelling(text[begin:end]).replace(
            " ", ""
        )


def test_only_what_repeats_a_chosen_sentence_goes_where_some_were_chosen() -> None:
    matcher = MentionMatcher(query="Rex", said=("Rex sees the vet on Monday.",), only=True)
    assert matcher.within("Rex sees the vet on Monday at nine")
    assert not matcher.within("Rex likes to swim.")
    assert not matcher.within("The vet is away on Monday.")


def test_what_only_resembles_a_forgotten_sentence_stays() -> None:
    matcher = MentionMatcher(query="Rome", said=("My sister lives in Rome",))
    assert matcher.within("The user's sister lives in Rome now.")
    assert not matcher.within("My sister lives in Paris")
    assert not matcher.within("My brother lives in Oslo, and my sister visits him in March")
    assert not MentionMatcher(query="南京", said=("我妹妹住在南京",)).within("我妹妹住在杭州")
    assert not MentionMatcher(query="4111", said=("My card ends with 4111",)).within(
        "My other card ends with 5222"
    )


@pytest.mark.parametrize("mark", FORGOTTEN_MARKS.values())
def test_a_mark_is_never_found(mark: str) -> None:
    assert find_spans(f"x {mark} y", mark.strip("[]［］")) == []
