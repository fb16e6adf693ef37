"""What the keepers of indexes share: searches run beside one update at a time, and the update
indexes what is new.
"""

import asyncio
import errno
import json
import os
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import asdict
from datetime import tzinfo
from pathlib import Path
from typing import Any, Protocol, TypeVar

import structlog

from memory.recall.documents import (
    LONG_TERM,
    FileBeginning,
    IndexPosition,
    IndexRow,
    rows_of_file,
    rows_of_messages,
)
from memory.recall.index import IndexCheck, RecallDependencies, SpaceIndex, WritableIndex
from memory.store.errors import StoreCorrupt, StoreError
from memory.store.longterm.recall import NewMessages
from memory.workspace import daily_log
from memory.workspace.append import file_stamp
from memory.workspace.files import SPACES_FOLDER, SpaceFiles, Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

log = structlog.get_logger(__name__)
T = TypeVar("T")
MAX_READERS = 2  # searches of one index at the same time, each with a connection
# Seconds from a change to the update in the background, so that changes are indexed together: after
# the last one if it is quiet, and after the first of them at most.
CATCH_UP_QUIET, CATCH_UP_AFTER = 0.02, 0.2
PAGE_MESSAGES = 1_000  # messages that are indexed in one step
# A file changed so recently may change again without a new modification time, so its stamp is not
# trusted.
UNSETTLED_NS = 50_000_000
LOG_INSIDE = f"{daily_log.LOG_FOLDER}/"
FILE_PREFIX, CONVERSATION_PREFIX = "file:", "talk:"  # of the names of sources
_TRANSIENT_ERRNOS = (errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM)
# Each memory file's stamp and time of its last change (ns), by path.
FileStamps = Mapping[str, tuple[str, int]]
Lag = Mapping[str, IndexPosition]  # conversations with new messages, and how far each is indexed


