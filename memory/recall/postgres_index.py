"""Recall's index of one space in PostgreSQL, seen and changed in one transaction at a time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from math import log
from typing import Any

from memory.recall.documents import IndexRow, skip_unchanged
from memory.recall.index import IndexedRow, SearchFilter, days_condition
from memory.recall.postgres_pool import IndexConnection, IndexConnections
from memory.recall.ranking import CandidateRow
from memory.store.errors import StoreError
from memory.text.tokenizer import text_terms

# Every statement on recall's index in PostgreSQL; no other module names its tables, but for the one that makes them.
#
# Words are found by a table of postings, from which BM25 is reckoned as FTS5 does it: what PostgreSQL's own text search
# ranks by knows nothing of how rare a word is. A query can name a table only as `_of` spells it, with its space.

SESSIONS = 1 << 32  # more sessions than one source has
# Of BM25, and the weight of a word that most rows have. Source: bm25() of SQLite's FTS5.
SATURATION, LENGTH_NORM, MIN_IDF = 1.2, 0.75, 1e-6


def _of_space(table: str) -> str:
    """A table as every query must name it: the rows of one space."""
    return f"(SELECT * FROM mnema_index.{table} WHERE space = %(space)s) AS {table}"  # noqa: S608  here and below: names and numbers of ours, nothing from outside


def _lookup(table: str, condition: str) -> str:
    """The rows of a table that belong to each row before it, looked up by its index whatever the planner believes.

    Its statistics are of all spaces; where one holds a hundred thousand rows and the others ten it guesses wrong.
    """
    return f"CROSS JOIN LATERAL (SELECT * FROM {_of_space(table)} WHERE {condition} OFFSET 0) AS {table}"  # noqa: S608


COLUMNS = tuple(field.name for field in fields(IndexRow))
_TYPES = dict.fromkeys(("id", "source", "session", "place", "line", "last", "turn", "seq"), "integer")
_TYPES |= {"asks": "smallint", "length": "smallint"}
ENTRY_COLUMNS = ("id", "source", *COLUMNS, "asks", "terms", "length")
_CANDIDATE = (
    f"entry.id, entry.source * {SESSIONS} + entry.session, entry.place, entry.day, entry.speaker, entry.asks, "
    "entry.source, entry.seq, entry.fold"
)
_FILTER = (
    "(%(since)s::text = '' OR entry.day >= %(since)s::text) "
    "AND (%(until)s::text = '' OR (entry.day <= %(until)s::text AND entry.day <> '')) "
    "AND (%(speaker)s::text = '' OR entry.speaker = %(speaker)s::text "
    "OR (length(entry.speaker) = length(%(speaker)s::text) + 6 "
    "AND substr(entry.speaker, 1, length(%(speaker)s::text) + 2) = %(speaker)s::text || ' #'))"
)
_SCORED = f"""
SELECT posting.entry AS id, SUM(asked.weight * posting.count * {SATURATION + 1} / (
    posting.count + {SATURATION} * ({1 - LENGTH_NORM} + {LENGTH_NORM} * posting.length / %(usual)s::float8))) AS bare
FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS asked(term, weight)
{_lookup("posting", "posting.term = asked.term")} GROUP BY posting.entry
"""  # noqa: S608
BEST = f"""
WITH best AS ({_SCORED} ORDER BY bare DESC, id LIMIT %(most)s)
SELECT {_CANDIDATE}, best.bare FROM best {_lookup("entry", "entry.id = best.id")} ORDER BY best.bare DESC, entry.id
"""  # noqa: S608
BEST_FILTERED = f"""
WITH scored AS ({_SCORED})
SELECT {_CANDIDATE}, scored.bare FROM scored {_lookup("entry", "entry.id = scored.id")}
WHERE {_FILTER} ORDER BY scored.bare DESC, entry.id LIMIT %(most)s
"""  # noqa: S608
OF_DAYS = f"""
SELECT {_CANDIDATE}, 0.0::float8 FROM {_of_space("entry")} WHERE {{days}} AND {_FILTER} ORDER BY entry.id LIMIT %(most)s
"""  # noqa: S608
AROUND = f"""
SELECT {_CANDIDATE}, 0.0::float8
FROM unnest(%(sources)s::integer[], %(sessions)s::integer[], %(places)s::integer[]) AS near(source, session, place)
{_lookup("entry", "entry.source = near.source AND entry.session = near.session AND entry.place = near.place")}
WHERE {_FILTER}
"""  # noqa: S608
HOLDING = f"""
SELECT {_CANDIDATE}, held.letters::float8 FROM {_of_space("entry")} CROSS JOIN LATERAL (
    SELECT COUNT(*) AS letters FROM unnest(%(letters)s::text[]) AS one(letter) WHERE strpos(entry.words, one.letter) > 0
) AS held WHERE held.letters > 0 AND {_FILTER} ORDER BY held.letters DESC, entry.id LIMIT %(most)s
"""  # noqa: S608
BY_NUMBER = f"SELECT {_CANDIDATE}, 0.0::float8 FROM {_of_space('entry')} WHERE entry.id = ANY(%(rows)s) AND {_FILTER}"  # noqa: S608
INDEXED_ROWS = f"SELECT id, source, terms, {', '.join(COLUMNS)} FROM {_of_space('entry')} WHERE id = ANY(%(rows)s)"  # noqa: S608
FREQUENCIES = f"SELECT term, COUNT(*) FROM {_of_space('posting')} WHERE term = ANY(%(terms)s) GROUP BY term"  # noqa: S608
SOURCES = f"SELECT name, id, stamp FROM {_of_space('source')}"  # noqa: S608
SPEAKERS = f"SELECT name FROM {_of_space('speaker')}"  # noqa: S608
ENTRIES = f"""
SELECT id, {", ".join(COLUMNS)} FROM {_of_space("entry")} WHERE source = %(source)s AND id > %(after)s
ORDER BY id LIMIT %(most)s
"""  # noqa: S608
LINES = f"SELECT line, words FROM {_of_space('entry')} WHERE source = %(source)s ORDER BY id"  # noqa: S608
INCONSISTENT = f"""
SELECT COALESCE(made.id, posting.entry) FROM (
    SELECT entry.id, one.term, COUNT(*) AS count FROM {_of_space("entry")}
    CROSS JOIN LATERAL unnest(string_to_array(entry.terms, ' ')) AS one(term) GROUP BY entry.id, one.term
) AS made FULL JOIN {_of_space("posting")} ON posting.entry = made.id AND posting.term = made.term COLLATE "C"
WHERE posting.count IS DISTINCT FROM made.count::smallint LIMIT 1
"""  # noqa: S608
COUNT_ENTRIES = f"SELECT COUNT(*), COALESCE(SUM(length), 0) FROM {_of_space('entry')}"  # noqa: S608
UNEMBEDDED = f"""
SELECT entry.id, entry.words FROM {_of_space("entry")}
LEFT JOIN {_of_space("vector")} ON vector.entry = entry.id AND vector.model = %(model)s
WHERE vector.entry IS NULL ORDER BY entry.id LIMIT %(most)s
"""  # noqa: S608
VECTORS = f"SELECT entry, data FROM {_of_space('vector')} WHERE model = %(model)s AND entry > %(after)s ORDER BY entry"  # noqa: S608
NEWEST_VECTOR = f"SELECT COALESCE(MAX(entry), 0) FROM {_of_space('vector')}"  # noqa: S608

SPACE = "SELECT id, rows, length, next, gone, generation FROM mnema_index.space WHERE name = %(name)s"
SPACES = "SELECT name FROM mnema_index.space ORDER BY name"
LOCK_SPACE = f"{SPACE} FOR UPDATE"
MAKE_SPACE = "INSERT INTO mnema_index.space(name) VALUES (%(name)s) ON CONFLICT DO NOTHING"
SET_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', %(wait)s, true)"
UPDATE_SPACE = """
UPDATE mnema_index.space SET rows = %(rows)s, length = %(length)s, next = %(next)s, gone = %(gone)s,
    generation = %(generation)s WHERE id = %(space)s
