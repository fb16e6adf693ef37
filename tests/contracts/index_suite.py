"""What every index of recall does, whatever keeps it: rows in, rows out, found by words, days,
neighbours, meaning.
"""

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import ClassVar, Protocol, TypeVar

import pytest

from memory.recall.documents import IndexRow
from memory.recall.index import MAX_REMOVALS, SearchFilter, SpaceIndex, VectorChange
from memory.recall.ranking import CandidateRow
from memory.text.word_forms import index_terms

T = TypeVar("T")
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


HELD = 1_100  # rows that an index may hold of those it is given, however many they are


class Counted(IndexRow):
    """A row that knows how many there are."""

    alive: ClassVar[int] = 0

    def __init__(self, *_: object, **__: object) -> None:
        Counted.alive += 1

    def __del__(self) -> None:
        Counted.alive -= 1


class Place(Protocol):
    """Where an index is kept. Both block."""

    def read(self, work: Callable[[SpaceIndex], T]) -> T: ...

    def change(self, work: Callable[[SpaceIndex], T]) -> T: ...


def row(words: str, place: int = 0, **more: object) -> IndexRow:
    return IndexRow(**{"kind": "log", "words": words, "session": 0, "place": place, **more})


def put(place: Place, name: str, *rows: IndexRow, stamp: str = "1", more: bool = False) -> None:
    place.change(lambda index: index.put(name, stamp, rows, more=more))


def words(place: Place, facts: Iterable[CandidateRow]) -> list[str]:
    """What the rows say, in their order."""
    numbers = [fact.row for fact in facts]
    whole = place.read(lambda index: index.indexed_rows(numbers))
    return [whole[number].row.words for number in numbers]


def keep(place: Place, number: int, said: str, model: str = "m") -> None:
    """Store a vector that is the row's words."""
    place.change(lambda index: index.store_vectors(model, [(number, said, said.encode())]))


def changes(place: Place, after: int = 0, most: int = 100) -> list[VectorChange]:
    return place.read(lambda index: index.vector_changes("m", after, most))


def vectors(place: Place) -> dict[str, bytes]:
    """Each row's words and its vector."""
    found = place.read(lambda index: index.words_and_vectors("m", 0, 100))
    return {words: vector for _, words, vector in found}


def best(place: Place, *wanted: str, most: int = 100, **search_filter: str) -> list[str]:
    return words(
        place, place.read(lambda index: index.best(wanted, most, SearchFilter(**search_filter)))
    )


