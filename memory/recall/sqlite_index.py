"""The search index of one space in an SQLite file, and its keeper. The file can always be deleted and made again."""

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from datetime import tzinfo
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import structlog

from memory.recall.documents import IndexPosition, IndexRow, skip_unchanged
from memory.recall.index import IndexedRow, SearchFilter, SpaceIndex, SpaceIndexKeeper, days_condition
from memory.recall.ranking import CandidateRow
from memory.recall.sync import CONVERSATION_PREFIX, IndexCheck, check_index, read_new_messages, sync_files
from memory.store.engine.sqlite import to_store_error
from memory.store.errors import IndexUnusable, StoreCorrupt
from memory.store.store import Store
from memory.text.tokenizer import text_terms
from memory.workspace.files import Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
T = TypeVar("T")

OWNER_STEM, SPACE_STEM_PREFIX = "owner", "space-"  # of the names of index files
VERSION = 1  # of the tables below; an index of another version is made again
_COLUMNS = tuple(field.name for field in fields(IndexRow))
_SCHEMA = """
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL);
CREATE TABLE row (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, kind TEXT NOT NULL, words TEXT NOT NULL, session INTEGER NOT NULL,
    place INTEGER NOT NULL, day TEXT NOT NULL, time TEXT NOT NULL, speaker TEXT NOT NULL, line INTEGER NOT NULL,
    last INTEGER NOT NULL, turn INTEGER NOT NULL, seq INTEGER NOT NULL, message_id TEXT NOT NULL, fold TEXT NOT NULL,
    asks INTEGER NOT NULL, terms TEXT NOT NULL
);
CREATE INDEX row_place ON row (source, session, place);
CREATE INDEX row_day ON row (day);
CREATE TABLE speaker (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE vector (row INTEGER NOT NULL, model TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (row, model));
CREATE VIRTUAL TABLE found USING fts5(
    terms, content='row', content_rowid='id', tokenize="unicode61 remove_diacritics 0", columnsize=1
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(found, row);
CREATE TRIGGER row_added AFTER INSERT ON row BEGIN
    INSERT INTO found(rowid, terms) VALUES (new.id, new.terms);
END;
CREATE TRIGGER row_removed AFTER DELETE ON row BEGIN
    INSERT INTO found(found, rowid, terms) VALUES ('delete', old.id, old.terms);
    DELETE FROM vector WHERE row = old.id;
END;
"""
SESSIONS = 1 << 32  # sessions that one source may have, so that one number stands for source and session
_CANDIDATE = (
    f"row.id, row.source * {SESSIONS} + row.session, row.place, row.day, row.speaker, row.asks, row.source, row.seq, "
    "row.fold"
)
_FILTER = (
    "(:since = '' OR row.day >= :since) AND (:until = '' OR (row.day <= :until AND row.day != '')) "
    "AND (:speaker = '' OR row.speaker = :speaker OR (length(row.speaker) = length(:speaker) + 6 "
    "AND substr(row.speaker, 1, length(:speaker) + 2) = :speaker || ' #'))"
)
_BEST = f"""
WITH best AS (
    SELECT rowid AS id, bm25(found) AS word_score FROM found WHERE found MATCH :match ORDER BY bm25(found) LIMIT :most
)
SELECT {_CANDIDATE}, -best.word_score AS word_score FROM best JOIN row ON row.id = best.id ORDER BY best.word_score
"""  # noqa: S608  column names, no input
_BEST_FILTERED = f"""
SELECT {_CANDIDATE}, -bm25(found) AS word_score FROM found JOIN row ON row.id = found.rowid
WHERE found MATCH :match AND {_FILTER} ORDER BY bm25(found) LIMIT :most
"""  # noqa: S608
_ON_DAYS = f"SELECT {_CANDIDATE}, 0.0 AS word_score FROM row WHERE {{days}} AND {_FILTER} ORDER BY row.id LIMIT :most"  # noqa: S608
_AROUND = f"""
SELECT {_CANDIDATE}, 0.0 AS word_score FROM json_each(:places) AS near
JOIN row ON row.source = (near.value ->> 0) / {SESSIONS} AND row.session = (near.value ->> 0) % {SESSIONS}
    AND row.place = near.value ->> 1
WHERE {_FILTER}
"""  # noqa: S608
_WITH_CHARACTERS = f"""
SELECT {_CANDIDATE}, (SELECT SUM(instr(row.words, value) > 0) FROM json_each(:letters)) * 1.0 AS word_score
FROM row WHERE word_score > 0 AND {_FILTER} ORDER BY word_score DESC, row.id LIMIT :most
"""  # noqa: S608
_BY_NUMBER = f"""
SELECT {_CANDIDATE}, 0.0 AS word_score FROM row WHERE row.id IN (SELECT value FROM json_each(:rows)) AND {_FILTER}
"""  # noqa: S608


