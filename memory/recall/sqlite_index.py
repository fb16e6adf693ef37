"""The full-text index of one space: an SQLite file of its own, which can always be made again."""

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
from memory.recall.sync import CONVERSATION_PREFIX, read_new_messages, sync_files
from memory.store.engine.sqlite import to_store_error
from memory.store.errors import IndexUnusable, StoreCorrupt
from memory.store.store import Store
from memory.text.tokenizer import text_terms
from memory.workspace.files import Workspace

VERSION = 1  # of the tables below; an index of another one is made again
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
SESSIONS = 1 << 32  # more sessions than one source has
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
    SELECT rowid AS id, bm25(found) AS bare FROM found WHERE found MATCH :match ORDER BY bm25(found) LIMIT :most
)
SELECT {_CANDIDATE}, -best.bare AS bare FROM best JOIN row ON row.id = best.id ORDER BY best.bare
"""  # noqa: S608  names of columns, nothing from outside
_BEST_FILTERED = f"""
SELECT {_CANDIDATE}, -bm25(found) AS bare FROM found JOIN row ON row.id = found.rowid
WHERE found MATCH :match AND {_FILTER} ORDER BY bm25(found) LIMIT :most
"""  # noqa: S608
_OF_DAYS = f"SELECT {_CANDIDATE}, 0.0 AS bare FROM row WHERE {{days}} AND {_FILTER} ORDER BY row.id LIMIT :most"  # noqa: S608
_AROUND = f"""
SELECT {_CANDIDATE}, 0.0 AS bare FROM json_each(:places) AS near
JOIN row ON row.source = (near.value ->> 0) / {SESSIONS} AND row.session = (near.value ->> 0) % {SESSIONS}
    AND row.place = near.value ->> 1
