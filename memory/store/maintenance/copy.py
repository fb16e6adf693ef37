"""One record copied into another, table by table, and the proof that both hold the same rows."""

import hashlib
import json
import os
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from sqlalchemy import Boolean, Double, Integer, Table
from sqlalchemy.dialects.sqlite import dialect

from memory.store.engine.database import Row, StatementCompiler, Tx
from memory.store.engine.sqlite import sqlite_errors_as_store_errors
from memory.store.errors import SchemaOlder, StoreError
from memory.store.schema import memory_tables as access_tables  # noqa: F401  tables of the store
from memory.store.schema.columns import metadata
from memory.store.schema.create import HEAD, creation_statements
from memory.store.schema.tables import duty, instance, probe, process, stamp
from memory.workspace.files import fsync_path

RowValues = tuple[str | int | float | bool, ...]  # one row, its values in the order of the table's columns
# Tables about who has a record open and which version it has: each record has its own.
PER_DATABASE_TABLES = (instance, stamp, process, duty, probe)
# What is copied, what others refer to first.
TABLES: tuple[Table, ...] = tuple(table for table in metadata.sorted_tables if table not in PER_DATABASE_TABLES)


class CopySource(Protocol):
    """A record that is read as it stood at one moment."""

    def rows(self, table: Table) -> AsyncGenerator[RowValues, None]:
        """Every row in the order of the primary key, never all of them at once; whoever asks closes it."""
        ...

    async def lease(self) -> int:
        """The number of its newest opening."""
        ...