"""
DROP_SPACE = tuple(
    f"DELETE FROM mnema_index.{table} WHERE {'id' if table == 'space' else 'space'} = %(space)s"  # noqa: S608
    for table in ("posting", "vector", "entry", "speaker", "source", "space")
)
PUT_SOURCE = f"""
INSERT INTO mnema_index.source(space, id, name, stamp)
SELECT %(space)s, COALESCE(MAX(source.id), 0) + 1, %(name)s, %(stamp)s FROM {_of_space("source")}
ON CONFLICT (space, name) DO UPDATE SET stamp = excluded.stamp RETURNING id
"""  # noqa: S608
PUT_ENTRIES = f"""
INSERT INTO mnema_index.entry(space, {", ".join(ENTRY_COLUMNS)})
SELECT %(space)s, * FROM unnest({", ".join(f"%({name})s::{_TYPES.get(name, 'text')}[]" for name in ENTRY_COLUMNS)})
"""  # noqa: S608
PUT_POSTINGS = """
INSERT INTO mnema_index.posting(space, term, entry, count, length)
SELECT %(space)s, * FROM unnest(%(term)s::text[], %(entry)s::integer[], %(count)s::smallint[], %(length)s::smallint[])
"""
PUT_SPEAKERS = """
INSERT INTO mnema_index.speaker(space, name) SELECT %(space)s, * FROM unnest(%(names)s::text[]) ON CONFLICT DO NOTHING
"""
DROP_ENTRIES = """
DELETE FROM mnema_index.entry WHERE space = %(space)s AND source = %(source)s AND id > %(after)s
RETURNING id, words, terms, length
"""
DROP_POSTINGS = """
DELETE FROM mnema_index.posting AS held USING unnest(%(term)s::text[], %(entry)s::integer[]) AS gone(term, entry)
WHERE held.space = %(space)s AND held.term = gone.term AND held.entry = gone.entry
"""
DROP_VECTORS = """
DELETE FROM mnema_index.vector WHERE space = %(space)s AND entry = ANY(%(rows)s) RETURNING entry, model, data
"""
DROP_SOURCE = "DELETE FROM mnema_index.source WHERE space = %(space)s AND id = %(source)s"
DROP_OTHER_MODELS = "DELETE FROM mnema_index.vector WHERE space = %(space)s AND model <> %(model)s RETURNING entry"
PUT_VECTORS = f"""
INSERT INTO mnema_index.vector(space, entry, model, data)
SELECT %(space)s, entry.id, %(model)s, given.data
FROM unnest(%(rows)s::integer[], %(words)s::text[], %(made)s::bytea[])
    AS given(entry, words, data)
JOIN {_of_space("entry")} ON entry.id = given.entry AND entry.words = given.words
ON CONFLICT (space, entry, model) DO UPDATE SET data = excluded.data RETURNING entry
"""  # noqa: S608
RESTORE_VECTORS = f"""
INSERT INTO mnema_index.vector(space, entry, model, data)
SELECT %(space)s, entry.id, given.model, given.data
FROM unnest(%(words)s::text[], %(models)s::text[], %(made)s::bytea[]) AS given(words, model, data)
JOIN {_of_space("entry")} ON entry.source = %(source)s AND entry.words = given.words
ON CONFLICT DO NOTHING
"""  # noqa: S608


PAGE_ROWS = 500  # rows of a source that are compared, or put in, with one statement


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpaceRow:
    """A space's own row."""

    id: int = 0
    rows: int = 0
    length: int = 0
    #: The number of its next row.
    next: int = 1
    #: Counts of vectors' losses, of changes.
    gone: int = 0
    #: Counts of vectors' losses, of changes.
    generation: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpaceCache:
    """What was looked up once and holds while the space's row is the same."""

    space: _SpaceRow
    #: Number and stamp by name.
    sources: Mapping[str, tuple[int, str]]
    speakers: frozenset[str]


