"""The search index of one space in PostgreSQL: its transactions, its rows and their counters."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from math import log
from typing import Any

from memory.recall.documents import IndexRow, skip_unchanged
from memory.recall.index import (
    MAX_REMOVALS,
    IndexedRow,
    SearchFilter,
    VectorChange,
    VectorStamp,
    days_of_years,
    is_yearless,
)
from memory.recall.ranking import CandidateRow
from memory.store.errors import StoreError
from memory.store.postgres import index_statements as sql
from memory.store.postgres.index_connections import IndexConnection, IndexConnections
from memory.text.word_forms import index_terms

PAGE_ROWS = 500  # rows of a source that one statement reads or inserts
# Before each term of a tool's result, so that its statistics are apart from those of other rows. No
# text has this term.
TOOL_MARK = "\ue000"


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpaceRow:
    """The row of a space in the table `space`."""

    id: int = 0
    #: Without those of tools.
    rows: int = 0
    #: Terms of these rows together.
    length: int = 0
    tool_rows: int = 0
    tool_length: int = 0
    #: Number of its next row.
    next: int = 1
    #: Whose vectors there are.
    vector_model: str = ""
    #: See VectorChange.number, VectorStamp.pruned.
    last_vector: int = 0
    vectors_pruned: int = 0
    #: Counts changes.
    generation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpaceCache:
    """What is cached until the space's row changes."""

    #: See PostgresIndex.version.
    version: tuple[int, ...]
    #: Number and stamp by name.
    sources: Mapping[str, tuple[int, str]]
    speakers: frozenset[str]


