"""Brings an index in step with a space's files, and tells which conversations it has not read to their end."""

import errno
import json
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import tzinfo

import structlog

from memory.recall.documents import LONG_TERM, IndexPosition, IndexRow, rows_of_file, rows_of_messages
from memory.recall.index import WritableIndex
from memory.store.store import Store
from memory.workspace import daily_log
from memory.workspace.files import SPACES_FOLDER, FileTooBig, Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
PAGE_MESSAGES = 1_000  # messages that are indexed in one step
# A file that was changed so shortly ago may be changed again within the same tick of its clock.
UNSETTLED_NS = 50_000_000
FILE_PREFIX, CONVERSATION_PREFIX = "file:", "talk:"  # how the names of sources begin
_TRANSIENT_ERRNOS = (errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM)
# Each memory file's path, what changes when it does, and when it last did (ns).
FileStamps = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLag:
    """How an index differs from what it is made of."""

    #: Paths.
    files: tuple[str, ...]
    #: Sources.
    gone: frozenset[str]
    #: How far each is indexed.
    talks: Mapping[str, IndexPosition]

    @property
    def any(self) -> bool:
        return bool(self.files or self.gone or self.talks)


def find_lag(index: WritableIndex, there: FileStamps, ends: Mapping[str, int]) -> IndexLag:
    """What of an index is not as the files and the store are now; blocks.

    Args:
        ends: each conversation's next seq.
    """
    known = index.sources()
    here = {FILE_PREFIX + path for path in there} | {CONVERSATION_PREFIX + conversation for conversation in ends}
    talks = {name: _parse_position(known.get(CONVERSATION_PREFIX + name, "")) for name in ends}
    return IndexLag(
        files=tuple(path for path, (stamp, _) in there.items() if known.get(FILE_PREFIX + path) != stamp),
        gone=frozenset(known.keys() - here),
        talks={name: until for name, until in talks.items() if until.seq < ends[name]},
    )


def sync_files(
    index: WritableIndex, workspace: Workspace, space: str, ends: Mapping[str, int]
) -> Mapping[str, IndexPosition]:
    """Files into the index, what is gone out of it; returns the conversations that are not indexed to their end."""
    there, now = read_file_stamps(workspace, space), time.time_ns()
    found = find_lag(index, there, ends)
    for path in found.files:
        stamp, changed = there[path]
        text = _read_text(workspace, space, path)
        unsettled = text is None or abs(now - changed) < UNSETTLED_NS
        index.put(FILE_PREFIX + path, "" if unsettled else stamp, rows_of_file(path, text or ""))
    if found.gone:
        index.drop(found.gone)
    return found.talks


async def read_new_messages(
    store: Store, conversation: str, until: IndexPosition, end: int, zone: tzinfo
) -> AsyncIterator[tuple[str, list[IndexRow]]]:
    """What was said from there to the end: again and again a source's new stamp, and the rows it gets for it."""
    while until.seq < end:
        messages = await store.sessions.messages(conversation, until.seq, limit=PAGE_MESSAGES)
        if not messages:
            return
        rows, until = rows_of_messages(messages, until, zone)
        yield json.dumps(asdict(until)), rows


def has_memory_files(workspace: Workspace, space: str) -> bool:
    """Whether there may be a memory file in a space: two looks at a folder, so that nobody needs a thread for it."""
    top = workspace.root / SPACES_FOLDER / space if space else workspace.root
    return os.path.lexists(top / LONG_TERM) or os.path.lexists(top / daily_log.LOG_FOLDER)


def read_file_stamps(workspace: Workspace, space: str) -> FileStamps:
    """The memory files of a space; blocks.

    Raises:
        OSError: a folder cannot be listed now, which is not the same as no files.
    """
    top = workspace.root / SPACES_FOLDER / space if space else workspace.root
    found = {}
    for path, entry in _memory_file_entries(str(top)):
        try:
            held = entry.stat(follow_symlinks=False)
        except OSError as err:
            _raise_if_transient(err)
            continue
        found[path] = (file_stamp(held), max(held.st_mtime_ns, held.st_ctime_ns))
    return found


def _raise_if_transient(err: OSError) -> None:
    """Raise an error that says nothing about the files: they would be dropped from the index and read in again."""
    if err.errno in _TRANSIENT_ERRNOS:
        raise err


def file_stamp(held: os.stat_result) -> str:
    """What is another one whenever a file has changed."""
    return f"{held.st_mtime_ns} {held.st_ctime_ns} {held.st_size} {held.st_ino}"


def _memory_file_entries(top: str) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """The memory files of a space: its MEMORY.md and what lies in its folder of daily logs."""
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
    """A file's text, "" for one that is never read, None for one that cannot be read now."""
    try:
        return workspace.space(space).read(path).text
    except (OSError, PathRefused, FileTooBig) as err:
        log.warning("a file is not indexed", path=path, why=type(err).__name__)
        return None if isinstance(err, OSError) else ""


def _parse_position(stamp: str) -> IndexPosition:
    return IndexPosition(**json.loads(stamp)) if stamp else IndexPosition()
