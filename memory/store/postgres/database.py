"""Units of work on a pool of PostgreSQL connections, retried after conflicts and lost
connections.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Concatenate, cast

import psycopg
from psycopg import errors
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from memory.store.engine.database import (
    DatabaseClock,
    MessageChanges,
    OnCommit,
    P,
    QueueKey,
    StatementCompiler,
    T,
    Tx,
    UnitOfWork,
    ignore_commit,
)
from memory.store.errors import StoreBusy, StoreError
from memory.store.postgres.connection import (
    CONNECT_SECONDS,
    PostgresConnection,
    is_connection_lost,
    to_store_error,
)
from memory.store.postgres.driver import PostgresDriver
from memory.store.schema import memory_tables  # noqa: F401  `metadata` has them, too
from memory.store.schema.tables import NOW_SQL, metadata
from memory.tasks import cancel_and_wait

# Another transaction changed what this one has read. The unit is run again and reads the new state.
CONFLICTS = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)
# the server cannot be reached, or closed the connection
CONNECTION_LOST = (psycopg.OperationalError, PoolTimeout)
# Adds jobs for these queues in an open transaction.
Enqueue = Callable[[PostgresConnection, Sequence[QueueKey]], Awaitable[None]]
# Called at the start of each writing transaction; an error from it ends the transaction.
WriteGuard = Callable[[Tx], Awaitable[None]]
# Another value after each start and each crash: a server that crashed gives numbers of transactions
# that had not reached its disk to others.
_SERVER_LIFE = "concat(pg_postmaster_start_time(), ' ', pg_stat_get_bgwriter_stat_reset_time())"
_READ_NUMBER_AND_CLOCK = (
    f"SELECT pg_current_xact_id()::text AS xid, {NOW_SQL} AS now, {_SERVER_LIFE} AS life"
)
_COMMIT_STATUS = f"SELECT pg_xact_status(%s::xid8) AS status, {_SERVER_LIFE} AS life"
MAX_TRIES = 30
# A unique key exists already: the next try sees the row, or the unit has a mistake that does not go
# away.
MAX_INTEGRITY_TRIES = 4
# Dead connections in a row before a unit fails: more than a pool has.
MAX_LOST_CONNECTIONS = 16
MAX_PAUSE = 0.1  # seconds between two tries
CLOSE_SECONDS = 3.0  # to wait for running units at the end


@dataclass(slots=True)
class _Attempt:
    """One attempt at a unit of work."""

    #: Number of its transaction, "" before it has begun.
    xid: str = ""
    #: Of the server that gave the number, see _SERVER_LIFE.
    life: str = ""
    #: Set when the unit has done its work, just before the commit.
    tx: Tx | None = None
    result: Any = None


class PostgresDatabase:
    """The Database on a PostgreSQL server.

    Each transaction sees one snapshot; of two that change the same row, the second is run again. So
    what a unit has read is still true when it is committed. Each writing transaction also fetches
    the server's time.
    """

    def __init__(
        self,
        pool: AsyncConnectionPool[PostgresConnection],
        compiler: StatementCompiler,
        lease: int,
        clock: Callable[[], float],
    ) -> None:
        self.pool = pool
        self.lease = lease
        self.clock = clock
        self.is_damaged = False
        self.on_commit: OnCommit = ignore_commit
        self.breaks: Counter[str] = Counter()
        self.changes = MessageChanges(is_complete=False)
        self.busy = 0
        # replaces on_commit where the job queue is in this database too
        self.enqueue: Enqueue | None = None
        # set while a command needs the store for itself
        self.check_still_held: WriteGuard | None = None
        self._compiler = compiler
        self._units: set[asyncio.Task[Any]] = set()
        self._closing = False

    @property
    def changed_rows(self) -> int:
        return 0

    async def read(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if self._closing:
            raise StoreError("this store is closed")
        return await self._run_to_end(self._read_snapshot(lambda tx: work(tx, *args, **kwargs)))

    async def write(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if self._closing or not self.lease:
            raise StoreError("this store is closed, or was opened for reading")
        return await self._run_to_end(self._run_unit(lambda tx: work(tx, *args, **kwargs)))

    async def compact(self) -> bool:
        """VACUUM all tables of the store: it removes the deleted rows and former versions of
        updated ones.
        """
        try:
            async with self.pool.connection() as connection:
                await connection.set_autocommit(True)
                try:
                    await connection.execute(f"VACUUM {', '.join(metadata.tables)}")
                finally:
                    with suppress(psycopg.Error):
                        await connection.set_autocommit(False)
        except (psycopg.Error, PoolTimeout) as err:
            raise to_store_error(err) from err
        return True

    async def close(self) -> None:
        self._closing = True
        if self._units:
            await asyncio.wait(list(self._units), timeout=CLOSE_SECONDS)
        await cancel_and_wait(self._units)
        await self.pool.close(timeout=1.0)  # for connections that are just being opened

    def with_pool(self, pool: AsyncConnectionPool[PostgresConnection]) -> "PostgresDatabase":
        """Return a database with the same lease and its own connections, for work that must not
        wait for others.
        """
        return PostgresDatabase(pool, self._compiler, self.lease, self.clock)

    async def _run_to_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work that goes on though its caller is cancelled, who then does not wait for a silent
        server.
        """
        task = asyncio.create_task(work)
        self._units.add(task)
        task.add_done_callback(self._units.discard)
        try:
            return await asyncio.shield(task)
        except StoreBusy:
            self.busy += 1
            raise

    async def _read_snapshot(self, work: UnitOfWork[T]) -> T:
        """Read, and read again over another connection where the first was dead."""
        for tries in range(MAX_LOST_CONNECTIONS):
            try:
                async with self.pool.connection() as connection:
                    return await work(self._tx(connection))
            except (psycopg.Error, PoolTimeout) as err:
                if not is_connection_lost(err) or tries + 1 == MAX_LOST_CONNECTIONS:
                    raise to_store_error(err) from err
        raise StoreBusy("the database server does not answer")

    async def _run_unit(self, work: UnitOfWork[T]) -> T:
        for tries in range(MAX_TRIES):
            attempt = _Attempt()
            try:
                await self._run_attempt(work, attempt)
            except CONFLICTS as err:
                if tries + 1 == (
                    MAX_INTEGRITY_TRIES if isinstance(err, psycopg.IntegrityError) else MAX_TRIES
                ):
                    raise to_store_error(err) from err
                await asyncio.sleep(random.uniform(0, min(MAX_PAUSE, 0.002 * 2**tries)))  # noqa: S311
                continue
            except CONNECTION_LOST as err:
                if not attempt.xid and is_connection_lost(err) and tries < MAX_LOST_CONNECTIONS:
                    # dead before the transaction began; after a restart of the server all of the
                    # pool are
                    continue
                if attempt.tx is None or not await self._was_committed(attempt):
                    raise to_store_error(err) from err
            except psycopg.Error as err:
                raise to_store_error(err) from err
            self._note_commit(attempt)
            return cast(T, attempt.result)
        raise StoreBusy("other work was in the way for too long")

    async def _run_attempt(self, work: UnitOfWork[Any], attempt: _Attempt) -> None:
        async with self.pool.connection() as connection:
            await self._begin(connection, attempt)
            tx = self._tx(connection)
            if self.check_still_held is not None:
                await self.check_still_held(tx)
            attempt.result = await work(tx)
            if tx.notified and self.enqueue is not None:
                await self.enqueue(connection, tuple(tx.notified))
            attempt.tx = tx
            await connection.commit()

    def _note_commit(self, attempt: _Attempt) -> None:
        assert attempt.tx is not None
        self.breaks.update(attempt.tx.breaks)
        # else the jobs were committed with the unit
        if attempt.tx.notified and self.enqueue is None:
            self.on_commit(tuple(attempt.tx.notified))

    async def _begin(self, connection: PostgresConnection, attempt: _Attempt) -> None:
        """Begin a transaction: its number tells after a lost connection whether it was
        committed.
        """
        clock = self.clock if isinstance(self.clock, DatabaseClock) else None
        sent_at = clock.sent_at() if clock else 0.0
        async with connection.pipeline():  # BEGIN and the query in one round trip
            cursor = await connection.execute(_READ_NUMBER_AND_CLOCK)
        row = await cursor.fetchone()
        assert row is not None
        attempt.xid, attempt.life = str(row["xid"]), str(row["life"])
        if clock:
            clock.set_server_time(row["now"], sent_at)

    async def _was_committed(self, attempt: _Attempt) -> bool:
        """Return whether a transaction whose connection broke during COMMIT is known to be
        committed. After a crash of the server it is not: its number may be another one's by then.
        """
        until = time.monotonic() + CONNECT_SECONDS
        while time.monotonic() < until:
            try:
                async with self.pool.connection() as connection:
                    row = await (await connection.execute(_COMMIT_STATUS, [attempt.xid])).fetchone()
            except psycopg.errors.InvalidParameterValue:
                # a number that the server has not given: it crashed before that was on the disk
                return False
            except (psycopg.Error, PoolTimeout):
                await asyncio.sleep(0.1)
                continue
            if row is None or str(row["life"]) != attempt.life:
                return False
            if row["status"] != "in progress":
                return bool(row["status"] == "committed")
            await asyncio.sleep(0.05)
        return False

    def _tx(self, connection: PostgresConnection) -> Tx:
        return Tx(
            driver=PostgresDriver(connection),
            compiler=self._compiler,
            lease=self.lease,
            now=self.clock(),
        )