class PostgresIndex:
    """A SpaceIndex in PostgreSQL. All methods work in the transaction that was begun last.

    Used by one thread at a time. Methods raise StoreError.
    """

    def __init__(self, space: str, connections: IndexConnections) -> None:
        self._name = space
        self._connections = connections
        self._db: IndexConnection | None = None
        self._before = self._space = _SpaceRow()  # at the beginning of the transaction, and now
        self._cache: _SpaceCache | None = None
        self._frequencies: dict[str, int] = {}

    @staticmethod
    def spaces(connections: IndexConnections) -> list[str]:
        """Every space that has an index, sorted."""
        connection = connections.begin(to_change=False)
        try:
            return [name for (name,) in connections.run(connection, sql.SPACES)]
        finally:
            connections.end(connection, keep=False)

    def begin_reading(self) -> None:
        """Begin a transaction that sees one snapshot of the index."""
        self._db = self._connections.begin(to_change=False)
        self._set_space(self._run(sql.SPACE, name=self._name))

    def begin_changing(self, wait: float) -> None:
        """Begin a transaction that changes the index, and lock the index for it.

        Args:
            wait: seconds to wait while another process holds the lock.

        Raises:
            StoreBusy: it held the lock for longer.
        """
        self._db = self._connections.begin(to_change=True)
        self._run(sql.SET_LOCK_TIMEOUT, wait=f"{wait * 1_000:.0f}")
        while True:
            self._run(sql.MAKE_SPACE, name=self._name)
            if found := self._run(sql.LOCK_SPACE, name=self._name):
                break  # otherwise it was deleted while we waited for the lock
        self._set_space(found)

    def end(self, *, keep: bool) -> None:
        """Commit or roll back the transaction, if one is open."""
        connection, self._db = self._db, None
        if connection is None:
            return
        try:
            if self._space != self._before:
                self._cache = None  # another change may lead to the same counts with other sources
                if keep:
                    self._connections.run(
                        connection,
                        sql.UPDATE_SPACE,
                        asdict(self._space) | {"space": self._space.id},
                    )
        except BaseException:
            self._connections.end(connection, keep=False)
            raise
        self._connections.end(connection, keep=keep)

    def remove(self) -> None:
        """Delete all rows of the space."""
        for statement in sql.DROP_SPACE:
            self._run(statement)
        self._space = self._before

    @property
    def version(self) -> tuple[int, ...]:
        """A value that changes with every change of its sources and rows, even after a crash of the
        server.
        """
        space = self._space
        return (
            space.id,
            space.generation,
            space.next,
            space.rows,
            space.length,
            space.tool_rows,
            space.tool_length,
        )

    def source_number(self, source: str) -> int:
        return self._cached().sources.get(source, (0, ""))[0]

    def sources(self) -> dict[str, str]:
        return {name: stamp for name, (_, stamp) in self._cached().sources.items()}

    def stamps(self, names: Collection[str]) -> dict[str, str]:
        known = self._cached().sources
        return {name: known[name][1] for name in names if name in known}

    @contextmanager
    def batch(self) -> Iterator[None]:
        """All changes are in the transaction that was begun last anyway."""
        yield

    def speakers(self) -> frozenset[str]:
        return self._cached().speakers

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        source = self._put_sources({name: stamp})[name]
        new, last = (
            (iter(rows), 0) if more else skip_unchanged(self._read_rows(source), rows, _columns_of)
        )
        vectors = {} if more else self._remove_rows(source, last)
        self._add_rows((source, row) for row in new)
        self._restore_vectors(source, last, vectors)
        self._mark_changed()

    def append(self, additions: Mapping[str, tuple[str, Sequence[IndexRow]]]) -> None:
        if not additions:
            return
        numbers = self._put_sources({name: stamp for name, (stamp, _) in additions.items()})
        self._add_rows(
            (numbers[name], row) for name, (_, rows) in additions.items() for row in rows
        )
        self._mark_changed()

    def drop(self, names: Iterable[str]) -> None:
        for name in names:
            source = self.source_number(name)
            self._remove_rows(source, 0)
            self._run(sql.DROP_SOURCE, source=source)
        self._mark_changed()

    def best(
        self, terms: Sequence[str], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        if not terms:
            return []
        tools = search_filter.tools
        frequencies, rows = self.frequencies(terms, tools=tools)
        having = [frequencies.get(term, 0) for term in terms]
        weights = [max(sql.MIN_IDF, log((rows - count + 0.5) / (count + 0.5))) for count in having]
        mean_length = (self._space.tool_length if tools else self._space.length) / max(
            1, rows
        ) or 1.0
        given = {
            "terms": _mark_terms(terms, tools),
            "weights": weights,
            "mean_length": mean_length,
            "most": most,
        }
        unfiltered = SearchFilter(tools=tools)
        return self._find(
            sql.BEST if search_filter == unfiltered else sql.BEST_FILTERED, search_filter, **given
        )

    def with_characters(
        self, letters: Sequence[str], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        return self._find(sql.WITH_CHARACTERS, search_filter, letters=list(letters), most=most)

    def on_days(
        self, days: Sequence[tuple[str, str]], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        oldest = newest = ""
        if any(is_yearless(first) for first, _ in days):
            oldest, newest = self._run(sql.FIRST_AND_LAST_DAY)[0]
        spans = _to_columns(("firsts", "lasts"), days_of_years(days, oldest, newest))
        return (
            list(dict.fromkeys(self._find(sql.ON_DAYS, search_filter, most=most, **spans)))
            if days
            else []
        )

    def around(
        self, places: Iterable[tuple[int, int]], search_filter: SearchFilter
    ) -> list[CandidateRow]:
        near = [(*divmod(session, sql.SESSIONS), place) for session, place in places]
        return self._find(
            sql.AROUND, search_filter, **_to_columns(("sources", "sessions", "places"), near)
        )

    def candidates(self, rows: Iterable[int], search_filter: SearchFilter) -> list[CandidateRow]:
        return self._find(sql.BY_NUMBER, search_filter, rows=list(rows))

    def indexed_rows(self, rows: Iterable[int]) -> dict[int, IndexedRow]:
        names = {number: name for name, (number, _) in self._cached().sources.items()}
        return {
            found[0]: IndexedRow(
                IndexRow._make(found[3:]), names[found[1]], f" {found[2].replace(TOOL_MARK, '')} "
            )
            for found in self._run(sql.INDEXED_ROWS, rows=list(rows))
        }

    def frequencies(
        self, terms: Sequence[str], *, tools: bool = False
    ) -> tuple[dict[str, int], int]:
        known, marked = self._frequencies, _mark_terms(terms, tools)
        if unknown := [term for term in marked if term not in known]:
            known |= dict.fromkeys(unknown, 0) | dict(self._run(sql.FREQUENCIES, terms=unknown))
        found = {
            term: known[stored] for term, stored in zip(terms, marked, strict=True) if known[stored]
        }
        return found, self._space.tool_rows if tools else self._space.rows

    def last_place(self, source: str) -> tuple[int, int]:
        found = self._run(sql.LAST_PLACE, source=self.source_number(source))
        return (found[0][0], found[0][1]) if found else (0, -1)

    def lines(self, source: str) -> list[tuple[int, str]]:
        return [
            (line, words) for line, words in self._run(sql.LINES, source=self.source_number(source))
        ]

    def count(self) -> int:
        return self._space.rows + self._space.tool_rows

    def check(self) -> str:
        [(rows, length, tool_rows, tool_length)] = self._run(sql.COUNT_ENTRIES)
        space = self._space
        for found, counted in (
            ((rows, length), (space.rows, space.length)),
            ((tool_rows, tool_length), (space.tool_rows, space.tool_length)),
        ):
            if found != counted:
                return "it has {} rows of {} terms, but its counters say {} of {}".format(
                    *found, *counted
                )
        wrong = self._run(sql.INCONSISTENT)
        return f"the postings of row {wrong[0][0]} do not match its terms" if wrong else ""

    def unembedded(self, model: str, most: int, skip: int = 0) -> list[tuple[int, str]]:
        # Of another model than the stored one no row has a vector.
        statement = sql.UNEMBEDDED if model == self._space.vector_model else sql.NEWEST
        return [(row, words) for row, words in self._run(statement, most=most, skip=skip)]

    def store_vectors(self, model: str, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        space = self._space
        if model != space.vector_model:
            for statement in sql.DROP_ALL_VECTORS:
                self._run(statement)
            # A number that no change has, so that also who has read the last one starts anew.
            pruned = space.last_vector + 1
            self._space = replace(
                space, vector_model=model, vectors_pruned=pruned, last_vector=pruned
            )
        if vectors:
            rows, words = [row for row, _, _ in vectors], [words for _, words, _ in vectors]
            marked = set(self._run(sql.MARK_EMBEDDED, rows=rows, words=words))
            stored = [(row, vector) for row, words, vector in vectors if (row, words) in marked]
            self._add_changes(sql.PUT_VECTORS, **_to_columns(("rows", "made"), stored))
        self._prune_removals()

    def vector_changes(self, model: str, after: int, most: int) -> list[VectorChange]:
        if model != self._space.vector_model:
            return []
        return [VectorChange(*row) for row in self._run(sql.VECTOR_CHANGES, after=after, most=most)]

    def vector_stamp(self) -> VectorStamp:
        return VectorStamp(self._space.id, self._space.vectors_pruned)

    def words_and_vectors(self, model: str, after: int, most: int) -> list[tuple[int, str, bytes]]:
        if model != self._space.vector_model:
            return []
        found = self._run(sql.WORDS_AND_VECTORS, after=after, most=most)
        return [(number, words, vector) for number, words, vector in found]

    def _run(self, statement: str, **given: Any) -> list[Any]:
        """Run a statement with the space's id: the only access to the tables."""
        if self._db is None:
            raise StoreError("no transaction is open")
        return self._connections.run(self._db, statement, {**given, "space": self._space.id})

    def _find(
        self, statement: str, search_filter: SearchFilter, **given: Any
    ) -> list[CandidateRow]:
        bounds = asdict(search_filter) | {"speaker": to_storable(search_filter.speaker)}
        return list(map(CandidateRow._make, self._run(statement, **given, **bounds)))

    def _set_space(self, rows: Sequence[Sequence[Any]]) -> None:
        names = [field.name for field in fields(_SpaceRow)]
        self._space = self._before = (
            _SpaceRow(**dict(zip(names, rows[0], strict=True))) if rows else _SpaceRow()
        )
        self._frequencies = {}

    def _cached(self) -> _SpaceCache:
        if self._cache is None or self._cache.version != self.version:
            self._cache = _SpaceCache(
                version=self.version,
                sources={name: (number, stamp) for name, number, stamp in self._run(sql.SOURCES)},
                speakers=frozenset(name for (name,) in self._run(sql.SPEAKERS)),
            )
        return self._cache

    def _mark_changed(self) -> None:
        self._space = replace(self._space, generation=self._space.generation + 1)
        self._cache, self._frequencies = None, {}

    def _put_sources(self, stamps: Mapping[str, str]) -> dict[str, int]:
        """Store the stamps of sources; returns their numbers."""
        names = {to_storable(name): name for name in stamps}
        found = self._run(sql.PUT_SOURCES, names=list(names), stamps=list(stamps.values()))
        return {names[stored]: number for stored, number in found}

    def _add_rows(self, rows: Iterable[tuple[int, IndexRow]]) -> None:
        """Add rows, each with the number of its source."""
        rest = iter(rows)
        while page := list(islice(rest, PAGE_ROWS)):
            self._add_page(page)

    def _add_page(self, rows: Sequence[tuple[int, IndexRow]]) -> None:
        first = self._space.next
        numbered = [
            (number, source, row, _mark_terms(index_terms(row.searched), row.kind == "tool"))
            for number, (source, row) in enumerate(rows, first)
        ]
        entries = [
            (number, source, *_columns_of(row), int(row.asks), " ".join(terms), len(terms))
            for number, source, row, terms in numbered
        ]
        self._run(sql.PUT_ENTRIES, **_to_columns(sql.ENTRY_COLUMNS, entries))
        postings = sorted(
            (term, number, count, len(terms))
            for number, *_, terms in numbered
            for term, count in Counter(terms).items()
        )
        if postings:
            self._run(
                sql.PUT_POSTINGS, **_to_columns(("term", "entry", "count", "length"), postings)
            )
        self._run(
            sql.PUT_SPEAKERS,
            names=sorted(
                {to_storable(row.speaker) for _, row in rows if row.speaker and row.kind != "tool"}
            ),
        )
        self._count_rows([(row.kind, len(terms)) for *_, row, terms in numbered], 1)
        self._space = replace(self._space, next=first + len(rows))

    def _read_rows(self, source: int) -> Iterator[tuple[Any, ...]]:
        """A source's rows with their numbers, in order."""
        last = 0
        while page := self._run(sql.ENTRIES, source=source, after=last, most=PAGE_ROWS):
            yield from page
            last = page[-1][0]

    def _remove_rows(self, source: int, after: int) -> dict[str, bytes]:
        """Remove a source's rows above that number; returns the vectors of their words."""
        removed = {
            number: (kind, words, terms.split(), length)
            for number, kind, words, terms, length in self._run(
                sql.DROP_ENTRIES, source=source, after=after
            )
        }
        if not removed:
            return {}
        postings = sorted(
            (term, number) for number, (_, _, terms, _) in removed.items() for term in set(terms)
        )
        self._run(sql.DROP_POSTINGS, **_to_columns(("term", "entry"), postings))
        vectors = self._run(sql.DROP_VECTORS, rows=list(removed))
        self._add_changes(sql.PUT_REMOVALS, rows=[number for number, _ in vectors])
        self._count_rows([(kind, length) for kind, _, _, length in removed.values()], -1)
        return {removed[number][1]: vector for number, vector in vectors}

    def _restore_vectors(self, source: int, after: int, vectors: Mapping[str, bytes]) -> None:
        """A line with the same words as before needs no new vector."""
        if not vectors:
            return
        rows = self._run(sql.SOURCE_WORDS, source=source, after=after)
        restored = [(row, words, vectors[words]) for row, words in rows if words in vectors]
        self.store_vectors(self._space.vector_model, restored)

    def _add_changes(self, statement: str, rows: Sequence[int], **given: Any) -> None:
        """Store changes of the vectors of these rows, each with the next number."""
        last = self._space.last_vector
        if rows:
            self._run(statement, last=last, rows=rows, **given)
        self._space = replace(self._space, last_vector=last + len(rows))

    def _prune_removals(self) -> None:
        """Let the oldest removals go, once there are twice as many as are listed at least."""
        if self._run(sql.COUNT_REMOVALS)[0][0] <= 2 * MAX_REMOVALS:
            return
        [(pruned,)] = self._run(sql.OLD_REMOVAL, listed=MAX_REMOVALS)
        self._run(sql.DROP_REMOVALS, pruned=pruned)
        self._space = replace(self._space, vectors_pruned=pruned)

    def _count_rows(self, rows: Sequence[tuple[str, int]], sign: int) -> None:
        """Add (kind, number of terms) of rows to the counters, or subtract them."""
        tools = [length for kind, length in rows if kind == "tool"]
        others = [length for kind, length in rows if kind != "tool"]
        space = self._space
        self._space = replace(
            space,
            rows=space.rows + sign * len(others),
            length=space.length + sign * sum(others),
            tool_rows=space.tool_rows + sign * len(tools),
            tool_length=space.tool_length + sign * sum(tools),
        )


def _mark_terms(terms: Sequence[str], tools: bool) -> list[str]:
    return [TOOL_MARK + term for term in terms] if tools else list(terms)


def to_storable(text: str) -> str:
    """Replace what PostgreSQL cannot store, NUL and unpaired surrogates, by �."""
    return (
        text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def _columns_of(row: IndexRow) -> tuple[Any, ...]:
    return tuple(to_storable(value) if isinstance(value, str) else value for value in row)


def _to_columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """Turn rows into columns, by name."""
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
