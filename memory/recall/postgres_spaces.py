"""Keeps one space's index in PostgreSQL in step, one process at a time; the others search what is there."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

import structlog

from memory.recall.check import IndexCheck, check_index
from memory.recall.documents import IndexPosition
from memory.recall.index import SpaceIndex, SpaceIndexKeeper
from memory.recall.postgres_index import PostgresIndex
from memory.recall.postgres_pool import MAX_CONNECTIONS, IndexConnections, IndexTimeouts
from memory.recall.sqlite_index import RecallDependencies
from memory.recall.sync import CONVERSATION_PREFIX, find_lag, read_file_stamps, read_new_messages, sync_files
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError
from memory.workspace.files import Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
T = TypeVar("T")


class IndexExecutor:
    """Where work on the indexes is done: as many at a time as there are connections, each with a thread of its own.

    Whoever changes an index keeps a connection between two steps. Were threads shared with those who wait for one,
    they could all wait, and nobody would be left to take the next step.
    """

    def __init__(self, connections: IndexConnections) -> None:
        self.connections = connections
        self.slots = asyncio.Semaphore(MAX_CONNECTIONS)
        self.threads = ThreadPoolExecutor(
            2 * MAX_CONNECTIONS, thread_name_prefix="index"
        )  # an abandoned step keeps its thread


class PostgresSharedIndexes:
    """The indexes of all spaces in one PostgreSQL. Nothing is opened before the first use."""

    def __init__(self, url: str, patience: IndexTimeouts | None = None) -> None:
        self._connections = IndexConnections(url, patience or IndexTimeouts())
        self._executor = IndexExecutor(self._connections)

    def kept(self, space: str, ground: RecallDependencies) -> SpaceIndexKeeper:
        return PostgresIndexKeeper(space, ground, self._executor)

    def look(self, workspace: Workspace, most: int = 200) -> list[IndexCheck]:
        """Whether indexes are sound and say what the files say, the owner's first; blocks.

        Args:
            most: indexes that are looked at.

        Raises:
            StoreError: the server cannot be asked.
        """
        return [self._look(space, workspace) for space in PostgresIndex.spaces(self._connections)[:most]]

    def close(self) -> None:
        """Close every connection; blocks. They are opened again when they are needed."""
        self._connections.close()

    def _look(self, space: str, workspace: Workspace) -> IndexCheck:
        index = PostgresIndex(space, self._connections)
        try:
            index.begin_reading()
            return check_index(index, workspace, space)
        except (StoreError, PathRefused) as err:
            return IndexCheck(space=space, fault=str(err))
        finally:
            index.end(keep=False)


class PostgresIndexKeeper:
    """A Kept in PostgreSQL. What cannot be read any more is thrown away and made again."""

    def __init__(self, space: str, ground: RecallDependencies, executor: IndexExecutor) -> None:
        self.space = space
        self._ground = ground
        self._executor = executor
        self._connections = executor.connections
        self._patience = executor.connections.patience
        self._index = PostgresIndex(space, executor.connections)
        self._turn = asyncio.Lock()
        self._thread = threading.Lock()
        self._looked_at = 0.0

    async def use(self, work: Callable[[SpaceIndex], T]) -> T:
        asked = time.monotonic()
        async with self._turn, self._executor.slots:
            try:
                if self._looked_at > asked:  # somebody who was first has looked at everything since we asked
                    return await self._hop(lambda: self._read(work))
                return await self._use(work)
            except StoreCorrupt as err:
                log.warning("index made anew", space=self.space, why=str(err))
                await self._remove()
                return await self._use(work)

    async def change(self, work: Callable[[SpaceIndex], T]) -> T:
        async with self._turn, self._executor.slots:
            return await self._hop(lambda: self._changed(work, self._patience.wait))

    @property
    def busy(self) -> bool:
        return self._turn.locked() or self._thread.locked()

    async def remove(self) -> None:
        async with self._turn, self._executor.slots:
            await self._remove()

    def close(self) -> None:
        """Nothing is open between two uses."""

    async def _use(self, work: Callable[[SpaceIndex], T]) -> T:
        began = time.monotonic()
        ends = await self._ground.store.sessions.ends(self.space)
        in_step, result = await self._hop(lambda: self._read(lambda index: self._look(index, ends, work)))
        if in_step:
            self._looked_at = began
            return cast(T, result)
        try:
            await self._catch_up()
            self._looked_at = began
        except StoreBusy as err:
            log.info("searched as far as it is indexed", space=self.space, why=str(err))
        return await self._hop(lambda: self._read(work))

    async def _catch_up(self) -> None:
        """Index what has changed, as one transaction; the store is asked again once nobody else changes the index."""
        ground, index = self._ground, self._index
        try:
            await self._hop(lambda: index.begin_changing(self._patience.wait))
            ends = await ground.store.sessions.ends(self.space)
            talks = await self._hop(lambda: sync_files(index, ground.workspace, self.space, ends))
            for conversation, until in talks.items():
                await self._read_on(conversation, until, ends[conversation])
            await self._hop(lambda: index.end(keep=True))
        except BaseException:
            await self._hop(lambda: index.end(keep=False))
            raise

    async def _read_on(self, conversation: str, until: IndexPosition, end: int) -> None:
        async for stamp, rows in read_new_messages(self._ground.store, conversation, until, end, self._ground.zone):
            await self._hop(lambda: self._index.put(CONVERSATION_PREFIX + conversation, stamp, rows, more=True))  # noqa: B023

    async def _remove(self) -> None:
        self._looked_at = 0.0
        self._connections.recheck_tables()
        await self._hop(lambda: self._changed(lambda _: self._index.remove(), self._patience.removal))

    async def _hop(self, work: Callable[[], T]) -> T:
        """What work returns that was done in a thread; one that hangs at the server is cut off."""
        going = asyncio.get_running_loop().run_in_executor(self._executor.threads, self._alone, work)
        going.add_done_callback(lambda done: done.cancelled() or done.exception())  # though nobody waits any more
        while not going.done():
            await asyncio.wait({going}, timeout=self._patience.read)
            self._connections.close_stuck()
        return going.result()

    def _alone(self, work: Callable[[], T]) -> T:
        """Blocks; a caller that was cancelled may still be in here, so that others wait."""
        with self._thread:
            return work()

    def _read(self, work: Callable[[SpaceIndex], T]) -> T:
        try:
            self._index.begin_reading()
            return work(self._index)
        finally:
            self._index.end(keep=False)

    def _changed(self, work: Callable[[SpaceIndex], T], wait: float) -> T:
        try:
            self._index.begin_changing(wait)
            result = work(self._index)
            self._index.end(keep=True)
        except BaseException:
            self._index.end(keep=False)
            raise
        return result

    def _look(
        self, index: SpaceIndex, ends: Mapping[str, int], work: Callable[[SpaceIndex], T]
    ) -> tuple[bool, T | None]:
        """Whether the index is in step, and the work's result where it is: one hop instead of two."""
        there = read_file_stamps(self._ground.workspace, self.space)
        return (False, None) if find_lag(index, there, ends).any else (True, work(index))