class CopyTarget(CopySource, Protocol):
    """A record that is being made; whoever made the writer says whether it stands."""

    async def put(self, table: Table, rows: AsyncIterator[RowValues]) -> None:
        """Add all of these rows."""
        ...

    def tx(self, now: float) -> Tx:
        """The transaction in which it is made, as units of work take it. now: unix seconds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDigest:
    """What a table holds."""

    table: str
    rows: int
    #: Over every value of every row, in hex.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableComparison:
    """One table on both sides, each read for itself."""

    source: TableDigest
    target: TableDigest

    @property
    def equal(self) -> bool:
        return self.source == self.target


@dataclass(slots=True)
class _RowHasher:
    """Rows on their way, counted and hashed as they pass."""

    table: Table
    rows: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    async def passing(self, rows: AsyncIterator[RowValues]) -> AsyncGenerator[RowValues, None]:
        async for row in rows:
            self.rows += 1
            self.digest.update(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())
            self.digest.update(b"\n")
            yield row

    @property
    def tally(self) -> TableDigest:
        return TableDigest(table=self.table.name, rows=self.rows, sha256=self.digest.hexdigest())


async def digest_table(held: CopySource, table: Table) -> TableDigest:
    """What a table of a record holds."""
    count = _RowHasher(table)
    async with aclosing(held.rows(table)) as rows, aclosing(count.passing(rows)) as passing:
        async for _ in passing:
            pass
    return count.tally


async def copy_tables(source: CopySource, target: CopyTarget) -> tuple[TableComparison, ...]:
    """Copy every table into a record whose tables are empty, then read it back.

    Raises:
        StoreError: a row cannot be read, or not be held there.
    """
    counted = []
    for table in TABLES:
        count = _RowHasher(table)
        async with aclosing(source.rows(table)) as rows, aclosing(count.passing(rows)) as passing:
            await target.put(table, passing)
        counted.append(count.tally)
    return tuple(
        [
            TableComparison(source=held, target=await digest_table(target, table))
            for table, held in zip(TABLES, counted, strict=True)
        ]
    )


def value_normalizer(table: Table) -> Callable[[Sequence[Any]], RowValues]:
    """What makes the same values of a row, whichever database it was read from.

    It raises StoreError for a value that no column of ours holds.
    """
    kinds = [_normalizer_of(column.type) for column in table.columns]
    names = [column.name for column in table.columns]

    def made(row: Sequence[Any]) -> RowValues:
        values = []
        for name, kind, value in zip(names, kinds, row, strict=True):
            if type(value) is kind:
                values.append(value)
            elif type(value) is int and (kind is float or (kind is bool and value in (0, 1))):
                values.append(kind(value))
            else:
                raise StoreError(f"{table.name}.{name} holds a {type(value).__name__} where {kind.__name__} belongs")
        return tuple(values)

    return made


def _normalizer_of(type_: object) -> type[str] | type[int] | type[float] | type[bool]:
    if isinstance(type_, Boolean):
        return bool
    if isinstance(type_, Integer):
        return int
    return float if isinstance(type_, Double) else str


def combine_digests(tallies: Sequence[TableDigest]) -> TableDigest:
    """One of all tables: their rows, and a SHA-256 over a line `table rows sha256` for each, in their order."""
    lines = "".join(f"{one.table} {one.rows} {one.sha256}\n" for one in tallies)
    return TableDigest(
        table="all", rows=sum(one.rows for one in tallies), sha256=hashlib.sha256(lines.encode()).hexdigest()
    )


def digests_to_json(tallies: Sequence[TableDigest]) -> Mapping[str, Sequence[str | int]]:
    """As JSON: table -> (rows, sha256)."""
    return {one.table: [one.rows, one.sha256] for one in tallies}


# A SQLite file as a side of a copy: read as it stood at one moment, or made again.

BATCH_ROWS = 500  # rows of one insert


class SqliteCopySide:
    """See memory.store.maintenance.copy.Writer; what it does blocks."""

    def __init__(self, bare: sqlite3.Connection) -> None:
        self._bare = bare

    async def rows(self, table: Table) -> AsyncGenerator[RowValues, None]:
        keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
        made = value_normalizer(table)
        with sqlite_errors_as_store_errors(), closing(self._bare.cursor()) as cursor:
            for row in cursor.execute(f"SELECT {_column_names(table)} FROM {table.name} ORDER BY {keys}"):  # noqa: S608
                yield made(row)

    async def lease(self) -> int:
        with sqlite_errors_as_store_errors():
            row = self._bare.execute(f"SELECT lease_epoch FROM {instance.name}").fetchone()  # noqa: S608  our own name
        return int(row[0]) if row else 0

    async def put(self, table: Table, rows: AsyncIterator[RowValues]) -> None:
        places = ", ".join("?" for _ in table.columns)
        insert = f"INSERT INTO {table.name} ({_column_names(table)}) VALUES ({places})"  # noqa: S608  our own names
        waiting: list[RowValues] = []
        with sqlite_errors_as_store_errors():
            async for row in rows:
                waiting.append(row)
                if len(waiting) == BATCH_ROWS:
                    self._bare.executemany(insert, waiting)
                    waiting.clear()
            self._bare.executemany(insert, waiting)

    def tx(self, now: float) -> Tx:
        return Tx(
            driver=_BlockingDriver(self._bare),
            compiler=StatementCompiler(dialect(paramstyle="qmark")),
            lease=0,
            now=now,
        )


class _BlockingDriver:
    """See memory.store.engine.database.Driver; what it does blocks."""

    def __init__(self, bare: sqlite3.Connection) -> None:
        self._bare = bare

    async def change(self, sql: str, parameters: list[Any]) -> int:
        with sqlite_errors_as_store_errors():
            return self._bare.execute(sql, parameters).rowcount

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        with sqlite_errors_as_store_errors(), closing(self._bare.cursor()) as cursor:
            cursor.row_factory = sqlite3.Row
            return cast(list[Row], cursor.execute(sql, parameters).fetchall())


@contextmanager
def open_for_copy(path: Path) -> Iterator[SqliteCopySide]:
    """A record of this version that nobody changes meanwhile; not a byte of the file is written.

    Raises:
        StoreError: it cannot be read, or is of another version.
    """
    with sqlite_errors_as_store_errors(), closing(_connect(path, "ro")) as bare:
        bare.execute("BEGIN DEFERRED")
        found = bare.execute(f"SELECT version_num FROM {stamp.name}").fetchone()  # noqa: S608  our own name
        if found is None or found[0] != HEAD:
            raise SchemaOlder(f"{path} has another version's tables; run mnema migrate first")
        yield SqliteCopySide(bare)


@contextmanager
def create_copy(path: Path, lease: int) -> Iterator[SqliteCopySide]:
    """A new record in a file of its own without a log beside it, whole and on the disk at the end.

    Args:
        lease: the number of the newest opening of what it is a copy of.

    Raises:
        StoreError, OSError: it cannot be written.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    with sqlite_errors_as_store_errors(), closing(_connect(path, "rw")) as bare:
        bare.execute("PRAGMA auto_vacuum=INCREMENTAL")
        bare.execute("PRAGMA journal_mode=MEMORY")
        bare.execute("PRAGMA synchronous=OFF")  # it is synced once, when it is whole
        bare.execute("BEGIN IMMEDIATE")
        for statement in creation_statements(dialect(paramstyle="qmark")):
            bare.execute(statement)
        bare.execute(f"INSERT INTO {stamp.name} VALUES (?)", (HEAD,))  # noqa: S608  our own names
        bare.execute(f"INSERT INTO {instance.name} (id, lease_epoch, clean) VALUES (1, ?, 1)", (lease,))  # noqa: S608
        yield SqliteCopySide(bare)
        bare.execute("COMMIT")
    fsync_path(path)
    fsync_path(path.parent)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)


def _column_names(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.columns)
