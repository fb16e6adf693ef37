"""Protocols of a space's search index and of its keeper, for SQLite and PostgreSQL."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import tzinfo
from typing import NamedTuple, Protocol, TypeVar

from memory.recall.documents import IndexRow
from memory.recall.ranking import CandidateRow
from memory.store.store import Store
from memory.workspace.files import Workspace

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Limits of a search: days as YYYY-MM-DD, both inclusive, and the speaker; "" for any."""

    since: str = ""
    until: str = ""
    speaker: str = ""
    #: Search results of tools, instead of what people and the bot said and wrote. Each has word
    #: statistics of its own.
    tools: bool = False


class IndexedRow(NamedTuple):
    """A row as it was indexed. A tuple, because a search looks at dozens for each that it
    returns.
    """

    row: IndexRow
    #: Name of its source.
    source: str
    #: Its terms in order, with a space before and after each.
    spaced_terms: str

    @property
    def terms(self) -> frozenset[str]:
        """Its terms."""
        return frozenset(self.spaced_terms.split())


MAX_YEARS = 100  # before the newest row: a stray day of the year 1 costs no two thousand lookups


def days_of_years(
    days: Sequence[tuple[str, str]], oldest: str, newest: str
) -> list[tuple[str, str]]:
    """The days of SearchableIndex.on_days as YYYY-MM-DD; those of any year once for each year that
    has rows.

    Args:
        oldest, newest: days of the first and the last row; empty without rows.
    """
    years = (
        range(max(int(oldest[:4]), int(newest[:4]) - MAX_YEARS), int(newest[:4]) + 1)
        if oldest
        else ()
    )
    found: list[tuple[str, str]] = []
    for first, last in days:
        if is_yearless(first):
            found.extend((f"{year:04}-{first}", f"{year:04}-{last}") for year in years)
        else:
            found.append((first, last))
    return found


def is_yearless(day: str) -> bool:
    """Whether a day of SearchableIndex.on_days is one of any year."""
    return len(day) == len("MM-DD")


