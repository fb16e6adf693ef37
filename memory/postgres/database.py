"""Units of work on a pool of PostgreSQL connections, retried after conflicts and lost connections."""

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Concatenate, cast

import psycopg
import structlog
from psycopg import errors
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from memory.postgres.driver import PostgresDriver, SingleQueryDriver
from memory.postgres.reads import BEGIN_SNAPSHOT, SharedSnapshot
from memory.postgres.wire import PostgresConnection
from memory.store.engine.database import (
    DatabaseClock,
    MessageChanges,
    OnCommit,
    Outcome,
    P,
    QueueKey,
    Row,
    StatementCompiler,
    T,
    Tx,
    UnitOfWork,
    ignore_commit,
    is_light,
    is_locking_first,
    is_single_query,
    is_soft_on_server,
)
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, WrongState
from memory.store.schema import memory_tables  # noqa: F401  `metadata` has them, too
from memory.store.schema.tables import NOW_SQL, metadata, process
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
# Another transaction changed what this one has read. The unit is run again and reads the new state.
CONFLICTS = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)
CONNECTION_LOST = (psycopg.OperationalError, PoolTimeout)  # the server cannot be reached, or closed the connection
_SHUTDOWN_SQLSTATES = ("57P01", "57P02", "57P03")
_ERROR_KINDS: tuple[tuple[tuple[type[BaseException], ...], type[StoreError]], ...] = (
    ((errors.DiskFull, errors.OutOfMemory), StoreFull),
    ((errors.DataCorrupted, errors.IndexCorrupted), StoreCorrupt),
    ((errors.SerializationFailure, errors.DeadlockDetected), StoreBusy),
    ((errors.IntegrityError, errors.RaiseException), WrongState),
    ((psycopg.OperationalError, PoolTimeout), StoreBusy),
)


def is_connection_lost(err: BaseException) -> bool:
    """Return whether an open connection was lost; a pool's timeout is none."""
    if not isinstance(err, psycopg.OperationalError) or isinstance(err, PoolTimeout):
        return False
    return err.sqlstate is None or err.sqlstate.startswith("08") or err.sqlstate in _SHUTDOWN_SQLSTATES


def to_store_error(err: BaseException) -> StoreError:
    """Return the StoreError for an error of the driver or the pool."""
    kind = next((kind for kinds, kind in _ERROR_KINDS if isinstance(err, kinds)), StoreError)
    text = str(err).strip().splitlines()[0] if str(err).strip() else type(err).__name__
    if kind is StoreBusy and isinstance(err, PoolTimeout):
        text = "the database server does not answer"
    return kind(text)


# Queues jobs for these queues in an open transaction.
Enqueue = Callable[[PostgresConnection, Sequence[QueueKey]], Awaitable[None]]
# Called at the start of each writing transaction; an error from it ends the transaction.
WriteGuard = Callable[[Tx], Awaitable[None]]
_READ_NUMBER_AND_CLOCK = f"SELECT pg_current_xact_id()::text AS xid, {NOW_SQL} AS now"
_SOFTLY = "set_config('synchronous_commit', 'off', true)"  # as SET LOCAL, in the same statement
_SHARED: ContextVar[SharedSnapshot | None] = ContextVar("shared_reads", default=None)
# Commits with a notification run one after the other in the whole server: one that gave up would make one of each unit.
_WAIT_FOR_COMMIT = "SET LOCAL lock_timeout TO DEFAULT"
_COMMIT_STATUS = "SELECT pg_xact_status(%s::xid8) AS status"
MAX_TRIES = 30
# A unique key exists already: the next try sees the row, or the unit has a mistake that does not go away.
MAX_INTEGRITY_TRIES = 4
# Dead connections in a row before a unit fails: more than a pool has.
MAX_LOST_CONNECTIONS = 16
MAX_PAUSE = 0.1  # seconds between two tries
IDLE_TRANSACTION_SECONDS = 5.0  # then the server ends the transaction: a stopped process must not keep its row locks
MAX_COMMITTING = 1  # transactions of light units of one kind at a time; further units wait and share the next one
MAX_GROUP_COMMIT = 16  # light units in one transaction
MAX_COMMIT_SECONDS = 0.05  # after which a transaction that waits for locks does not hold up the next one
GROUP_LOCK_MS = 20  # that units which share a transaction wait for a lock; then each runs alone
CLOSE_SECONDS = 3.0  # to wait for running units at the end
CONNECT_SECONDS = 10.0  # to get a connection, and to find out whether a broken commit succeeded


