"""A SQLite connection in a thread of its own, opened the one way that keeps what it confirms."""

import sqlite3
import sys
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from memory.store.aside import Aside
from memory.store.engine import Row, named
from memory.store.errors import StoreError

T = TypeVar("T")
_WRITING = "rwc"
_WAL_BYTES = 64 * 1024 * 1024


class Connection:
    """One driver connection outside any transaction of the driver's own making.

    Its methods block, and so run only inside what `apart` was given.
    """

    def __init__(self, driver: Aside, bare: sqlite3.Connection) -> None:
        self._driver = driver
        self._bare = bare

    async def apart(self, work: Coroutine[Any, Any, T]) -> T:
        """Run this in the connection's thread."""
        return await self._driver.run(work)

    async def change(self, sql: str, parameters: list[Any]) -> int:
        with naming():
            return self._bare.execute(sql, parameters).rowcount

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        with naming():
            return cast(list[Row], self._bare.execute(sql, parameters).fetchall())

    def do(self, sql: str) -> None:
        """Run one statement that has neither parameters nor an answer."""
        with naming():
            self._bare.execute(sql)

    def value(self, sql: str) -> Any:
        """The first column of the first row, None when there is none."""
        with naming():
            row = self._bare.execute(sql).fetchone()
        return row[0] if row else None

    @property
    def open_transaction(self) -> bool:
        return self._bare.in_transaction

    async def close(self) -> None:
        """Close it and end its thread; called from outside that thread."""
        with naming():
            await self._driver.close()


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
    return await _connect(path, _WRITING, _durable(busy_timeout))


async def connect_reader(path: Path, busy_timeout: float, *, alone: bool) -> Connection:
    """Open for reading. alone: in a process that writes nothing, so that nothing at all may be changed."""
    return await _connect(path, "ro" if alone else "rw", _reading(busy_timeout))


async def _connect(path: Path, mode: str, settings: dict[str, object]) -> Connection:
    opened: list[sqlite3.Connection] = []

    def connector() -> sqlite3.Connection:
        opened.append(_opened(path, mode, settings))
        return opened[0]

    with naming():
        driver = Aside(connector)
        try:
            await driver
        except (sqlite3.Error, StoreError):
            await driver.ended()
            raise
    return Connection(driver, opened[0])


def _opened(path: Path, mode: str, settings: dict[str, object]) -> sqlite3.Connection:
    bare = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    bare.row_factory = sqlite3.Row
    with ExitStack() as undo:
        undo.callback(bare.close)
        if mode == _WRITING and bare.execute("PRAGMA page_count").fetchone()[0] == 0:
            bare.execute("PRAGMA auto_vacuum=INCREMENTAL")  # ignored once a table exists
        for name, wanted in settings.items():
            bare.execute(f"PRAGMA {name}={wanted}")
            found = bare.execute(f"PRAGMA {name}").fetchone()[0]
            if str(found).lower() != str(wanted).lower():
                raise StoreError(f"the database does not keep {name}={wanted} here; it says {found}")
        undo.pop_all()
    return bare


def _durable(busy_timeout: float) -> dict[str, object]:
    settings: dict[str, object] = {
        "busy_timeout": int(busy_timeout * 1000),
        "journal_mode": "wal",
        "synchronous": 2,  # full
        "foreign_keys": 1,
        "secure_delete": 1,
        "journal_size_limit": _WAL_BYTES,
    }
    return settings | ({"fullfsync": 1} if sys.platform == "darwin" else {})


def _reading(busy_timeout: float) -> dict[str, object]:
    return {"busy_timeout": int(busy_timeout * 1000), "query_only": 1}
