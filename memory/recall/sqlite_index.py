"""The search index of one space in an SQLite file, which can always be deleted and made again."""

import json
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from memory.conversation import BOT_SPEAKER
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
from memory.text.word_forms import index_terms

VERSION = 5  # of the tables below and their terms; an index of another version is made again
_COLUMNS = IndexRow._fields
_BOUNDS = tuple(field.name for field in fields(SearchFilter))
# KiB of pages that a connection keeps, as SQLite wants them. More would fill up for years and save
# nothing: a reader's are dropped with each commit of the writer, a search of 8,000 rows looks at
# 1.7 MB once, and the kernel has the file.
_CACHE = -500
_CHUNK = 16  # rows that are added in one step
_SCHEMA = """
CREATE TABLE counts (
    file INTEGER NOT NULL, rows INTEGER NOT NULL, tool_rows INTEGER NOT NULL, speakers INTEGER NOT
    NULL,
    vectors_pruned INTEGER NOT NULL
);
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL);
CREATE TABLE row (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, kind TEXT NOT NULL, words TEXT NOT NULL,
    session INTEGER NOT NULL,
    place INTEGER NOT NULL, day TEXT NOT NULL, time TEXT NOT NULL, speaker TEXT NOT NULL, line
    INTEGER NOT NULL,
    last INTEGER NOT NULL, turn INTEGER NOT NULL, seq INTEGER NOT NULL, message_id TEXT NOT NULL,
    fold TEXT NOT NULL,
    part INTEGER NOT NULL, subject TEXT NOT NULL, outside INTEGER NOT NULL, asks INTEGER NOT NULL,
    terms TEXT NOT NULL, embedded INTEGER NOT NULL DEFAULT 0
);
CREATE VIEW spoken_row AS SELECT id, terms FROM row WHERE kind != 'tool';
CREATE VIEW tool_row AS SELECT id, terms FROM row WHERE kind = 'tool';
CREATE INDEX row_tool ON row (id) WHERE kind = 'tool';
CREATE INDEX row_unembedded ON row (speaker = 'Bot', id) WHERE embedded = 0 AND kind != 'tool';
CREATE INDEX row_place ON row (source, session, place);
CREATE INDEX row_day ON row (day);
CREATE TABLE speaker (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE vector_model (name TEXT NOT NULL);
CREATE TABLE vector (number INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL, data BLOB);
CREATE INDEX vector_row ON vector (row);
CREATE INDEX vector_removal ON vector (number) WHERE data IS NULL;
CREATE VIRTUAL TABLE found USING fts5(
    terms, content='spoken_row', content_rowid='id', tokenize="unicode61 remove_diacritics 0",
    columnsize=1
);
CREATE VIRTUAL TABLE found_tool USING fts5(
    terms, content='tool_row', content_rowid='id', tokenize="unicode61 remove_diacritics 0",
    columnsize=1
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(found, row);
CREATE VIRTUAL TABLE vocabulary_tool USING fts5vocab(found_tool, row);
CREATE TRIGGER row_added AFTER INSERT ON row WHEN new.kind != 'tool' BEGIN
    INSERT INTO found(rowid, terms) VALUES (new.id, new.terms);
END;
CREATE TRIGGER tool_row_added AFTER INSERT ON row WHEN new.kind = 'tool' BEGIN
    INSERT INTO found_tool(rowid, terms) VALUES (new.id, new.terms);
END;
CREATE TRIGGER row_removed AFTER DELETE ON row WHEN old.kind != 'tool' BEGIN
    INSERT INTO found(found, rowid, terms) VALUES ('delete', old.id, old.terms);
    DELETE FROM vector WHERE row = old.id AND old.embedded;
    INSERT INTO vector(row, data) SELECT old.id, NULL WHERE old.embedded;
END;
CREATE TRIGGER tool_row_removed AFTER DELETE ON row WHEN old.kind = 'tool' BEGIN
    INSERT INTO found_tool(found_tool, rowid, terms) VALUES ('delete', old.id, old.terms);
END;
"""
# sessions that one source may have, so that one number stands for source and session
SESSIONS = 1 << 32
_CANDIDATE = (
    f"row.id, row.source * {SESSIONS} + row.session, row.place, row.day, row.speaker, row.asks, "
    "row.source, row.seq, row.fold"
)
_FILTER = (
    "(row.kind = 'tool') = :tools AND (:since = '' OR row.day >= :since) "
    "AND (:until = '' OR (row.day <= :until AND row.day != '')) "
    "AND (:speaker = '' OR row.speaker = :speaker OR (length(row.speaker) = length(:speaker) + 6 "
    "AND substr(row.speaker, 1, length(:speaker) + 2) = :speaker || ' #'))"
)
_BEST = f"""
WITH best AS (
    SELECT rowid AS id, bm25(found) AS word_score FROM found WHERE found MATCH :match ORDER BY
    bm25(found) LIMIT :most
)
SELECT {_CANDIDATE}, -best.word_score AS word_score FROM best JOIN row ON row.id = best.id ORDER BY
best.word_score
"""  # noqa: S608  column names, no input
_BEST_FILTERED = f"""
SELECT {_CANDIDATE}, -bm25(found) AS word_score FROM found JOIN row ON row.id = found.rowid
WHERE found MATCH :match AND {_FILTER} ORDER BY bm25(found) LIMIT :most
"""  # noqa: S608
# In the order of its index: a day of many rows is not read to its end.
_ON_DAYS = f"""
SELECT {_CANDIDATE}, 0.0 AS word_score FROM row WHERE row.day BETWEEN :first AND :last AND {_FILTER}
ORDER BY row.day, row.id LIMIT :most
"""  # noqa: S608
# Each from an end of the index; together in one SELECT they would be looked for in all rows.
_FIRST_AND_LAST_DAY = """
SELECT COALESCE((SELECT MIN(day) FROM row WHERE day > ''), ''), COALESCE((SELECT MAX(day) FROM
row), '')
"""
_AROUND = f"""
SELECT {_CANDIDATE}, 0.0 AS word_score FROM json_each(:places) AS near
JOIN row ON row.source = (near.value ->> 0) / {SESSIONS} AND row.session = (near.value ->> 0) %
{SESSIONS}
    AND row.place = near.value ->> 1
WHERE {_FILTER}
"""  # noqa: S608
_WITH_CHARACTERS = f"""
SELECT {_CANDIDATE}, (SELECT SUM(instr(row.words, value) > 0) FROM json_each(:letters)) * 1.0 AS
word_score
FROM row WHERE word_score > 0 AND {_FILTER} ORDER BY word_score DESC, row.id LIMIT :most
"""  # noqa: S608
_BY_NUMBER = f"""
SELECT {_CANDIDATE}, 0.0 AS word_score FROM row WHERE row.id IN (SELECT value FROM
json_each(:rows)) AND {_FILTER}
"""  # noqa: S608
_INDEXED_ROWS = (
    f"SELECT row.id, source.name, row.terms, {', '.join(f'row.{name}' for name in _COLUMNS)} "  # noqa: S608
    "FROM row JOIN source ON source.id = row.source WHERE row.id IN (SELECT value FROM "
    "json_each(:rows))"
)
_PUT_SOURCES = (
    "INSERT INTO source(name, stamp) SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true "
    "ON CONFLICT (name) DO UPDATE SET stamp = excluded.stamp"
)
_NUMBERS_OF_SOURCES = (
    "SELECT json_group_object(name, id) FROM source WHERE name IN (SELECT value FROM json_each(?))"
)


