"""What recall asks of an index of one space, whatever it is kept in, and of whoever keeps it up to date."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from memory.recall.documents import IndexRow
from memory.recall.ranking import CandidateRow

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Bounds of a search: days YYYY-MM-DD, both inclusive, and whose words; "" for any."""

    since: str = ""
    until: str = ""
    speaker: str = ""

    @property
    def any(self) -> bool:
        return bool(self.since or self.until or self.speaker)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRow:
    """A row as it was put in, with its source's name and its terms."""

    row: IndexRow
    source: str
    terms: frozenset[str]


def days_condition(days: Sequence[tuple[str, str]], column: str, place: str) -> tuple[str, dict[str, str]]:
    """A condition for Index.of_days, with its values by their names.

    Args:
        place: how the statement spells a value's place, with {} for its name.
    """
    wanted: list[str] = []
    given: dict[str, str] = {}
    for number, (first, last) in enumerate(days):
        part = column if len(first) == len("YYYY-MM-DD") else f"substr({column}, 6)"
        names = f"first{number}", f"last{number}"
        wanted.append(f"{part} BETWEEN {place.format(names[0])} AND {place.format(names[1])}")
        given |= dict(zip(names, (first, last), strict=True))
    return f"({' OR '.join(wanted)})", given


class SearchableIndex(Protocol):
    """What a search asks. All methods block."""

    def number(self, source: str) -> int:
        """The number that a source goes by in Fact, 0 for an unknown one."""
        ...

    def best(self, terms: Sequence[str], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        """Rows with any of the terms, best first by BM25."""
        ...

    def with_characters(self, letters: Sequence[str], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        """Rows with any of these characters in their words, those with more of them first; a scan of all rows."""
        ...

    def on_days(self, days: Sequence[tuple[str, str]], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        """Rows of days between two, given YYYY-MM-DD or MM-DD for any year."""
        ...

    def around(self, places: Iterable[tuple[int, int]], search_filter: SearchFilter) -> list[CandidateRow]:
        """Rows at (session, place)."""
        ...

    def facts(self, rows: Iterable[int], search_filter: SearchFilter) -> list[CandidateRow]:
        """Rows by their numbers, as ranking sees them."""
        ...

    def whole(self, rows: Iterable[int]) -> dict[int, IndexedRow]:
        """Rows by their numbers, as they were put in."""
        ...

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        """In how many rows each of the terms is, and how many rows there are."""
        ...

    def speakers(self) -> frozenset[str]:
        """Everybody whose words are in it."""
        ...


class WritableIndex(Protocol):
    """What keeping an index up to date, and checking it, asks. All methods block."""

    def sources(self) -> dict[str, str]:
        """Each source's name and the stamp it was indexed with."""
        ...

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        """The rows of a source, in place of those it had; more: behind those it had.

        They are taken one by one and few of them are held at a time. Where they end in an error, nothing is changed.
        """
        ...

    def drop(self, names: Iterable[str]) -> None:
        """Take sources out with all their rows."""
        ...

    def lines(self, source: str) -> list[tuple[int, str]]:
        """(line, words) of a source's rows, in order."""
        ...

    def count(self) -> int:
        """How many rows there are."""
        ...

    def check(self) -> str:
        """What is wrong with it, "" for nothing."""
        ...


class VectorStore(Protocol):
    """What comparing by meaning asks. All methods block."""

    def unembedded(self, model: str, most: int) -> list[tuple[int, str]]:
        """(row, its words) of rows that have no vector of that model yet."""
        ...

    def keep_vectors(self, model: str, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        """Keep (row, its words, vector) of rows that are still there with these words; those of other models go."""
        ...

    def vectors(self, model: str, after: int = 0) -> list[tuple[int, bytes]]:
        """(row, vector) of the rows that have one of that model, in the order of their numbers, behind that row."""
        ...

    def vectors_stamp(self) -> tuple[int, int]:
        """What stays the same while vectors are only added, and each for a row behind those that have one."""
        ...


class SpaceIndex(SearchableIndex, WritableIndex, VectorStore, Protocol):
    """The whole index of one space: it holds nothing of its own, and can always be made again."""


class SpaceIndexKeeper(Protocol):
    """One space's index with what keeps it in step with the files and with what was said."""

    @property
    def space(self) -> str:
        """Whose it is."""
        ...

    @property
    def busy(self) -> bool:
        """Whether something is done with it just now."""
        ...

    async def use(self, work: Callable[[SpaceIndex], T]) -> T:
        """What `work`, run in a thread, makes of the index once it is up to date; it changes nothing.

        Raises:
            StoreError: it cannot be read or made.
        """
        ...

    async def change(self, work: Callable[[SpaceIndex], T]) -> T:
        """The same for work that changes the index, as it stands.

        Raises:
            StoreError: it cannot be written.
        """
        ...

    async def remove(self) -> None:
        """Throw the index away; the next use makes it again.

        Raises:
            StoreError: it is still there.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds open; blocks."""
        ...