class IndexKeeper(ABC):
    """A SpaceIndexKeeper; a damaged index is deleted and made again."""

    def __init__(self, space: str, dependencies: RecallDependencies) -> None:
        self.space = space
        self._dependencies = dependencies
        #: Held by whoever changes the index.
        self._changing = asyncio.Lock()
        self._users = 0
        self._made = 0  # how often the index was deleted
        self._timer: asyncio.TimerHandle | None = None
        self._changed_at = self._first_changed_at = 0.0  # of what the timer waits for
        self._updates: set[asyncio.Task[None]] = set()

    async def use(
        self, work: Callable[[SpaceIndex], T], *, fresh: bool = True, besides: str = ""
    ) -> T:
        self._users += 1
        try:
            made = self._made
            try:
                return await self._use(work, fresh=fresh, besides=besides)
            except StoreCorrupt as err:
                async with self._changing:
                    if made == self._made:  # else another user has deleted it already
                        log.warning("index rebuilt", space=self.space, why=str(err))
                        await self._remove_once_unused()
            return await self._use(work, fresh=True, besides="")
        finally:
            self._users -= 1

    async def change(self, work: Callable[[SpaceIndex], T]) -> T:
        async with self._changing:
            return await self._write(work)

    @property
    def busy(self) -> bool:
        return bool(self._users or self._updates) or self._changing.locked()

    async def remove(self) -> None:
        async with self._changing:
            await self._remove_once_unused()

    async def settled(self) -> None:
        while self._updates:
            await asyncio.wait(list(self._updates))

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await self.settled()
        async with self._changing:
            await self._close()

    @abstractmethod
    def note_change(self, conversation: str) -> None: ...

    @abstractmethod
    def _lacks_since(self) -> float:
        """The time.monotonic() since when the index may lack something, inf if it lacks nothing."""

    def _lacks_only(self, conversation: str) -> bool:
        """Whether all that the index may lack is of this conversation."""
        return False

    @abstractmethod
    async def _sync(self, *, in_background: bool = False) -> None:
        """Bring the index up to date; called by the holder of `_changing`.

        Args:
            in_background: nobody waits for it.
        """

    @abstractmethod
    async def _read(self, work: Callable[[SpaceIndex], T]) -> T:
        """Run `work` on one snapshot; MAX_READERS calls run beside one another, and beside a
        change.

        In a thread, except work that is so light that handing it over costs more.

        When the caller gives up, the work's place is free once its thread has ended.
        """

    @abstractmethod
    async def _write(self, work: Callable[[SpaceIndex], T]) -> T:
        """Run `work`, which changes the index, in a thread; called by the holder of `_changing`."""

    @abstractmethod
    async def _remove(self) -> None:
        """Delete the index once no `_read` is running; called by the holder of `_changing`."""

    @abstractmethod
    async def _close(self) -> None:
        """Close what is open once no `_read` is running; called by the holder of `_changing`."""

    async def _use(self, work: Callable[[SpaceIndex], T], *, fresh: bool, besides: str) -> T:
        called = time.monotonic()
        lacks_since, oldest = self._lacks_since(), called - self._dependencies.max_lag
        if lacks_since > called or (
            not fresh and self._lacks_only(besides) and lacks_since > oldest
        ):
            return await self._read(work)
        if not fresh and self._users > 1 and lacks_since > oldest:
            self._catch_up_soon()
            return await self._read(work)
        return await (
            self._sync_and_read(work, called)
            if fresh
            else self._sync_a_moment_and_read(work, called)
        )

    async def _sync_a_moment_and_read(self, work: Callable[[SpaceIndex], T], called: float) -> T:
        """Read for a search that need not be fresh, of an index that lacks something for longer
        than `max_lag`.
        """
        return await self._sync_and_read(work, called)

    async def _sync_and_read(self, work: Callable[[SpaceIndex], T], called: float) -> T:
        """Read what was written before `called`."""
        # a caller that gives up leaves a ready index
        await asyncio.shield(self._start(self._update(called)))
        return await self._read(work)

    async def _update(self, called: float, *, in_background: bool = False) -> None:
        async with self._changing:
            # else another update has seen all since
            if in_background or self._lacks_since() <= called:
                await self._sync(in_background=in_background)

    def _start(self, update: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(update)
        self._updates.add(task)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[None]) -> None:
        self._updates.discard(task)
        if not task.cancelled():
            task.exception()  # as above

    async def _remove_once_unused(self) -> None:
        self._made += 1
        await self._remove()

    def _catch_up_soon(self) -> None:
        """Update the index in the background, once it is quiet or soon at any rate."""
        self._changed_at = time.monotonic()
        if self._timer is None:
            self._first_changed_at = self._changed_at
            self._begin_catching_up_in(CATCH_UP_QUIET)

    def _begin_catching_up_in(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._begin_catching_up)

    def _begin_catching_up(self) -> None:
        due = (
            min(self._changed_at + CATCH_UP_QUIET, self._first_changed_at + CATCH_UP_AFTER)
            - time.monotonic()
        )
        if due > 0 or self._updates:  # one of them may have begun before the change
            self._begin_catching_up_in(due if due > 0 else CATCH_UP_QUIET)
        else:
            self._timer = None
            self._start(self._catch_up())

    async def _catch_up(self) -> None:
        try:
            await self._update(time.monotonic(), in_background=True)
        except (StoreError, OSError) as err:  # the next search tries again, and reports it
            log.warning(
                "index not updated in the background", space=self.space, why=type(err).__name__
            )


class RunOnIndex(Protocol):
    """Runs work that changes an index in its thread."""

    def __call__(self, work: Callable[[WritableIndex], T], /) -> Awaitable[T]: ...


async def sync_index(
    run: RunOnIndex,
    dependencies: RecallDependencies,
    space: str,
    files: Collection[str] | None = None,
    conversations: Collection[str] | None = None,
) -> Collection[str]:
    """Index what is new, and drop what is gone.

    Args:
        files: paths that may have changed, None to compare all.
        conversations: the same for conversations.

    Returns:
        Paths of files that could not be read at the moment.

    Raises:
        StoreError: the store or the index failed.
        OSError: a folder cannot be listed at the moment.
    """
    store, workspace, zone = dependencies.store, dependencies.workspace, dependencies.zone
    ends = await store.sessions.next_seqs(space) if conversations is None else None

    def begin(index: WritableIndex) -> tuple[Collection[str], Lag]:
        unread = sync_files(index, workspace, space, files)
        return unread, _drop_gone(index, ends) if ends is not None else _positions(
            index, conversations or ()
        )

    unread, lag = await run(begin)
    while lag:
        new = await store.recall.new_messages(
            space, {id: until.seq for id, until in lag.items()}, PAGE_MESSAGES
        )
        lag = await run(lambda index: index_messages(index, new, lag, zone))  # noqa: B023  awaited at once
    return unread


