"""Recall's index of one space in PostgreSQL, seen and changed in one transaction at a time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from math import log
from typing import Any

from memory.recall import postgres_statements as sql
from memory.recall.doors import Narrow, Whole, among_days
from memory.recall.postgres_connections import Connection, Connections
from memory.recall.ranking import Fact
from memory.recall.rows import IndexRow, after_same
from memory.recall.terms import terms
from memory.store.errors import StoreError

PAGE = 500
"""Rows of a source that are compared, or put in, with one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Space:
    """A space's own row. next: the number of its next row; gone, generation: counts of vectors' losses, of changes."""

    id: int = 0
    rows: int = 0
    length: int = 0
    next: int = 1
    gone: int = 0
    generation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What was looked up once and holds while the space's row is the same. sources: number and stamp by name."""

    space: _Space
    sources: Mapping[str, tuple[int, str]]
    speakers: frozenset[str]


class PostgresIndex:
    """A SpaceIndex in PostgreSQL. It answers, and changes, within the transaction that was begun last.

    Used from one thread at a time. Raises StoreError.
    """

    def __init__(self, space: str, connections: Connections) -> None:
        self._name = space
        self._connections = connections
        self._db: Connection | None = None
        self._before = self._space = _Space()
        self._known: _Known | None = None
        self._counted: dict[str, int] = {}

    @staticmethod
    def spaces(connections: Connections) -> list[str]:
        """Every space that has an index, sorted."""
        connection = connections.begin(to_change=False)
        try:
            return [name for (name,) in connections.run(connection, sql.SPACES)]
        finally:
            connections.end(connection, keep=False)

    def begin_reading(self) -> None:
        """See the index as it is at this moment, until the end."""
        self._db = self._connections.begin(to_change=False)
        self._found(self._run(sql.SPACE, name=self._name))

    def begin_changing(self, wait: float) -> None:
        """Change the index, until the end; nobody else does meanwhile.

        Args:
            wait: seconds to wait while another process changes it.

        Raises:
            StoreBusy: another process did so for longer.
        """
        self._db = self._connections.begin(to_change=True)
        self._run(sql.WAIT, wait=f"{wait * 1_000:.0f}")
        while True:
            self._run(sql.MAKE_SPACE, name=self._name)
            if found := self._run(sql.LOCK_SPACE, name=self._name):
                break  # else it was removed while we waited for it
        self._found(found)

    def end(self, *, keep: bool) -> None:
        """Keep what was changed, or leave everything as it was; nothing where no transaction is open."""
        connection, self._db = self._db, None
        if connection is None:
            return
        try:
            if self._space != self._before:
                self._known = None  # whoever changes it next may come to the same counts with other sources
                if keep:
                    self._connections.run(connection, sql.KEEP_SPACE, asdict(self._space) | {"space": self._space.id})
        except BaseException:
            self._connections.end(connection, keep=False)
            raise
        self._connections.end(connection, keep=keep)

    def remove(self) -> None:
        """Take out all there is of the space."""
        for statement in sql.DROP_SPACE:
            self._run(statement)
        self._space = self._before

    def number(self, source: str) -> int:
        return self._looked_up().sources.get(source, (0, ""))[0]

    def sources(self) -> dict[str, str]:
        return {name: stamp for name, (_, stamp) in self._looked_up().sources.items()}

    def speakers(self) -> frozenset[str]:
        return self._looked_up().speakers

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        [(source,)] = self._run(sql.PUT_SOURCE, name=storable(name), stamp=stamp)
        new, last = (iter(rows), 0) if more else after_same(self._held(source), rows, _columns_of)
        kept = [] if more else self._taken_out(source, last)
        while some := list(islice(new, PAGE)):
            self._add(source, some)
        if kept:
            self._run(sql.PUT_BACK_VECTORS, source=source, **_columns(("words", "models", "made"), kept))
        self._changed()

    def drop(self, names: Iterable[str]) -> None:
        for name in names:
            source = self.number(name)
            self._taken_out(source, 0)
            self._run(sql.DROP_SOURCE, source=source)
        self._changed()

    def best(self, terms: Sequence[str], most: int, narrow: Narrow) -> list[Fact]:
        if not terms:
            return []
        frequencies, rows = self.frequencies(terms)
        having = [frequencies.get(term, 0) for term in terms]
        weights = [max(sql.LEAST, log((rows - one + 0.5) / (one + 0.5))) for one in having]
        usual = self._space.length / max(1, rows) or 1.0
        given = {"terms": list(terms), "weights": weights, "usual": usual, "most": most}
        return self._facts(sql.BEST_NARROWED if narrow.any else sql.BEST, narrow, **given)

    def holding(self, letters: Sequence[str], most: int, narrow: Narrow) -> list[Fact]:
        return self._facts(sql.HOLDING, narrow, letters=list(letters), most=most)

    def of_days(self, days: Sequence[tuple[str, str]], most: int, narrow: Narrow) -> list[Fact]:
        wanted, given = among_days(days, "entry.day", "%({})s")
        return self._facts(sql.OF_DAYS.replace("{days}", wanted), narrow, most=most, **given) if days else []

    def around(self, places: Iterable[tuple[int, int]], narrow: Narrow) -> list[Fact]:
        near = [(*divmod(session, sql.SESSIONS), place) for session, place in places]
        return self._facts(sql.AROUND, narrow, **_columns(("sources", "sessions", "places"), near))

    def facts(self, rows: Iterable[int], narrow: Narrow) -> list[Fact]:
        return self._facts(sql.BY_NUMBER, narrow, rows=list(rows))

    def whole(self, rows: Iterable[int]) -> dict[int, Whole]:
        names = {number: name for name, (number, _) in self._looked_up().sources.items()}
        return {
            number: Whole(
                row=IndexRow(**dict(zip(sql.COLUMNS, held, strict=True))),
                source=names[source],
                terms=frozenset(found.split()),
            )
            for number, source, found, *held in self._run(sql.WHOLE, rows=list(rows))
        }

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        if unknown := [term for term in terms if term not in self._counted]:
            self._counted |= dict.fromkeys(unknown, 0) | dict(self._run(sql.FREQUENCIES, terms=unknown))
        return {term: self._counted[term] for term in terms if self._counted[term]}, self._space.rows

    def lines(self, source: str) -> list[tuple[int, str]]:
        return [(line, words) for line, words in self._run(sql.LINES, source=self.number(source))]

    def count(self) -> int:
        return self._space.rows

    def check(self) -> str:
        [(rows, length)] = self._run(sql.COUNTED)
        if (rows, length) != (self._space.rows, self._space.length):
            return f"it has {rows} rows of {length} terms and says {self._space.rows} of {self._space.length}"
        wrong = self._run(sql.WRONG)
        return f"the terms of row {wrong[0][0]} are indexed otherwise than they stand in it" if wrong else ""

    def unembedded(self, model: str, most: int) -> list[tuple[int, str]]:
        return [(row, words) for row, words in self._run(sql.UNEMBEDDED, model=model, most=most)]

    def keep_vectors(self, model: str, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        gone = len(self._run(sql.DROP_OTHER_MODELS, model=model))
        if vectors:
            [(newest,)] = self._run(sql.NEWEST_VECTOR)
            given = _columns(("rows", "words", "made"), vectors)
            put = self._run(sql.PUT_VECTORS, model=model, **given)
            gone += any(row <= newest for (row,) in put)
        self._space = replace(self._space, gone=self._space.gone + gone)

    def vectors(self, model: str, after: int = 0) -> list[tuple[int, bytes]]:
        return self._run(sql.VECTORS, model=model, after=after)

    def vectors_stamp(self) -> tuple[int, int]:
        return self._space.id, self._space.gone

    def _run(self, statement: str, **given: Any) -> list[Any]:
        """The one way to this index's tables: every statement is given its space."""
        if self._db is None:
            raise StoreError("no transaction is open")
        return self._connections.run(self._db, statement, {**given, "space": self._space.id})

    def _facts(self, statement: str, narrow: Narrow, **given: Any) -> list[Fact]:
        bounds = {"since": narrow.since, "until": narrow.until, "speaker": storable(narrow.speaker)}
        return list(map(Fact._make, self._run(statement, **given, **bounds)))

    def _found(self, rows: Sequence[Sequence[Any]]) -> None:
        names = [field.name for field in fields(_Space)]
        self._space = self._before = _Space(**dict(zip(names, rows[0], strict=True))) if rows else _Space()
        self._counted = {}

    def _looked_up(self) -> _Known:
        if self._known is None or self._known.space != self._space:
            self._known = _Known(
                space=self._space,
                sources={name: (number, stamp) for name, number, stamp in self._run(sql.SOURCES)},
                speakers=frozenset(name for (name,) in self._run(sql.SPEAKERS)),
            )
        return self._known

    def _changed(self) -> None:
        self._space = replace(self._space, generation=self._space.generation + 1)
        self._known, self._counted = None, {}

    def _add(self, source: int, rows: Sequence[IndexRow]) -> None:
        first = self._space.next
        found = [terms(row.words) for row in rows]
        entries = [
            (
                first + at,
                source,
                *_columns_of(row),
                int(row.asks),
                " ".join(of),
                len(of),
            )
            for at, (row, of) in enumerate(zip(rows, found, strict=True))
        ]
        self._run(sql.PUT_ENTRIES, **_columns(sql.PUT, entries))
        postings = sorted(
            (term, first + at, count, len(of)) for at, of in enumerate(found) for term, count in Counter(of).items()
        )
        if postings:
            self._run(sql.PUT_POSTINGS, **_columns(("term", "entry", "count", "length"), postings))
        self._run(sql.PUT_SPEAKERS, names=sorted({storable(row.speaker) for row in rows if row.speaker}))
        self._space = replace(
            self._space,
            rows=self._space.rows + len(rows),
            length=self._space.length + sum(map(len, found)),
            next=first + len(rows),
        )

    def _held(self, source: int) -> Iterator[tuple[Any, ...]]:
        """A source's rows with their numbers, in order."""
        last = 0
        while some := self._run(sql.ENTRIES, source=source, after=last, most=PAGE):
            yield from some
            last = some[-1][0]

    def _taken_out(self, source: int, after: int) -> list[tuple[str, str, bytes]]:
        """Take a source's rows behind that one out; returns (words, model, vector) of those that had one."""
        gone = {
            number: (words, found.split(), length)
            for number, words, found, length in self._run(sql.DROP_ENTRIES, source=source, after=after)
        }
        if not gone:
            return []
        postings = sorted((term, number) for number, (_, found, _) in gone.items() for term in set(found))
        self._run(sql.DROP_POSTINGS, **_columns(("term", "entry"), postings))
        vectors = self._run(sql.DROP_VECTORS, rows=list(gone))
        self._space = replace(
            self._space,
            rows=self._space.rows - len(gone),
            length=self._space.length - sum(length for _, _, length in gone.values()),
            gone=self._space.gone + 1,
        )
        return [(gone[number][0], model, made) for number, model, made in vectors]


def storable(text: str) -> str:
    """A text as PostgreSQL takes it: what it cannot hold, NUL and halves of surrogate pairs, stands as �."""
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _columns_of(row: IndexRow) -> tuple[Any, ...]:
    return tuple(_kept(getattr(row, name)) for name in sql.COLUMNS)


def _kept(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """Rows as columns, by their names."""
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
