"""Connections to one SQLite database file: statements, settings that durability needs, and
errors.
"""

import asyncio
import errno
import os
import sqlite3
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

import aiosqlite
from sqlalchemy.dialects.sqlite import dialect

from memory.store.engine.database import Result, Row, StatementCompiler, T
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, WrongState
from memory.workspace.atomic_write import fsync_path

_ITER_CHUNK_ROWS = 64  # what aiosqlite asks for; we do not iterate
_WRITE_MODE = "rwc"
_WAL_BYTES = 64 * 1024 * 1024
SYNC_AT_COMMIT, SYNC_LATER = 2, 1  # FULL and NORMAL of PRAGMA synchronous
# KiB of pages that a reader keeps, as SQLite wants them: each commit of the writer empties its
# cache, and with 2 MB no read of a database with 8,500 messages was faster. Pages that come and go
# leave holes in the heap.
_READER_CACHE = -500
_READING: dict[str, object] = {"query_only": 1, "cache_size": _READER_CACHE}
# the store has some 300; sqlite3's default of 128 would compile some of them in each turn
_CACHED_STATEMENTS = 512
_DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_ERROR_OF_SQLITE_CODE: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_LOCKED: StoreBusy,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_IOERR: StoreFull,
    sqlite3.SQLITE_CORRUPT: StoreCorrupt,
    sqlite3.SQLITE_NOTADB: StoreCorrupt,
    sqlite3.SQLITE_CONSTRAINT: WrongState,
}
REMEDY = "stop mnema, put the file back or restore a backup, then start again"
OUT_OF_REACH = (
    "cannot be reached while mnema uses it ({why}): give the account that runs mnema access to its "
    "folder again"
)


def to_store_error(err: BaseException) -> BaseException:
    """Return the StoreError for an error of SQLite or of the disk; any other error is returned as
    it is.
    """
    if isinstance(err, sqlite3.Error):
        code = getattr(err, "sqlite_errorcode", 0) & 0xFF
        kind = _ERROR_OF_SQLITE_CODE.get(
            code, StoreCorrupt if "image is malformed" in str(err) else StoreError
        )
        return kind(str(err))
    if isinstance(err, OSError):
        return (StoreFull if err.errno in _DISK_FULL_ERRNOS else StoreError)(str(err))
    return err


@cache
def sqlite_compiler() -> StatementCompiler:
    """Return the compiler of all SQLite databases of this process."""
    return StatementCompiler(dialect(paramstyle="qmark"))


@contextmanager
def sqlite_errors_as_store_errors() -> Iterator[None]:
    """Raise SQLite's errors as StoreError."""
    try:
        yield
    except sqlite3.Error as err:
        raise to_store_error(err) from err


class DatabaseFile:
    """The database file and its write-ahead log as they were opened, by device and inode.

    SQLite continues with a file that was removed or replaced; what it commits then is lost with the
    process. A check costs two `stat` calls, some 3 µs.
    """

    def __init__(self, path: Path) -> None:
        self._opened = [(name, _device_and_inode(name)) for name in (str(path), f"{path}-wal")]

        self._log_path = f"{path}-wal"

    def trouble(self) -> str:
        """Return what happened to the files and what to do, "" while both are those that were
        opened.
        """
        for name, opened in self._opened:
            try:
                found = _device_and_inode(name)
            except OSError as err:  # no access to its folder, or a failing disk
                return f"{name} {OUT_OF_REACH.format(why=err.strerror)}"
            if found != opened and opened is not None:
                what = "was removed" if found is None else "was replaced by another file"
                return f"{name} {what} while mnema uses it: {REMEDY}"
        return ""

    def log_bytes(self) -> int:
        """Return the size of the write-ahead log, 0 where it cannot be read."""
        try:
            return os.stat(self._log_path).st_size
        except OSError:
            return 0

    def sync_log(self) -> None:
        """Put the write-ahead log on the disk.

        Raises:
            OSError: it is not known to be there.
        """
        fsync_path(Path(self._log_path))


def _device_and_inode(name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):  # the latter where its folder is a file now
        return None
    return found.st_dev, found.st_ino


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Run a unit of work to its end in a thread without an event loop; nothing in it may wait."""
    try:
        work.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    work.close()
    raise RuntimeError("a unit of work waited for something else than its database")


class _Statements:
    """Statements on one connection; all of them block."""

    _conn: sqlite3.Connection

    async def run(self, sql: str, parameters: list[Any]) -> Result:
        try:
            cursor = self._conn.execute(sql, parameters)
            return Result(rows=cast(list[Row], cursor.fetchall()), rowcount=cursor.rowcount)
        except sqlite3.Error as err:
            raise to_store_error(err) from err

    def do(self, sql: str) -> None:
        """Run one statement without parameters or result."""
        try:
            self._conn.execute(sql)
        except sqlite3.Error as err:
            raise to_store_error(err) from err

    def value(self, sql: str) -> Any:
        """Return the first column of the first row, None when there is none."""
        with sqlite_errors_as_store_errors():
            row = self._conn.execute(sql).fetchone()
        return row[0] if row else None

    def set_synchronous(self, level: int) -> None:
        """Set PRAGMA synchronous; only between transactions, for within one SQLite ignores it."""
        with sqlite_errors_as_store_errors():
            # never from the cache of compiled statements
            self._conn.executescript(f"PRAGMA synchronous={level}")


class PlainConnection(_Statements):
    """A connection without a thread of its own."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    @property
    def in_transaction(self) -> bool:
        return self._conn.in_transaction

    def close(self) -> None:
        """Close the connection."""
        with sqlite_errors_as_store_errors():
            self._conn.close()


