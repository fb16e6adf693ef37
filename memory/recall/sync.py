"""Brings an index in step with a space's files, and tells which conversations it has not read to their end."""

import errno
import json
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import tzinfo

import structlog

from memory.recall.documents import LONG_TERM, IndexRow, Said, of_file, of_messages
from memory.recall.index import Rows
from memory.store.store import Store
from memory.workspace import daily_log
from memory.workspace.files import SPACES, TooBig, Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
PAGE = 1_000
"""Messages that are indexed in one step."""
UNSETTLED_NS = 50_000_000
"""A file that was changed so shortly ago may be changed again within the same tick of its clock."""
FILE, TALK = "file:", "talk:"
"""How the names of sources begin."""
_PASSING = (errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM)
Stamps = Mapping[str, tuple[str, int]]
"""Each memory file's path, what changes when it does, and when it last did (ns)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """How an index differs from what it is made of. files: paths; gone: sources; talks: how far each is indexed."""

    files: tuple[str, ...]
    gone: frozenset[str]
    talks: Mapping[str, Said]

    @property
    def any(self) -> bool:
        return bool(self.files or self.gone or self.talks)


def behind(index: Rows, there: Stamps, ends: Mapping[str, int]) -> Behind:
    """What of an index is not as the files and the record are now; blocks.

    Args:
        ends: each conversation's next seq.
    """
    known = index.sources()
    here = {FILE + path for path in there} | {TALK + conversation for conversation in ends}
    talks = {name: _until(known.get(TALK + name, "")) for name in ends}
    return Behind(
        files=tuple(path for path, (stamp, _) in there.items() if known.get(FILE + path) != stamp),
        gone=frozenset(known.keys() - here),
        talks={name: until for name, until in talks.items() if until.seq < ends[name]},
    )


def sync(index: Rows, workspace: Workspace, space: str, ends: Mapping[str, int]) -> Mapping[str, Said]:
    """Files into the index, what is gone out of it; returns the conversations that are not indexed to their end."""
    there, now = stamps(workspace, space), time.time_ns()
    found = behind(index, there, ends)
    for path in found.files:
        stamp, changed = there[path]
        text = _text(workspace, space, path)
        unsettled = text is None or abs(now - changed) < UNSETTLED_NS
        index.put(FILE + path, "" if unsettled else stamp, of_file(path, text or ""))
    if found.gone:
        index.drop(found.gone)
    return found.talks


async def read_on(
    store: Store, conversation: str, until: Said, end: int, zone: tzinfo
) -> AsyncIterator[tuple[str, list[IndexRow]]]:
    """What was said from there to the end: again and again a source's new stamp, and the rows it gets for it."""
    while until.seq < end:
        messages = await store.sessions.messages(conversation, until.seq, limit=PAGE)
        if not messages:
            return
        rows, until = of_messages(messages, until, zone)
        yield json.dumps(asdict(until)), rows


def memory_files(workspace: Workspace, space: str) -> bool:
    """Whether there may be a memory file in a space: two looks at a folder, so that nobody needs a thread for it."""
    top = workspace.root / SPACES / space if space else workspace.root
    return os.path.lexists(top / LONG_TERM) or os.path.lexists(top / daily_log.FOLDER)


def stamps(workspace: Workspace, space: str) -> Stamps:
    """The memory files of a space; blocks.

    Raises:
        OSError: a folder cannot be listed now, which is not the same as no files.
    """
    top = workspace.root / SPACES / space if space else workspace.root
    found = {}
    for path, entry in _files(str(top)):
        try:
            held = entry.stat(follow_symlinks=False)
        except OSError as err:
            _raise_if_passing(err)
            continue
        found[path] = (stamp_of(held), max(held.st_mtime_ns, held.st_ctime_ns))
    return found


def _raise_if_passing(err: OSError) -> None:
    """Raise an error that says nothing about the files: they would be dropped from the index and read in again."""
    if err.errno in _PASSING:
        raise err


def stamp_of(held: os.stat_result) -> str:
    """What is another one whenever a file has changed."""
    return f"{held.st_mtime_ns} {held.st_ctime_ns} {held.st_size} {held.st_ino}"


def _files(top: str) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """The memory files of a space: its MEMORY.md and what lies in its folder of daily logs."""
    for folder, inside in ((top, ""), (os.path.join(top, daily_log.FOLDER), f"{daily_log.FOLDER}/")):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    wanted = entry.name.endswith(".md") if inside else entry.name == LONG_TERM
                    if wanted and entry.is_file(follow_symlinks=False):
                        yield inside + entry.name, entry
        except OSError as err:
            _raise_if_passing(err)


def _text(workspace: Workspace, space: str, path: str) -> str | None:
    """A file's text, "" for one that is never read, None for one that cannot be read now."""
    try:
        return workspace.space(space).read(path).text
    except (OSError, PathRefused, TooBig) as err:
        log.warning("a file is not indexed", path=path, why=type(err).__name__)
        return None if isinstance(err, OSError) else ""


def _until(stamp: str) -> Said:
    return Said(**json.loads(stamp)) if stamp else Said()