def sync_files(
    index: WritableIndex, workspace: Workspace, space: str, paths: Collection[str] | None = None
) -> Collection[str]:
    """Index changed files and drop those that are gone; blocks.

    Args:
        paths: of files that may have changed, None to compare all.

    Returns:
        Paths of files that could not be read at the moment.
    """
    unread = []
    stamps, now = read_file_stamps(workspace, space, paths), time.time_ns()
    indexed = _indexed_files(index, paths)
    for path, (stamp, changed) in stamps.items():
        if indexed.get(path) == stamp:
            continue
        if workspace.ends.is_growing(space, path):  # what is appended is known in a moment
            unread.append(path)
        elif not _index_appended(index, workspace, space, path, stamp):
            text = _read_text(workspace, space, path)
            unread += [path] if text is None else []
            is_recent = abs(now - changed) < UNSETTLED_NS and not workspace.ends.is_written(
                space, path, stamp
            )
            unsettled = text is None or is_recent
            index.put(
                FILE_PREFIX + path, "" if unsettled else stamp, rows_of_file(path, text or "")
            )
    if gone := indexed.keys() - stamps.keys():
        index.drop(FILE_PREFIX + path for path in gone)
    return unread


def _index_appended(
    index: WritableIndex, workspace: Workspace, space: str, path: str, stamp: str
) -> bool:
    """Index the sections that this process has appended to a file; False if that is not all that
    has changed.
    """
    name = FILE_PREFIX + path
    with index.batch():
        appended = workspace.ends.appended_since(
            space, path, index.stamps([name]).get(name, ""), stamp
        )
        if appended is None:
            return False
        begin, size = appended
        try:
            data = workspace.space(space).read_range(path, begin.size, size)
        except (OSError, PathRefused):
            return False
        if len(data) != size or not data.lstrip(b"\r\n").startswith(b"## "):
            return False
        session, place = index.last_place(name)
        after = FileBeginning(lines=begin.lines, session=session, place=place)
        index.put(
            name, stamp, rows_of_file(path, data.decode("utf-8", "replace"), after), more=True
        )
    return True


def is_current(index: WritableIndex, stamps: FileStamps, ends: Mapping[str, int]) -> bool:
    """Whether an index has all files and all messages, and nothing else; blocks.

    Args:
        ends: each conversation's next seq.
    """
    indexed = index.sources()
    existing = {FILE_PREFIX + path for path in stamps} | {
        CONVERSATION_PREFIX + conversation for conversation in ends
    }
    return (
        indexed.keys() <= existing
        and all(indexed.get(FILE_PREFIX + path) == stamp for path, (stamp, _) in stamps.items())
        and not _behind(indexed, ends)
    )


def index_messages(index: WritableIndex, new: NewMessages, lag: Lag, zone: tzinfo) -> Lag:
    """Index messages and drop conversations that are gone; returns those that are still behind.

    Blocks.
    """
    left: dict[str, IndexPosition] = {}
    additions: dict[str, tuple[str, Sequence[IndexRow]]] = {}
    with index.batch():
        indexed = index.stamps([CONVERSATION_PREFIX + id for id in lag])
        for id, until in lag.items():
            name = CONVERSATION_PREFIX + id
            position = _parse_position(indexed.get(name, ""))
            if id in new.gone:
                index.drop([name])
            # another process has indexed it meanwhile, or not read yet
            elif position != until or id not in new.ends:
                left[id] = position
            elif until.seq < new.ends[id]:
                rows, after = rows_of_messages(new.messages[id], until, zone)
                if after.seq > until.seq:
                    additions[name] = (json.dumps(asdict(after)), rows)
                    left |= {id: after} if after.seq < new.ends[id] else {}
        index.append(additions)
    return left


def _positions(index: WritableIndex, conversations: Collection[str]) -> Lag:
    indexed = (
        index.stamps([CONVERSATION_PREFIX + id for id in conversations]) if conversations else {}
    )
    return {id: _parse_position(indexed.get(CONVERSATION_PREFIX + id, "")) for id in conversations}


def _drop_gone(index: WritableIndex, ends: Mapping[str, int]) -> Lag:
    indexed = index.sources()
    talks = {name for name in indexed if name.startswith(CONVERSATION_PREFIX)}
    if gone := talks - {CONVERSATION_PREFIX + id for id in ends}:
        index.drop(gone)
    return _behind(indexed, ends)


def _behind(indexed: Mapping[str, str], ends: Mapping[str, int]) -> Lag:
    positions = {id: _parse_position(indexed.get(CONVERSATION_PREFIX + id, "")) for id in ends}
    return {id: until for id, until in positions.items() if until.seq < ends[id]}


