"""The indexes in files: each space's is written by one connection at a time and read by two."""

import asyncio
import math
import sqlite3
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from memory.recall.index import IndexCheck, RecallDependencies, SpaceIndex, SpaceIndexKeeper
from memory.recall.keepers.keeper import (
    LOG_INSIDE,
    MAX_READERS,
    IndexKeeper,
    check_index,
    is_indexed_path,
    space_folder,
    sync_index,
)
from memory.recall.sqlite_index import OtherVersion, SqliteIndex
from memory.store.engine.sqlite_connection import to_store_error
from memory.store.errors import IndexUnusable, StoreCorrupt
from memory.workspace.files import Workspace
from memory.workspace.folder_watch import FolderWatches
from memory.workspace.safe_path import PathRefused

T = TypeVar("T")
OWNER_STEM, SPACE_STEM_PREFIX = "owner", "space-"  # of the names of index files
# seconds that a search that need not be fresh waits for an update, if others search too
MAX_WAIT = 0.2
READ_THREADS, WRITE_THREADS = 4, 2  # of all indexes
# A read runs on the event loop's thread if the index is small and its reads take less CPU
# seconds on average: in a thread of its own it would compute just as long while the loop waits
# for the interpreter, and handing that over and back costs more than a small search. Judged by
# the last read alone, a slow one would send all that wait at the moment to the threads.
MAX_SECONDS_ON_LOOP, MAX_ROWS_ON_LOOP = 0.01, 20_000
NEWEST_WEIGHT = 0.1  # of the newest read in that average
# changed files, and conversations, that are noted one by one; of more, all are compared
MAX_LISTED = 1_000
# between two comparisons of files whose changes are reported, in case a report was missed
COMPARE_SECONDS = 60.0


class _Threads:
    """Threads for work on the indexes; they are started when they are needed."""

    def __init__(self) -> None:
        self.reading = ThreadPoolExecutor(READ_THREADS, thread_name_prefix="index-read")
        self.writing = ThreadPoolExecutor(WRITE_THREADS, thread_name_prefix="index-write")


class _ReadQueue:
    """Runs reads of one index in threads in their order, MAX_READERS at a time.

    A thread that ends one read begins the next by itself: on a busy event loop each hand-over would
    take a round of it.
    """

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._running = 0
        self._pauses = 0
        self._idle: Future[None] = Future()  # done when nothing runs while it is paused

    @property
    def is_paused(self) -> bool:
        """Whether nothing may begin."""
        return bool(self._pauses)

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run `work` in a thread, unless the result is cancelled before that."""
        future: Future[T] = Future()
        with self._lock:
            self._waiting.append((future, work))
        self._start()
        return future

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Wait until nothing is running; nothing begins until the end."""
        with self._lock:
            self._pauses += 1
            idle = self._idle = Future()
            if not self._running:
                idle.set_result(None)
        try:
            await asyncio.wrap_future(idle)
            yield
        finally:
            with self._lock:
                self._pauses -= 1
            self._start()

    def _start(self) -> None:
        """Begin what may run now."""
        while True:
            with self._lock:
                if self._pauses or self._running == MAX_READERS or not self._waiting:
                    return
                future, work = self._waiting.popleft()
                if not future.set_running_or_notify_cancel():
                    continue
                self._running += 1
            self._threads.submit(work).add_done_callback(partial(self._end, future))

    def _end(self, future: Future[Any], done: Future[Any]) -> None:
        with self._lock:
            self._running -= 1
            if self._pauses and not self._running and not self._idle.done():
                self._idle.set_result(None)
        self._start()
        if (err := done.exception()) is not None:
            future.set_exception(err)
        else:
            future.set_result(done.result())


