"""A question finds the texts that have its words, in Chinese and English, and small talk finds
nothing.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory.text.tokenizer import lexical_question_terms, rank_texts, text_terms
from tests.cases import every_case

ROWS = [
    (1, "用户对花生过敏，外出吃饭要注意"),
    (2, "用户养了一只叫年糕的橘猫"),
    (3, "The user is planning a trip to Kyoto in April"),
    (4, "User: my sister Marta studies astronomy in Kraków"),
    (5, "用户喜欢科幻小说，尤其是《三体》"),
    (6, "东京へ旅行した時、ラーメンを食べた"),
    (7, "내 고양이 이름은 나비입니다"),
    (8, "Meeting moved to Thursday; the ticket is ABC-123"),
    *((100 + n, f"filler line number {n} about the weather 今天天气不错") for n in range(40)),
]


@every_case(
    ("question", "key"),
    [
        ("我对什么过敏？", 1),
        ("我的猫叫什么名字", 2),
        ("年糕是谁", 2),
        ("When do I travel to Kyoto?", 3),
        ("what trips are planned", 3),
        ("what does Marta study", 4),
        ("MARTA", 4),
        ("我爱看哪种小说", 5),
        ("ラーメンはどこで", 6),
        ("고양이 이름", 7),
        ("ABC-123", 8),
        ("ＡＢＣ－123", 8),
    ],
)
def test_the_best_text_comes_first(question, key):
    assert rank_texts(question, ROWS, 3)[0].key == key


@every_case(
    "words",
    ["好的", "ok", "OK!", "谢谢你", "嗯嗯", "thanks", "", "？？", "👍", "你好", "what is it?"],
)
def test_small_talk_finds_nothing(words):
    assert rank_texts(words, ROWS, 5) == []


def test_a_question_about_something_else_finds_nothing():
    assert rank_texts("请解释量子纠缠", ROWS, 5) == []


def test_scores_are_shares_and_fall():
    found = rank_texts("Kyoto trip weather 天气", ROWS, 50)
    scores = [item.score for item in found]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= scores[0] <= 1


def test_terms_are_pairs_of_characters_and_stems():
    assert lexical_question_terms("三体 Studies of order_items") == [
        "三体",
        "stud",
        "order",
        "item",
    ]
    assert lexical_question_terms("你知道三体吗？ the studying of it") == ["三体", "stud"]


def test_no_text_or_question_makes_it_fail():
    assert rank_texts("\ud800 x", [(1, "\ud800 x"), (2, "")], 5)[0].key == 1
    assert rank_texts("word", [], 5) == []


@pytest.fixture
def fast_switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("fast_switching")
def test_texts_that_are_read_at_the_same_time_keep_their_own_words() -> None:
    """Spaces are indexed at the same time, in threads: no word of one may become a term of
    another.
    """
    texts = [" ".join(f"person{number}x{word}" for word in range(500)) for number in range(8)]
    with ThreadPoolExecutor(len(texts)) as threads:
        found = list(threads.map(text_terms, texts))
    for text, held in zip(texts, found, strict=True):
        assert held == text.split()
