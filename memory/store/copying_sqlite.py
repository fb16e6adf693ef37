"""A SQLite file as a side of a copy: read as it stood at one moment, or made anew."""

import os
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Table
from sqlalchemy.dialects.sqlite import dialect

from memory.disk import sync
from memory.store.connection import naming
from memory.store.copying import Values, plain
from memory.store.creation import HEAD, creation
from memory.store.engine import Compiler, Row, Tx
from memory.store.errors import SchemaOlder
from memory.store.tables import instance, stamp

TOGETHER = 500
"""Rows of one insert."""


class SqliteSide:
    """See memory.store.copying.Writer; what it does blocks."""

    def __init__(self, bare: sqlite3.Connection) -> None:
        self._bare = bare

    async def rows(self, table: Table) -> AsyncGenerator[Values, None]:
        keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
        made = plain(table)
        with naming(), closing(self._bare.cursor()) as cursor:
            for row in cursor.execute(f"SELECT {_names(table)} FROM {table.name} ORDER BY {keys}"):  # noqa: S608
                yield made(row)

    async def lease(self) -> int:
        with naming():
            row = self._bare.execute(f"SELECT lease_epoch FROM {instance.name}").fetchone()  # noqa: S608  our own name
        return int(row[0]) if row else 0

    async def put(self, table: Table, rows: AsyncIterator[Values]) -> None:
        places = ", ".join("?" for _ in table.columns)
        insert = f"INSERT INTO {table.name} ({_names(table)}) VALUES ({places})"  # noqa: S608  our own names
        waiting: list[Values] = []
        with naming():
            async for row in rows:
                waiting.append(row)
                if len(waiting) == TOGETHER:
                    self._bare.executemany(insert, waiting)
                    waiting.clear()
            self._bare.executemany(insert, waiting)

    def tx(self, now: float) -> Tx:
        return Tx(driver=_Driver(self._bare), compiler=Compiler(dialect(paramstyle="qmark")), lease=0, now=now)


class _Driver:
    """See memory.store.engine.Driver; what it does blocks."""

    def __init__(self, bare: sqlite3.Connection) -> None:
        self._bare = bare

    async def change(self, sql: str, parameters: list[Any]) -> int:
        with naming():
            return self._bare.execute(sql, parameters).rowcount

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        with naming(), closing(self._bare.cursor()) as cursor:
            cursor.row_factory = sqlite3.Row
            return cast(list[Row], cursor.execute(sql, parameters).fetchall())


@contextmanager
def reading(path: Path) -> Iterator[SqliteSide]:
    """A record of this version that nobody changes meanwhile; not a byte of the file is written.

    Raises:
        StoreError: it cannot be read, or is of another version.
    """
    with naming(), closing(_connect(path, "ro")) as bare:
        bare.execute("BEGIN DEFERRED")
        found = bare.execute(f"SELECT version_num FROM {stamp.name}").fetchone()  # noqa: S608  our own name
        if found is None or found[0] != HEAD:
            raise SchemaOlder(f"{path} has another version's tables; run mnema migrate first")
        yield SqliteSide(bare)


@contextmanager
def making(path: Path, lease: int) -> Iterator[SqliteSide]:
    """A new record in a file of its own without a log beside it, whole and on the disk at the end.

    Args:
        lease: the number of the newest opening of what it is a copy of.

    Raises:
        StoreError, OSError: it cannot be written.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    with naming(), closing(_connect(path, "rw")) as bare:
        bare.execute("PRAGMA auto_vacuum=INCREMENTAL")
        bare.execute("PRAGMA journal_mode=MEMORY")
        bare.execute("PRAGMA synchronous=OFF")  # it is synced once, when it is whole
        bare.execute("BEGIN IMMEDIATE")
        for statement in creation(dialect(paramstyle="qmark")):
            bare.execute(statement)
        bare.execute(f"INSERT INTO {stamp.name} VALUES (?)", (HEAD,))  # noqa: S608  our own names
        bare.execute(f"INSERT INTO {instance.name} (id, lease_epoch, clean) VALUES (1, ?, 1)", (lease,))  # noqa: S608
        yield SqliteSide(bare)
        bare.execute("COMMIT")
    sync(path)
    sync(path.parent)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)


def _names(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.columns)
