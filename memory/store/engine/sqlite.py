"""One SQLite database in use: a writer that commits in groups, and readers of what is committed."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Concatenate

import structlog
from sqlalchemy import select

from memory.store.engine.database import (
    MessageChanges,
    OnCommit,
    Outcome,
    P,
    QueueKey,
    StatementCompiler,
    T,
    Tx,
    UnitOfWork,
    ignore_commit,
    is_light,
    is_soft,
)
from memory.store.engine.sqlite_connection import (
    SYNC_AT_COMMIT,
    SYNC_LATER,
    DatabaseFile,
    PlainConnection,
    SqliteConnection,
    to_store_error,
)
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreMoved
from memory.store.schema.tables import instance

log = structlog.get_logger(__name__)
_MAX_GROUP_COMMIT = 64  # units of work
# after which a soft commit is on the disk at the latest, if no other commit has put it there
SOFT_SECONDS = 0.05
_CHECKPOINT_COMMITS = 100  # between two checkpoints, about 1,000 pages
_CHECKPOINT_BYTES = 4 * 1024 * 1024  # growth of the log that brings a checkpoint earlier
_MIN_BUSY_PAUSE, _MAX_BUSY_PAUSE = 0.001, 0.05  # seconds between two attempts to get the write lock
# then other tasks run: a caller that polls by such reads alone would never let them
_LIGHT_READS_IN_A_ROW = 16
_LOG_SECONDS = 60.0  # between two log lines about one lasting problem
_LEASE = select(instance.c.lease_epoch)  # of the newest opening


@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingUnit:
    """A unit of work that waits for the writer."""

    work: UnitOfWork[Any]
    #: See database.light.
    is_light: bool
    #: See database.soft.
    is_soft: bool
    #: See Tx.
    notified: dict[QueueKey, None] = field(default_factory=dict)
    #: See Tx.
    breaks: list[str] = field(default_factory=list)
    #: See Tx.
    changed: set[tuple[str, str]] = field(default_factory=set)
    #: Resolved after the commit, with its value or its error.
    done: asyncio.Future[Any] = field(default_factory=asyncio.Future)


class LogKeeper:
    """Syncs the write-ahead log after soft commits, and copies it into the database file now and
    then.

    Both happen in threads, beside the commits: a checkpoint inside a commit would hold up the event
    loop.
    """

    def __init__(
        self, file: DatabaseFile, checkpointer: PlainConnection, soft_seconds: float
    ) -> None:
        self._soft_seconds = soft_seconds
        self._file = file
        self._checkpointer = checkpointer
        # numbers of the newest commit, and of the newest that is on the disk
        self._committed = self._synced = 0
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._commits = 0
        self._log_bytes = file.log_bytes()
        self._is_checkpointing = False
        #: The next commit has to sync: it may begin the log anew, whose head is synced then, or a
        #: sync has failed.
        self.must_sync = True

    def note_commit(self, *, synced: bool) -> None:
        """Note a commit; sync the log, or copy it into the file, when it is time."""
        self._committed += 1
        if synced:
            self._synced, self.must_sync = self._committed, False
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(
                self._soft_seconds, self._start_sync
            )
        self._commits += 1
        grown = self._file.log_bytes() - self._log_bytes
        if not self._is_checkpointing and (
            self._commits >= _CHECKPOINT_COMMITS or grown >= _CHECKPOINT_BYTES
        ):
            self._is_checkpointing = True
            self._start(self._checkpoint())

    async def close(self) -> None:
        """Sync what is left and close the connection."""
        if self._timer is not None:
            self._timer.cancel()
        self._start(self._sync())
        await asyncio.wait(list(self._tasks))
        self._checkpointer.close()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _start_sync(self) -> None:
        self._timer = None
        self._start(self._sync())

    async def _sync(self) -> None:
        committed = self._committed
        if self._synced == committed:
            return
        try:
            await asyncio.to_thread(self._file.sync_log)
        except OSError as err:
            self.must_sync = True
            log.error("the log could not be synced", error=err.strerror or type(err).__name__)
        else:
            # what was committed meanwhile has a timer of its own
            self._synced = max(self._synced, committed)

    async def _checkpoint(self) -> None:
        try:
            await asyncio.to_thread(self._checkpointer.value, "PRAGMA wal_checkpoint(PASSIVE)")
        except StoreError as err:
            log.warning("no checkpoint", error=str(err))
        finally:
            self._is_checkpointing = False
            self._commits, self._log_bytes, self.must_sync = 0, self._file.log_bytes(), True


class SqliteDatabase:
    """The Database on one SQLite file.

    Light units run on the event loop's thread, all others in the connection's. A commit that has to
    reach the disk waits for it in the connection's thread. Writes fail once another process has
    opened the database for writing, or its file is gone.
    """

    def __init__(
        self,
        writer: SqliteConnection | None,
        reader: SqliteConnection,
        compiler: StatementCompiler,
        lease: int,
        clock: Callable[[], float] = time.time,
        file: DatabaseFile | None = None,
        beside: tuple[PlainConnection, PlainConnection] | None = None,
        busy_timeout: float = 5.0,
        soft_seconds: float = SOFT_SECONDS,
    ) -> None:
        """Take over open connections.

        Args:
            writer, file, beside: None for reading only; see `connect_beside`.
            busy_timeout: seconds that a write waits for another process's lock.
            soft_seconds: see database.soft.
        """
        self.lease = lease
        self.clock = clock
        self.is_damaged = False
        self.on_commit: OnCommit = ignore_commit
        self.breaks: Counter[str] = Counter()
        self.changes = MessageChanges(is_complete=writer is not None)
        self.busy = 0
        self._reader = reader
        self._writer = writer
        self._light_reader = beside[0] if beside else None
        self._light_reads = 0
        self._log_keeper = LogKeeper(file, beside[1], soft_seconds) if beside and file else None
        self._compiler = compiler
        self._file = file
        self._busy_timeout = busy_timeout
        self._last_logged = float("-inf")
        self._waiting: list[_PendingUnit] = []
        self._work_queued = asyncio.Event()
        self._writing = asyncio.Lock()
        self._closing = False
        if writer:
            writer.do("PRAGMA busy_timeout=0")  # see _begin
        self._writer_task = asyncio.create_task(self._run_writer(writer)) if writer else None

    @property
    def changed_rows(self) -> int:
        return self._writer.total_changes if self._writer and not self._closing else 0

    async def read(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if self._closing:
            raise StoreError("this store is closed")
        try:
            if self._light_reader is not None and is_light(work):
                self._light_reads += 1
                if self._light_reads % _LIGHT_READS_IN_A_ROW == 0:
                    await asyncio.sleep(0)
                # another process recovers the log: the thread waits for that
                with suppress(StoreBusy):
                    return await self._read_snapshot(self._light_reader, work, *args, **kwargs)
            return await self._reader.run_in_thread(
                self._read_snapshot(self._reader, work, *args, **kwargs)
            )
        except StoreError as err:
            self._count(err)
            raise

    async def write(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if self._writer_task is None or self._closing:
            raise StoreError("this store is closed, or was opened for reading")
        unit = _PendingUnit(
            work=lambda tx: work(tx, *args, **kwargs),
            is_light=is_light(work),
            is_soft=is_soft(work),
        )
        self._waiting.append(unit)
        self._work_queued.set()
        try:
            result: T = await unit.done
        except StoreError as err:
            self._count(err)
            raise
        return result

    async def compact(self) -> bool:
        """Move the log into the file and release free pages."""
        if self._writer is None or self._closing:
            raise StoreError("this store is closed, or was opened for reading")
        async with self._writing:
            try:
                return await self._writer.run_in_thread(_compact(self._writer, self._busy_timeout))
            except StoreError as err:
                self._count(err)
                raise

    async def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        self._work_queued.set()
        if self._writer_task:
            await self._writer_task
        if self._log_keeper:
            await self._log_keeper.close()
        if self._light_reader:
            self._light_reader.close()
        await self._reader.close()
        if self._writer:
            await self._writer.close()

    async def _read_snapshot(
        self,
        reader: PlainConnection | SqliteConnection,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        reader.do("BEGIN DEFERRED")
        try:
            return await work(self._tx(reader), *args, **kwargs)
        finally:
            if reader.in_transaction:
                reader.do("COMMIT")

    async def _run_writer(self, writer: SqliteConnection) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._work_queued.clear()
                await self._work_queued.wait()
                continue
            batch = self._take_batch()
            async with self._writing:
                outcomes = await self._commit_batch(writer, batch)
            for unit, outcome in zip(batch, outcomes, strict=True):
                _resolve(unit, outcome)
                # after an error too: the commit itself may have failed late
                self.changes.report(unit.changed)
                if not isinstance(outcome, BaseException):
                    self.breaks.update(unit.breaks)
                    if unit.notified:
                        self.on_commit(tuple(unit.notified))

    def _take_batch(self) -> list[_PendingUnit]:
        """Return the next units that can share a transaction: all light, or all not."""
        count = 1
        while count < min(len(self._waiting), _MAX_GROUP_COMMIT) and (
            self._waiting[count].is_light == self._waiting[0].is_light
        ):
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch

    async def _commit_batch(self, writer: SqliteConnection, batch: list[_PendingUnit]) -> list[Any]:
        """Return each unit's value or error; when the transaction as a whole failed, its error for
        each of them.
        """
        keeper = self._log_keeper
        is_soft = (
            keeper is not None and not keeper.must_sync and all(unit.is_soft for unit in batch)
        )
        with Outcome() as outcome:
            await self._begin(writer, SYNC_LATER if is_soft else SYNC_AT_COMMIT)
            units = self._run_units(writer, batch)
            outcome.result = await (units if batch[0].is_light else writer.run_in_thread(units))
            self._check_file()
            if is_soft:
                writer.do("COMMIT")
            else:
                await writer.do_in_thread("COMMIT")
        if outcome.error is not None:
            if writer.in_transaction:
                with suppress(StoreError):  # the first error is the one to report
                    writer.do("ROLLBACK")
            return [outcome.error] * len(batch)
        if keeper is not None:
            keeper.note_commit(synced=not is_soft)
        return list(outcome.result)

    async def _begin(self, writer: SqliteConnection, synchronous: int) -> None:
        """Begin the transaction once no other process writes, without holding up the event loop."""
        writer.set_synchronous(synchronous)
        deadline, pause = time.monotonic() + self._busy_timeout, _MIN_BUSY_PAUSE
        while True:
            try:
                writer.do("BEGIN IMMEDIATE")
                return
            except StoreBusy:
                if time.monotonic() >= deadline:
                    raise
            await asyncio.sleep(pause)
            pause = min(pause * 2, _MAX_BUSY_PAUSE)

    async def _run_units(self, writer: SqliteConnection, batch: list[_PendingUnit]) -> list[Any]:
        newest = (await self._tx(writer).execute(_LEASE)).first()
        if newest is None or newest["lease_epoch"] != self.lease:
            raise StoreBusy("another process has taken this database over")
        alone = len(batch) == 1
        outcomes = []
        for unit in batch:
            tx = self._tx(writer, unit)
            outcomes.append(await (unit.work(tx) if alone else _run_in_savepoint(writer, tx, unit)))
        return outcomes

    def _check_file(self) -> None:
        trouble = self._file.trouble() if self._file else ""
        if not trouble:
            return
        if time.monotonic() - self._last_logged >= _LOG_SECONDS:
            self._last_logged = time.monotonic()
            log.error("nothing is stored and no message confirmed", why=trouble)
        raise StoreMoved(trouble)

    def _tx(
        self, connection: PlainConnection | SqliteConnection, unit: _PendingUnit | None = None
    ) -> Tx:
        lease, now = self.lease, self.clock()
        if unit is None:
            return Tx(driver=connection, compiler=self._compiler, lease=lease, now=now)
        return Tx(
            driver=connection,
            compiler=self._compiler,
            lease=lease,
            now=now,
            notified=unit.notified,
            breaks=unit.breaks,
            changed=unit.changed,
        )

    def _count(self, err: StoreError) -> None:
        """Note what an error says about the database."""
        if isinstance(err, StoreCorrupt):
            self.is_damaged = True
        if isinstance(err, StoreBusy):
            self.busy += 1


async def _compact(writer: SqliteConnection, busy_timeout: float) -> bool:
    await writer.run("PRAGMA incremental_vacuum", [])
    writer.do(f"PRAGMA busy_timeout={int(busy_timeout * 1000)}")
    try:
        [row] = (await writer.run("PRAGMA wal_checkpoint(TRUNCATE)", [])).all()
    finally:
        writer.do("PRAGMA busy_timeout=0")
    return not row["busy"]


async def _run_in_savepoint(writer: SqliteConnection, tx: Tx, unit: _PendingUnit) -> Any:
    """Return the unit's value, or its error after undoing all it changed."""
    writer.do("SAVEPOINT unit")
    with Outcome() as outcome:
        outcome.result = await unit.work(tx)
    if outcome.error is not None:
        # SQLite rolls the whole transaction back when the disk is full
        if not writer.in_transaction:
            raise outcome.error
        writer.do("ROLLBACK TO unit")
    writer.do("RELEASE unit")
    return outcome.result if outcome.error is None else outcome.error


def _resolve(unit: _PendingUnit, outcome: Any) -> None:
    if unit.done.done():  # the caller was cancelled; its unit is committed all the same
        return
    if isinstance(outcome, BaseException):
        error = to_store_error(outcome)
        error.__cause__ = outcome if error is not outcome else outcome.__cause__
        unit.done.set_exception(error)
    else:
        unit.done.set_result(outcome)