WHERE {_FILTER}
"""  # noqa: S608
_HOLDING = f"""
SELECT {_CANDIDATE}, (SELECT SUM(instr(row.words, value) > 0) FROM json_each(:letters)) * 1.0 AS bare
FROM row WHERE bare > 0 AND {_FILTER} ORDER BY bare DESC, row.id LIMIT :most
"""  # noqa: S608
_BY_NUMBER = f"""
SELECT {_CANDIDATE}, 0.0 AS bare FROM row WHERE row.id IN (SELECT value FROM json_each(:rows)) AND {_FILTER}
"""  # noqa: S608


class SqliteIndex:
    """A SpaceIndex in SQLite's FTS5, in WAL mode without a wait for the disk: what is lost is indexed again.

    Used from one thread at a time. Raises sqlite3.Error.
    """

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
        self.generation = 0
        self._gone = 0
        self._speakers: frozenset[str] | None = None
        self._counted: tuple[tuple[int, int], int] = ((-1, -1), 0)
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON", "busy_timeout=5000"):
            self._db.execute(f"PRAGMA {pragma}")
        if self._version() == 0:
            self._make()
        if self._version() != VERSION:
            raise sqlite3.DatabaseError("an index of another version")

    def sources(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, stamp FROM source"))

    def number(self, source: str) -> int:
        found = self._db.execute("SELECT id FROM source WHERE name = ?", (source,)).fetchone()
        return int(found[0]) if found else 0

    def put(self, name: str, stamp: str, rows: Iterable[IndexRow], *, more: bool = False) -> None:
        with self._changing():
            self._db.execute(
                "INSERT INTO source(name, stamp) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET stamp = excluded.stamp",
                (name, stamp),
            )
            source = self._db.execute("SELECT id FROM source WHERE name = ?", (name,)).fetchone()[0]
            new, last = (rows, 0) if more else self._after_same(source, rows)
            kept = {} if more else self._taken_out(source, last)
            self._add(source, new)
            if kept:
                self._put_back(source, last, kept)

    def drop(self, names: Iterable[str]) -> None:
        with self._changing():
            for name in names:
                self._db.execute("DELETE FROM row WHERE source = (SELECT id FROM source WHERE name = ?)", (name,))
                self._db.execute("DELETE FROM source WHERE name = ?", (name,))
                self._gone += 1

    def best(self, terms: Sequence[str], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        match = " OR ".join(f'"{term}"' for term in terms)
        given: dict[str, Any] = {"match": match, "most": most}
        return self._facts(_BEST_FILTERED if search_filter.any else _BEST, given, search_filter) if terms else []

    def with_characters(self, letters: Sequence[str], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        given = {"letters": json.dumps(list(letters), ensure_ascii=False), "most": most}
        return self._facts(_HOLDING, given, search_filter)

    def on_days(self, days: Sequence[tuple[str, str]], most: int, search_filter: SearchFilter) -> list[CandidateRow]:
        wanted, given = days_condition(days, "row.day", ":{}")
        return self._facts(_OF_DAYS.replace("{days}", wanted), {**given, "most": most}, search_filter) if days else []

    def around(self, places: Iterable[tuple[int, int]], search_filter: SearchFilter) -> list[CandidateRow]:
        return self._facts(_AROUND, {"places": json.dumps(list(places))}, search_filter)

    def facts(self, rows: Iterable[int], search_filter: SearchFilter) -> list[CandidateRow]:
        return self._facts(_BY_NUMBER, {"rows": json.dumps(list(rows))}, search_filter)

    def whole(self, rows: Iterable[int]) -> dict[int, IndexedRow]:
        statement = (
            f"SELECT row.id, source.name, row.terms, {', '.join(f'row.{name}' for name in _COLUMNS)} "  # noqa: S608
            "FROM row JOIN source ON source.id = row.source WHERE row.id IN (SELECT value FROM json_each(?))"
        )
        return {
            number: IndexedRow(
                row=IndexRow(**dict(zip(_COLUMNS, held, strict=True))), source=name, terms=frozenset(found.split())
            )
            for number, name, found, *held in self._db.execute(statement, (json.dumps(list(rows)),))
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
        """How many rows there are; counted again when another connection has changed the file, too."""
        now = (self.generation, int(self._db.execute("PRAGMA data_version").fetchone()[0]))
        if self._counted[0] != now:
            self._counted = (now, int(self._db.execute("SELECT COUNT(*) FROM row").fetchone()[0]))
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

    def keep_vectors(self, model: str, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        with self._changing():
            self._gone += self._db.execute("DELETE FROM vector WHERE model != ?", (model,)).rowcount
            newest = self._db.execute("SELECT COALESCE(MAX(row), 0) FROM vector").fetchone()[0]
            self._gone += any(row <= newest for row, _, _ in vectors)
            self._db.executemany(
                "INSERT OR REPLACE INTO vector SELECT id, ?, ? FROM row WHERE id = ? AND words = ?",
                [(model, data, row, words) for row, words, data in vectors],
            )

    def vectors(self, model: str, after: int = 0) -> list[tuple[int, bytes]]:
        statement = "SELECT row, data FROM vector WHERE model = ? AND row > ? ORDER BY row"
        return self._db.execute(statement, (model, after)).fetchall()

    def vectors_stamp(self) -> tuple[int, int]:
        return self._gone, self._db.execute("PRAGMA data_version").fetchone()[0]

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _add(self, source: int, rows: Iterable[IndexRow]) -> None:
        names = (*_COLUMNS, "source", "asks", "terms")
        marks = ", ".join("?" * len(names))
        speakers: set[str] = set()

        def values() -> Iterator[tuple[Any, ...]]:
            for row in rows:
                speakers.add(row.speaker)
                yield (*_columns_of(row), source, row.asks, " ".join(text_terms(row.words)))

        self._db.executemany(f"INSERT INTO row({', '.join(names)}) VALUES ({marks})", values())  # noqa: S608
        self._db.executemany("INSERT OR IGNORE INTO speaker(name) VALUES (?)", ((name,) for name in speakers if name))

    def _after_same(self, source: int, rows: Iterable[IndexRow]) -> tuple[Iterator[IndexRow], int]:
        held = self._db.execute(
            f"SELECT id, {', '.join(_COLUMNS)} FROM row WHERE source = ? ORDER BY id",  # noqa: S608
            (source,),
        )
        with closing(held):  # else it would go on reading what is about to be taken out
            return skip_unchanged(held, rows, _columns_of)

    def _taken_out(self, source: int, after: int) -> dict[str, tuple[str, bytes]]:
        """Take a source's rows behind that one out; returns their words' vectors, each with its model."""
        held = self._db.execute(
            "SELECT row.words, vector.model, vector.data FROM row JOIN vector ON vector.row = row.id "
            "WHERE row.source = ? AND row.id > ?",
            (source, after),
        )
        kept = {words: (model, data) for words, model, data in held}
        self._gone += self._db.execute("DELETE FROM row WHERE source = ? AND id > ?", (source, after)).rowcount
        return kept

    def _put_back(self, source: int, after: int, kept: Mapping[str, tuple[str, bytes]]) -> None:
        """A line that stands there still needs no new vector."""
        rows = self._db.execute("SELECT id, words FROM row WHERE source = ? AND id > ?", (source, after)).fetchall()
        self._db.executemany(
            "INSERT INTO vector(row, model, data) VALUES (?, ?, ?)",
            [(row, *kept[words]) for row, words in rows if words in kept],
        )

    def _facts(self, statement: str, given: Mapping[str, Any], search_filter: SearchFilter) -> list[CandidateRow]:
        bounds = {"since": search_filter.since, "until": search_filter.until, "speaker": search_filter.speaker}
        wanted = {name: value for name, value in bounds.items() if f":{name}" in statement}
        return list(map(CandidateRow._make, self._db.execute(statement, {**given, **wanted})))

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

    def _make(self) -> None:
        with self._changing():
            if self._version() == 0:  # another process may have been first
                for statement in _split_statements(_SCHEMA):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={VERSION}")


def _columns_of(row: IndexRow) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in _COLUMNS)


def _split_statements(script: str) -> list[str]:
    """The statements of a script, a trigger's own semicolons left inside it."""
    found, held = [], ""
    for line in script.splitlines():
        held += line + "\n"
        if sqlite3.complete_statement(held):
            found.append(held)
            held = ""
    return found


