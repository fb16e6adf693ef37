"""The index stays right through any mix of changes, and ranking weighs what it says it weighs."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import BOT_SPEAKER
from memory.recall.documents import IndexRow, SearchRequest
from memory.recall.hits import HiddenRows, find_rows
from memory.recall.index import MAX_YEARS, IndexedRow, SearchFilter, days_of_years
from memory.recall.ranking import (
    AFTER_NEXT_SHARE,
    ANSWER_SHARE,
    ASKED_BOT_FACTOR,
    BOT_FACTOR,
    DAY_BONUS,
    DAY_SHARE,
    NEXT_SHARE,
    PERIOD_BONUS,
    PHRASE_DISTANCE,
    PREVIOUS_SHARE,
    SPEAKER_FACTOR,
    CandidateRow,
    phrase_share,
    rank_rows,
)
from memory.recall.sqlite_index import SqliteIndex
from memory.text.tokenizer import names_in_question, question_terms, text_terms
from memory.text.word_forms import index_terms

WORDS = [
    "heron",
    "otter",
    "eagle",
    "天气",
    "很好",
    "去爬山",
    "龙井茶",
    "weir",
    "canoe",
    "3.5",
    "v2",
]


def row(words: str, place: int = 0, **more: object) -> IndexRow:
    return IndexRow(kind="log", words=words, session=0, place=place, **more)


def test_the_integrity_check_passes_after_a_thousand_edits_and_deletions(tmp_path: Path) -> None:
    random, index = Random(7), SqliteIndex(tmp_path / "i.db")
    held: dict[str, list[str]] = {}
    for _ in range(1_000):
        name = f"file:{random.randrange(40)}"
        match random.randrange(4):
            case 0:
                index.drop([name])
                held.pop(name, None)
            case 1 if name in held:
                more = [" ".join(random.choices(WORDS, k=5))]
                index.put(name, "1", [row(words) for words in more], more=True)
                held[name] += more
            case _:
                held[name] = [
                    " ".join(random.choices(WORDS, k=5)) for _ in range(random.randrange(6))
                ]
                index.put(name, "1", [row(words, place) for place, words in enumerate(held[name])])
    assert index.check() == ""
    assert index.count() == sum(map(len, held.values()))
    for word in WORDS:
        (term, *_) = index_terms(word)
        wanted = sum(term in index_terms(words) for rows in held.values() for words in rows)
        assert len(index.best([term], 10_000, SearchFilter())) == wanted
        assert index.frequencies([term]) == ({term: wanted} if wanted else {}, index.count())
    index.close()


def test_a_second_process_finds_what_the_first_one_put_in(tmp_path: Path) -> None:
    one, other = SqliteIndex(tmp_path / "i.db"), SqliteIndex(tmp_path / "i.db")
    one.put("file:a", "1", [row("heron")])
    assert len(other.best(["heron"], 5, SearchFilter())) == 1
    one.close()
    other.close()


def fact(number: int, **more: object) -> CandidateRow:
    given = {
        "session": 1,
        "place": number,
        "day": "",
        "speaker": "",
        "asks": 0,
        "source": 1,
        "said": 0,
        "fold": "",
    }
    return CandidateRow(row=number, word_score=0.0, **{**given, **more})


def scores(facts: list[CandidateRow], *args: object) -> dict[int, float]:
    return {one.row: round(one.score, 6) for one in rank_rows(facts, *args)}


def test_a_row_lends_to_its_neighbours_in_its_session_alone() -> None:
    facts = [fact(number) for number in range(1, 7)] + [fact(7, place=4, session=2)]
    assert scores(facts, {3: 1.0}) == {
        2: PREVIOUS_SHARE,
        3: 1.0,
        4: NEXT_SHARE,
        5: AFTER_NEXT_SHARE,
    }


def test_the_most_that_one_neighbour_lends_counts() -> None:
    (best, *_) = rank_rows([fact(1), fact(2), fact(3)], {1: 0.4, 3: 1.0})
    assert best.row == 3
    assert scores([fact(1), fact(2), fact(3)], {1: 0.4, 3: 1.0})[2] == PREVIOUS_SHARE
    lenders = {
        one.row: one.lender for one in rank_rows([fact(1), fact(2), fact(3)], {1: 0.4, 3: 1.0})
    }
    assert lenders == {1: 1, 2: 3, 3: 3}


def test_what_follows_a_question_is_its_answer() -> None:
    facts = [fact(1, asks=1), fact(2), fact(9), fact(10)]
    found = scores(facts, {1: 1.0, 9: 1.0})
    assert (found[2], found[10]) == (ANSWER_SHARE, NEXT_SHARE)
    assert found[1] == found[9]  # a message may state a fact and then ask


def test_nothing_is_lent_to_the_bots_rows_unless_they_are_asked_for() -> None:
    facts = [fact(1), fact(2, speaker=BOT_SPEAKER), fact(3)]
    assert scores(facts, {1: 1.0}) == {1: 1.0, 3: AFTER_NEXT_SHARE}
    asked = {one.row: one.score for one in rank_rows(facts, {1: 1.0}, asks_bot=True)}
    assert asked == {1: 1.0, 2: NEXT_SHARE * ASKED_BOT_FACTOR, 3: AFTER_NEXT_SHARE}


def test_a_persons_words_come_before_the_bots_that_match_as_well() -> None:
    facts = [fact(9, speaker=BOT_SPEAKER), fact(2)]
    words = {9: 1.0, 2: 0.9}
    assert [one.row for one in rank_rows(facts, words)] == [2, 9]
    assert scores(facts, words)[9] == BOT_FACTOR
    assert [one.factor for one in rank_rows(facts, words, asks_bot=True)] == [1.0, ASKED_BOT_FACTOR]


def test_terms_near_each_other_are_a_share_of_the_questions_neighbouring_terms() -> None:
    pairs = (("red", "bike", 2.0), ("bike", "lock", 1.0), ("lock", "gone", 1.0))
    far = ["x"] * PHRASE_DISTANCE
    assert phrase_share(pairs, ["a", "bike", "is", "red"]) == 0.5
    assert phrase_share(pairs, ["red", *far, "bike", "lock"]) == 0.25
    assert phrase_share(pairs, ["red", *far[1:], "bike", "lock", "gone"]) == 1.0
    assert phrase_share((), ["red"]) == 0.0


@given(
    st.lists(st.sampled_from("abc"), max_size=40),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=4),
)
def test_terms_are_near_each_other_where_any_two_of_their_places_are(
    terms: list[str], neighbours: list[tuple[str, str]]
) -> None:
    pairs = [(one, other, 1.0) for one, other in neighbours]
    near = [
        any(
            abs(left - right) <= PHRASE_DISTANCE
            for left, term in enumerate(terms)
            for right, next_term in enumerate(terms)
            if (term, next_term) == pair
        )
        for pair in neighbours
    ]
    assert phrase_share(pairs, terms) == sum(near) / len(pairs)


def test_a_long_row_of_the_same_two_terms_is_passed_once() -> None:
    far = ["red", *["x"] * (PHRASE_DISTANCE + 1), "bike", *["x"] * (PHRASE_DISTANCE + 1)] * 10_000
    began = time.process_time()
    assert phrase_share((("red", "bike", 1.0),), far) == 0.0
    assert time.process_time() - began < 5  # 0.02 s; a comparison of all places takes 10 s


class ReadingIndex(SqliteIndex):
    """Notes the rows that are read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.read: list[int] = []

    def indexed_rows(self, rows: Iterable[int]) -> dict[int, IndexedRow]:
        wanted = list(rows)
        self.read += wanted
        return super().indexed_rows(wanted)


