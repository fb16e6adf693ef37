"""A bare SQLite connection, opened the one way that keeps what it confirms."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import aiosqlite

from memory.store.engine import Row, named
from memory.store.errors import StoreError

_WAL_BYTES = 64 * 1024 * 1024


class Connection:
    """One driver connection outside any transaction of the driver's own making."""

    def __init__(self, bare: aiosqlite.Connection) -> None:
        self.bare = bare

    async def change(self, sql: str, parameters: list[Any]) -> int:
        with naming():
            cursor = await self.bare.execute(sql, parameters)
        return cursor.rowcount

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        with naming():
            return cast(list[Row], await self.bare.execute_fetchall(sql, parameters))

    async def do(self, sql: str) -> None:
        """Run one statement that has neither parameters nor an answer."""
        with naming():
            await self.bare.execute(sql)

    async def value(self, sql: str) -> Any:
        """The first column of the first row, None when there is none."""
        with naming():
            rows = list(await self.bare.execute_fetchall(sql))
        return rows[0][0] if rows else None

    @property
    def open_transaction(self) -> bool:
        return self.bare.in_transaction

    async def close(self) -> None:
        with naming():
            await self.bare.close()


@contextmanager
def naming() -> Iterator[None]:
    """Give the database's errors their names in this house."""
    try:
        yield
    except sqlite3.Error as err:
        raise named(err) from err


async def connect_writer(path: Path, busy_timeout: float) -> Connection:
    """Open for writing; every promise of durability is read back.

    Args:
        busy_timeout: seconds to wait for another process's lock.

    Raises:
        StoreError: a setting did not hold (a file system without shared memory, for one).
        StoreCorrupt: this is no database.
    """
    return await _ready(await _connect(path, "rwc"), _durable(busy_timeout))


async def connect_reader(path: Path, busy_timeout: float, *, alone: bool) -> Connection:
    """Open for reading. alone: in a process that writes nothing, so that nothing at all may be changed."""
    return await _ready(await _connect(path, "ro" if alone else "rw"), _reading(busy_timeout))


async def _connect(path: Path, mode: str) -> Connection:
    with naming():
        bare = await aiosqlite.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    bare.row_factory = sqlite3.Row
    return Connection(bare)


async def _ready(connection: Connection, settings: dict[str, object]) -> Connection:
    try:
        for name, wanted in settings.items():
            await connection.do(f"PRAGMA {name}={wanted}")
            found = await connection.value(f"PRAGMA {name}")
            if str(found).lower() != str(wanted).lower():
                raise StoreError(f"the database does not keep {name}={wanted} here; it says {found}")
    except BaseException:
        await connection.close()
        raise
    return connection


def _durable(busy_timeout: float) -> dict[str, object]:
    settings: dict[str, object] = {
        "busy_timeout": int(busy_timeout * 1000),
        "auto_vacuum": 2,  # incremental; ignored once a table exists, so it stands before the first
        "journal_mode": "wal",
        "synchronous": 2,  # full
        "foreign_keys": 1,
        "secure_delete": 1,
        "journal_size_limit": _WAL_BYTES,
    }
    return settings | ({"fullfsync": 1} if sys.platform == "darwin" else {})


def _reading(busy_timeout: float) -> dict[str, object]:
    return {"busy_timeout": int(busy_timeout * 1000), "query_only": 1}
