"""The shared indexes in PostgreSQL.

One process at a time updates a space's index; the others search it as it is.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

import structlog

from memory.recall.index import (
    IndexCheck,
    RecallDependencies,
    SpaceIndex,
    SpaceIndexKeeper,
    WritableIndex,
)
from memory.recall.keepers.keeper import (
    MAX_READERS,
    FileStamps,
    IndexKeeper,
    check_index,
    is_current,
    read_file_stamps,
    sync_index,
)
from memory.store.errors import StoreBusy, StoreError
from memory.store.postgres.index import PostgresIndex
from memory.store.postgres.index_connections import MAX_CONNECTIONS, IndexConnections, IndexTimeouts
from memory.workspace.files import Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
T = TypeVar("T")


class IndexExecutor:
    """Threads for work on the indexes, one for each connection, and as many for abandoned work.

    A change of an index holds a connection between its steps. With fewer threads, all of them could
    wait for a connection, and none would be left for the next step of the change that holds it.
    """

    def __init__(self, connections: IndexConnections) -> None:
        self.connections = connections
        self.slots = asyncio.Semaphore(MAX_CONNECTIONS)
        # a step whose caller was cancelled goes on in its thread
        self.threads = ThreadPoolExecutor(2 * MAX_CONNECTIONS, thread_name_prefix="index")


class PostgresSharedIndexes:
    """The indexes of all spaces in one PostgreSQL. Connects at the first use."""

    def __init__(self, url: str, timeouts: IndexTimeouts | None = None) -> None:
        self._connections = IndexConnections(url, timeouts or IndexTimeouts())
        self._executor = IndexExecutor(self._connections)

    def keeper(self, space: str, dependencies: RecallDependencies) -> SpaceIndexKeeper:
        return PostgresIndexKeeper(space, dependencies, self._executor)

    def check_indexes(self, workspace: Workspace, most: int = 200) -> list[IndexCheck]:
        """Check at most so many indexes, the owner's first; blocks.

        Raises:
            StoreError: the server cannot be reached.
        """
        return [
            self._check(space, workspace)
            for space in PostgresIndex.spaces(self._connections)[:most]
        ]

    def close(self) -> None:
        """Close every connection; blocks. The next use opens new ones."""
        self._connections.close()

    def _check(self, space: str, workspace: Workspace) -> IndexCheck:
        index = PostgresIndex(space, self._connections)
        try:
            index.begin_reading()
            return check_index(index, workspace, space)
        except (StoreError, PathRefused) as err:
            return IndexCheck(space=space, fault=str(err))
        finally:
            index.end(keep=False)


class PostgresIndexKeeper(IndexKeeper):
    """A SpaceIndexKeeper for PostgreSQL.

    Other processes write the store and the files too, so both are compared with the index before
    each use that must be fresh.
    """

    def __init__(
        self, space: str, dependencies: RecallDependencies, executor: IndexExecutor
    ) -> None:
        super().__init__(space, dependencies)
        self._executor = executor
        self._connections = executor.connections
        self._timeouts = executor.connections.timeouts
        self._index = PostgresIndex(space, executor.connections)  # of the holder of `_changing`
        self._lock = threading.Lock()  # of `_index`: the thread of a cancelled caller may still run
        # free ones
        self._readers = [PostgresIndex(space, executor.connections) for _ in range(MAX_READERS)]
        self._reading = asyncio.Semaphore(MAX_READERS)
        # The version of the index, the conversations and the files that were last found to be in
        # step: to compare each conversation's position took most of a search's time in a space with
        # thousands of them.
        self._in_step: tuple[tuple[int, ...], Mapping[str, int], FileStamps] | None = None
        self._synced_at = -math.inf  # time.monotonic() before the last synchronisation

    def note_change(self, conversation: str) -> None:
        """Do nothing: not every change is reported."""

    def _lacks_since(self) -> float:
        return self._synced_at

    async def _sync_and_read(self, work: Callable[[SpaceIndex], T], called: float) -> T:
        began = time.monotonic()
        ends = await self._dependencies.store.sessions.next_seqs(self.space)
        current, result = await self._read(lambda index: self._run_if_current(index, ends, work))
        if not current:
            return await super()._sync_and_read(work, called)
        self._synced_at = max(self._synced_at, began)
        return cast(T, result)

    async def _sync(self, *, in_background: bool = False) -> None:
        began, index = time.monotonic(), self._index
        async with self._executor.slots:
            try:
                await self._step(lambda _: index.begin_changing(self._timeouts.wait))
                # the store is read while the index is locked, so that what another process has
                # indexed is not behind it
                await sync_index(self._step, self._dependencies, self.space)
                await self._step(lambda _: index.end(keep=True))
                self._synced_at = began
            except StoreBusy as err:
                await self._step(lambda _: index.end(keep=False))
                log.info("searched as far as it is indexed", space=self.space, why=str(err))
            except BaseException:
                await self._step(lambda _: index.end(keep=False))
                raise

    async def _read(self, work: Callable[[PostgresIndex], T]) -> T:
        await self._reading.acquire()
        running = asyncio.ensure_future(self._in_slot(lambda: self._run_reading(work)))
        running.add_done_callback(self._end_reading)
        return await asyncio.shield(running)

    def _end_reading(self, running: asyncio.Future[Any]) -> None:
        self._reading.release()
        if not running.cancelled():
            # retrieved, so that asyncio does not log it when the caller has given up
            running.exception()

    async def _write(self, work: Callable[[SpaceIndex], T]) -> T:
        return await self._in_slot(
            lambda: self._locked(lambda: self._change(work, self._timeouts.wait))
        )

    async def _step(self, work: Callable[[WritableIndex], T]) -> T:
        """Run a part of a change, whose transaction is open between the parts."""
        return await self._in_thread(lambda: self._locked(lambda: work(self._index)))

    async def _remove(self) -> None:
        self._synced_at = -math.inf
        self._connections.recheck_tables()
        removal = self._timeouts.removal
        await self._in_slot(
            lambda: self._locked(lambda: self._change(lambda _: self._index.remove(), removal))
        )

    async def _close(self) -> None:
        """Nothing is open between two uses."""

    async def _in_slot(self, work: Callable[[], T]) -> T:
        async with self._executor.slots:
            return await self._in_thread(work)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread; a statement that hangs has its connection closed."""
        future = asyncio.get_running_loop().run_in_executor(self._executor.threads, work)
        # retrieve the error of an abandoned step, so that asyncio does not log it
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        while not future.done():
            await asyncio.wait({future}, timeout=self._timeouts.read)
            self._connections.close_stuck()
        return future.result()

    def _locked(self, work: Callable[[], T]) -> T:
        with self._lock:
            return work()

    def _run_reading(self, work: Callable[[PostgresIndex], T]) -> T:
        index = self._readers.pop()
        try:
            index.begin_reading()
            return work(index)
        finally:
            try:
                index.end(keep=False)
            finally:
                self._readers.append(index)

    def _change(self, work: Callable[[SpaceIndex], T], wait: float) -> T:
        try:
            self._index.begin_changing(wait)
            result = work(self._index)
            self._index.end(keep=True)
        except BaseException:
            self._index.end(keep=False)
            raise
        return result

    def _run_if_current(
        self, index: PostgresIndex, ends: Mapping[str, int], work: Callable[[SpaceIndex], T]
    ) -> tuple[bool, T | None]:
        """Whether the index is up to date, and if so the result of `work`: one thread hop, not
        two.
        """
        stamps = read_file_stamps(self._dependencies.workspace, self.space)
        found = index.version, ends, stamps
        if found != self._in_step and not is_current(index, stamps, ends):
            return False, None
        self._in_step = found
        return True, work(index)