def test_a_search_reads_each_row_once(tmp_path: Path) -> None:
    index = ReadingIndex(tmp_path / "i.db")
    rows = [row(f"heron otter {WORDS[at % 5]} {at}", at, line=at + 1) for at in range(60)]
    index.put("file:a", "1", rows)
    now = datetime(2026, 11, 20, tzinfo=UTC)
    request = SearchRequest(space="", query="heron otter canoe", now=now, limit=20)
    assert len(find_rows(index, request, HiddenRows())) == 20
    assert len(index.read) > 20
    assert len(index.read) == len(set(index.read))
    index.close()


@given(st.data())
def test_a_row_of_a_named_day_comes_before_all_others(data: st.DataObject) -> None:
    rows = [
        fact(number, day=f"2025-01-{number:02}", asks=int(data.draw(st.booleans())))
        for number in range(1, 8)
    ]
    words = {number: data.draw(st.floats(0, 1)) for number in range(1, 8)}
    named = data.draw(st.sets(st.integers(1, 7), min_size=1))
    plain = [row._replace(asks=0) for row in rows]
    assert {
        one.row for one in rank_rows(plain, words, dict.fromkeys(named, DAY_BONUS))[: len(named)]
    } == named


def test_days_dates_and_speakers_count() -> None:
    day = {"day": "2025-01-02"}
    facts = [
        fact(1, **day),
        fact(9, **day),
        fact(20, speaker="Ann"),
        fact(40),
        fact(50),
    ]
    bare = {1: 1.0, 9: 0.2, 20: 0.5, 40: 0.5}
    assert scores(facts, bare, {40: DAY_BONUS, 50: PERIOD_BONUS}, {"Ann"}) == {
        1: 1 + DAY_SHARE,
        9: 0.2 + DAY_SHARE,
        20: 0.5 * SPEAKER_FACTOR,
        40: 0.5 + DAY_BONUS,
        50: PERIOD_BONUS,
    }


