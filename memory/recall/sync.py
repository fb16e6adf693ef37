"""Brings an index up to date with a space's files and conversations, and checks that it is."""

import errno
import json
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import tzinfo

import structlog

from memory.recall.documents import LONG_TERM, IndexPosition, IndexRow, rows_of_file, rows_of_messages
from memory.recall.index import WritableIndex
from memory.store.store import Store
from memory.workspace import daily_log
from memory.workspace.files import SPACES_FOLDER, FileTooBig, SpaceFiles, Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
PAGE_MESSAGES = 1_000  # messages that are indexed in one step
# A file changed so recently may change again without a new modification time, so its stamp is not trusted.
UNSETTLED_NS = 50_000_000
FILE_PREFIX, CONVERSATION_PREFIX = "file:", "talk:"  # of the names of sources
_TRANSIENT_ERRNOS = (errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM)
# Each memory file's stamp and time of its last change (ns), by path.
FileStamps = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLag:
    """What an index lacks."""

    #: Paths of new and changed files.
    files: tuple[str, ...]
    #: Names of sources that no longer exist.
    gone: frozenset[str]
    #: Conversations with new messages, and how far each is indexed.
    conversations: Mapping[str, IndexPosition]

    @property
    def any(self) -> bool:
        return bool(self.files or self.gone or self.conversations)


def find_lag(index: WritableIndex, stamps: FileStamps, ends: Mapping[str, int]) -> IndexLag:
    """Compare an index with the files and the store; blocks.

    Args:
        ends: each conversation's next seq.
    """
    indexed = index.sources()
    existing = {FILE_PREFIX + path for path in stamps} | {CONVERSATION_PREFIX + conversation for conversation in ends}
    positions = {name: _parse_position(indexed.get(CONVERSATION_PREFIX + name, "")) for name in ends}
    return IndexLag(
        files=tuple(path for path, (stamp, _) in stamps.items() if indexed.get(FILE_PREFIX + path) != stamp),
        gone=frozenset(indexed.keys() - existing),
        conversations={name: until for name, until in positions.items() if until.seq < ends[name]},
    )


def sync_files(
    index: WritableIndex, workspace: Workspace, space: str, ends: Mapping[str, int]
) -> Mapping[str, IndexPosition]:
    """Index changed files and drop what is gone; returns the conversations with new messages. Blocks."""
    stamps, now = read_file_stamps(workspace, space), time.time_ns()
    lag = find_lag(index, stamps, ends)
    for path in lag.files:
        stamp, changed = stamps[path]
        text = _read_text(workspace, space, path)
        unsettled = text is None or abs(now - changed) < UNSETTLED_NS
        index.put(FILE_PREFIX + path, "" if unsettled else stamp, rows_of_file(path, text or ""))
    if lag.gone:
        index.drop(lag.gone)
    return lag.conversations


async def read_new_messages(
    store: Store, conversation: str, until: IndexPosition, end: int, zone: tzinfo
) -> AsyncIterator[tuple[str, list[IndexRow]]]:
    """Yield a page of new rows of a conversation and the source's stamp with them, until all are read."""
    while until.seq < end:
        messages = await store.sessions.messages(conversation, until.seq, limit=PAGE_MESSAGES)
        if not messages:
            return
        rows, until = rows_of_messages(messages, until, zone)
        yield json.dumps(asdict(until)), rows


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCheck:
    """The result of checking one space's index."""

    space: str
    rows: int = 0
    #: Number of files that have changed since they were indexed.
    behind: int = 0
    #: What is wrong with the index, "" for nothing.
    fault: str = ""


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
    """Whether a space may have a memory file. Only two calls to the file system, so no thread is needed."""
    top = workspace.root / SPACES_FOLDER / space if space else workspace.root
    return os.path.lexists(top / LONG_TERM) or os.path.lexists(top / daily_log.LOG_FOLDER)


def read_file_stamps(workspace: Workspace, space: str) -> FileStamps:
    """The stamps of a space's memory files; blocks.

    Raises:
        OSError: a folder cannot be listed at the moment, which does not mean that there are no files.
    """
    top = workspace.root / SPACES_FOLDER / space if space else workspace.root
    found = {}
    for path, entry in _memory_file_entries(str(top)):
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as err:
            _raise_if_transient(err)
            continue
        found[path] = (file_stamp(status), max(status.st_mtime_ns, status.st_ctime_ns))
    return found


def _raise_if_transient(err: OSError) -> None:
    """Raise errors such as too many open files: taken for missing files, they would empty the index."""
    if err.errno in _TRANSIENT_ERRNOS:
        raise err


def file_stamp(status: os.stat_result) -> str:
    """A text that changes whenever the file does."""
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def _memory_file_entries(top: str) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """The memory files of a space: MEMORY.md and the daily logs."""
    for folder, inside in ((top, ""), (os.path.join(top, daily_log.LOG_FOLDER), f"{daily_log.LOG_FOLDER}/")):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    wanted = entry.name.endswith(".md") if inside else entry.name == LONG_TERM
                    if wanted and entry.is_file(follow_symlinks=False):
                        yield inside + entry.name, entry
        except OSError as err:
            _raise_if_transient(err)


def _read_text(workspace: Workspace, space: str, path: str) -> str | None:
    """A file's text; "" for a file that may not be read, None for one that cannot be read at the moment."""
    try:
        return workspace.space(space).read(path).text
    except (OSError, PathRefused, FileTooBig) as err:
        log.warning("a file is not indexed", path=path, why=type(err).__name__)
        return None if isinstance(err, OSError) else ""


def _parse_position(stamp: str) -> IndexPosition:
    return IndexPosition(**json.loads(stamp)) if stamp else IndexPosition()