def _indexed_files(index: WritableIndex, paths: Collection[str] | None) -> dict[str, str]:
    """The stamps of these files, or of all, by path."""
    found = (
        index.sources() if paths is None else index.stamps([FILE_PREFIX + path for path in paths])
    )
    return {
        name.removeprefix(FILE_PREFIX): stamp
        for name, stamp in found.items()
        if name.startswith(FILE_PREFIX)
    }


def check_index(index: WritableIndex, workspace: Workspace, space: str) -> IndexCheck:
    """Check an index, and compare it with the files it was made from; blocks.

    Raises:
        PathRefused: the space's folder may not be read.
    """
    if fault := index.check():
        return IndexCheck(space=space, rows=index.count(), fault=fault)
    files, behind = workspace.space(space), 0
    for name, stamp in index.sources().items():
        if not name.startswith(FILE_PREFIX):
            continue
        path = name.removeprefix(FILE_PREFIX)
        if stamp != _current_stamp(files, path):
            behind += 1
        elif _without_nul(index.lines(name)) != _without_nul(_lines_of_file(files, path)):
            fault = fault or f"{path} is indexed with other text than the file has"
    return IndexCheck(space=space, rows=index.count(), behind=behind, fault=fault)


def _current_stamp(files: SpaceFiles, path: str) -> str:
    try:
        return file_stamp((files.root / path).lstat())
    except OSError:
        return ""


def _lines_of_file(files: SpaceFiles, path: str) -> list[tuple[int, str]]:
    try:
        text = files.read(path).text
    except (OSError, PathRefused, FileTooBig):
        text = ""
    return [(row.line, row.words) for row in rows_of_file(path, text)]


def _without_nul(rows: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """PostgreSQL cannot store NUL."""
    return [(line, words.replace("\x00", "\ufffd")) for line, words in rows]


def has_memory_files(workspace: Workspace, space: str) -> bool:
    """Whether a space may have a memory file.

    Only two calls to the file system, so no thread is needed.
    """
    top = space_folder(workspace, space)
    return os.path.lexists(top / LONG_TERM) or os.path.lexists(top / daily_log.LOG_FOLDER)


def space_folder(workspace: Workspace, space: str) -> Path:
    """The folder of a space's files, which may not exist."""
    return workspace.root / SPACES_FOLDER / space if space else workspace.root


def read_file_stamps(
    workspace: Workspace, space: str, paths: Collection[str] | None = None
) -> FileStamps:
    """The stamps of a space's memory files; blocks.

    Args:
        paths: of these files only, as far as they exist; None for all.

    Raises:
        OSError: a folder cannot be listed at the moment, which does not mean that there are no
            files.
    """
    top = str(space_folder(workspace, space))
    found = {}
    for path in _memory_files(top) if paths is None else paths:
        try:
            status = os.stat(os.path.join(top, path), follow_symlinks=False)
        except OSError as err:
            _raise_if_transient(err)
            continue
        if stat.S_ISREG(status.st_mode):
            found[path] = (file_stamp(status), max(status.st_mtime_ns, status.st_ctime_ns))
    return found


def _raise_if_transient(err: OSError) -> None:
    """Raise errors such as too many open files: taken for missing files, they would empty the
    index.
    """
    if err.errno in _TRANSIENT_ERRNOS:
        raise err


def _memory_files(top: str) -> Iterator[str]:
    """The paths of what may be a memory file of a space: MEMORY.md and the daily logs."""
    yield LONG_TERM
    try:
        names = os.listdir(os.path.join(top, LOG_INSIDE))
        yield from filter(is_indexed_path, (LOG_INSIDE + name for name in names))
    except OSError as err:
        _raise_if_transient(err)


def is_indexed_path(path: str) -> bool:
    """Whether a file at this path in a space is indexed."""
    return path == LONG_TERM or (
        path.startswith(LOG_INSIDE) and path.count("/") == 1 and path.endswith(".md")
    )


def _read_text(workspace: Workspace, space: str, path: str) -> str | None:
    """A file's text; "" for a file that may not be read, None for one that cannot be read at the
    moment.
    """
    try:
        return workspace.space(space).read(path).text
    except (OSError, PathRefused, FileTooBig) as err:
        log.warning("a file is not indexed", path=path, why=type(err).__name__)
        return None if isinstance(err, OSError) else ""


def _parse_position(stamp: str) -> IndexPosition:
    return IndexPosition(**json.loads(stamp)) if stamp else IndexPosition()
