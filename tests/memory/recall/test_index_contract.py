"""Files and PostgreSQL pass the same suite, and PostgreSQL weighs words as FTS5 does."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest

from memory.recall.index import SearchFilter, SpaceIndex
from memory.recall.sqlite_index import SqliteIndex
from memory.store.postgres.index import PostgresIndex
from memory.store.postgres.index_connections import IndexConnections, IndexTimeouts
from tests.contracts.index_suite import IndexSuite, Place, put, row

T = TypeVar("T")


class File:
    def __init__(self, path: Path) -> None:
        self.index = SqliteIndex(path)

    def read(self, work: Callable[[SpaceIndex], T]) -> T:
        return work(self.index)

    change = read


class Postgres:
    def __init__(self, connections: IndexConnections, space: str = "") -> None:
        self.index = PostgresIndex(space, connections)

    def read(self, work: Callable[[SpaceIndex], T]) -> T:
        self.index.begin_reading()
        try:
            return work(self.index)
        finally:
            self.index.end(keep=False)

    def change(self, work: Callable[[SpaceIndex], T]) -> T:
        self.index.begin_changing(1.0)
        try:
            result = work(self.index)
            self.index.end(keep=True)
        finally:
            self.index.end(keep=False)
        return result


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    held = File(tmp_path / "i.db")
    yield held
    held.index.close()


@pytest.fixture
def connections(url: str) -> Iterator[IndexConnections]:
    held = IndexConnections(url, IndexTimeouts())
    yield held
    held.close()


class TestFile(IndexSuite):
    @pytest.fixture
    def place(self, file: File) -> Place:
        return file


@pytest.mark.postgres
class TestPostgres(IndexSuite):
    @pytest.fixture
    def place(self, connections: IndexConnections) -> Place:
        return Postgres(connections)


class CountingConnections(IndexConnections):
    """Counts the statements, each of which is a round trip."""

    asked = 0

    def run(self, *args: Any) -> list[Any]:
        self.asked += 1
        return super().run(*args)


@pytest.mark.postgres
def test_sixty_conversations_are_added_to_in_as_many_statements_as_one(url: str) -> None:
    with closing(CountingConnections(url, IndexTimeouts())) as connections:
        place = Postgres(connections)

        def statements(names: list[str]) -> int:
            before = connections.asked
            place.change(
                lambda index: index.append({name: ("1", [row(f"heron {name}")]) for name in names})
            )
            return connections.asked - before

        first = statements(["talk:a"])
        assert statements([f"talk:{number}" for number in range(60)]) == first
        assert statements([f"talk:{number}" for number in range(1, 62)]) == first
        assert place.read(lambda index: index.count()) == 1 + 60 + 61
        assert len(place.read(lambda index: index.sources())) == 63
        assert place.change(lambda index: index.check()) == ""


@pytest.mark.postgres
def test_both_weigh_the_same_rows_the_same(file: File, connections: IndexConnections) -> None:
    random, postgres = Random(3), Postgres(connections)
    vocabulary = [f"w{at}" for at in range(60)] + [
        "天气",
        "天晴",
        "晴天",
        "heron's",
        "Ünïcode",
        "ﬁne",
    ]
    rows = [
        row(
            " ".join(
                random.choices(
                    vocabulary, weights=range(len(vocabulary), 0, -1), k=random.randrange(1, 40)
                )
            ),
            at,
        )
        for at in range(400)
    ]
    for place in (file, postgres):
        put(place, "file:a", *rows)
    for _ in range(40):
        asked = random.sample(
            [f"w{at}" for at in range(60)] + ["天气", "heron", "ünïcod", "ünïcode", "fine"], 5
        )
        ours, theirs = [
            place.read(lambda index: index.best(asked, 400, SearchFilter()))  # noqa: B023  called at once
            for place in (postgres, file)
        ]
        assert {fact.row: pytest.approx(fact.word_score) for fact in ours} == {
            fact.row: fact.word_score for fact in theirs
        }
        assert [fact[:-1] for fact in sorted(ours)] == [fact[:-1] for fact in sorted(theirs)]