class OtherVersion(sqlite3.DatabaseError):
    """The file has the tables of another version of this program."""


class _Counts(NamedTuple):
    """What an index counts, so that a search need not."""

    #: A random number of this file.
    file: int
    rows: int
    #: Of `rows`, those of tools.
    tool_rows: int
    speakers: int
    #: See VectorStamp.
    vectors_pruned: int


_COUNTS = f"SELECT {', '.join(_Counts._fields)} FROM counts"  # noqa: S608
# CandidateRow._make without a call of a Python function
_to_candidate = partial(tuple.__new__, CandidateRow)


class SqliteIndex:
    """A SpaceIndex with FTS5.

    WAL without a sync at each commit: rows lost in a power cut are indexed again.

    Used by one thread at a time. Methods raise sqlite3.Error.
    """

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        """Open the file.

        Args:
            writable: create a missing file, and change it; else only read it.
        """
        location = f"{path.absolute().as_uri()}?mode={'rwc' if writable else 'rw'}"
        self._db = sqlite3.connect(
            location, uri=True, isolation_level=None, check_same_thread=False, timeout=5.0
        )
        # their number, and their names
        self._speakers: tuple[int, frozenset[str]] = (-1, frozenset())
        writing = ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON")
        for pragma in (
            "busy_timeout=5000",
            f"cache_size={_CACHE}",
            *(writing if writable else ("query_only=ON",)),
        ):
            self._db.execute(f"PRAGMA {pragma}")
        if writable and self._version() == 0:
            self._create_tables()
        if self._version() != VERSION:
            self._db.close()
            raise OtherVersion("an index of another version")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Until the end, all queries see the index as it is at the first one, whatever another
        connection changes.
        """
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    @contextmanager
    def batch(self) -> Iterator[None]:
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def sources(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, stamp FROM source"))

    def stamps(self, names: Collection[str]) -> dict[str, str]:
        statement = "SELECT name, stamp FROM source WHERE name IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(statement, (json.dumps(list(names)),)))

    def source_number(self, source: str) -> int:
        found = self._db.execute("SELECT id FROM source WHERE name = ?", (source,)).fetchone()
        return int(found[0]) if found else 0

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        with self.batch():
            self._db.execute(
                (
                    "INSERT INTO source(name, stamp) VALUES (?, ?) ON CONFLICT (name) DO UPDATE "
                    "SET stamp = excluded.stamp"
                ),
                (name, stamp),
            )
            source = self.source_number(name)
            new, last = (rows, 0) if more else self._skip_unchanged(source, rows)
            vectors = {} if more else self._remove_rows(source, last)
            self._add_rows((source, row) for row in new)
            self._restore_vectors(source, last, vectors)

    def append(self, additions: Mapping[str, tuple[str, Sequence[IndexRow]]]) -> None:
        if not additions:
            return
        stamps = json.dumps([(name, stamp) for name, (stamp, _) in additions.items()])
        with self.batch():
            self._db.execute(_PUT_SOURCES, (stamps,))
            [found] = self._db.execute(
                _NUMBERS_OF_SOURCES, (json.dumps(list(additions)),)
            ).fetchone()
            numbers: dict[str, int] = json.loads(found)
            self._add_rows(
                (numbers[name], row) for name, (_, rows) in additions.items() for row in rows
            )

    def drop(self, names: Iterable[str]) -> None:
        with self.batch():
            for name in names:
                self._remove_rows(self.source_number(name), 0)
                self._db.execute("DELETE FROM source WHERE name = ?", (name,))

    def best(
        self, terms: Sequence[str], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        match = " OR ".join(f'"{term}"' for term in terms)
        unfiltered = SearchFilter(tools=search_filter.tools)
        statement = _BEST if search_filter == unfiltered else _BEST_FILTERED
        if search_filter.tools:
            statement = statement.replace("found", "found_tool")
        return self._find(statement, search_filter, match=match, most=most) if terms else []

    def with_characters(
        self, letters: Sequence[str], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        listed = json.dumps(list(letters), ensure_ascii=False)
        return self._find(_WITH_CHARACTERS, search_filter, letters=listed, most=most)

    def on_days(
        self, days: Sequence[tuple[str, str]], most: int, search_filter: SearchFilter
    ) -> list[CandidateRow]:
        if not days:
            return []
        oldest = newest = ""
        if any(is_yearless(first) for first, _ in days):
            oldest, newest = self._db.execute(_FIRST_AND_LAST_DAY).fetchone()
        found: dict[int, CandidateRow] = {}
        for first, last in days_of_years(days, oldest, newest):
            if len(found) < most:
                rows = self._find(_ON_DAYS, search_filter, first=first, last=last, most=most)
                found |= {row.row: row for row in rows}
        return list(found.values())[:most]

    def around(
        self, places: Iterable[tuple[int, int]], search_filter: SearchFilter
    ) -> list[CandidateRow]:
        return self._find(_AROUND, search_filter, places=json.dumps(list(places)))

    def candidates(self, rows: Iterable[int], search_filter: SearchFilter) -> list[CandidateRow]:
        return self._find(_BY_NUMBER, search_filter, rows=json.dumps(list(rows)))

    def indexed_rows(self, rows: Iterable[int]) -> dict[int, IndexedRow]:
        return {
            found[0]: IndexedRow(IndexRow._make(found[3:]), found[1], f" {found[2]} ")
            for found in self._fetch(
                _INDEXED_ROWS, {"rows": json.dumps(list(rows))}, 3 + len(_COLUMNS)
            )
        }

    def frequencies(
        self, terms: Sequence[str], *, tools: bool = False
    ) -> tuple[dict[str, int], int]:
        vocabulary, counts = "vocabulary_tool" if tools else "vocabulary", self._counts()
        rows = counts.tool_rows if tools else counts.rows - counts.tool_rows
        statement = (
            f"SELECT term, doc FROM {vocabulary} WHERE term IN (SELECT value FROM "  # noqa: S608
            "json_each(:terms))"
        )  # noqa: RUF100, S608
        return dict(
            self._fetch(statement, {"terms": json.dumps(list(terms))}, 2)
        ) if rows else {}, rows

    def speakers(self) -> frozenset[str]:
        number = self._counts().speakers
        if self._speakers[0] != number:
            self._speakers = (
                number,
                frozenset(name for (name,) in self._db.execute("SELECT name FROM speaker")),
            )
        return self._speakers[1]

    def last_place(self, source: str) -> tuple[int, int]:
        statement = (
            "SELECT session, place FROM row WHERE source = ? ORDER BY session DESC, place DESC "
            "LIMIT 1"
        )
        found = self._db.execute(statement, (self.source_number(source),)).fetchone()
        return (found[0], found[1]) if found else (0, -1)

    def lines(self, source: str) -> list[tuple[int, str]]:
        statement = (
            "SELECT row.line, row.words FROM row JOIN source ON source.id = row.source WHERE "
            "source.name = ? ORDER BY row.id"
        )
        return self._db.execute(statement, (source,)).fetchall()

    def count(self) -> int:
        return self._counts().rows

    def check(self) -> str:
        try:
            found = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                return str(found)
            for table in ("found", "found_tool"):
                self._db.execute(
                    f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)"  # noqa: S608
                )  # noqa: RUF100, S608
        except sqlite3.DatabaseError as err:
            return str(err)
        statement = "SELECT COUNT(*), COALESCE(SUM(kind = 'tool'), 0) FROM row"
        (rows, tool_rows), counts = self._db.execute(statement).fetchone(), self._counts()
        if (rows, tool_rows) != (counts.rows, counts.tool_rows):
            return (
                f"it has {rows} rows, {tool_rows} of tools, but its counters say {counts.rows} and "
                f"{counts.tool_rows}"
            )
        return ""

    def unembedded(self, model: str, most: int, skip: int = 0) -> list[tuple[int, str]]:
        # Of another model than the stored one no row has a vector.
        unembedded = "row.embedded = 0 AND" if model == self._vector_model() else ""
        return self._db.execute(
            f"SELECT row.id, row.words FROM row WHERE {unembedded} row.kind != 'tool' "  # noqa: S608
            f"ORDER BY row.speaker = '{BOT_SPEAKER}', row.id DESC LIMIT ? OFFSET ?",
            (most, skip),
        ).fetchall()

    def store_vectors(self, model: str, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        with self.batch():
            if model != self._vector_model():
                self._remove_vectors(model)
            for row, words, data in vectors:
                marked = self._db.execute(
                    "UPDATE row SET embedded = 1 WHERE id = ? AND words = ? AND embedded = 0",
                    (row, words),
                ).rowcount
                if marked:
                    self._db.execute("INSERT INTO vector(row, data) VALUES (?, ?)", (row, data))
            self._prune_removals()

    def vector_changes(self, model: str, after: int, most: int) -> list[VectorChange]:
        if model != self._vector_model():
            return []
        statement = "SELECT number, row, data FROM vector WHERE number > ? ORDER BY number LIMIT ?"
        return list(map(VectorChange._make, self._db.execute(statement, (after, most))))

    def vector_stamp(self) -> VectorStamp:
        counts = self._counts()
        return VectorStamp(counts.file, counts.vectors_pruned)

    def words_and_vectors(self, model: str, after: int, most: int) -> list[tuple[int, str, bytes]]:
        if model != self._vector_model():
            return []
        return self._db.execute(
            "SELECT vector.number, row.words, vector.data FROM vector JOIN row ON row.id = "
            "vector.row WHERE vector.number > ? AND vector.data IS NOT NULL ORDER BY vector.number "
            "LIMIT ?",
            (after, most),
        ).fetchall()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _add_rows(self, rows: Iterable[tuple[int, IndexRow]]) -> None:
        """Add rows, each with the number of its source, several in one step; see `_fetch`."""
        speakers: set[str] = set()
        added = tools = 0
        values = (
            (*row, source, row.asks, " ".join(index_terms(row.searched)), row)
            for source, row in rows
        )
        while chunk := list(islice(values, _CHUNK)):
            added += len(chunk)
            tools += sum(row.kind == "tool" for *_, row in chunk)
            speakers.update(row.speaker for *_, row in chunk if row.kind != "tool")
            if len(chunk) == _CHUNK:
                self._db.execute(
                    _insert_rows(_CHUNK), [value for one in chunk for value in one[:-1]]
                )
            else:
                self._db.executemany(_insert_rows(1), [one[:-1] for one in chunk])
        spoke = self._db.executemany(
            "INSERT OR IGNORE INTO speaker(name) VALUES (?)", ((name,) for name in speakers if name)
        ).rowcount
        self._add_to_counts(rows=added, tool_rows=tools, speakers=max(0, spoke))

    def _skip_unchanged(
        self, source: int, rows: Iterable[IndexRow]
    ) -> tuple[Iterator[IndexRow], int]:
        indexed = self._db.execute(
            f"SELECT id, {', '.join(_COLUMNS)} FROM row WHERE source = ? ORDER BY id",  # noqa: S608
            (source,),
        )
        with closing(indexed):  # an open cursor would read rows that are about to be deleted
            return skip_unchanged(indexed, rows, tuple)

    def _remove_rows(self, source: int, after: int) -> dict[str, bytes]:
        """Remove a source's rows above that number; returns the vectors of their words."""
        of_source = "row.source = ? AND row.id > ?"
        rows = self._db.execute(
            "SELECT row.words, vector.data FROM row JOIN vector ON vector.row = row.id "  # noqa: S608
            f"WHERE {of_source}",
            (source, after),
        )
        vectors = dict(rows.fetchall())
        tools = self._db.execute(
            f"DELETE FROM row WHERE kind = 'tool' AND {of_source}",  # noqa: S608
            (source, after),  # noqa: RUF100, S608
        ).rowcount  # noqa: RUF100, S608
        others = self._db.execute(f"DELETE FROM row WHERE {of_source}", (source, after)).rowcount  # noqa: S608
        self._add_to_counts(rows=-tools - others, tool_rows=-tools)
        return vectors

    def _restore_vectors(self, source: int, after: int, vectors: Mapping[str, bytes]) -> None:
        """A line with the same words as before needs no new vector."""
        if not vectors:
            return
        rows = self._db.execute(
            "SELECT id, words FROM row WHERE source = ? AND id > ?", (source, after)
        ).fetchall()
        restored = [(row, words, vectors[words]) for row, words in rows if words in vectors]
        self.store_vectors(self._vector_model(), restored)

    def _vector_model(self) -> str:
        found = self._db.execute("SELECT name FROM vector_model").fetchone()
        return str(found[0]) if found else ""

    def _remove_vectors(self, model: str) -> None:
        """Remove all vectors, as the next ones are of another model."""
        self._db.execute("DELETE FROM vector_model")
        self._db.execute("INSERT INTO vector_model VALUES (?)", (model,))
        self._db.execute("DELETE FROM vector")
        self._db.execute("UPDATE row SET embedded = 0 WHERE embedded")
        # A number that no change has, so that also who has read the last one starts anew.
        self._db.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'vector'")
        self._set_pruned("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'vector'")

    def _prune_removals(self) -> None:
        """Let the oldest removals go, once there are twice as many as are listed at least."""
        removals = "SELECT COUNT(*) FROM vector WHERE data IS NULL"
        if self._db.execute(removals).fetchone()[0] <= 2 * MAX_REMOVALS:
            return
        self._set_pruned(
            "SELECT number FROM vector WHERE data IS NULL ORDER BY number DESC LIMIT 1 OFFSET ?",
            MAX_REMOVALS,
        )
        self._db.execute(
            "DELETE FROM vector WHERE data IS NULL AND number <= "
            "(SELECT vectors_pruned FROM counts)"
        )

    def _set_pruned(self, select: str, *given: int) -> None:
        self._db.execute(f"UPDATE counts SET vectors_pruned = ({select})", given)  # noqa: S608

    def _counts(self) -> _Counts:
        return _Counts._make(self._db.execute(_COUNTS).fetchone())

    def _add_to_counts(self, **changes: int) -> None:
        if changes := {name: change for name, change in changes.items() if change}:
            values = ", ".join(f"{name} = {name} + :{name}" for name in changes)
            self._db.execute(f"UPDATE counts SET {values}", changes)  # noqa: S608

    def _find(
        self, statement: str, search_filter: SearchFilter, **given: Any
    ) -> list[CandidateRow]:
        bounds = {name: getattr(search_filter, name) for name in _BOUNDS if f":{name}" in statement}
        return list(
            map(
                _to_candidate,
                self._fetch(statement, {**given, **bounds}, len(CandidateRow._fields)),
            )
        )

    def _fetch(self, statement: str, given: Mapping[str, Any], columns: int) -> list[list[Any]]:
        """Fetch rows without BLOBs all at once.

        Each step of a statement releases the interpreter, and a thread that computes returns it
        only after milliseconds: beside a busy event loop, a search of three hundred steps would
        take a second.
        """
        found: list[list[Any]] = json.loads(
            self._db.execute(_in_one_row(statement, columns), given).fetchone()[0]
        )
        return found

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _create_tables(self) -> None:
        with self.batch():
            if self._version() == 0:  # another process may have been first
                for statement in _split_statements(_SCHEMA):
                    self._db.execute(statement)
                self._db.execute(
                    "INSERT INTO counts VALUES (?, 0, 0, 0, 0)", (secrets.randbits(62),)
                )
                self._db.execute(f"PRAGMA user_version={VERSION}")


@cache
def _insert_rows(count: int) -> str:
    names = (*_COLUMNS, "source", "asks", "terms")
    values = f"({', '.join('?' * len(names))})"
    return f"INSERT INTO row({', '.join(names)}) VALUES {', '.join([values] * count)}"  # noqa: S608


@cache
def _in_one_row(statement: str, columns: int) -> str:
    names = ", ".join(f"c{number}" for number in range(columns))
    return (
        f"WITH every({names}) AS ({statement}) SELECT json_group_array(json_array({names})) FROM "  # noqa: S608
        "every"
    )  # noqa: RUF100, S608


def _split_statements(script: str) -> list[str]:
    """The statements of a script; a trigger with its own semicolons is one."""
    statements, statement = [], ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            statements.append(statement)
            statement = ""
    return statements