class FileIndexes:
    """Indexes in files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._threads = _Threads()
        self._watches = FolderWatches()

    def keeper(self, space: str, dependencies: RecallDependencies) -> SpaceIndexKeeper:
        name = f"{SPACE_STEM_PREFIX}{space}" if space else OWNER_STEM
        watch = _FilesWatch(self._watches, space_folder(dependencies.workspace, space))
        return FileIndexKeeper(
            space, self._folder / f"{name}.db", dependencies, self._threads, watch
        )

    def check_indexes(self, workspace: Workspace) -> list[IndexCheck]:
        paths = sorted(
            self._folder.glob("*.db"), key=lambda path: (path.stem != OWNER_STEM, path.stem)
        )
        return [_check_file(path, workspace) for path in paths]


def _check_file(path: Path, workspace: Workspace) -> IndexCheck:
    space = "" if path.stem == OWNER_STEM else path.stem.removeprefix(SPACE_STEM_PREFIX)
    try:
        with closing(SqliteIndex(path)) as index:
            return check_index(index, workspace, space)
    except (sqlite3.Error, PathRefused) as err:
        return IndexCheck(space=space, fault=str(err))


class _FilesWatch:
    """Tells which memory files of a space have changed."""

    def __init__(self, watches: FolderWatches, top: Path) -> None:
        self._folders = [(watches.folder(top / inside), inside) for inside in ("", LOG_INSIDE)]

    def take(self) -> set[str] | None:
        """The paths that have changed since the last call; None where any may have, as changes are
        not reported.
        """
        changed: set[str] = set()
        is_known = True
        for folder, inside in self._folders:
            try:
                names = folder.take() if folder else None
            except OSError:
                names = None
            is_known &= names is not None
            changed.update(path for name in names or () if is_indexed_path(path := inside + name))
        return changed if is_known else None

    def close(self) -> None:
        """Stop watching."""
        for folder, _ in self._folders:
            if folder:
                folder.close()


@dataclass(frozen=True, slots=True)
class _Missing:
    """What an index may lack."""

    #: The time.monotonic() since when, inf for nothing.
    since: float
    #: Paths; None for any.
    files: frozenset[str] | None = frozenset()
    #: Ids; None for any.
    conversations: frozenset[str] | None = frozenset()

    def joined(self, other: "_Missing") -> "_Missing":
        """What either of the two says."""
        return _Missing(
            min(self.since, other.since),
            _union(self.files, other.files),
            _union(self.conversations, other.conversations),
        )


_NOTHING = _Missing(math.inf)
_ANYTHING = _Missing(-math.inf, files=None, conversations=None)


class FileIndexKeeper(IndexKeeper):
    """A SpaceIndexKeeper for a file.

    The store reports changed conversations, and the kernel changed files. Where they do not (a
    store that another process writes, a network folder), all are compared before each use that must
    be fresh.
    """

    def __init__(
        self,
        space: str,
        path: Path,
        dependencies: RecallDependencies,
        threads: _Threads,
        watch: _FilesWatch,
    ) -> None:
        super().__init__(space, dependencies)
        self._path = path
        self._threads = threads
        self._reads = _ReadQueue(threads.reading)
        self._watch = watch
        self._is_notified = dependencies.store.database.changes.is_complete
        self._lock = threading.Lock()  # of the connections below
        self._writer_lock = threading.Lock()  # the thread of a cancelled caller may still run
        self._writer: SqliteIndex | None = None
        self._inode = 0  # of the file that the writer has open
        self._readers: list[SqliteIndex] = []  # those that nobody uses
        self._rows: int | None = None  # of the index when it was last read; None before
        self._read_seconds = 0.0  # of CPU, on average
        self._missing = _ANYTHING
        self._syncing = _NOTHING  # what is being indexed
        # The time.monotonic() at which all files were last known, by reports, to be as indexed or
        # noted; at which the last update began; and at which the last comparison of all files did.
        self._files_known_at = self._synced_at = self._compared_at = -math.inf

    def note_change(self, conversation: str) -> None:
        self._note(_Missing(time.monotonic(), conversations=frozenset({conversation})))
        if self._synced_at > -math.inf:
            self._catch_up_soon()

    async def _use(self, work: Callable[[SpaceIndex], T], *, fresh: bool, besides: str) -> T:
        if self._compared_at + COMPARE_SECONDS < time.monotonic() and self._synced_at > -math.inf:
            self._catch_up_soon()
        return await super()._use(work, fresh=fresh, besides=besides)

    def _lacks_since(self) -> float:
        now = time.monotonic()
        changed = self._watch.take()
        if changed is None or changed:
            files = None if changed is None else frozenset(changed)
            self._note(_Missing(self._files_known_at, files=files))
        if changed is not None:
            self._files_known_at = now
        if not self._is_notified:
            self._note(_Missing(self._synced_at, conversations=None))
        return min(self._missing.since, self._syncing.since)

    def _lacks_only(self, conversation: str) -> bool:
        missing = self._missing.joined(self._syncing)
        return missing.files == frozenset() and missing.conversations == frozenset({conversation})

    async def _sync(self, *, in_background: bool = False) -> None:
        began = time.monotonic()
        self._lacks_since()
        missing = self._missing
        files = missing.files
        if in_background and self._compared_at + COMPARE_SECONDS < began:
            files = None
        elif missing.since > began:
            return
        self._missing, self._syncing = _NOTHING, missing
        try:
            unread = await sync_index(
                self._write, self._dependencies, self.space, files, missing.conversations
            )
        except BaseException:
            self._note(missing)
            raise
        finally:
            self._syncing = _NOTHING
        if self._rows is None:
            self._rows = await self._write(lambda index: index.count())
        self._synced_at = began
        if files is None:
            self._compared_at = began
            self._files_known_at = max(self._files_known_at, began)
        if unread:
            self._note(_Missing(began, files=frozenset(unread)))

    def _note(self, missing: _Missing) -> None:
        self._missing = self._missing.joined(missing)

    async def _read(self, work: Callable[[SpaceIndex], T]) -> T:
        is_small = self._rows is not None and self._rows <= MAX_ROWS_ON_LOOP
        if is_small and self._read_seconds < MAX_SECONDS_ON_LOOP and not self._reads.is_paused:
            return self._run_reading(work)
        return await asyncio.wrap_future(self._reads.submit(partial(self._run_reading, work)))

    async def _sync_a_moment_and_read(self, work: Callable[[SpaceIndex], T], called: float) -> T:
        if self._users == 1 or self._missing.since == -math.inf:
            return await self._sync_and_read(work, called)
        await asyncio.wait({self._start(self._update(called))}, timeout=MAX_WAIT)
        return await self._read(work)

    async def _write(self, work: Callable[[SqliteIndex], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads.writing, self._run_writing, work
        )

    def _run_reading(self, work: Callable[[SpaceIndex], T]) -> T:
        """Run `work` on one snapshot; blocks."""
        try:
            with self._lock:
                index = self._readers.pop() if self._readers else None
            index = index or self._open_reader()
            began = time.thread_time()
            try:
                with index.snapshot():
                    self._rows = index.count()
                    result = work(index)
                self._read_seconds += NEWEST_WEIGHT * (
                    time.thread_time() - began - self._read_seconds
                )
                return result
            finally:
                with self._lock:
                    self._readers.append(index)
        except FileNotFoundError as err:
            raise StoreCorrupt("its file was deleted") from err
        except sqlite3.Error as err:
            raise self._to_error(err) from err

    def _open_reader(self) -> SqliteIndex:
        if self._inode != self._path.stat().st_ino:
            raise StoreCorrupt("its file was replaced")
        return SqliteIndex(self._path, writable=False)

    def _run_writing(self, work: Callable[[SqliteIndex], T]) -> T:
        try:
            with self._writer_lock:
                if self._writer is None:
                    self._create_folder()
                    self._writer = SqliteIndex(self._path)
                    self._inode = self._path.stat().st_ino
                return work(self._writer)
        except sqlite3.Error as err:
            raise self._to_error(err) from err

    def _create_folder(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as err:
            raise self._unusable(err.strerror or str(err)) from err

    def _to_error(self, err: sqlite3.Error) -> Exception:
        if isinstance(err, OtherVersion) or isinstance(to_store_error(err), StoreCorrupt):
            return StoreCorrupt(str(err))
        return self._unusable(str(err))

    def _unusable(self, why: str) -> IndexUnusable:
        folder = self._path.parent
        return IndexUnusable(
            f"the search index in {folder} cannot be used ({why}); make {folder} a folder that "
            "this account may write to, with free space on its disk, or delete it: a new index is "
            "made by itself"
        )

    async def _remove(self) -> None:
        self._synced_at, self._rows = -math.inf, None
        # so that searches wait for the next index from now on
        self._note(_ANYTHING)
        async with self._reads.paused():
            await asyncio.get_running_loop().run_in_executor(
                self._threads.writing, self._delete_files
            )

    async def _close(self) -> None:
        self._watch.close()
        async with self._reads.paused():
            await asyncio.get_running_loop().run_in_executor(
                self._threads.writing, self._close_connections
            )

    def _close_connections(self) -> None:
        with self._writer_lock, self._lock:
            for index in (*self._readers, *([self._writer] if self._writer else ())):
                index.close()
            self._readers, self._writer = [], None

    def _delete_files(self) -> None:
        self._close_connections()
        try:
            for end in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + end).unlink(missing_ok=True)
        except NotADirectoryError:
            return  # a file where the folder would be: there is no index
        except OSError as err:
            raise self._unusable(err.strerror or str(err)) from err


def _union(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    found = None if one is None or other is None else one | other
    return None if found is None or len(found) > MAX_LISTED else found
