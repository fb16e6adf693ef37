"""Keeps one space's index in step with its files and with what was said in it."""

import asyncio
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TypeVar, cast

import structlog

from memory import daily_log
from memory.recall.index import SqliteIndex
from memory.recall.rows import LONG_TERM, Said, of_file, of_messages
from memory.store.doors import Store
from memory.store.engine import named
from memory.store.errors import StoreCorrupt
from memory.workspace import SPACES, PathRefused, TooBig, Workspace

log = structlog.get_logger(__name__)
T = TypeVar("T")
PAGE = 1_000
"""Messages that are indexed in one step."""
UNSETTLED_NS = 50_000_000
"""A file that was changed so shortly ago may be changed again within the same tick of its clock."""
FILE, TALK = "file:", "talk:"
"""How the names of sources begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What recall stands on. folder: of the indexes; zone: whose days and hours are told."""

    store: Store
    workspace: Workspace
    folder: Path
    zone: tzinfo


class Kept:
    """One space's index. What cannot be read any more is thrown away and made anew: it holds nothing of its own."""

    def __init__(self, space: str, ground: Ground) -> None:
        self.space = space
        self._ground = ground
        self._path = ground.folder / f"{f'space-{space}' if space else 'owner'}.db"
        self._index: SqliteIndex | None = None
        self._turn = asyncio.Lock()
        self._looked_at = 0.0
        self._thread = threading.Lock()

    async def use(self, work: Callable[[SqliteIndex], T]) -> T:
        """What `work`, run in a thread, makes of the index once it is up to date.

        Raises:
            StoreError: it cannot be read or made.
        """
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

    @property
    def busy(self) -> bool:
        """Whether something is done with it just now."""
        return self._turn.locked() or self._thread.locked()

    async def remove(self) -> None:
        """Throw the index away."""
        async with self._turn:
            await asyncio.to_thread(self._remove)

    def close(self) -> None:
        """Close the file; blocks."""
        with self._thread:
            if self._index is not None:
                self._index.close()
                self._index = None

    async def _use(self, work: Callable[[SqliteIndex], T]) -> T:
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
        while until.seq < end:
            messages = await self._ground.store.sessions.messages(conversation, until.seq, limit=PAGE)
            if not messages:
                return
            rows, until = of_messages(messages, until, self._ground.zone)
            stamp = json.dumps(asdict(until))
            await asyncio.to_thread(
                self._with,
                lambda index: index.put(TALK + conversation, stamp, rows, more=True),  # noqa: B023
            )

    def _with(self, work: Callable[[SqliteIndex], T]) -> T:
        """Blocks; a caller that was cancelled may still be in here, so that others wait."""
        try:
            with self._thread:
                if self._index is None:
                    self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    self._index = SqliteIndex(self._path)
                return work(self._index)
        except sqlite3.Error as err:
            raise named(err) from err

    def _in_step(
        self, index: SqliteIndex, ends: Mapping[str, int], work: Callable[[SqliteIndex], T]
    ) -> tuple[dict[str, Said], T | None]:
        """What is not indexed to its end yet, and the work's result where that is nothing: one hop instead of two."""
        behind = self._sync(index, ends)
        return behind, None if behind else work(index)

    def _sync(self, index: SqliteIndex, ends: Mapping[str, int]) -> dict[str, Said]:
        """Files into the index, what is gone out of it; returns the conversations that are not indexed to their end."""
        known, there = index.sources(), self._stamps()
        now = time.time_ns()
        for path, (stamp, changed) in there.items():
            if known.get(FILE + path) != stamp:
                text = self._text(path)
                unsettled = text is None or abs(now - changed) < UNSETTLED_NS
                index.put(FILE + path, "" if unsettled else stamp, of_file(path, text or ""))
        here = {FILE + path for path in there} | {TALK + conversation for conversation in ends}
        if gone := known.keys() - here:
            index.drop(gone)
        talks = {name: _until(known.get(TALK + name, "")) for name in ends}
        return {name: until for name, until in talks.items() if until.seq < ends[name]}

    def _stamps(self) -> dict[str, tuple[str, int]]:
        """Each memory file's path, what changes when it does, and when it last did (ns)."""
        root = self._ground.workspace.root
        top = root / SPACES / self.space if self.space else root
        found = {}
        for path, entry in _files(top):
            try:
                held = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            changed = max(held.st_mtime_ns, held.st_ctime_ns)
            found[path] = (stamp_of(held), changed)
        return found

    def _text(self, path: str) -> str | None:
        """A file's text, "" for one that is never read, None for one that cannot be read now."""
        try:
            return self._ground.workspace.space(self.space).read(path).text
        except (OSError, PathRefused, TooBig) as err:
            log.warning("a file is not indexed", path=path, why=type(err).__name__)
            return None if isinstance(err, OSError) else ""

    def _remove(self) -> None:
        self._looked_at = 0.0
        self.close()
        for end in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)


def _files(top: Path) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """The memory files of a space: its MEMORY.md and what lies in its folder of daily logs."""
    for folder, inside in ((top, ""), (top / daily_log.FOLDER, f"{daily_log.FOLDER}/")):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    wanted = entry.name.endswith(".md") if inside else entry.name == LONG_TERM
                    if wanted and entry.is_file(follow_symlinks=False):
                        yield inside + entry.name, entry
        except OSError:
            continue


def stamp_of(held: os.stat_result) -> str:
    """What is another one whenever a file has changed."""
    return f"{held.st_mtime_ns} {held.st_ctime_ns} {held.st_size} {held.st_ino}"


def _until(stamp: str) -> Said:
    return Said(**json.loads(stamp)) if stamp else Said()
