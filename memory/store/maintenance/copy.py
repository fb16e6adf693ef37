"""Copies one database into another, table by table, and proves that both have the same rows."""

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

from memory.store.engine.database import Result, Row, Tx
from memory.store.engine.sqlite_connection import sqlite_compiler, sqlite_errors_as_store_errors
from memory.store.errors import SchemaOlder, StoreError
from memory.store.schema import memory_tables  # noqa: F401  adds its tables to the metadata
from memory.store.schema import memory_tables as access_tables  # noqa: F401  tables of the store
from memory.store.schema.create import HEAD, check_revision_is_known, creation_statements
from memory.store.schema.tables import duty, instance, metadata, probe, process, stamp
from memory.workspace.atomic_write import fsync_path

RowValues = tuple[str | int | float | bool, ...]  # one row, in the order of the table's columns
# Tables about the schema's version and the processes that have a database open; not copied.
PER_DATABASE_TABLES = (instance, stamp, process, duty, probe)
# Copied tables, those that foreign keys refer to first.
TABLES: tuple[Table, ...] = tuple(
    table for table in metadata.sorted_tables if table not in PER_DATABASE_TABLES
)


class CopySource(Protocol):
    """A database read as of one moment."""

    def rows(self, table: Table) -> AsyncGenerator[RowValues, None]:
        """Stream every row in the order of the primary key; the caller closes the generator."""
        ...

    async def lease(self) -> int:
        """Return the newest lease number."""
        ...


class CopyTarget(CopySource, Protocol):
    """A database under construction, in one transaction that its opener commits or rolls back."""

    async def put(self, table: Table, rows: AsyncIterator[RowValues]) -> None:
        """Insert rows."""
        ...

    def tx(self, now: float) -> Tx:
        """Wrap the open transaction for units of work. now: unix seconds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDigest:
    """Row count and hash of a table."""

    table: str
    rows: int
    #: Over every value of every row, in hex.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableComparison:
    """Digests of one table on both sides, each computed from that side's rows."""

    source: TableDigest
    target: TableDigest

    @property
    def equal(self) -> bool:
        return self.source == self.target


@dataclass(slots=True)
class _RowHasher:
    """Counts and hashes the rows that pass through it."""

    table: Table
    rows: int = 0
    hash: Any = field(default_factory=hashlib.sha256)

    async def pass_through(self, rows: AsyncIterator[RowValues]) -> AsyncGenerator[RowValues, None]:
        async for row in rows:
            self.rows += 1
            self.hash.update(
                json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            )
            yield row

    @property
    def digest(self) -> TableDigest:
        return TableDigest(table=self.table.name, rows=self.rows, sha256=self.hash.hexdigest())


async def digest_table(source: CopySource, table: Table) -> TableDigest:
    """Count and hash a table's rows."""
    hasher = _RowHasher(table)
    async with aclosing(source.rows(table)) as rows, aclosing(hasher.pass_through(rows)) as hashed:
        async for _ in hashed:
            pass
    return hasher.digest


async def copy_tables(source: CopySource, target: CopyTarget) -> tuple[TableComparison, ...]:
    """Copy every table into empty tables, then read them back.

    Raises:
        StoreError: a row cannot be read or inserted.
    """
    digests = []
    for table in TABLES:
        hasher = _RowHasher(table)
        async with (
            aclosing(source.rows(table)) as rows,
            aclosing(hasher.pass_through(rows)) as hashed,
        ):
            await target.put(table, hashed)
        digests.append(hasher.digest)
    pairs = zip(TABLES, digests, strict=True)
    return tuple(
        [
            TableComparison(source=one, target=await digest_table(target, table))
            for table, one in pairs
        ]
    )


def value_normalizer(table: Table) -> Callable[[Sequence[Any]], RowValues]:
    """Return a function that gives a row's values the same types, whichever database it was read
    from.

    The function raises StoreError for a value of a wrong type.
    """
    types = [_python_type(column.type) for column in table.columns]
    names = [column.name for column in table.columns]

    def normalize(row: Sequence[Any]) -> RowValues:
        values: list[str | int | float | bool] = []
        for name, wanted, value in zip(names, types, row, strict=True):
            if wanted is float and value == 0:
                values.append(0.0)  # SQLite does not store the sign of -0.0
            elif type(value) is wanted:
                values.append(value)
            elif type(value) is int and (wanted is float or (wanted is bool and value in (0, 1))):
                values.append(wanted(value))
            else:
                raise StoreError(
                    f"{table.name}.{name} holds a {type(value).__name__} where {wanted.__name__} "
                    "belongs"
                )
        return tuple(values)

    return normalize