class PostgresIndex:
    """A SpaceIndex in PostgreSQL. It answers, and changes, within the transaction that was begun last.

    Used from one thread at a time. Raises StoreError.
    """

    def __init__(self, space: str, connections: IndexConnections) -> None:
        self._name = space
        self._connections = connections
        self._db: IndexConnection | None = None
        self._before = self._space = _SpaceRow()
        self._known: _SpaceCache | None = None
        self._counted: dict[str, int] = {}

    @staticmethod
    def spaces(connections: IndexConnections) -> list[str]:
        """Every space that has an index, sorted."""
        connection = connections.begin(to_change=False)
        try:
            return [name for (name,) in connections.run(connection, SPACES)]
        finally:
            connections.end(connection, keep=False)

    def begin_reading(self) -> None:
        """See the index as it is at this moment, until the end."""
        self._db = self._connections.begin(to_change=False)
        self._found(self._run(SPACE, name=self._name))

    def begin_changing(self, wait: float) -> None:
        """Change the index, until the end; nobody else does meanwhile.

        Args:
            wait: seconds to wait while another process changes it.

        Raises:
            StoreBusy: another process did so for longer.
        """
        self._db = self._connections.begin(to_change=True)
        self._run(SET_LOCK_TIMEOUT, wait=f"{wait * 1_000:.0f}")
        while True:
            self._run(MAKE_SPACE, name=self._name)
            if found := self._run(LOCK_SPACE, name=self._name):
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
                    self._connections.run(connection, UPDATE_SPACE, asdict(self._space) | {"space": self._space.id})
        except BaseException:
            self._connections.end(connection, keep=False)
            raise
        self._connections.end(connection, keep=keep)

    def remove(self) -> None:
        """Take out all there is of the space."""
        for statement in DROP_SPACE:
            self._run(statement)
        self._space = self._before

    def number(self, source: str) -> int:
        return self._looked_up().sources.get(source, (0, ""))[0]

    def sources(self) -> dict[str, str]:
        return {name: stamp for name, (_, stamp) in self._looked_up().sources.items()}

    def speakers(self) -> frozenset[str]:
        return self._looked_up().speakers

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        [(source,)] = self._run(PUT_SOURCE, name=to_storable(name), stamp=stamp)
        new, last = (iter(rows), 0) if more else skip_unchanged(self._held(source), rows, _columns_of)
        kept = [] if more else self._taken_out(source, last)
        while some := list(islice(new, PAGE_ROWS)):
            self._add(source, some)
        if kept:
            self._run(RESTORE_VECTORS, source=source, **_columns(("words", "models", "made"), kept))
        self._changed()

    def drop(self, names: Iterable[str]) -> None:
        for name in names:
            source = self.number(name)
            self._taken_out(source, 0)
            self._run(DROP_SOURCE, source=source)
        self._changed()

    def best(self, terms: Sequence[str], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        if not terms:
            return []
        frequencies, rows = self.frequencies(terms)
        having = [frequencies.get(term, 0) for term in terms]
        weights = [max(MIN_IDF, log((rows - one + 0.5) / (one + 0.5))) for one in having]
        usual = self._space.length / max(1, rows) or 1.0
        given = {"terms": list(terms), "weights": weights, "usual": usual, "most": most}
        return self._facts(BEST_FILTERED if search_filter.any else BEST, search_filter, **given)

    def with_characters(self, letters: Sequence[str], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        return self._facts(HOLDING, search_filter, letters=list(letters), most=most)

    def on_days(self, days: Sequence[tuple[str, str]], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        wanted, given = days_condition(days, "entry.day", "%({})s")
        return self._facts(OF_DAYS.replace("{days}", wanted), search_filter, most=most, **given) if days else []

    def around(self, places: Iterable[tuple[int, int]], search_filter: SearchFilter) -> list[CandidateRow]:
        near = [(*divmod(session, SESSIONS), place) for session, place in places]
        return self._facts(AROUND, search_filter, **_columns(("sources", "sessions", "places"), near))

    def facts(self, rows: Iterable[int], search_filter: SearchFilter) -> list[CandidateRow]:
        return self._facts(BY_NUMBER, search_filter, rows=list(rows))

    def whole(self, rows: Iterable[int]) -> dict[int, IndexedRow]:
        names = {number: name for name, (number, _) in self._looked_up().sources.items()}
        return {
            number: IndexedRow(
                row=IndexRow(**dict(zip(COLUMNS, held, strict=True))),
                source=names[source],
                terms=frozenset(found.split()),
            )
            for number, source, found, *held in self._run(INDEXED_ROWS, rows=list(rows))
        }

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        if unknown := [term for term in terms if term not in self._counted]:
            self._counted |= dict.fromkeys(unknown, 0) | dict(self._run(FREQUENCIES, terms=unknown))
        return {term: self._counted[term] for term in terms if self._counted[term]}, self._space.rows

    def lines(self, source: str) -> list[tuple[int, str]]:
        return [(line, words) for line, words in self._run(LINES, source=self.number(source))]

    def count(self) -> int:
        return self._space.rows

    def check(self) -> str:
        [(rows, length)] = self._run(COUNT_ENTRIES)
        if (rows, length) != (self._space.rows, self._space.length):
            return f"it has {rows} rows of {length} terms and says {self._space.rows} of {self._space.length}"
        wrong = self._run(INCONSISTENT)
        return f"the terms of row {wrong[0][0]} are indexed otherwise than they stand in it" if wrong else ""

    def unembedded(self, model: str, most: int) -> list[tuple[int, str]]:
        return [(row, words) for row, words in self._run(UNEMBEDDED, model=model, most=most)]

    def keep_vectors(self, model: str, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        gone = len(self._run(DROP_OTHER_MODELS, model=model))
        if vectors:
            [(newest,)] = self._run(NEWEST_VECTOR)
            given = _columns(("rows", "words", "made"), vectors)
            put = self._run(PUT_VECTORS, model=model, **given)
            gone += any(row <= newest for (row,) in put)
        self._space = replace(self._space, gone=self._space.gone + gone)

    def vectors(self, model: str, after: int = 0) -> list[tuple[int, bytes]]:
        return self._run(VECTORS, model=model, after=after)

    def vectors_stamp(self) -> tuple[int, int]:
        return self._space.id, self._space.gone

    def _run(self, statement: str, **given: Any) -> list[Any]:
        """The one way to this index's tables: every statement is given its space."""
        if self._db is None:
            raise StoreError("no transaction is open")
        return self._connections.run(self._db, statement, {**given, "space": self._space.id})

    def _facts(self, statement: str, search_filter: SearchFilter, **given: Any) -> list[CandidateRow]:
        bounds = {
            "since": search_filter.since,
            "until": search_filter.until,
            "speaker": to_storable(search_filter.speaker),
        }
        return list(map(CandidateRow._make, self._run(statement, **given, **bounds)))

    def _found(self, rows: Sequence[Sequence[Any]]) -> None:
        names = [field.name for field in fields(_SpaceRow)]
        self._space = self._before = _SpaceRow(**dict(zip(names, rows[0], strict=True))) if rows else _SpaceRow()
        self._counted = {}

    def _looked_up(self) -> _SpaceCache:
        if self._known is None or self._known.space != self._space:
            self._known = _SpaceCache(
                space=self._space,
                sources={name: (number, stamp) for name, number, stamp in self._run(SOURCES)},
                speakers=frozenset(name for (name,) in self._run(SPEAKERS)),
            )
        return self._known

    def _changed(self) -> None:
        self._space = replace(self._space, generation=self._space.generation + 1)
        self._known, self._counted = None, {}

    def _add(self, source: int, rows: Sequence[IndexRow]) -> None:
        first = self._space.next
        found = [text_terms(row.words) for row in rows]
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
        self._run(PUT_ENTRIES, **_columns(ENTRY_COLUMNS, entries))
        postings = sorted(
            (term, first + at, count, len(of)) for at, of in enumerate(found) for term, count in Counter(of).items()
        )
        if postings:
            self._run(PUT_POSTINGS, **_columns(("term", "entry", "count", "length"), postings))
        self._run(PUT_SPEAKERS, names=sorted({to_storable(row.speaker) for row in rows if row.speaker}))
        self._space = replace(
            self._space,
            rows=self._space.rows + len(rows),
            length=self._space.length + sum(map(len, found)),
            next=first + len(rows),
        )

    def _held(self, source: int) -> Iterator[tuple[Any, ...]]:
        """A source's rows with their numbers, in order."""
        last = 0
        while some := self._run(ENTRIES, source=source, after=last, most=PAGE_ROWS):
            yield from some
            last = some[-1][0]

    def _taken_out(self, source: int, after: int) -> list[tuple[str, str, bytes]]:
        """Take a source's rows behind that one out; returns (words, model, vector) of those that had one."""
        gone = {
            number: (words, found.split(), length)
            for number, words, found, length in self._run(DROP_ENTRIES, source=source, after=after)
        }
        if not gone:
            return []
        postings = sorted((term, number) for number, (_, found, _) in gone.items() for term in set(found))
        self._run(DROP_POSTINGS, **_columns(("term", "entry"), postings))
        vectors = self._run(DROP_VECTORS, rows=list(gone))
        self._space = replace(
            self._space,
            rows=self._space.rows - len(gone),
            length=self._space.length - sum(length for _, _, length in gone.values()),
            gone=self._space.gone + 1,
        )
        return [(gone[number][0], model, made) for number, model, made in vectors]


def to_storable(text: str) -> str:
    """A text as PostgreSQL takes it: what it cannot hold, NUL and halves of surrogate pairs, stands as �."""
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _columns_of(row: IndexRow) -> tuple[Any, ...]:
    return tuple(_from_storable(getattr(row, name)) for name in COLUMNS)


def _from_storable(value: Any) -> Any:
    return to_storable(value) if isinstance(value, str) else value


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """Rows as columns, by their names."""
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