class SqliteConnection(_Statements, aiosqlite.Connection):
    """A connection whose thread runs whole units of work.

    A hop to the thread and back costs about 95 µs, a statement about 3: a transaction of five
    statements takes 0.6 ms in one hop and 1.5 ms with a hop per statement.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, _ITER_CHUNK_ROWS)
        self._thread.daemon = True  # a process that is terminated does not wait for its database

    async def run_in_thread(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end in the thread; return its value or raise its error here."""
        return cast(T, await self._execute(drive, work))  # type: ignore[no-untyped-call]

    async def do_in_thread(self, sql: str) -> None:
        """Run one statement without parameters or result in the thread."""
        await self._execute(self.do, sql)  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        """Finish what is queued, close the connection and end the thread; call it from outside the
        thread.
        """
        with sqlite_errors_as_store_errors():
            await super().close()

    async def wait_ended(self) -> None:
        """Wait for the thread, which ends by itself when the connection could not be opened."""
        await asyncio.to_thread(self._thread.join)


async def connect_writer(path: Path, busy_timeout: float) -> SqliteConnection:
    """Open for writing; each setting that durability needs is read back.

    Args:
        busy_timeout: seconds to wait for another process's lock.

    Raises:
        StoreError: a setting has no effect, such as on a file system without shared memory.
        StoreCorrupt: the file is no database.
    """
    settings: dict[str, object] = {
        "busy_timeout": int(busy_timeout * 1000),
        "journal_mode": "wal",
        "synchronous": SYNC_AT_COMMIT,
        "foreign_keys": 1,
        "secure_delete": 1,
        "journal_size_limit": _WAL_BYTES,
    }
    return await _connect(path, _WRITE_MODE, settings | _of_this_system())


async def connect_reader(path: Path, busy_timeout: float, *, alone: bool) -> SqliteConnection:
    """Open for reading.

    Args:
        alone: this process has no writer, so the connection may not even create the log.
    """
    settings: dict[str, object] = {"busy_timeout": int(busy_timeout * 1000)} | _READING
    return await _connect(path, "ro" if alone else "rw", settings)


async def connect_beside(path: Path) -> tuple[PlainConnection, PlainConnection]:
    """Open a reader for the event loop's thread, which never waits for a lock, and a connection for
    checkpoints.
    """
    reading: dict[str, object] = {"busy_timeout": 0} | _READING
    checkpoint: dict[str, object] = {
        "busy_timeout": 0,
        "synchronous": SYNC_AT_COMMIT,
    } | _of_this_system()

    def connect() -> tuple[PlainConnection, PlainConnection]:
        with ExitStack() as undo:
            light_reader = PlainConnection(_open_connection(path, "rw", reading))
            undo.callback(light_reader.close)
            checkpointer = PlainConnection(_open_connection(path, "rw", checkpoint))
            undo.pop_all()
        return light_reader, checkpointer

    with sqlite_errors_as_store_errors():
        return await asyncio.to_thread(connect)


def _of_this_system() -> dict[str, object]:
    """Return what makes a sync reach the disk on this system."""
    return {"fullfsync": 1} if sys.platform == "darwin" else {}


async def _connect(path: Path, mode: str, settings: dict[str, object]) -> SqliteConnection:
    connection = SqliteConnection(lambda: _open_connection(path, mode, settings))
    with sqlite_errors_as_store_errors():
        try:
            await connection
        except (sqlite3.Error, StoreError):
            await connection.wait_ended()
            raise
    return connection


def _open_connection(path: Path, mode: str, settings: dict[str, object]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        # units of work run on the loop's thread or in the connection's, never in both at once
        check_same_thread=False,
        cached_statements=_CACHED_STATEMENTS,
    )
    connection.row_factory = sqlite3.Row
    with ExitStack() as undo:
        undo.callback(connection.close)
        if mode == _WRITE_MODE and connection.execute("PRAGMA page_count").fetchone()[0] == 0:
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # ignored once a table exists
        for name, value in settings.items():
            connection.execute(f"PRAGMA {name}={value}")
            found = connection.execute(f"PRAGMA {name}").fetchone()[0]
            if str(found).lower() != str(value).lower():
                raise StoreError(f"the database does not keep {name}={value} here; it says {found}")
        undo.pop_all()
    return connection


def copy_database(source: Path, target: Path, *, check: bool = False, mode: str = "rw") -> None:
    """Copy a database with what its log holds; the target is the old file or the whole copy, never
    a part.

    Args:
        check: whether the copy has to pass SQLite's quick check.
        mode: to open the source with; "rw" moves its log into it where nobody else has it open,
            "ro" changes nothing.

    Raises:
        sqlite3.Error, OSError: there is no copy.
        StoreCorrupt: the copy does not pass the check, and was removed.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    half = target.with_name(f".{target.name}.half")
    half.unlink(missing_ok=True)
    os.close(os.open(half, os.O_CREAT | os.O_WRONLY, 0o600))
    uri = f"{source.absolute().as_uri()}?mode={mode}"  # a plain connect would create a missing file
    with closing(sqlite3.connect(uri, uri=True)) as opened, closing(sqlite3.connect(half)) as copy:
        opened.backup(copy)
        # a single file: reading it makes no files beside it
        copy.execute("PRAGMA journal_mode=DELETE")
        problem = copy.execute("PRAGMA quick_check(1)").fetchone()[0] if check else "ok"
    if problem != "ok":
        half.unlink()
        raise StoreCorrupt(f"a copy of the database does not pass its check: {problem}")
    fsync_path(half)
    os.replace(half, target)
    fsync_path(target.parent)