@given(st.text(max_size=200))
def test_terms_of_any_text_are_plain_words(text: str) -> None:
    for term in [*text_terms(text), *question_terms(text)]:
        assert term
        assert not set(term) & set(" \"'()*:^-+")


def test_stems_and_pairs() -> None:
    assert text_terms("I adopted two cats; adoption's easy") == [
        "i",
        "adopt",
        "two",
        "cat",
        "adopt",
        "easi",
    ]
    assert text_terms("去爬山ok") == ["去爬", "爬山", "ok"]
    assert question_terms("你还记得我去哪里爬山吗？") == ["去", "爬山"]
    assert question_terms("What did Caroline say about her adoption?", ["Caroline Smith"]) == [
        "adopt"
    ]
    assert question_terms("我的爱好是什么？旅行呢？") == ["爱好", "旅行"]


def test_names_are_told_from_words() -> None:
    assert names_in_question("What did caroline buy?", ["Caroline Smith", "Line"]) == {
        "Caroline Smith"
    }
    assert names_in_question("张曼婷喜欢什么", ["张曼婷", "李"]) == {"张曼婷"}


def test_rows_of_a_day_cost_the_same_however_many_rows_there_are(tmp_path: Path) -> None:
    steps: list[int] = []
    for name, rows in (("small", 200), ("large", 20_000)):
        index = SqliteIndex(tmp_path / name)
        today = (
            IndexRow(kind="log", words=f"w{at}", session=0, place=at, day="2026-05-03")
            for at in range(rows)
        )
        earlier = (
            IndexRow(
                kind="log", words=f"w{at}", session=0, place=at, day=f"2025-{at % 12 + 1:02}-28"
            )
            for at in range(rows)
        )
        index.put("file:today", "1", today)
        index.put("file:earlier", "1", earlier)
        ticks: list[int] = []
        index._db.set_progress_handler(
            lambda ticks=ticks: ticks.append(1), 100
        )  # hundreds of steps of SQLite's machine
        for days in (
            [("2026-05-03", "2026-05-03")],
            [("05-03", "05-04")],
            [("2026-01-01", "2026-12-31"), ("03-01", "03-02")],
        ):
            assert len(index.on_days(days, 50, SearchFilter())) == 50
        steps.append(len(ticks))
        index.close()
    assert steps[1] < 2 * steps[0]


def test_a_stray_day_of_long_ago_adds_no_thousands_of_lookups() -> None:
    asked = [("05-03", "05-04"), ("2020-01-01", "2020-01-02")]
    spans = days_of_years(asked, "0001-01-01", "2026-05-03")
    assert (len(spans), spans[0], spans[-2:]) == (
        MAX_YEARS + 2,
        (f"{2026 - MAX_YEARS}-05-03", f"{2026 - MAX_YEARS}-05-04"),
        [("2026-05-03", "2026-05-04"), asked[1]],
    )
