"""The record in PostgreSQL: units of work on a pool of connections, each tried again when another was in its way."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Concatenate, cast

import psycopg
from psycopg import errors
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from memory.store.engine.database import Bell, Compiler, DatabaseClock, Lane, P, Row, T, Tx, Work, is_glance, silent
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, WrongState
from memory.store.schema.tables import NOW, process
from memory.tasks import end

# What PostgreSQL's errors are called in this house.

IN_THE_WAY = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)
"""Somebody else's transaction came between: what was read is not so any more. The unit is run again, and sees it."""
LOST = (psycopg.OperationalError, PoolTimeout)
"""The server is not to be had, or was lost on the way."""
_ENDED = ("57P01", "57P02", "57P03")
_KINDS: tuple[tuple[tuple[type[BaseException], ...], type[StoreError]], ...] = (
    ((errors.DiskFull, errors.OutOfMemory), StoreFull),
    ((errors.DataCorrupted, errors.IndexCorrupted), StoreCorrupt),
    ((errors.SerializationFailure, errors.DeadlockDetected), StoreBusy),
    ((errors.IntegrityError, errors.RaiseException), WrongState),
    ((psycopg.OperationalError, PoolTimeout), StoreBusy),
)


def gone(err: BaseException) -> bool:
    """Whether a connection was lost that had been there; one that could not be had in time was none."""
    if not isinstance(err, psycopg.OperationalError) or isinstance(err, PoolTimeout):
        return False
    return err.sqlstate is None or err.sqlstate.startswith("08") or err.sqlstate in _ENDED


def named(err: BaseException) -> StoreError:
    """The store's own error for one of the driver's."""
    kind = next((kind for kinds, kind in _KINDS if isinstance(err, kinds)), StoreError)
    text = str(err).strip().splitlines()[0] if str(err).strip() else type(err).__name__
    if kind is StoreBusy and isinstance(err, PoolTimeout):
        text = "the database server does not answer"
    return kind(text)


Bare = psycopg.AsyncConnection[dict[str, Any]]
Enqueue = Callable[[Bare, Sequence[Lane]], Awaitable[None]]
"""Puts the wish to work in these lanes into the connection's open transaction."""
Sure = Callable[[Tx], Awaitable[None]]
"""Asked at the beginning of a transaction that may change rows; what it raises ends it."""
_BEGIN = f"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()::text AS xid, {NOW} AS now"
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_FATE = "SELECT pg_xact_status(%s::xid8) AS fate"
MOST_TRIES = 30
FEW_TRIES = 4
"""For a row that is there already: either the unit sees it when it is run again, or it is a mistake that stays one."""
MOST_LOST = 16
"""Connections that are found dead, one after the other, before a unit is given up: more than a pool has."""
LONGEST_PAUSE = 0.1
ABANDONED_SECONDS = 5.0
"""How long a transaction may do nothing: what a process that was stopped has locked is not locked for ever."""
CLOSE_SECONDS = 3.0
"""For which work that has begun is waited for at the end."""
PATIENCE = 10.0
"""Seconds in which a connection is to be had, and in which the fate of a commit is asked for."""


class Driver:
    """See memory.store.engine.database.Driver; statements of one open transaction."""

    def __init__(self, bare: Bare) -> None:
        self._bare = bare

    async def change(self, sql: str, parameters: list[Any]) -> int:
        return (await self._bare.execute(sql, parameters)).rowcount

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        return cast(list[Row], await (await self._bare.execute(sql, parameters)).fetchall())


class OneQuestion(Driver):
    """A single query outside of any transaction: one round trip instead of three."""

    _asked = False

    async def change(self, sql: str, parameters: list[Any]) -> int:
        raise WrongState("a glance changes nothing")

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        if self._asked:
            raise WrongState("a glance asks one question; two need a snapshot")
        self._asked = True
        return await super().fetch(sql, parameters)


@dataclass(slots=True)
class _Attempt:
    """One try at a unit. xid: its transaction's number; done: once its commit was asked for, with what it returns.

    breaks: see Tx.
    """

    xid: str = ""
    breaks: Sequence[str] = ()
    done: tuple[Any, tuple[Lane, ...]] | None = None