class SearchableIndex(Protocol):
    """The queries of a search. All methods block."""

    def source_number(self, source: str) -> int:
        """The number of a source in `CandidateRow.source`, 0 for an unknown source."""
        ...

    def best(
        self, terms: Sequence[str], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        """Rows with any of the terms, best first by BM25."""
        ...

    def with_characters(
        self, letters: Sequence[str], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        """Rows with any of these characters, those with the most of them first. Scans all rows."""
        ...

    def on_days(
        self, days: Sequence[tuple[str, str]], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        """Rows within any of the (first, last) days, YYYY-MM-DD, or MM-DD of any year; of a span
        the first.
        """
        ...

    def around(
        self, places: Iterable[tuple[int, int]], search_filter: SearchFilter
    ) -> list[CandidateRow]:
        """Rows at (session, place)."""
        ...

    def candidates(self, rows: Iterable[int], search_filter: SearchFilter) -> list[CandidateRow]:
        """Rows by their numbers, as ranking needs them."""
        ...

    def indexed_rows(self, rows: Iterable[int]) -> dict[int, IndexedRow]:
        """Rows by their numbers, as they were indexed."""
        ...

    def frequencies(
        self, terms: Sequence[str], *, tools: bool = False
    ) -> tuple[dict[str, int], int]:
        """The number of rows with each term, and the number of all rows; see SearchFilter.tools."""
        ...

    def speakers(self) -> frozenset[str]:
        """All speakers of rows."""
        ...


class WritableIndex(Protocol):
    """What updating and checking an index needs. All methods block."""

    def sources(self) -> dict[str, str]:
        """Each source's name with the stamp it was indexed under."""
        ...

    def stamps(self, names: Collection[str]) -> dict[str, str]:
        """The same for these sources, as far as they are indexed."""
        ...

    def batch(self) -> AbstractContextManager[None]:
        """Until the end, changes are one transaction."""
        ...

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        """Replace the rows of a source, or append to them with `more`.

        Rows are read one at a time, so few of them are in memory. If reading them fails, nothing
        changes.
        """
        ...

    def append(self, additions: Mapping[str, tuple[str, Sequence[IndexRow]]]) -> None:
        """Append (new stamp, rows) to each of these sources."""
        ...

    def drop(self, names: Iterable[str]) -> None:
        """Remove sources with all their rows."""
        ...

    def last_place(self, source: str) -> tuple[int, int]:
        """(session, place) of a source's last row, (0, -1) if it has none."""
        ...

    def lines(self, source: str) -> list[tuple[int, str]]:
        """(line, words) of a source's rows, in order."""
        ...

    def count(self) -> int:
        """Number of rows."""
        ...

    def check(self) -> str:
        """What is wrong with the index, "" for nothing."""
        ...


class VectorChange(NamedTuple):
    """A vector that was stored for a row, or removed. A tuple, as a start reads all of them."""

    #: Grows with each change of the index's vectors.
    number: int
    row: int
    #: See memory/recall/vector_matrix.py:pack_vector; b"" for a text that has none, None for one
    #: that was removed.
    vector: bytes | None


class VectorStamp(NamedTuple):
    """Which of the changes of an index's vectors are readable."""

    #: A number of the index, another one after it was made again.
    file: int
    #: Removals up to this change are no longer listed.
    pruned: int


# Removals that are listed at least; whoever has not read them for longer reads all vectors again.
MAX_REMOVALS = 10_000


class VectorStore(Protocol):
    """Vectors of rows. All methods block."""

    def unembedded(self, model: str, most: int, skip: int = 0) -> list[tuple[int, str]]:
        """(row, words) of rows without a vector of that model, after the first `skip`: what people
        said and wrote first, then what the bot said, the newest of each first.

        Not of tools' results: they are too many.
        """
        ...

    def store_vectors(self, model: str, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        """Store (row, words, packed vector) for rows that still have these words and no vector;
        remove the vectors of another model.
        """
        ...

    def vector_changes(self, model: str, after: int, most: int) -> list[VectorChange]:
        """The next changes of that model's vectors, in their order."""
        ...

    def vector_stamp(self) -> VectorStamp:
        """Which changes can be read."""
        ...

    def words_and_vectors(self, model: str, after: int, most: int) -> list[tuple[int, str, bytes]]:
        """(change, words of the row, vector) of that model, in the order of changes."""
        ...


class SpaceIndex(SearchableIndex, WritableIndex, VectorStore, Protocol):
    """The complete index of one space. It can always be rebuilt from the files and the store."""


class SpaceIndexKeeper(Protocol):
    """One space's index, kept in step with the space's files and conversations."""

    @property
    def space(self) -> str: ...

    @property
    def busy(self) -> bool:
        """Whether the index is in use at this moment."""
        ...

    async def use(
        self, work: Callable[[SpaceIndex], T], *, fresh: bool = True, besides: str = ""
    ) -> T:
        """Run `work`, which changes nothing, on one snapshot; returns its result.

        Args:
            fresh: `work` must see everything that was written until now. Otherwise, while others
                use the index too, it may lack what was written within the last second.
            besides: a conversation whose newest messages `work` may lack anyway, if it need not be
                fresh.

        Raises:
            StoreError: the index cannot be read or made.
        """
        ...

    async def change(self, work: Callable[[SpaceIndex], T]) -> T:
        """Run `work`, which changes the index, in a thread, without an update before.

        Raises:
            StoreError: the index cannot be written.
        """
        ...

    def note_change(self, conversation: str) -> None:
        """Note that messages of a conversation of the space were added or removed."""
        ...

    async def remove(self) -> None:
        """Delete the index once nobody uses it; the next use makes it again.

        Raises:
            StoreError: it could not be deleted.
        """
        ...

    async def settled(self) -> None:
        """Wait until no update is running."""
        ...

    async def close(self) -> None:
        """Finish what is running, and close what is open; the next use opens it again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDependencies:
    """Where recall finds what it indexes, and where it stores the indexes."""

    store: Store
    workspace: Workspace
    indexes: "SpaceIndexes"
    #: Time zone of the days and times of messages.
    zone: tzinfo
    #: Seconds: of what was written so lately, a search that need not be fresh may lack something.
    max_lag: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCheck:
    """The result of checking one space's index."""

    space: str
    rows: int = 0
    #: Number of files that have changed since they were indexed.
    behind: int = 0
    #: What is wrong with the index, "" for nothing.
    fault: str = ""


class SpaceIndexes(Protocol):
    """The indexes of all spaces: files of one process, or tables that several processes share."""

    def keeper(self, space: str, dependencies: RecallDependencies) -> SpaceIndexKeeper:
        """Create the keeper of one space's index; opens nothing yet."""
        ...

    def check_indexes(self, workspace: Workspace) -> list[IndexCheck]:
        """Check the indexes, the owner's first; blocks.

        Raises:
            StoreError: their server cannot be reached.
        """
        ...