# Keeps one space's index, a file, in step with what it is made of.

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDependencies:
    """What recall stands on."""

    store: Store
    workspace: Workspace
    #: Of the indexes that are files.
    folder: Path
    #: Whose days and hours are told.
    zone: tzinfo
    #: Where the indexes are kept that several processes work with; None for files of this process alone.
    shared: "Shared | None" = None


class Shared(Protocol):
    """A place for all spaces' indexes that several processes work with."""

    def kept(self, space: str, ground: RecallDependencies) -> SpaceIndexKeeper:
        """That of one space; nothing is opened yet."""
        ...


def create_keeper(space: str, ground: RecallDependencies) -> SpaceIndexKeeper:
    """One space's index where this ground keeps it."""
    return ground.shared.kept(space, ground) if ground.shared else FileIndexKeeper(space, ground)


class FileIndexKeeper:
    """A Kept in a file. What cannot be read any more is thrown away and made again: it holds nothing of its own."""

    def __init__(self, space: str, ground: RecallDependencies) -> None:
        self.space = space
        self._ground = ground
        self._path = ground.folder / f"{f'space-{space}' if space else 'owner'}.db"
        self._index: SqliteIndex | None = None
        self._turn = asyncio.Lock()
        self._looked_at = 0.0
        self._thread = threading.Lock()

    async def use(self, work: Callable[[SpaceIndex], T]) -> T:
        asked = time.monotonic()
        async with self._turn:
            try:
                if self._looked_at > asked:  # somebody who was first has looked at everything since we asked
                    return await asyncio.to_thread(self._with, work)
                return await self._use(work)
            except StoreCorrupt as err:
                log.warning("index made anew", space=self.space, why=str(err))
                await asyncio.to_thread(self._remove)
                return await self._use(work)

    async def change(self, work: Callable[[SpaceIndex], T]) -> T:
        async with self._turn:
            return await asyncio.to_thread(self._with, work)

    @property
    def busy(self) -> bool:
        return self._turn.locked() or self._thread.locked()

    async def remove(self) -> None:
        async with self._turn:
            await asyncio.to_thread(self._remove)

    def close(self) -> None:
        with self._thread:
            if self._index is not None:
                self._index.close()
                self._index = None

    async def _use(self, work: Callable[[SpaceIndex], T]) -> T:
        began = time.monotonic()
        ends = await self._ground.store.sessions.ends(self.space)
        behind, result = await asyncio.to_thread(self._with, lambda index: self._in_step(index, ends, work))
        if not behind:
            self._looked_at = began
            return cast(T, result)
        for conversation, until in behind.items():
            await self._read_on(conversation, until, ends[conversation])
        self._looked_at = began
        return await asyncio.to_thread(self._with, work)

    async def _read_on(self, conversation: str, until: IndexPosition, end: int) -> None:
        ground = self._ground
        async for stamp, rows in read_new_messages(ground.store, conversation, until, end, ground.zone):
            await asyncio.to_thread(
                self._with,
                lambda index: index.put(CONVERSATION_PREFIX + conversation, stamp, rows, more=True),  # noqa: B023
            )

    def _with(self, work: Callable[[SqliteIndex], T]) -> T:
        """Blocks; a caller that was cancelled may still be in here, so that others wait."""
        try:
            with self._thread:
                if self._index is None:
                    self._make_folder()
                    self._index = SqliteIndex(self._path)
                return work(self._index)
        except sqlite3.Error as err:
            if isinstance(found := to_store_error(err), StoreCorrupt):
                raise found from err
            raise self._unusable(str(err)) from err

    def _make_folder(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as err:
            raise self._unusable(err.strerror or str(err)) from err

    def _unusable(self, why: str) -> IndexUnusable:
        folder = self._path.parent
        return IndexUnusable(
            f"the search index in {folder} cannot be used ({why}); see that {folder} is a folder that this account may "
            "write in, with room on its disk, or remove it: the index is made anew by itself"
        )

    def _in_step(
        self, index: SqliteIndex, ends: Mapping[str, int], work: Callable[[SpaceIndex], T]
    ) -> tuple[Mapping[str, IndexPosition], T | None]:
        """What is not indexed to its end yet, and the work's result where that is nothing: one hop instead of two."""
        behind = sync_files(index, self._ground.workspace, self.space, ends)
        return behind, None if behind else work(index)

    def _remove(self) -> None:
        self._looked_at = 0.0
        self.close()
        try:
            for end in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        except NotADirectoryError:
            return  # something else stands where the folder would be, so there is no index
        except OSError as err:
            raise self._unusable(err.strerror or str(err)) from err