class SqliteIndex:
    """A SpaceIndex with FTS5. WAL without a sync at each commit: rows lost in a power cut are indexed again.

    Used by one thread at a time. Methods raise sqlite3.Error.
    """

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
        self.generation = 0  # number of changes by this object
        self._removed_vectors = 0
        self._speakers: frozenset[str] | None = None
        self._counted: tuple[tuple[int, int], int] = ((-1, -1), 0)  # (generation, data_version), rows
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON", "busy_timeout=5000"):
            self._db.execute(f"PRAGMA {pragma}")
        if self._version() == 0:
            self._create_tables()
        if self._version() != VERSION:
            raise sqlite3.DatabaseError("an index of another version")

    def sources(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, stamp FROM source"))

    def source_number(self, source: str) -> int:
        found = self._db.execute("SELECT id FROM source WHERE name = ?", (source,)).fetchone()
        return int(found[0]) if found else 0

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        with self._changing():
            self._db.execute(
                "INSERT INTO source(name, stamp) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET stamp = excluded.stamp",
                (name, stamp),
            )
            source = self.source_number(name)
            new, last = (rows, 0) if more else self._skip_unchanged(source, rows)
            vectors = {} if more else self._remove_rows(source, last)
            self._add_rows(source, new)
            self._restore_vectors(source, last, vectors)

    def drop(self, names: Iterable[str]) -> None:
        with self._changing():
            for name in names:
                self._db.execute("DELETE FROM row WHERE source = (SELECT id FROM source WHERE name = ?)", (name,))
                self._db.execute("DELETE FROM source WHERE name = ?", (name,))
                self._removed_vectors += 1

    def best(self, terms: Sequence[str], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        match = " OR ".join(f'"{term}"' for term in terms)
        statement = _BEST_FILTERED if search_filter.any else _BEST
        return self._find(statement, search_filter, match=match, most=most) if terms else []

    def with_characters(self, letters: Sequence[str], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        listed = json.dumps(list(letters), ensure_ascii=False)
        return self._find(_WITH_CHARACTERS, search_filter, letters=listed, most=most)

    def on_days(self, days: Sequence[tuple[str, str]], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        condition, given = days_condition(days, "row.day", ":{}")
        return self._find(_ON_DAYS.replace("{days}", condition), search_filter, most=most, **given) if days else []

    def around(self, places: Iterable[tuple[int, int]], search_filter: SearchFilter) -> list[CandidateRow]:
        return self._find(_AROUND, search_filter, places=json.dumps(list(places)))

    def candidates(self, rows: Iterable[int], search_filter: SearchFilter) -> list[CandidateRow]:
        return self._find(_BY_NUMBER, search_filter, rows=json.dumps(list(rows)))

    def indexed_rows(self, rows: Iterable[int]) -> dict[int, IndexedRow]:
        statement = (
            f"SELECT row.id, source.name, row.terms, {', '.join(f'row.{name}' for name in _COLUMNS)} "  # noqa: S608
            "FROM row JOIN source ON source.id = row.source WHERE row.id IN (SELECT value FROM json_each(?))"
        )
        return {
            number: IndexedRow(
                row=IndexRow(**dict(zip(_COLUMNS, columns, strict=True))), source=name, terms=frozenset(terms.split())
            )
            for number, name, terms, *columns in self._db.execute(statement, (json.dumps(list(rows)),))
        }

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        found = dict(
            self._db.execute(
                "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))",
                (json.dumps(list(terms)),),
            )
        )
        return found, self.count()

    def speakers(self) -> frozenset[str]:
        if self._speakers is None:
            self._speakers = frozenset(name for (name,) in self._db.execute("SELECT name FROM speaker"))
        return self._speakers

    def lines(self, source: str) -> list[tuple[int, str]]:
        statement = (
            "SELECT row.line, row.words FROM row JOIN source ON source.id = row.source WHERE source.name = ? "
            "ORDER BY row.id"
        )
        return self._db.execute(statement, (source,)).fetchall()

    def count(self) -> int:
        # data_version changes when another connection writes to the file
        version = (self.generation, int(self._db.execute("PRAGMA data_version").fetchone()[0]))
        if self._counted[0] != version:
            self._counted = (version, int(self._db.execute("SELECT COUNT(*) FROM row").fetchone()[0]))
        return self._counted[1]

    def check(self) -> str:
        try:
            found = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                return str(found)
            self._db.execute("INSERT INTO found(found, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as err:
            return str(err)
        return ""

    def unembedded(self, model: str, most: int) -> list[tuple[int, str]]:
        return self._db.execute(
            "SELECT row.id, row.words FROM row LEFT JOIN vector ON vector.row = row.id AND vector.model = ? "
            "WHERE vector.row IS NULL ORDER BY row.id LIMIT ?",
            (model, most),
        ).fetchall()

    def store_vectors(self, model: str, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        with self._changing():
            self._removed_vectors += self._db.execute("DELETE FROM vector WHERE model != ?", (model,)).rowcount
            newest = self._db.execute("SELECT COALESCE(MAX(row), 0) FROM vector").fetchone()[0]
            self._removed_vectors += any(row <= newest for row, _, _ in vectors)
            self._db.executemany(
                "INSERT OR REPLACE INTO vector SELECT id, ?, ? FROM row WHERE id = ? AND words = ?",
                [(model, data, row, words) for row, words, data in vectors],
            )

    def vectors(self, model: str, after: int = 0) -> list[tuple[int, bytes]]:
        statement = "SELECT row, data FROM vector WHERE model = ? AND row > ? ORDER BY row"
        return self._db.execute(statement, (model, after)).fetchall()

    def vectors_stamp(self) -> tuple[int, int]:
        return self._removed_vectors, self._db.execute("PRAGMA data_version").fetchone()[0]

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _add_rows(self, source: int, rows: Iterable[IndexRow]) -> None:
        names = (*_COLUMNS, "source", "asks", "terms")
        marks = ", ".join("?" * len(names))
        speakers: set[str] = set()

        def values() -> Iterator[tuple[Any, ...]]:
            for row in rows:
                speakers.add(row.speaker)
                yield (*_columns_of(row), source, row.asks, " ".join(text_terms(row.words)))

        self._db.executemany(f"INSERT INTO row({', '.join(names)}) VALUES ({marks})", values())  # noqa: S608
        self._db.executemany("INSERT OR IGNORE INTO speaker(name) VALUES (?)", ((name,) for name in speakers if name))

    def _skip_unchanged(self, source: int, rows: Iterable[IndexRow]) -> tuple[Iterator[IndexRow], int]:
        indexed = self._db.execute(
            f"SELECT id, {', '.join(_COLUMNS)} FROM row WHERE source = ? ORDER BY id",  # noqa: S608
            (source,),
        )
        with closing(indexed):  # an open cursor would read rows that are about to be deleted
            return skip_unchanged(indexed, rows, _columns_of)

    def _remove_rows(self, source: int, after: int) -> dict[str, tuple[str, bytes]]:
        """Remove a source's rows above that number; returns (model, vector) of their words."""
        rows = self._db.execute(
            "SELECT row.words, vector.model, vector.data FROM row JOIN vector ON vector.row = row.id "
            "WHERE row.source = ? AND row.id > ?",
            (source, after),
        )
        vectors = {words: (model, data) for words, model, data in rows}
        removed = self._db.execute("DELETE FROM row WHERE source = ? AND id > ?", (source, after))
        self._removed_vectors += removed.rowcount
        return vectors

    def _restore_vectors(self, source: int, after: int, vectors: Mapping[str, tuple[str, bytes]]) -> None:
        """A line with the same words as before needs no new vector."""
        if not vectors:
            return
        rows = self._db.execute("SELECT id, words FROM row WHERE source = ? AND id > ?", (source, after)).fetchall()
        self._db.executemany(
            "INSERT INTO vector(row, model, data) VALUES (?, ?, ?)",
            [(row, *vectors[words]) for row, words in rows if words in vectors],
        )

    def _find(self, statement: str, search_filter: SearchFilter, **given: Any) -> list[CandidateRow]:
        bounds = {"since": search_filter.since, "until": search_filter.until, "speaker": search_filter.speaker}
        used = {name: value for name, value in bounds.items() if f":{name}" in statement}
        return list(map(CandidateRow._make, self._db.execute(statement, {**given, **used})))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        self.generation += 1
        self._speakers = None

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _create_tables(self) -> None:
        with self._changing():
            if self._version() == 0:  # another process may have been first
                for statement in _split_statements(_SCHEMA):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={VERSION}")


def _columns_of(row: IndexRow) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in _COLUMNS)


def _split_statements(script: str) -> list[str]:
    """The statements of a script; a trigger with its own semicolons is one."""
    statements, statement = [], ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            statements.append(statement)
            statement = ""
    return statements


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDependencies:
    """Where recall finds what it indexes, and where it stores the indexes."""

    store: Store
    workspace: Workspace
    indexes: "SpaceIndexes"
    #: Time zone of the days and times of messages.
    zone: tzinfo


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


class FileIndexes:
    """Indexes in files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keeper(self, space: str, dependencies: RecallDependencies) -> SpaceIndexKeeper:
        name = f"{SPACE_STEM_PREFIX}{space}" if space else OWNER_STEM
        return FileIndexKeeper(space, self._folder / f"{name}.db", dependencies)

    def check_indexes(self, workspace: Workspace) -> list[IndexCheck]:
        paths = sorted(self._folder.glob("*.db"), key=lambda path: (path.stem != OWNER_STEM, path.stem))
        return [_check_file(path, workspace) for path in paths]


def _check_file(path: Path, workspace: Workspace) -> IndexCheck:
    space = "" if path.stem == OWNER_STEM else path.stem.removeprefix(SPACE_STEM_PREFIX)
    try:
        with closing(SqliteIndex(path)) as index:
            return check_index(index, workspace, space)
    except (sqlite3.Error, PathRefused) as err:
        return IndexCheck(space=space, fault=str(err))


class FileIndexKeeper:
    """A SpaceIndexKeeper for a file. A damaged index is deleted and made again."""

    def __init__(self, space: str, path: Path, dependencies: RecallDependencies) -> None:
        self.space = space
        self._dependencies = dependencies
        self._path = path
        self._index: SqliteIndex | None = None
        self._lock = asyncio.Lock()
        self._thread_lock = threading.Lock()
        self._synced_at = 0.0  # time.monotonic() before the last synchronisation

    async def use(self, work: Callable[[SpaceIndex], T]) -> T:
        called = time.monotonic()
        async with self._lock:
            try:
                if self._synced_at > called:  # another caller has synchronised it since
                    return await asyncio.to_thread(self._run, work)
                return await self._sync_and_run(work)
            except StoreCorrupt as err:
                log.warning("index made anew", space=self.space, why=str(err))
                await asyncio.to_thread(self._remove)
                return await self._sync_and_run(work)

    async def change(self, work: Callable[[SpaceIndex], T]) -> T:
        async with self._lock:
            return await asyncio.to_thread(self._run, work)

    @property
    def busy(self) -> bool:
        return self._lock.locked() or self._thread_lock.locked()

    async def remove(self) -> None:
        async with self._lock:
            await asyncio.to_thread(self._remove)

    def close(self) -> None:
        with self._thread_lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    async def _sync_and_run(self, work: Callable[[SpaceIndex], T]) -> T:
        began = time.monotonic()
        ends = await self._dependencies.store.sessions.next_seqs(self.space)
        behind, result = await asyncio.to_thread(self._run, lambda index: self._sync_files_and_run(index, ends, work))
        if not behind:
            self._synced_at = began
            return cast(T, result)
        for conversation, until in behind.items():
            await self._index_messages(conversation, until, ends[conversation])
        self._synced_at = began
        return await asyncio.to_thread(self._run, work)

    async def _index_messages(self, conversation: str, until: IndexPosition, end: int) -> None:
        store, zone = self._dependencies.store, self._dependencies.zone
        async for stamp, rows in read_new_messages(store, conversation, until, end, zone):
            await asyncio.to_thread(
                self._run,
                lambda index: index.put(CONVERSATION_PREFIX + conversation, stamp, rows, more=True),  # noqa: B023
            )

    def _run(self, work: Callable[[SqliteIndex], T]) -> T:
        """Run `work` with the index; blocks. The thread of a cancelled caller may still run, hence a second lock."""
        try:
            with self._thread_lock:
                if self._index is None:
                    self._create_folder()
                    self._index = SqliteIndex(self._path)
                return work(self._index)
        except sqlite3.Error as err:
            if isinstance(found := to_store_error(err), StoreCorrupt):
                raise found from err
            raise self._unusable(str(err)) from err

    def _create_folder(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as err:
            raise self._unusable(err.strerror or str(err)) from err

    def _unusable(self, why: str) -> IndexUnusable:
        folder = self._path.parent
        return IndexUnusable(
            f"the search index in {folder} cannot be used ({why}); make {folder} a folder that this account may write "
            "to, with free space on its disk, or delete it: a new index is made by itself"
        )

    def _sync_files_and_run(
        self, index: SqliteIndex, ends: Mapping[str, int], work: Callable[[SpaceIndex], T]
    ) -> tuple[Mapping[str, IndexPosition], T | None]:
        """The conversations with new messages, and the result of `work` if there are none: one thread hop, not two."""
        behind = sync_files(index, self._dependencies.workspace, self.space, ends)
        return behind, None if behind else work(index)

    def _remove(self) -> None:
        self._synced_at = 0.0
        self.close()
        try:
            for end in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        except NotADirectoryError:
            return  # a file where the folder would be: there is no index
        except OSError as err:
            raise self._unusable(err.strerror or str(err)) from err
