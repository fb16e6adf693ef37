"""Keeps one space's index, a file, in step with what it is made of."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Protocol, TypeVar, cast

import structlog

from memory.recall.doors import Kept, SpaceIndex
from memory.recall.index import SqliteIndex
from memory.recall.rows import Said
from memory.recall.syncing import TALK, read_on, sync
from memory.store.doors import Store
from memory.store.engine import named
from memory.store.errors import IndexUnusable, StoreCorrupt
from memory.workspace import Workspace

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What recall stands on. folder: of the indexes that are files; zone: whose days and hours are told.

    shared: where the indexes are kept that several processes work with; None for files of this process alone.
    """

    store: Store
    workspace: Workspace
    folder: Path
    zone: tzinfo
    shared: "Shared | None" = None


class Shared(Protocol):
    """A place for all spaces' indexes that several processes work with."""

    def kept(self, space: str, ground: Ground) -> Kept:
        """That of one space; nothing is opened yet."""
        ...


def kept_of(space: str, ground: Ground) -> Kept:
    """One space's index where this ground keeps it."""
    return ground.shared.kept(space, ground) if ground.shared else FileKept(space, ground)


class FileKept:
    """A Kept in a file. What cannot be read any more is thrown away and made anew: it holds nothing of its own."""

    def __init__(self, space: str, ground: Ground) -> None:
        self.space = space
        self._ground = ground
        self._path = ground.folder / f"{f'space-{space}' if space else 'owner'}.db"
        self._index: SqliteIndex | None = None
        self._turn = asyncio.Lock()
        self._looked_at = 0.0
        self._thread = threading.Lock()

    async def use(self, work: Callable[[SpaceIndex], T]) -> T:
        asked = time.monotonic()
        async with self._turn:
            try:
                if self._looked_at > asked:  # somebody who was first has looked at everything since we asked
                    return await asyncio.to_thread(self._with, work)
                return await self._use(work)
            except StoreCorrupt as err:
                log.warning("index made anew", space=self.space, why=str(err))
                await asyncio.to_thread(self._remove)
                return await self._use(work)

    async def change(self, work: Callable[[SpaceIndex], T]) -> T:
        async with self._turn:
            return await asyncio.to_thread(self._with, work)

    @property
    def busy(self) -> bool:
        return self._turn.locked() or self._thread.locked()

    async def remove(self) -> None:
        async with self._turn:
            await asyncio.to_thread(self._remove)

    def close(self) -> None:
        with self._thread:
            if self._index is not None:
                self._index.close()
                self._index = None

    async def _use(self, work: Callable[[SpaceIndex], T]) -> T:
        began = time.monotonic()
        ends = await self._ground.store.sessions.ends(self.space)
        behind, result = await asyncio.to_thread(self._with, lambda index: self._in_step(index, ends, work))
        if not behind:
            self._looked_at = began
            return cast(T, result)
        for conversation, until in behind.items():
            await self._read_on(conversation, until, ends[conversation])
        self._looked_at = began
        return await asyncio.to_thread(self._with, work)

    async def _read_on(self, conversation: str, until: Said, end: int) -> None:
        ground = self._ground
        async for stamp, rows in read_on(ground.store, conversation, until, end, ground.zone):
            await asyncio.to_thread(
                self._with,
                lambda index: index.put(TALK + conversation, stamp, rows, more=True),  # noqa: B023
            )

    def _with(self, work: Callable[[SqliteIndex], T]) -> T:
        """Blocks; a caller that was cancelled may still be in here, so that others wait."""
        try:
            with self._thread:
                if self._index is None:
                    self._make_folder()
                    self._index = SqliteIndex(self._path)
                return work(self._index)
        except sqlite3.Error as err:
            if isinstance(found := named(err), StoreCorrupt):
                raise found from err
            raise self._unusable(str(err)) from err

    def _make_folder(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as err:
            raise self._unusable(err.strerror or str(err)) from err

    def _unusable(self, why: str) -> IndexUnusable:
        folder = self._path.parent
        return IndexUnusable(
            f"the search index in {folder} cannot be used ({why}); see that {folder} is a folder that this account may "
            "write in, with room on its disk, or remove it: the index is made anew by itself"
        )

    def _in_step(
        self, index: SqliteIndex, ends: Mapping[str, int], work: Callable[[SpaceIndex], T]
    ) -> tuple[Mapping[str, Said], T | None]:
        """What is not indexed to its end yet, and the work's result where that is nothing: one hop instead of two."""
        behind = sync(index, self._ground.workspace, self.space, ends)
        return behind, None if behind else work(index)

    def _remove(self) -> None:
        self._looked_at = 0.0
        self.close()
        try:
            for end in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        except NotADirectoryError:
            return  # something else stands where the folder would be, so there is no index
        except OSError as err:
            raise self._unusable(err.strerror or str(err)) from err