class IndexSuite:
    """A backend gives the fixture `place`: an empty index."""

    @pytest.fixture
    def place(self) -> Place:
        raise pytest.UsageError("a backend names its place")

    @pytest.mark.parametrize("count", [1, 15, 16, 17, 33])  # rows of SQLite's statement are 16
    def test_rows_are_appended_to_many_sources_at_once(self, place: Place, count: int) -> None:
        put(place, "talk:old", row("heron", speaker="Ann"), stamp="1")
        more = [
            row(f"otter {at}", 1 + at, speaker="Bob", kind="tool" if at % 5 == 4 else "said")
            for at in range(count)
        ]
        additions = {
            "talk:old": ("2", more),
            "talk:new": ("3", [row("天气很好\x00", speaker="Cid")]),
            "talk:none": ("4", []),
        }
        place.change(lambda index: index.append(additions))
        place.change(lambda index: index.append({}))
        assert place.read(lambda index: index.sources()) == {
            "talk:old": "2",
            "talk:new": "3",
            "talk:none": "4",
        }
        said = [f"otter {at}" for at in range(count) if at % 5 != 4]
        assert best(place, "otter") == said
        assert len(best(place, "heron")) == len(best(place, "天气")) == 1
        assert place.read(lambda index: index.count()) == count + 2
        assert place.read(lambda index: index.speakers()) == {"Ann", "Bob", "Cid"}
        assert place.change(lambda index: index.check()) == ""
        assert place.read(lambda index: index.last_place("talk:old")) == (0, count)

    def test_results_of_tools_are_apart_from_all_other_rows(self, place: Place) -> None:
        result = row(
            "canoe of the 天气 page",
            kind="tool",
            day="2025-01-02",
            seq=3,
            part=1,
            subject="web_fetch otter",
        )
        put(
            place,
            "talk:a",
            row("my canoe", 0, day="2025-01-02"),
            result,
            row("red canoe", 1),
            result,
        )
        for tools, expected in (
            (False, ["my canoe", "red canoe"]),
            (True, [result.words, result.words]),
        ):
            given = SearchFilter(tools=tools)
            assert (
                sorted(words(place, place.read(lambda index: index.best(["cano"], 9, given))))  # noqa: B023
                == expected
            )  # noqa: B023, RUF100
            assert place.read(lambda index: index.frequencies(["cano", "otter"], tools=tools)) == (  # noqa: B023
                {"cano": 2, **({"otter": 2} if tools else {})},
                2,
            )
            on_day = place.read(
                lambda index: index.on_days([("2025-01-02", "2025-01-02")], 9, given)  # noqa: B023
            )  # noqa: B023, RUF100
            assert words(place, on_day) == (expected if tools else expected[:1])
            assert words(
                place,
                place.read(lambda index: index.with_characters(["天"], 9, given)),  # noqa: B023
            ) == (  # noqa: B023, RUF100
                expected if tools else []
            )
        [number] = place.read(lambda index: index.best(["otter"], 1, SearchFilter(tools=True)))[0][
            :1
        ]
        assert place.read(lambda index: index.indexed_rows([number]))[number].row == result
        assert place.read(lambda index: index.count()) == 4
        assert [words for _, words in place.read(lambda index: index.unembedded("m", 9))] == [
            "red canoe",
            "my canoe",
        ]
        assert place.read(lambda index: index.check()) == ""
        put(place, "talk:a", row("my canoe", 0, day="2025-01-02"), result, stamp="2")
        assert place.read(lambda index: index.frequencies(["cano"], tools=True)) == ({"cano": 1}, 1)
        assert (
            place.read(lambda index: index.count()),
            place.read(lambda index: index.check()),
        ) == (2, "")
        place.change(lambda index: index.drop(["talk:a"]))
        assert place.read(lambda index: index.frequencies(["cano"], tools=True)) == ({}, 0)
        assert place.read(lambda index: index.check()) == ""

    def test_a_row_comes_back_as_it_was_put_in(self, place: Place) -> None:
        given = row(
            "我 saw “it” %s 'x' \\ \n there?",
            3,
            session=2,
            day="2025-01-02",
            time="09:30",
            speaker="Ann O'N",
            line=4,
            last=5,
            turn=6,
            seq=7,
            message_id="m1",
            fold="f1",
        )
        put(place, "talk:c%1'", given)
        whole = place.read(lambda index: index.indexed_rows([1, 99]))
        assert list(whole) == [1]
        assert (whole[1].row, whole[1].source) == (given, "talk:c%1'")
        assert whole[1].terms == frozenset(index_terms(given.words))
        [fact] = place.read(lambda index: index.candidates([1, 99], SearchFilter()))
        assert place.read(lambda index: index.candidates([1], SearchFilter(tools=True))) == []
        assert fact[2:] == (3, "2025-01-02", "Ann O'N", 1, fact.source, 7, "f1", 0.0)
        assert place.read(lambda index: index.source_number("talk:c%1'")) == fact.source
        assert place.read(lambda index: index.source_number("talk:other")) == 0

    def test_rows_take_the_place_of_a_source_s_former_ones_or_stand_behind_them(
        self, place: Place
    ) -> None:
        put(place, "file:a", row("heron"), row("otter", 1))
        put(place, "file:b", row("heron too"))
        put(place, "file:a", row("eagle"), stamp="2")
        put(place, "file:a", row("canoe", 1), stamp="3", more=True)
        assert place.read(lambda index: index.sources()) == {"file:a": "3", "file:b": "1"}
        assert place.read(lambda index: index.lines("file:a")) == [(0, "eagle"), (0, "canoe")]
        assert best(place, "heron", "otter", "eagl", "cano") == ["eagle", "canoe", "heron too"]
        assert place.read(lambda index: index.count()) == 3

    def test_a_source_that_is_dropped_is_found_by_nothing(self, place: Place) -> None:
        put(place, "file:a", row("heron 天气", day="2025-01-02"), row("", 1))
        put(place, "file:b")
        place.change(lambda index: index.drop(["file:a", "file:b", "file:unknown"]))
        assert place.read(lambda index: index.sources()) == {}
        assert place.read(lambda index: index.frequencies(["heron"])) == ({}, 0)
        assert best(place, "heron", "天气") == []
        assert place.read(lambda index: index.with_characters(["天"], 9, SearchFilter())) == []
        assert (
            place.read(
                lambda index: index.on_days([("2025-01-01", "2025-12-31")], 9, SearchFilter())
            )
            == []
        )
        assert place.read(lambda index: index.check()) == ""

    def test_it_stays_whole_through_any_mix_of_changes(self, place: Place) -> None:
        random = Random(7)
        held: dict[str, list[str]] = {}
        for _ in range(150):
            name, some = f"file:{random.randrange(12)}", [" ".join(random.choices(WORDS, k=5))]
            match random.randrange(4):
                case 0:
                    place.change(lambda index: index.drop([name]))  # noqa: B023  called at once
                    held.pop(name, None)
                case 1 if name in held:
                    put(place, name, *map(row, some), more=True)
                    held[name] += some
                case _:
                    held[name] = [
                        " ".join(random.choices(WORDS, k=5)) for _ in range(random.randrange(6))
                    ]
                    put(place, name, *(row(said, at) for at, said in enumerate(held[name])))
        assert place.read(lambda index: index.check()) == ""
        assert place.read(lambda index: index.count()) == sum(map(len, held.values()))
        for word in WORDS:
            (term, *_) = index_terms(word)
            wanted = sum(term in index_terms(said) for rows in held.values() for said in rows)
            assert len(best(place, term, most=10_000)) == wanted
            found, rows = place.read(lambda index: index.frequencies([term]))  # noqa: B023
            assert (found, rows) == ({term: wanted} if wanted else {}, sum(map(len, held.values())))

    def test_rare_words_weigh_more_and_long_rows_less_and_often_said_ones_more(
        self, place: Place
    ) -> None:
        put(
            place,
            "file:a",
            *(row(f"common {at} filler", at) for at in range(20)),
            row("common rare", 20),
        )
        put(
            place,
            "file:b",
            row("heron " + "long " * 40),
            row("heron"),
            row("heron heron " + "long " * 39, 2),
        )
        assert best(place, "common", "rare", most=1) == ["common rare"]
        assert best(place, "heron", most=1) == ["heron"]
        assert len(best(place, "heron", "common", most=7)) == 7
        twice, once = best(place, "heron")[1:]
        assert twice.startswith("heron heron")
        assert once.startswith("heron long")
        assert best(place) == []

    def test_bounds_are_kept_by_every_way_to_find(self, place: Place) -> None:
        days = ("", "2025-01-02", "2025-02-02", "2026-01-02")
        put(
            place,
            "file:a",
            *(row(f"heron 鹭 {day}", at, day=day, speaker="Ann") for at, day in enumerate(days)),
        )
        put(place, "file:b", row("heron 鹭 Ben", 0, day="2025-02-02", speaker="Ben"))
        search_filter = SearchFilter(since="2025-01-03", until="2025-12-31", speaker="Ann")
        for look in (
            lambda index: index.best(["heron"], 9, search_filter),
            lambda index: index.with_characters(["鹭"], 9, search_filter),
            lambda index: index.on_days([("2020-01-01", "2030-01-01")], 9, search_filter),
            lambda index: index.candidates(range(9), search_filter),
            lambda index: index.around(
                [
                    (fact.session, at)
                    for fact in index.candidates([1], SearchFilter())
                    for at in range(9)
                ],
                search_filter,
            ),
        ):
            assert words(place, place.read(look)) == ["heron 鹭 2025-02-02"]
        assert len(best(place, "heron", until="2025-12-31")) == 3, "a row without a day is of none"

    def test_rows_of_a_day_of_one_year_or_of_any(self, place: Place) -> None:
        put(
            place,
            "file:a",
            *(row(day, at, day=day) for at, day in enumerate(("2024-05-03", "2025-05-03", ""))),
        )
        look = [
            [("2025-05-01", "2025-05-04")],
            [("05-03", "05-03")],
            [("06-01", "12-31"), ("01-01", "02-01")],
            [],
        ]
        found = [
            words(place, place.read(lambda index: index.on_days(days, 9, SearchFilter())))  # noqa: B023
            for days in look
        ]  # noqa: B023, RUF100
        assert found == [["2025-05-03"], ["2024-05-03", "2025-05-03"], [], []]

    def test_of_the_rows_of_days_no_more_than_wanted_and_none_twice(self, place: Place) -> None:
        put(place, "file:a", *(row(f"a{at}", at, day=f"202{at % 3}-05-03") for at in range(9)))
        spans = [("05-01", "05-04"), ("2021-05-03", "2021-05-03")]
        for most, wanted in (
            (2, "a0 a3"),
            (4, "a0 a3 a6 a1"),
            (9, "a0 a3 a6 a1 a4 a7 a2 a5 a8"),
            (10, ""),
        ):
            found = words(
                place,
                place.read(lambda index: index.on_days(spans, most, SearchFilter())),  # noqa: B023
            )  # noqa: B023, RUF100
            assert sorted(found) == sorted((wanted or "a0 a1 a2 a3 a4 a5 a6 a7 a8").split())

    def test_neighbours_are_of_the_same_session_of_the_same_source(self, place: Place) -> None:
        put(place, "file:a", row("a0"), row("a1", 1), row("other session", 1, session=1))
        put(place, "file:b", row("b0"), row("b1", 1))
        [fact] = place.read(lambda index: index.best(["a0"], 1, SearchFilter()))
        near = place.read(
            lambda index: index.around([(fact.session, 1), (fact.session, 7)], SearchFilter())
        )
        assert words(place, near) == ["a1"]

    def test_single_characters_are_found_by_how_many_of_them_a_row_has(self, place: Place) -> None:
        put(place, "file:a", row("龙"), row("龙井茶", 1), row("井", 2), row("tea", 3))
        found = place.read(lambda index: index.with_characters(["龙", "井"], 2, SearchFilter()))
        assert words(place, found) == ["龙井茶", "龙"]
        assert [fact.word_score for fact in found] == [2.0, 1.0]

    def test_everybody_who_spoke_is_known(self, place: Place) -> None:
        put(place, "file:a", row("a", speaker="Ann"), row("b", 1, speaker="张曼婷"), row("c", 2))
        assert place.read(lambda index: index.speakers()) == {"Ann", "张曼婷"}
        put(place, "file:b", row("d", speaker="Ben"))
        assert place.read(lambda index: index.speakers()) == {"Ann", "Ben", "张曼婷"}

    def test_vectors_go_with_their_rows_and_their_model(self, place: Place) -> None:
        put(place, "file:a", row("heron"), row("otter", 1))
        ((second, other), (first, one)) = place.read(lambda index: index.unembedded("m", 10))
        made = [
            (first, one, b"1"),
            (second, other, b"2"),
            (second, "other words", b"3"),
            (99, "gone", b"gone"),
        ]
        place.change(lambda index: index.store_vectors("m", made))
        assert place.read(lambda index: index.unembedded("m", 10)) == []
        assert vectors(place) == {"heron": b"1", "otter": b"2"}
        put(place, "file:a", row("new"), row("otter", 1))
        assert vectors(place) == {"otter": b"2"}, "the same words keep their vector"
        assert len(place.read(lambda index: index.unembedded("n", 10))) == 2
        place.change(lambda index: index.store_vectors("n", ()))
        assert changes(place) == []
        assert len(place.read(lambda index: index.unembedded("n", 10))) == 2

    def test_what_people_said_is_embedded_first_and_the_newest_of_it(self, place: Place) -> None:
        put(
            place,
            "file:a",
            row("old", 0, speaker="User"),
            row("answer", 1, speaker="Bot"),
            row("new", 2, speaker="User"),
            row("newest answer", 3, speaker="Bot"),
            row("a note", 4),
        )
        wanted = ["a note", "new", "old", "newest answer", "answer"]

        def waiting(model: str, most: int) -> list[str]:
            rows = place.read(lambda index: index.unembedded(model, most))
            return [words for _, words in rows]

        assert waiting("m", 9) == wanted
        assert waiting("m", 2) == wanted[:2]
        first = place.read(lambda index: index.unembedded("m", 2))
        made = [(number, words, b"1") for number, words in first]
        place.change(lambda index: index.store_vectors("m", made))
        assert waiting("m", 9) == wanted[2:]
        assert waiting("n", 9) == wanted, "another model has none of them"

    def test_changes_of_vectors_are_read_in_their_order(self, place: Place) -> None:
        put(place, "file:a", row("heron"), row("otter", 1), row("eagle", 2))
        for number, words in ((2, "otter"), (1, "heron")):
            keep(place, number, words)
        (first, second) = changes(place)
        assert [(one.row, one.vector) for one in (first, second)] == [(2, b"otter"), (1, b"heron")]
        assert changes(place, most=1) == [first]
        assert changes(place, after=first.number) == [second]
        place.change(lambda index: index.drop(["file:a"]))
        removed = changes(place, after=second.number)
        assert sorted((one.row, one.vector) for one in removed) == [(1, None), (2, None)]
        assert all(one.vector is None for one in changes(place)), "nothing of them is left"

    def test_a_vector_is_stored_once_and_only_for_the_words_it_is_of(self, place: Place) -> None:
        put(place, "file:a", row("heron"))
        keep(place, 1, "heron")
        place.change(lambda index: index.store_vectors("m", [(1, "heron", b"again")]))
        place.change(lambda index: index.store_vectors("m", [(1, "other words", b"other")]))
        assert vectors(place) == {"heron": b"heron"}

    def test_old_removals_are_let_go_and_whoever_lacks_them_is_told(self, place: Place) -> None:
        many = 2 * MAX_REMOVALS + 1
        said = [row(f"w{number}", number) for number in range(many)]
        put(place, "file:a", *said)
        rows = place.read(lambda index: index.unembedded("m", many))
        made = [(number, words, b"1") for number, words in rows]
        place.change(lambda index: index.store_vectors("m", made))
        place.change(lambda index: index.drop(["file:a"]))
        put(place, "file:b", row("left"))
        before = place.read(lambda index: index.vector_stamp())
        listed = changes(place, most=2 * many)
        assert len(listed) == many
        assert before.pruned < listed[0].number
        place.change(lambda index: index.store_vectors("m", ()))
        after = place.read(lambda index: index.vector_stamp())
        left = changes(place, most=2 * many)
        assert len(left) == MAX_REMOVALS
        assert after.pruned == left[0].number - 1
        assert after.file == before.file

    def test_the_first_rows_that_are_the_same_stay_as_they_are(self, place: Place) -> None:
        def numbered() -> dict[int, str]:
            whole = place.read(lambda index: index.indexed_rows(range(1, 100)))
            return {number: whole[number].row.words for number in sorted(whole)}

        said = [row(words, at, line=at) for at, words in enumerate(["heron", "天气", "otter"])]
        put(place, "file:a", *said[:2])
        before = numbered()
        place.change(lambda index: index.store_vectors("m", [(1, "heron", b"1")]))
        before_growing = changes(place)
        put(place, "file:a", *said)
        grown = numbered()
        assert grown.items() > before.items(), (
            "what was there keeps its number: it was not put in again"
        )
        assert changes(place) == before_growing
        put(place, "file:a", said[0], row("weir", 1, line=1), said[2])
        assert list(numbered().values()) == ["heron", "weir", "otter"]
        assert [line for line, _ in place.read(lambda index: index.lines("file:a"))] == [0, 1, 2]
        assert (best(place, "heron"), best(place, "weir"), best(place, "otter")) == (
            ["heron"],
            ["weir"],
            ["otter"],
        )
        put(place, "file:a", said[0])
        assert list(numbered().values()) == ["heron"]
        assert vectors(place) == {"heron": b"1"}
        assert place.read(lambda index: index.check()) == ""

    def test_rows_that_come_one_by_one_are_those_of_a_source_that_is_put_in_anew(
        self, place: Place
    ) -> None:
        def rows_of(name: str) -> list[IndexRow]:
            whole = place.read(lambda index: index.indexed_rows(range(1, 50_000)))
            return [one.row for _, one in sorted(whole.items()) if one.source == name]

        random, said = Random(11), list[IndexRow]()
        for _ in range(12):
            same = random.randrange(len(said) + 1)
            new = [
                " ".join(random.choices(WORDS, k=3)) for _ in range(random.choice((0, 1, 3, 700)))
            ]
            said = said[:same] + [
                row(words, same + at, line=same + at) for at, words in enumerate(new)
            ]
            place.change(lambda index: index.put("file:walked", "1", iter(said)))  # noqa: B023  called at once
            place.change(lambda index: index.drop(["file:anew"]))
            put(place, "file:anew", *said)
            assert rows_of("file:walked") == rows_of("file:anew") == said
        assert place.read(lambda index: index.check()) == ""

    def test_of_a_long_file_few_rows_are_held_at_a_time(self, place: Place) -> None:
        most = 0

        def walked(count: int) -> Iterator[IndexRow]:
            nonlocal most
            for at in range(count):
                yield Counted(kind="log", words=f"heron {at}", session=0, place=at, line=at)
                most = max(most, Counted.alive)

        for count in (3_000, 3_010, 2_000):
            place.change(lambda index: index.put("file:a", "1", walked(count)))  # noqa: B023  called at once
            assert place.read(lambda index: index.count()) == count
        assert most <= HELD

    def test_where_its_rows_end_in_an_error_a_source_is_as_it_was(self, place: Place) -> None:
        def broken() -> Iterator[IndexRow]:
            yield row("heron")
            yield row("weir", 1)
            raise OSError

        put(place, "file:a", row("heron"), row("otter", 1))
        with pytest.raises(OSError):
            place.change(lambda index: index.put("file:a", "2", broken()))
        assert place.read(lambda index: index.sources()) == {"file:a": "1"}
        assert [words for _, words in place.read(lambda index: index.lines("file:a"))] == [
            "heron",
            "otter",
        ]
        assert (best(place, "otter"), best(place, "weir")) == (["otter"], [])