class PostgresDatabase:
    """See memory.store.engine.database.Database.

    Transactions see one snapshot, and the second of two that change the same row is begun anew: what was read before a
    change is still true when it is committed. Each that changes something brings the database's time along.
    enqueue: for lanes whose engine is in this database too. sure: where not every write may still be made.
    """

    def __init__(
        self, pool: AsyncConnectionPool[Bare], compiler: Compiler, lease: int, clock: Callable[[], float]
    ) -> None:
        self.pool = pool
        self.lease = lease
        self.clock = clock
        self.suspect = False
        self.bell: Bell = silent
        self.breaks: Counter[str] = Counter()
        self.busy = 0
        self.enqueue: Enqueue | None = None
        self.sure: Sure | None = None
        self._compiler = compiler
        self._units: set[asyncio.Task[Any]] = set()
        self._closing = False

    async def read(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closing:
            raise StoreError("this store is closed")
        look = self._glance if is_glance(work) else self._snapshot
        with self._watching():
            return await look(lambda tx: work(tx, *args, **kwargs))

    async def write(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closing or not self.lease:
            raise StoreError("this store is closed, or was opened for reading")
        unit = asyncio.create_task(self._unit(lambda tx: work(tx, *args, **kwargs)))
        self._units.add(unit)
        unit.add_done_callback(self._units.discard)
        with self._watching():
            return await asyncio.shield(unit)

    async def compact(self) -> bool:
        """Rows that were deleted are wiped when their pages are vacuumed; that is asked for here."""
        async with self._connected() as bare:
            try:
                for table in ("message", "inbox", "outbox", "fold", "reduction", "prefix_text", "memory"):
                    await bare.execute(f"VACUUM {table}")
            except psycopg.Error as err:
                raise named(err) from err
        return True

    async def close(self) -> None:
        self._closing = True
        if self._units:
            _, late = await asyncio.wait(list(self._units), timeout=CLOSE_SECONDS)
            await end(late)
        await self.pool.close(timeout=1.0)  # for those that connect just now

    def apart(self, pool: AsyncConnectionPool[Bare]) -> "PostgresDatabase":
        """The same opening over connections of its own, for what may not wait behind other work."""
        return PostgresDatabase(pool, self._compiler, self.lease, self.clock)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except StoreBusy:
            self.busy += 1
            raise

    async def _glance(self, work: Work[T]) -> T:
        return await self._looked(lambda bare: work(self._tx(bare, OneQuestion)))

    async def _snapshot(self, work: Work[T]) -> T:
        async def look(bare: Bare) -> T:
            await bare.execute(_SNAPSHOT)
            result = await work(self._tx(bare))
            await bare.execute("COMMIT")
            return result

        return await self._looked(look)

    async def _looked(self, look: Callable[[Bare], Awaitable[T]]) -> T:
        """Whoever only looks may look again over another connection, where the first was dead."""
        for tries in range(MOST_LOST):
            try:
                async with self._connected() as bare:
                    return await look(bare)
            except (psycopg.Error, PoolTimeout) as err:
                if not gone(err) or tries + 1 == MOST_LOST:
                    raise named(err) from err
        raise StoreBusy("the database server does not answer")

    async def _unit(self, work: Work[T]) -> T:
        for tries in range(MOST_TRIES):
            attempt = _Attempt()
            try:
                await self._once(work, attempt)
            except IN_THE_WAY as err:
                if tries + 1 == (FEW_TRIES if isinstance(err, psycopg.IntegrityError) else MOST_TRIES):
                    raise named(err) from err
                await asyncio.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.002 * 2**tries)))  # noqa: S311
                continue
            except LOST as err:
                if not attempt.xid and gone(err) and tries < MOST_LOST:
                    continue  # it was dead before anything was begun: others of the pool may be, after a restart
                if attempt.done is None or not await self._committed(attempt.xid):
                    raise named(err) from err
            except psycopg.Error as err:
                raise named(err) from err
            result, rung = cast(tuple[T, tuple[Lane, ...]], attempt.done)
            self.breaks.update(attempt.breaks)
            if rung and self.enqueue is None:  # else the wish to work was committed with what rang
                self.bell(rung)
            return result
        raise StoreBusy("other work was in the way for too long")

    async def _once(self, work: Work[Any], attempt: _Attempt) -> None:
        async with self._connected() as bare:
            attempt.xid = await self._begun(bare)
            tx = self._tx(bare)
            if self.sure is not None:
                await self.sure(tx)
            result = await work(tx)
            rung = tuple(tx.rung)
            if rung and self.enqueue is not None:
                await self.enqueue(bare, rung)
            attempt.done, attempt.breaks = (result, rung), tx.breaks
            await bare.execute("COMMIT")

    async def _begun(self, bare: Bare) -> str:
        """Begin a transaction that may change rows; returns its number."""
        clock = self.clock if isinstance(self.clock, DatabaseClock) else None
        asked = clock.asked() if clock else 0.0
        begun = await bare.execute(_BEGIN, prepare=False)
        begun.nextset()
        row = cast(dict[str, Any], await begun.fetchone())
        if clock:
            clock.heard(row["now"], asked)
        return str(row["xid"])

    async def _committed(self, xid: str) -> bool:
        """Whether a transaction whose connection broke in its commit is in the record."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                async with self._connected() as bare:
                    row = await (await bare.execute(_FATE, [xid])).fetchone()
            except (psycopg.Error, PoolTimeout):
                await asyncio.sleep(0.1)
                continue
            if row is None or row["fate"] != "in progress":
                return row is not None and row["fate"] == "committed"
            await asyncio.sleep(0.05)
        return False

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Bare]:
        """A connection outside any transaction; one that is left open by an error is taken back."""
        async with self.pool.connection() as bare:
            try:
                yield bare
            except BaseException as err:
                if not bare.closed and bare.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    told = isinstance(err, asyncio.CancelledError)  # who is told to end waits for no server
                    await (bare.close() if told else bare.execute("ROLLBACK"))
                raise

    def _tx(self, bare: Bare, driver: type[Driver] = Driver) -> Tx:
        return Tx(driver=driver(bare), compiler=self._compiler, lease=self.lease, now=self.clock())


def pool_of(url: str, most: int) -> AsyncConnectionPool[Bare]:
    """A pool that is not open yet. url: of the server; most: connections at once."""
    return AsyncConnectionPool(
        url,
        connection_class=psycopg.AsyncConnection[dict[str, Any]],
        kwargs={"autocommit": True, "row_factory": dict_row, "prepare_threshold": 3},
        min_size=1,
        max_size=most,
        timeout=PATIENCE,
        open=False,
        check=None,
        configure=unabandoned,
    )


async def unabandoned(bare: psycopg.AsyncConnection[Any]) -> None:
    """Make a new connection one whose transactions end by themselves once their process has gone quiet."""
    await bare.execute(f"SET idle_in_transaction_session_timeout = {int(ABANDONED_SECONDS * 1000)}")
    await bare.commit()


def plain_url(url: str) -> str:
    """A configured address as the driver takes it: without the name of the driver."""
    scheme, _, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}://{rest}"


ALIVE = f"SELECT name FROM {process.name} WHERE until > extract(epoch from clock_timestamp()) ORDER BY lease"  # noqa: S608


def refuse(names: Sequence[str]) -> None:
    """Go on only where nobody is alive.

    Raises:
        StoreBusy: somebody is.
    """
    if names:
        raise StoreBusy(f"{len(names)} at work on that database ({', '.join(names)}); stop every mnema run on it first")


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Bare]:
    """A connection outside any transaction.

    Raises:
        StoreError: the server cannot be used.
    """
    try:
        async with await psycopg.AsyncConnection[dict[str, Any]].connect(
            plain_url(url), autocommit=True, row_factory=dict_row, connect_timeout=5
        ) as bare:
            yield bare
    except psycopg.Error as err:
        raise StoreError(f"the PostgreSQL server cannot be used: {named(err)}") from err


SCHEMA_LOCK_KEY = 7_306_500_117
"""The advisory lock of whoever makes tables."""
