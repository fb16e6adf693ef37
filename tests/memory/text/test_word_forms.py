"""The forms of a word, and its synonyms, are one term in the index and in a question."""

from hypothesis import given
from hypothesis import strategies as st

from memory.text.tokenizer import question_terms, text_terms
from memory.text.word_forms import index_terms, search_terms
from tests.cases import every_case


@every_case(
    ("asked", "said"),
    [
        ("When did she buy the house?", "we bought a house"),
        ("Which book did he choose?", "chose that book in the end"),
        ("What does my father teach?", "Dad taught chemistry"),
        ("your favorite color", "my favourite colour is teal"),
        ("How many children?", "the kids are three"),
        ("Who mended the bicycle?", "the bike was mended"),
    ],
)
def test_another_form_or_a_synonym_of_a_question_s_word_is_found(asked: str, said: str) -> None:
    assert set(search_terms(asked)) & set(index_terms(said))
    assert set(search_terms(asked)) - set(question_terms(asked)) or set(index_terms(said)) - set(
        text_terms(said)
    )


def test_other_words_stay_apart() -> None:
    for one, other in [
        ("father", "mother"),
        ("dog", "cat"),
        ("buy", "sell"),
        ("lives", "leaves"),
        ("rose", "rise"),
    ]:
        assert not set(index_terms(one)) & set(index_terms(other))


@given(st.text(max_size=200))
def test_every_term_of_a_question_can_be_found_in_the_question_as_a_text(text: str) -> None:
    terms = search_terms(text)
    assert len(set(terms)) == len(terms)
    assert len(index_terms(text)) == len(text_terms(text))
    # A single CJK character between stop words is a term of a question only.
    assert {term for term in terms if len(term) > 1 and term.isascii()} <= set(index_terms(text))


@every_case("small_talk", ["ok", "thanks, sounds good", "好的", "嗯嗯，谢谢"])
def test_small_talk_has_no_terms(small_talk: str) -> None:
    assert search_terms(small_talk) == []
