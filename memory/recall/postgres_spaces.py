"""The shared indexes in PostgreSQL. One process at a time updates a space's index; the others search it as it is."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

import structlog

from memory.recall.documents import IndexPosition
from memory.recall.index import SpaceIndex, SpaceIndexKeeper
from memory.recall.postgres_index import PostgresIndex
from memory.recall.postgres_pool import MAX_CONNECTIONS, IndexConnections, IndexTimeouts
from memory.recall.sqlite_index import RecallDependencies
from memory.recall.sync import (
    CONVERSATION_PREFIX,
    IndexCheck,
    check_index,
    find_lag,
    read_file_stamps,
    read_new_messages,
    sync_files,
)
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError
from memory.workspace.files import Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
T = TypeVar("T")


class IndexExecutor:
    """Threads for work on the indexes, one for each connection, and as many for abandoned work.

    A change of an index holds a connection between its steps. With fewer threads, all of them could wait for a
    connection, and none would be left for the next step of the change that holds it.
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
        return [self._check(space, workspace) for space in PostgresIndex.spaces(self._connections)[:most]]

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


class PostgresIndexKeeper:
    """A SpaceIndexKeeper for PostgreSQL. A damaged index is deleted and made again."""

    def __init__(self, space: str, dependencies: RecallDependencies, executor: IndexExecutor) -> None:
        self.space = space
        self._dependencies = dependencies
        self._executor = executor
        self._connections = executor.connections
        self._timeouts = executor.connections.timeouts
        self._index = PostgresIndex(space, executor.connections)
        self._lock = asyncio.Lock()
        self._thread_lock = threading.Lock()
        self._synced_at = 0.0  # time.monotonic() before the last synchronisation

    async def use(self, work: Callable[[SpaceIndex], T]) -> T:
        called = time.monotonic()
        async with self._lock, self._executor.slots:
            try:
                if self._synced_at > called:  # another caller has synchronised it since
                    return await self._in_thread(lambda: self._read(work))
                return await self._sync_and_run(work)
            except StoreCorrupt as err:
                log.warning("index made anew", space=self.space, why=str(err))
                await self._remove()
                return await self._sync_and_run(work)

    async def change(self, work: Callable[[SpaceIndex], T]) -> T:
        async with self._lock, self._executor.slots:
            return await self._in_thread(lambda: self._change(work, self._timeouts.wait))

    @property
    def busy(self) -> bool:
        return self._lock.locked() or self._thread_lock.locked()

    async def remove(self) -> None:
        async with self._lock, self._executor.slots:
            await self._remove()

    def close(self) -> None:
        """Do nothing: no connection is held between two uses."""

    async def _sync_and_run(self, work: Callable[[SpaceIndex], T]) -> T:
        began = time.monotonic()
        ends = await self._dependencies.store.sessions.next_seqs(self.space)
        current, result = await self._in_thread(
            lambda: self._read(lambda index: self._run_if_current(index, ends, work))
        )
        if current:
            self._synced_at = began
            return cast(T, result)
        try:
            await self._sync()
            self._synced_at = began
        except StoreBusy as err:
            log.info("searched as far as it is indexed", space=self.space, why=str(err))
        return await self._in_thread(lambda: self._read(work))

    async def _sync(self) -> None:
        """Index what has changed, in one transaction. The store is read while the lock is held, so it is not stale."""
        dependencies, index = self._dependencies, self._index
        try:
            await self._in_thread(lambda: index.begin_changing(self._timeouts.wait))
            ends = await dependencies.store.sessions.next_seqs(self.space)
            behind = await self._in_thread(lambda: sync_files(index, dependencies.workspace, self.space, ends))
            for conversation, until in behind.items():
                await self._index_messages(conversation, until, ends[conversation])
            await self._in_thread(lambda: index.end(keep=True))
        except BaseException:
            await self._in_thread(lambda: index.end(keep=False))
            raise

    async def _index_messages(self, conversation: str, until: IndexPosition, end: int) -> None:
        store, zone, source = self._dependencies.store, self._dependencies.zone, CONVERSATION_PREFIX + conversation
        async for stamp, rows in read_new_messages(store, conversation, until, end, zone):
            await self._in_thread(lambda: self._index.put(source, stamp, rows, more=True))  # noqa: B023

    async def _remove(self) -> None:
        self._synced_at = 0.0
        self._connections.recheck_tables()
        await self._in_thread(lambda: self._change(lambda _: self._index.remove(), self._timeouts.removal))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread; a statement that hangs has its connection closed."""
        future = asyncio.get_running_loop().run_in_executor(self._executor.threads, self._run_locked, work)
        # retrieve the error of an abandoned step, so that asyncio does not log it
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        while not future.done():
            await asyncio.wait({future}, timeout=self._timeouts.read)
            self._connections.close_stuck()
        return future.result()

    def _run_locked(self, work: Callable[[], T]) -> T:
        """The thread of a cancelled caller may still run, hence a second lock."""
        with self._thread_lock:
            return work()

    def _read(self, work: Callable[[SpaceIndex], T]) -> T:
        try:
            self._index.begin_reading()
            return work(self._index)
        finally:
            self._index.end(keep=False)

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
        self, index: SpaceIndex, ends: Mapping[str, int], work: Callable[[SpaceIndex], T]
    ) -> tuple[bool, T | None]:
        """Whether the index is up to date, and if so the result of `work`: one thread hop, not two."""
        stamps = read_file_stamps(self._dependencies.workspace, self.space)
        return (False, None) if find_lag(index, stamps, ends).any else (True, work(index))
