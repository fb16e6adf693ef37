"""One SQLite database in use: a writer that commits in groups, and a reader of what is committed."""

import asyncio
import errno
import os
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Concatenate, cast

import aiosqlite
import structlog
from sqlalchemy import select
from sqlalchemy.dialects.sqlite import dialect

from memory.store.engine.database import (
    OnCommit,
    P,
    QueueKey,
    Row,
    StatementCompiler,
    T,
    Tx,
    UnitOfWork,
    ignore_commit,
)
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreMoved, WrongState
from memory.store.schema.tables import instance
from memory.workspace.files import fsync_path

log = structlog.get_logger(__name__)
_ITER_CHUNK_ROWS = 64  # what aiosqlite asks for; we do not iterate
_WRITE_MODE = "rwc"
_WAL_BYTES = 64 * 1024 * 1024
_MAX_GROUP_COMMIT = 64  # units of work
_LOG_SECONDS = 60.0  # between two log lines about one lasting problem
_LEASE = select(instance.c.lease_epoch)  # of the newest opening
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
    "cannot be reached while mnema uses it ({why}): give the account that runs mnema access to its folder again"
)


def to_store_error(err: BaseException) -> BaseException:
    """Return the StoreError for an error of SQLite or of the disk; any other error is returned as it is."""
    if isinstance(err, sqlite3.Error):
        code = getattr(err, "sqlite_errorcode", 0) & 0xFF
        kind = _ERROR_OF_SQLITE_CODE.get(code, StoreCorrupt if "image is malformed" in str(err) else StoreError)
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

    SQLite continues with a file that was removed or replaced; what it commits then is lost with the process. A check
    costs two `stat` calls, some 3 µs.
    """

    def __init__(self, path: Path) -> None:
        self._opened = [(name, _device_and_inode(name)) for name in (str(path), f"{path}-wal")]

    def trouble(self) -> str:
        """Return what happened to the files and what to do, "" while both are those that were opened."""
        for name, opened in self._opened:
            try:
                found = _device_and_inode(name)
            except OSError as err:  # no access to its folder, or a failing disk
                return f"{name} {OUT_OF_REACH.format(why=err.strerror)}"
            if found != opened and opened is not None:
                what = "was removed" if found is None else "was replaced by another file"
                return f"{name} {what} while mnema uses it: {REMEDY}"
        return ""


def _device_and_inode(name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):  # the latter where its folder is a file now
        return None
    return found.st_dev, found.st_ino


class SqliteConnection(aiosqlite.Connection):
    """A connection whose thread runs whole units of work.

    A hop to the thread and back costs about 95 µs, a statement about 3: a transaction of five statements takes
    0.6 ms in one hop and 1.5 ms with a hop per statement. `change`, `fetch`, `do` and `value` block: call them only
    inside what `run_in_thread` runs.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, _ITER_CHUNK_ROWS)
        self._thread.daemon = True  # a process that is terminated does not wait for its database
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run_in_thread(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end in the thread; return its value or raise its error here."""
        return cast(T, await self._execute(self._run_in_own_loop, work))  # type: ignore[no-untyped-call]

    async def change(self, sql: str, parameters: list[Any]) -> int:
        with sqlite_errors_as_store_errors():
            return self._conn.execute(sql, parameters).rowcount

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        with sqlite_errors_as_store_errors():
            return cast(list[Row], self._conn.execute(sql, parameters).fetchall())

    def do(self, sql: str) -> None:
        """Run one statement without parameters or result."""
        with sqlite_errors_as_store_errors():
            self._conn.execute(sql)

    def value(self, sql: str) -> Any:
        """Return the first column of the first row, None when there is none."""
        with sqlite_errors_as_store_errors():
            row = self._conn.execute(sql).fetchone()
        return row[0] if row else None

    async def close(self) -> None:
        """Finish what is queued, close the connection and end the thread; call it from outside the thread."""
        with sqlite_errors_as_store_errors():
            try:
                await self._execute(self._close_own_loop)  # type: ignore[no-untyped-call]
            finally:
                await super().close()

    async def wait_ended(self) -> None:
        """Wait for the thread, which ends by itself when the connection could not be opened."""
        await asyncio.to_thread(self._thread.join)

    def _run_in_own_loop(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(work)

    def _close_own_loop(self) -> None:
        if self._loop is not None:
            self._loop.close()
            self._loop = None


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
        "synchronous": 2,  # full
        "foreign_keys": 1,
        "secure_delete": 1,
        "journal_size_limit": _WAL_BYTES,
    }
    return await _connect(path, _WRITE_MODE, settings | ({"fullfsync": 1} if sys.platform == "darwin" else {}))


async def connect_reader(path: Path, busy_timeout: float, *, alone: bool) -> SqliteConnection:
    """Open for reading.

    Args:
        alone: this process has no writer, so the connection may not even create the log.
    """
    settings: dict[str, object] = {"busy_timeout": int(busy_timeout * 1000), "query_only": 1}
    return await _connect(path, "ro" if alone else "rw", settings)


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
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingUnit:
    """A unit of work that waits for the writer."""

    work: UnitOfWork[Any]
    #: See Tx.
    notified: dict[QueueKey, None] = field(default_factory=dict)
    #: See Tx.
    breaks: list[str] = field(default_factory=list)
    #: Resolved after the commit, with its value or its error.
    done: asyncio.Future[Any] = field(default_factory=asyncio.Future)


class SqliteDatabase:
    """The Database on one SQLite file; each unit runs in the connection's thread.

    Writes fail once another process has opened the database for writing, or its file is gone.
    """

    def __init__(
        self,
        writer: SqliteConnection | None,
        reader: SqliteConnection,
        compiler: StatementCompiler,
        lease: int,
        clock: Callable[[], float] = time.time,
        file: DatabaseFile | None = None,
    ) -> None:
        self.lease = lease
        self.clock = clock
        self.is_damaged = False
        self.on_commit: OnCommit = ignore_commit
        self.breaks: Counter[str] = Counter()
        self.busy = 0
        self._reader = reader
        self._writer = writer
        self._compiler = compiler
        self._file = file
        self._last_logged = float("-inf")
        self._waiting: list[_PendingUnit] = []
        self._work_queued = asyncio.Event()
        self._closing = False
        self._writer_task = asyncio.create_task(self._run_writer(writer)) if writer else None

    async def read(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closing:
            raise StoreError("this store is closed")
        with self._noting_errors():
            return await self._reader.run_in_thread(self._read_snapshot(lambda tx: work(tx, *args, **kwargs)))

    async def write(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._writer_task is None or self._closing:
            raise StoreError("this store is closed, or was opened for reading")
        unit = _PendingUnit(work=lambda tx: work(tx, *args, **kwargs))
        self._waiting.append(unit)
        self._work_queued.set()
        with self._noting_errors():
            result: T = await unit.done
        return result

    async def compact(self) -> bool:
        """Move the log into the file and release free pages."""
        if self._writer is None or self._closing:
            raise StoreError("this store is closed, or was opened for reading")
        with self._noting_errors():
            return await self._writer.run_in_thread(_compact(self._writer))

    async def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        self._work_queued.set()
        if self._writer_task:
            await self._writer_task
        await self._reader.close()
        if self._writer:
            await self._writer.close()

    async def _read_snapshot(self, work: UnitOfWork[T]) -> T:
        self._reader.do("BEGIN DEFERRED")
        try:
            return await work(self._tx(self._reader))
        finally:
            if self._reader.in_transaction:
                self._reader.do("COMMIT")

    async def _run_writer(self, writer: SqliteConnection) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._work_queued.clear()
                await self._work_queued.wait()
                continue
            batch, self._waiting = self._waiting[:_MAX_GROUP_COMMIT], self._waiting[_MAX_GROUP_COMMIT:]
            outcomes = await writer.run_in_thread(self._commit_batch(writer, batch))
            for unit, outcome in zip(batch, outcomes, strict=True):
                _resolve(unit, outcome)
                if not isinstance(outcome, BaseException):
                    self.breaks.update(unit.breaks)
                    if unit.notified:
                        self.on_commit(tuple(unit.notified))

    async def _commit_batch(self, writer: SqliteConnection, batch: list[_PendingUnit]) -> list[Any]:
        """Return each unit's value or error; when the transaction as a whole failed, its error for each of them."""
        outcome: Any = await _result_or_error(self._commit(writer, batch))
        if not isinstance(outcome, BaseException):
            return list(outcome)
        if writer.in_transaction:
            with suppress(StoreError):  # the first error is the one to report
                writer.do("ROLLBACK")
        return [outcome] * len(batch)

    async def _commit(self, writer: SqliteConnection, batch: list[_PendingUnit]) -> list[Any]:
        writer.do("BEGIN IMMEDIATE")
        newest = await self._tx(writer).one(_LEASE)
        if newest is None or newest["lease_epoch"] != self.lease:
            raise StoreBusy("another process has taken this database over")
        alone = len(batch) == 1
        outcomes = []
        for unit in batch:
            tx = replace(self._tx(writer), notified=unit.notified, breaks=unit.breaks)
            outcomes.append(await (unit.work(tx) if alone else _run_in_savepoint(writer, tx, unit)))
        self._check_file()
        writer.do("COMMIT")
        return outcomes

    def _check_file(self) -> None:
        trouble = self._file.trouble() if self._file else ""
        if not trouble:
            return
        if time.monotonic() - self._last_logged >= _LOG_SECONDS:
            self._last_logged = time.monotonic()
            log.error("nothing is stored and no message confirmed", why=trouble)
        raise StoreMoved(trouble)

    def _tx(self, connection: SqliteConnection) -> Tx:
        return Tx(driver=connection, compiler=self._compiler, lease=self.lease, now=self.clock())

    @contextmanager
    def _noting_errors(self) -> Iterator[None]:
        try:
            yield
        except StoreCorrupt:
            self.is_damaged = True
            raise
        except StoreBusy:
            self.busy += 1
            raise


async def _compact(writer: SqliteConnection) -> bool:
    await writer.fetch("PRAGMA incremental_vacuum", [])
    [row] = await writer.fetch("PRAGMA wal_checkpoint(TRUNCATE)", [])
    return not row["busy"]


async def _run_in_savepoint(writer: SqliteConnection, tx: Tx, unit: _PendingUnit) -> Any:
    """Return the unit's value, or its error after undoing all it changed."""
    writer.do("SAVEPOINT unit")
    outcome = await _result_or_error(unit.work(tx))
    if isinstance(outcome, BaseException):
        if not writer.in_transaction:  # SQLite rolls the whole transaction back when the disk is full
            raise outcome
        writer.do("ROLLBACK TO unit")
    writer.do("RELEASE unit")
    return outcome


async def _result_or_error(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result, or the exception as a value: it belongs to the caller's unit, not to the writer."""
    return (await asyncio.gather(work, return_exceptions=True))[0]


def _resolve(unit: _PendingUnit, outcome: Any) -> None:
    if unit.done.done():  # the caller was cancelled; its unit is committed all the same
        return
    if isinstance(outcome, BaseException):
        error = to_store_error(outcome)
        error.__cause__ = outcome if error is not outcome else outcome.__cause__
        unit.done.set_exception(error)
    else:
        unit.done.set_result(outcome)


def copy_database(source: Path, target: Path) -> None:
    """Copy a database with what its log holds; the target is the old file or the whole copy, never a part.

    Raises:
        sqlite3.Error, OSError: there is no copy.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    half = target.with_name(f".{target.name}.half")
    half.unlink(missing_ok=True)
    os.close(os.open(half, os.O_CREAT | os.O_WRONLY, 0o600))
    uri = f"{source.absolute().as_uri()}?mode=rw"  # a plain connect would create a missing file
    with closing(sqlite3.connect(uri, uri=True)) as opened, closing(sqlite3.connect(half)) as copy:
        opened.backup(copy)
    fsync_path(half)
    os.replace(half, target)
    fsync_path(target.parent)