@dataclass(slots=True)
class _Attempt:
    """One attempt at units of work in one transaction."""

    #: Number of its transaction.
    xid: str = ""
    #: See Tx.
    breaks: list[str] = field(default_factory=list)
    #: Queues that have work after it, in order.
    notified: dict[QueueKey, None] = field(default_factory=dict)
    #: The units' results, set just before the commit.
    results: list[Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _LightUnit:
    """A unit of work that waits for others to be committed."""

    work: UnitOfWork[Any]
    is_soft: bool
    #: Resolved after the commit, with its value or its error.
    done: asyncio.Future[Any]


class PostgresDatabase:
    """The Database on a PostgreSQL server.

    Each transaction sees one snapshot; of two that change the same row, the second is run again. So what a unit has
    read is still true when it is committed. Units marked `locks_first` wait for the first one instead. Each writing
    transaction also fetches the server's time.
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
        self.enqueue: Enqueue | None = None  # replaces on_commit where the job queue is in this database too
        self.check_still_held: WriteGuard | None = None  # set while a command needs the store for itself
        self._compiler = compiler
        self._units: set[asyncio.Task[Any]] = set()
        # Light units by whether they lock first, and how many tasks commit them.
        self._pending: dict[bool, deque[_LightUnit]] = {False: deque(), True: deque()}
        self._committing = Counter[bool]()
        self._closing = False

    @property
    def changed_rows(self) -> int:
        return 0

    async def read(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closing:
            raise StoreError("this store is closed")
        shared = _SHARED.get()
        with self._counting_busy():
            if shared is not None and shared.is_open_for(self):
                try:
                    return await shared.read(lambda driver: work(self._tx(driver), *args, **kwargs))
                except (psycopg.Error, PoolTimeout) as err:
                    if not is_connection_lost(err):  # else it is read again over another connection
                        raise to_store_error(err) from err
            if not is_single_query(work):
                return await self._read_snapshot(lambda tx: work(tx, *args, **kwargs))
            return await self._retry_read(
                lambda connection: work(self._tx(SingleQueryDriver(connection)), *args, **kwargs)
            )

    async def write(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closing or not self.lease:
            raise StoreError("this store is closed, or was opened for reading")
        shared = _SHARED.get()
        if shared is not None:
            shared.end()
        unit: asyncio.Future[Any]
        if is_light(work):
            unit = self._add_pending(work, lambda tx: work(tx, *args, **kwargs))
        else:
            begin = _begin_statements(is_locking_first(work), is_soft=is_soft_on_server(work))
            task = self._start(self._run_unit(begin, lambda tx: work(tx, *args, **kwargs)))
            unit = asyncio.shield(task)
        try:
            with self._counting_busy():
                return cast(T, await unit)  # a unit goes on though its caller is cancelled
        finally:
            if shared is not None:
                shared.end()  # what another task has begun meanwhile does not show this unit

    @asynccontextmanager
    async def shared_reads(self) -> AsyncIterator[None]:
        shared = SharedSnapshot(self, self._connection)
        before = _SHARED.set(shared)
        try:
            yield
        finally:
            _SHARED.reset(before)
            await shared.close()

    async def compact(self) -> bool:
        """VACUUM all tables of the store: it removes the deleted rows and former versions of updated ones."""
        async with self._connection() as connection:
            try:
                await connection.execute(f"VACUUM {', '.join(metadata.tables)}")
            except psycopg.Error as err:
                raise to_store_error(err) from err
        return True

    async def close(self) -> None:
        self._closing = True
        until = time.monotonic() + CLOSE_SECONDS
        while self._units and (left := until - time.monotonic()) > 0:  # those of a group may begin others
            await asyncio.wait(list(self._units), timeout=left)
        await cancel_and_wait(self._units)
        for unit in (*self._pending[False], *self._pending[True]):
            _resolve(unit, StoreError("this store is closed"))
        await self.pool.close(timeout=1.0)  # for connections that are just being opened

    def with_pool(self, pool: AsyncConnectionPool[PostgresConnection]) -> "PostgresDatabase":
        """Return a database with the same lease and its own connections, for work that must not wait for others."""
        return PostgresDatabase(pool, self._compiler, self.lease, self.clock)

    @contextmanager
    def _counting_busy(self) -> Iterator[None]:
        try:
            yield
        except StoreBusy:
            self.busy += 1
            raise

    async def _read_snapshot(self, work: UnitOfWork[T]) -> T:
        async def run(connection: PostgresConnection) -> T:
            driver = PostgresDriver(connection, BEGIN_SNAPSHOT)
            result = await work(self._tx(driver))
            await driver.commit()
            return result

        return await self._retry_read(run)

    async def _retry_read(self, run: Callable[[PostgresConnection], Awaitable[T]]) -> T:
        """Read, and read again over another connection where the first was dead."""
        for tries in range(MAX_LOST_CONNECTIONS):
            try:
                async with self._connection() as connection:
                    return await run(connection)
            except (psycopg.Error, PoolTimeout) as err:
                if not is_connection_lost(err) or tries + 1 == MAX_LOST_CONNECTIONS:
                    raise to_store_error(err) from err
        raise StoreBusy("the database server does not answer")

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._units.add(task)
        task.add_done_callback(self._units.discard)
        return task

    def _add_pending(self, work: Callable[..., Any], unit: UnitOfWork[Any]) -> asyncio.Future[Any]:
        """Queue a light unit: it begins at once unless others are being committed, which it may then share."""
        locks_first = is_locking_first(work)
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[locks_first].append(_LightUnit(work=unit, is_soft=is_soft_on_server(work), done=done))
        self._commit_pending(locks_first)
        return done

    def _commit_pending(self, locks_first: bool) -> None:
        pending = self._pending[locks_first]
        if pending and self._committing[locks_first] < MAX_COMMITTING:
            self._committing[locks_first] += 1
            group = [pending.popleft() for _ in range(min(len(pending), MAX_GROUP_COMMIT))]
            self._start(self._commit_group(locks_first, group))

    async def _commit_group(self, locks_first: bool, group: list[_LightUnit]) -> None:
        """Run units in one transaction; where that fails, each in its own, so that an error is only its unit's."""
        holds_up = True

        def let_next() -> None:
            nonlocal holds_up
            if holds_up:
                holds_up = False
                self._committing[locks_first] -= 1
                self._commit_pending(locks_first)

        # one that waits for another process's transaction holds up nobody else
        timer = asyncio.get_running_loop().call_later(MAX_COMMIT_SECONDS, let_next)
        try:
            if len(group) == 1:
                await self._run_alone(locks_first, group[0])
            elif not await self._run_together(locks_first, group):
                await asyncio.gather(*(self._run_alone(locks_first, unit) for unit in group))
        finally:
            timer.cancel()
            let_next()
            for unit in group:
                _resolve(unit, StoreError("this store is closed"))  # unless it has its result

    async def _run_alone(self, locks_first: bool, unit: _LightUnit) -> None:
        with Outcome() as outcome:
            outcome.result = await self._run_unit(_begin_statements(locks_first, is_soft=unit.is_soft), unit.work)
        _resolve(unit, outcome.error or outcome.result)

    async def _run_together(self, locks_first: bool, group: list[_LightUnit]) -> bool:
        """Run units one after the other in one transaction; return False if nothing of it is stored."""
        begin, attempt = _begin_group(locks_first, is_soft=all(unit.is_soft for unit in group)), _Attempt()
        with Outcome() as outcome:
            await self._run_attempt(begin, [unit.work for unit in group], attempt)
        error = outcome.error
        if error is not None and attempt.xid and attempt.results is not None and is_connection_lost(error):
            if not await self._was_committed(attempt.xid):
                for unit in group:
                    _resolve(unit, to_store_error(error))
                return True
        elif error is not None:
            log.debug("units that share a transaction run alone", units=len(group), error=type(error).__name__)
            return False
        self._note_commit(attempt)
        for unit, result in zip(group, cast(list[Any], attempt.results), strict=True):
            _resolve(unit, result)
        return True

    async def _run_unit(self, begin: Sequence[str], work: UnitOfWork[T]) -> T:
        for tries in range(MAX_TRIES):
            attempt = _Attempt()
            try:
                await self._run_attempt(begin, [work], attempt)
            except CONFLICTS as err:
                if tries + 1 == (MAX_INTEGRITY_TRIES if isinstance(err, psycopg.IntegrityError) else MAX_TRIES):
                    raise to_store_error(err) from err
                await asyncio.sleep(random.uniform(0, min(MAX_PAUSE, 0.002 * 2**tries)))  # noqa: S311
                continue
            except CONNECTION_LOST as err:
                if not attempt.xid and is_connection_lost(err) and tries < MAX_LOST_CONNECTIONS:
                    continue  # dead before the transaction began; after a restart of the server all of the pool are
                if attempt.results is None or not await self._was_committed(attempt.xid):
                    raise to_store_error(err) from err
            except psycopg.Error as err:
                raise to_store_error(err) from err
            self._note_commit(attempt)
            [result] = cast(list[T], attempt.results)
            return result
        raise StoreBusy("other work was in the way for too long")

    def _note_commit(self, attempt: _Attempt) -> None:
        self.breaks.update(attempt.breaks)
        if attempt.notified and self.enqueue is None:  # else the jobs were committed with the units
            self.on_commit(tuple(attempt.notified))

    async def _run_attempt(self, begin: Sequence[str], works: Sequence[UnitOfWork[Any]], attempt: _Attempt) -> None:
        async with self._connection() as connection:
            clock = self.clock if isinstance(self.clock, DatabaseClock) else None
            sent_at = clock.sent_at() if clock else 0.0

            def on_begun(row: Row) -> None:
                attempt.xid = str(row["xid"])
                if clock:
                    clock.set_server_time(row["now"], sent_at)

            driver = PostgresDriver(connection, *begin, on_begun=on_begun)
            if self.check_still_held is not None:
                await self.check_still_held(self._tx(driver))
            results = []
            for work in works:
                tx = self._tx(driver)
                results.append(await work(tx))
                attempt.breaks += tx.breaks
                attempt.notified |= tx.notified
            if attempt.notified and self.enqueue is not None:
                await driver.flush()
                await self.enqueue(connection, tuple(attempt.notified))
            if len(works) > 1:
                await driver.change_later(_WAIT_FOR_COMMIT, ())
            attempt.results = results
            await driver.commit()

    async def _was_committed(self, xid: str) -> bool:
        """Return whether a transaction whose connection broke during COMMIT was committed."""
        until = time.monotonic() + CONNECT_SECONDS
        while time.monotonic() < until:
            try:
                async with self._connection() as connection:
                    row = await (await connection.execute(_COMMIT_STATUS, [xid])).fetchone()
            except psycopg.errors.InvalidParameterValue:
                return False  # a number that the server has not given: it crashed before that was on the disk
            except (psycopg.Error, PoolTimeout):
                await asyncio.sleep(0.1)
                continue
            if row is None or row["status"] != "in progress":
                return row is not None and row["status"] == "committed"
            await asyncio.sleep(0.05)
        return False

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[PostgresConnection]:
        """Yield a connection outside any transaction; after an error an open transaction is rolled back."""
        async with self.pool.connection() as connection:
            try:
                yield connection
            except BaseException as err:
                if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    cancelled = isinstance(err, asyncio.CancelledError)  # then it does not wait for a server
                    await (connection.close() if cancelled else connection.execute("ROLLBACK"))
                raise

    def _tx(self, driver: PostgresDriver) -> Tx:
        return Tx(driver=driver, compiler=self._compiler, lease=self.lease, now=self.clock())


def _resolve(unit: _LightUnit, outcome: object) -> None:
    if unit.done.done():
        return
    if isinstance(outcome, Exception):
        unit.done.set_exception(outcome)
    else:
        unit.done.set_result(outcome)


def _begin_statements(locks_first: bool, *, is_soft: bool) -> tuple[str, ...]:
    isolation = "READ COMMITTED" if locks_first else "REPEATABLE READ"
    read = f"{_READ_NUMBER_AND_CLOCK}, {_SOFTLY}" if is_soft else _READ_NUMBER_AND_CLOCK
    return (f"BEGIN ISOLATION LEVEL {isolation}", read)


def _begin_group(locks_first: bool, *, is_soft: bool) -> tuple[str, ...]:
    """Begin a transaction that does not wait long for another's locks, as two groups may wait for each other."""
    first, *others = _begin_statements(locks_first, is_soft=is_soft)
    return (first, f"SET LOCAL lock_timeout = {GROUP_LOCK_MS}", *others)


def create_pool(url: str, max_connections: int) -> AsyncConnectionPool[PostgresConnection]:
    """Create a pool; the caller opens it."""
    return AsyncConnectionPool(
        url,
        connection_class=psycopg.AsyncConnection[dict[str, Any]],
        kwargs={
            "autocommit": True,
            "row_factory": dict_row,
            "prepare_threshold": None,  # see `exchange`, which sends and reads UTF-8
            "client_encoding": "utf8",
        },
        min_size=1,
        max_size=max_connections,
        timeout=CONNECT_SECONDS,
        open=False,
        check=None,
        configure=set_idle_timeout,
    )


async def set_idle_timeout(connection: psycopg.AsyncConnection[Any]) -> None:
    """Let the server end transactions of this connection whose process has stopped."""
    await connection.execute(f"SET idle_in_transaction_session_timeout = {int(IDLE_TRANSACTION_SECONDS * 1000)}")
    await connection.commit()


def driver_url(url: str) -> str:
    """Return a configured URL without the name of the driver, as libpq takes it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}://{rest}"


SCHEMA_LOCK_KEY = 7_306_500_117  # advisory lock of the process that creates or changes tables
SELECT_ALIVE = f"SELECT name FROM {process.name} WHERE until > extract(epoch from clock_timestamp()) ORDER BY lease"  # noqa: S608


def refuse_alive(names: Sequence[str]) -> None:
    """Refuse to continue while processes use the database.

    Raises:
        StoreBusy: `names` has a living process.
    """
    if names:
        raise StoreBusy(f"{len(names)} at work on that database ({', '.join(names)}); stop every mnema run on it first")


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[PostgresConnection]:
    """Yield a connection outside any transaction.

    Raises:
        StoreError: the server cannot be used.
    """
    try:
        async with await psycopg.AsyncConnection[dict[str, Any]].connect(
            driver_url(url),
            autocommit=True,
            row_factory=dict_row,
            prepare_threshold=None,
            client_encoding="utf8",
            connect_timeout=5,
        ) as connection:
            yield connection
    except psycopg.Error as err:
        raise StoreError(f"the PostgreSQL server cannot be used: {to_store_error(err)}") from err
