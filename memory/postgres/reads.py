"""A snapshot that the reads of one task share: one transaction instead of one for each of them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TypeVar

import psycopg

from memory.postgres.driver import PostgresDriver
from memory.postgres.wire import PostgresConnection
from memory.tasks import cancel_and_wait

T = TypeVar("T")
BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
LINGER_SECONDS = 0.03  # without a read, after which the snapshot ends: the connection is for others
MAX_SNAPSHOT_SECONDS = 0.1  # so that what is read stays fresh
# Borrows a connection outside any transaction; one that fails is rolled back.
Connect = Callable[[], AbstractAsyncContextManager[PostgresConnection]]


class SharedSnapshot:
    """Begins a snapshot with the first read and ends it after the last one. Reads run one after the other."""

    def __init__(self, owner: object, connect: Connect) -> None:
        """connect: to the database of `owner`."""
        self._owner = owner
        self._connect = connect
        self._current: _Snapshot | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._is_open = True

    def is_open_for(self, database: object) -> bool:
        """Return whether a read of this database may share it."""
        return self._is_open and self._owner is database

    async def read(self, run: Callable[[PostgresDriver], Awaitable[T]]) -> T:
        """Run one read. After an error the snapshot is over, and the next read begins another."""
        loop = asyncio.get_running_loop()
        self._stop_timer()
        if self._current is not None and loop.time() - self._current.began > MAX_SNAPSHOT_SECONDS:
            self.end()
        snapshot = self._current = self._current or _Snapshot(self._connect)
        try:
            result = await snapshot.read(run)
        except BaseException:
            if snapshot is self._current:
                self.end()
            raise
        if snapshot is self._current:
            self._stop_timer()
            self._timer = loop.call_later(LINGER_SECONDS, self._end_idle, snapshot)
        return result

    def end(self) -> None:
        """Let the snapshot end after the reads that have begun; the next read begins another. Nobody waits for that."""
        self._stop_timer()
        snapshot, self._current = self._current, None
        if snapshot is not None:
            task = asyncio.create_task(snapshot.end(), name="end of a snapshot")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End the snapshot, and share none from now on."""
        self._is_open = False
        self.end()
        try:
            if self._ending:
                await asyncio.wait(list(self._ending))
        except asyncio.CancelledError:
            await cancel_and_wait(self._ending)
            raise

    def _end_idle(self, snapshot: "_Snapshot") -> None:
        if snapshot is self._current and not snapshot.is_busy:
            self.end()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Snapshot:
    """One read-only transaction, and the connection it has from the pool."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._held: AbstractAsyncContextManager[PostgresConnection] | None = None
        self._driver: PostgresDriver | None = None
        self._one_at_a_time = asyncio.Lock()
        self.began = asyncio.get_running_loop().time()

    @property
    def is_busy(self) -> bool:
        """Whether a read is under way."""
        return self._one_at_a_time.locked()

    async def read(self, run: Callable[[PostgresDriver], Awaitable[T]]) -> T:
        """Run one read; the first one after an error begins another transaction."""
        async with self._one_at_a_time:
            try:
                if self._driver is None:
                    connecting = self._connect()
                    self._driver = PostgresDriver(await connecting.__aenter__(), BEGIN_SNAPSHOT)
                    self._held = connecting
                return await run(self._driver)
            except BaseException as err:
                await self._give_back(err)
                raise

    async def end(self) -> None:
        """End the transaction after all reads that have begun."""
        async with self._one_at_a_time:
            if self._driver is None:
                return
            try:
                await self._driver.commit()
            except psycopg.Error as err:  # it has read what it has read
                await self._give_back(err)
            except BaseException as err:
                await self._give_back(err)
                raise
            else:
                await self._give_back(None)

    async def _give_back(self, err: BaseException | None) -> None:
        held, self._held, self._driver = self._held, None, None
        if held is None:
            return
        if err is None:
            await held.__aexit__(None, None, None)
            return
        with suppress(type(err)):  # it raises the error again, and so does the caller
            await held.__aexit__(type(err), err, err.__traceback__)
