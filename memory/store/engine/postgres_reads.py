"""A snapshot that the reads of one task share: one transaction instead of one for each of them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TypeVar

import psycopg

from memory.store.engine.postgres_driver import PostgresConnection, PostgresDriver
from memory.tasks import cancel_and_wait

T = TypeVar("T")
BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
LINGER_SECONDS = 0.03  # without a read, after which the snapshot ends: the connection is for others
MAX_SNAPSHOT_SECONDS = 0.1  # so that what is read stays fresh


class SharedSnapshot:
    """Begins a snapshot with the first read and ends it after the last one. Reads run one after the other."""

    def __init__(self, owner: object, connect: Callable[[], AbstractAsyncContextManager[PostgresConnection]]) -> None:
        """connect: borrows a connection outside any transaction of `owner`; one that fails is rolled back."""
        self._owner = owner
        self._connect = connect
        self._held: AbstractAsyncContextManager[PostgresConnection] | None = None
        self._driver: PostgresDriver | None = None
        self._one_at_a_time = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._began = 0.0
        self._ending: set[asyncio.Task[None]] = set()
        self._is_open = True

    def is_open_for(self, database: object) -> bool:
        """Return whether a read of this database may share it."""
        return self._is_open and self._owner is database

    async def read(self, run: Callable[[PostgresDriver], Awaitable[T]]) -> T:
        """Run one read. After an error the snapshot is over, and the next read begins another."""
        async with self._one_at_a_time:
            loop = asyncio.get_running_loop()
            self._stop_timer()
            if self._driver is not None and loop.time() - self._began > MAX_SNAPSHOT_SECONDS:
                await self._commit()
            try:
                if self._driver is None:
                    connecting = self._connect()
                    self._driver = PostgresDriver(await connecting.__aenter__(), BEGIN_SNAPSHOT)
                    self._held = connecting
                    self._began = loop.time()
                result = await run(self._driver)
            except BaseException as err:
                await self._give_back(err)
                raise
            self._timer = loop.call_later(LINGER_SECONDS, self._end_soon)
            return result

    async def end(self) -> None:
        """End the snapshot; the next read begins another."""
        if self._driver is not None or self._one_at_a_time.locked():
            async with self._one_at_a_time:
                await self._commit()

    async def close(self) -> None:
        """End the snapshot, and share none from now on."""
        self._is_open = False
        await self.end()
        await cancel_and_wait(self._ending)

    def _end_soon(self) -> None:
        task = asyncio.create_task(self._end_idle(), name="end of a snapshot")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_idle(self) -> None:
        if not self._one_at_a_time.locked():  # else it is not idle any more
            await self.end()

    async def _commit(self) -> None:
        self._stop_timer()
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
        self._stop_timer()
        if held is None:
            return
        if err is None:
            await held.__aexit__(None, None, None)
            return
        with suppress(type(err)):  # it raises the error again, and so does the caller
            await held.__aexit__(type(err), err, err.__traceback__)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