def _python_type(type_: object) -> type[str] | type[int] | type[float] | type[bool]:
    if isinstance(type_, Boolean):
        return bool
    if isinstance(type_, Integer):
        return int
    return float if isinstance(type_, Double) else str


def combine_digests(digests: Sequence[TableDigest]) -> TableDigest:
    """Combine the digests of all tables: a SHA-256 over a line `table rows sha256` for each, in
    their order.
    """
    lines = "".join(f"{one.table} {one.rows} {one.sha256}\n" for one in digests)
    return TableDigest(
        table="all",
        rows=sum(one.rows for one in digests),
        sha256=hashlib.sha256(lines.encode()).hexdigest(),
    )


def digests_to_json(digests: Sequence[TableDigest]) -> Mapping[str, Sequence[str | int]]:
    """Map each table's name to its [rows, sha256]."""
    return {one.table: [one.rows, one.sha256] for one in digests}


# SQLite

BATCH_ROWS = 500  # rows of one insert


class SqliteCopySide:
    """A SQLite file as the source or target of a copy. Its methods block."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def rows(self, table: Table) -> AsyncGenerator[RowValues, None]:
        keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
        normalize = value_normalizer(table)
        with sqlite_errors_as_store_errors(), closing(self._connection.cursor()) as cursor:
            for row in cursor.execute(
                f"SELECT {column_names(table)} FROM {table.name} ORDER BY {keys}"  # noqa: S608
            ):  # noqa: RUF100, S608
                yield normalize(row)

    async def lease(self) -> int:
        with sqlite_errors_as_store_errors():
            row = self._connection.execute(f"SELECT lease_epoch FROM {instance.name}").fetchone()  # noqa: S608
        return int(row[0]) if row else 0

    async def put(self, table: Table, rows: AsyncIterator[RowValues]) -> None:
        marks = ", ".join("?" for _ in table.columns)
        insert = f"INSERT INTO {table.name} ({column_names(table)}) VALUES ({marks})"  # noqa: S608  our own names
        batch: list[RowValues] = []
        with sqlite_errors_as_store_errors():
            async for row in rows:
                batch.append(row)
                if len(batch) == BATCH_ROWS:
                    self._connection.executemany(insert, batch)
                    batch.clear()
            self._connection.executemany(insert, batch)

    def tx(self, now: float) -> Tx:
        driver = _BlockingDriver(self._connection)
        return Tx(driver=driver, compiler=sqlite_compiler(), lease=0, now=now)


class _BlockingDriver:
    """A database driver on a plain connection. Its methods block."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def run(self, sql: str, parameters: list[Any]) -> Result:
        with sqlite_errors_as_store_errors(), closing(self._connection.cursor()) as cursor:
            cursor.row_factory = sqlite3.Row
            rows = cursor.execute(sql, parameters).fetchall()
            return Result(rows=cast(list[Row], rows), rowcount=cursor.rowcount)


@contextmanager
def open_for_copy(path: Path) -> Iterator[SqliteCopySide]:
    """Open a database of this version for reading, in one transaction; the file is not written.

    Raises:
        StoreError: it cannot be read, or has another version's tables.
    """
    with sqlite_errors_as_store_errors(), closing(_connect(path, "ro")) as connection:
        connection.execute("BEGIN DEFERRED")
        found = connection.execute(f"SELECT version_num FROM {stamp.name}").fetchone()  # noqa: S608  our own name
        if found is not None:
            check_revision_is_known(found[0])
        if found is None or found[0] != HEAD:
            raise SchemaOlder(f"{path} has another version's tables; run mnema migrate first")
        yield SqliteCopySide(connection)


@contextmanager
def create_copy(path: Path, lease: int) -> Iterator[SqliteCopySide]:
    """Create a database in a single file without a journal; committed and fsynced on exit.

    Args:
        lease: the newest lease number of the source.

    Raises:
        StoreError, OSError: it cannot be written.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    with sqlite_errors_as_store_errors(), closing(_connect(path, "rw")) as connection:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute("PRAGMA synchronous=OFF")  # fsynced once, at the end
        connection.execute("BEGIN IMMEDIATE")
        for statement in creation_statements(sqlite_compiler().dialect):
            connection.execute(statement)
        connection.execute(f"INSERT INTO {stamp.name} VALUES (?)", (HEAD,))  # noqa: S608  our own names
        insert_lease = f"INSERT INTO {instance.name} (id, lease_epoch, clean) VALUES (1, ?, 1)"  # noqa: S608
        connection.execute(insert_lease, (lease,))
        yield SqliteCopySide(connection)
        connection.execute("COMMIT")
    fsync_path(path)
    fsync_path(path.parent)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None
    )


def column_names(table: Table) -> str:
    """List the columns of a table for a statement."""
    return ", ".join(f'"{column.name}"' for column in table.columns)
