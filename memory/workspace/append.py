"""Appends to a file whose end is known, so that a kill or a power cut leaves it with or without the
whole text.
"""

import hashlib
import json
import os
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock

from memory.failpoints import hit, is_torn, kill_process
from memory.workspace.safe_path import TEMPORARY, check_regular_file, open_below, split_path

# In the folder while an append is running: what is appended to which file, and where. One, as a
# folder has one writer.
NOTE = f".append{TEMPORARY}"
MAX_ENDS = 64  # files whose end is known
MAX_FORMER = 64  # former states of a file whose end is known


def file_stamp(status: os.stat_result) -> str:
    """A text that changes whenever the file does."""
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def write_all(fd: int, data: bytes) -> None:
    """Write all of the data; blocks."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def set_exact_time(fd: int) -> None:
    """Set the modification time so that a change within the same step of the kernel's clock has
    another one.
    """
    now = time.time_ns()
    os.utime(fd, ns=(now, now))


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePosition:
    """A place in a file, at the beginning of a line."""

    #: Bytes before it.
    size: int
    #: Lines before it.
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEnd:
    """What is known of the end of a file that this process wrote.

    It ends with a line, outside of any fence.
    """

    #: Of the file as it was written.
    stamp: str
    position: FilePosition
    #: "\n" or "\r\n".
    newline: str
    #: Ids that the file may have; shared by the successive ends of one file.
    ids: set[str]
    #: Positions of the end at former stamps; what is before them has not changed since. Shared
    #: likewise.
    former: OrderedDict[str, FilePosition] = field(default_factory=OrderedDict)


class KnownEnds:
    """The ends of the files that this process wrote last, by space and path. Used by any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ends: OrderedDict[tuple[str, str], KnownEnd] = OrderedDict()
        self._growing: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def growing(self, space: str, path: str) -> Iterator[None]:
        """Until the end of the block, something is appended to the file; its new end is known
        afterwards.
        """
        with self._lock:
            self._growing[space, path] += 1
        try:
            yield
        finally:
            with self._lock:
                self._growing[space, path] -= 1
                self._growing = +self._growing  # drops the zeros

    def is_growing(self, space: str, path: str) -> bool:
        """Whether something is being appended to the file."""
        with self._lock:
            return (space, path) in self._growing

    def get(self, space: str, path: str) -> KnownEnd | None:
        """The end of a file as it was last known; it may have changed since."""
        with self._lock:
            return self._ends.get((space, path))

    def put(self, space: str, path: str, end: KnownEnd | None) -> None:
        """Note the end of a file that was written; None if it is not known."""
        with self._lock:
            self._ends.pop((space, path), None)
            if end is None:
                return
            self._ends[space, path] = end
            while len(end.former) > MAX_FORMER:
                end.former.popitem(last=False)
            while len(self._ends) > MAX_ENDS:
                self._ends.popitem(last=False)

    def appended_since(
        self, space: str, path: str, former: str, stamp: str
    ) -> tuple[FilePosition, int] | None:
        """Where the text begins that was appended between two stamps, and its bytes.

        None if that is not known, or if anything else has changed.
        """
        with self._lock:
            end = self._ends.get((space, path))
            if end is None or end.stamp != stamp or former not in end.former:
                return None
            begin = end.former[former]
            return begin, end.position.size - begin.size

    def is_written(self, space: str, path: str, stamp: str) -> bool:
        """Whether this process wrote the file with this stamp, so that any later change has another
        stamp.
        """
        end = self.get(space, path)
        return end is not None and end.stamp == stamp


def append_noted(folder: int, name: str, fd: int, data: bytes) -> os.stat_result:
    """Append to the file that is open as `fd`; fsynced when this returns.

    The caller has the folder's write lock.

    Returns:
        The file's status after it.

    Raises:
        OSError: it could not be appended; the file has what it had before.
    """
    size = os.fstat(fd).st_size
    try:
        _write_note(
            folder, {"name": name, "size": size, "sha256": hashlib.sha256(data).hexdigest()}, data
        )
        hit("append.noted")
        if is_torn("append.written"):
            write_all(fd, data[: len(data) // 2])
            kill_process()
        write_all(fd, data)
        hit("append.written")
        set_exact_time(fd)
        status = os.fstat(fd)
        os.fsync(fd)
        hit("append.synced")
    except BaseException:
        with suppress(OSError):  # what fails here is done by `finish_append`
            _take_back(fd, size, data)
            os.unlink(NOTE, dir_fd=folder)
        raise
    os.unlink(NOTE, dir_fd=folder)
    return status


def finish_append(folder: int, us: frozenset[int]) -> None:
    """Finish the append that a killed process began in this folder.

    The caller has the folder's write lock.

    Args:
        us: user ids that may own the file.

    Raises:
        OSError: it could not be finished.
    """
    try:
        fd = os.open(NOTE, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return
    with os.fdopen(fd, "rb") as file:
        head, _, data = file.read().partition(b"\n")
    # a note that is torn itself was written before anything was appended; some files are gone, or
    # somebody else's now
    with suppress(
        ValueError, TypeError, KeyError, FileNotFoundError, IsADirectoryError, PermissionError
    ):
        note = json.loads(head)
        if note["sha256"] == hashlib.sha256(data).hexdigest():
            [name] = split_path(note["name"])
            _complete(folder, name, int(note["size"]), data, us)
    os.unlink(NOTE, dir_fd=folder)


def _write_note(folder: int, note: dict[str, str | int], data: bytes) -> None:
    with suppress(FileNotFoundError):
        os.unlink(NOTE, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(NOTE, flags, 0o600, dir_fd=folder)
    try:
        write_all(fd, json.dumps(note).encode() + b"\n" + data)
        os.fsync(fd)
    finally:
        os.close(fd)
    os.fsync(folder)


def _take_back(fd: int, size: int, data: bytes) -> None:
    """Cut off what was appended, unless somebody else has appended more."""
    appended = os.pread(fd, len(data) + 1, size)
    if appended and data.startswith(appended):
        os.ftruncate(fd, size)


def _complete(folder: int, name: str, size: int, data: bytes, us: frozenset[int]) -> None:
    """Write the rest of an append of which a part is there.

    If nothing is, the writer begins again by itself.
    """
    fd = open_below(folder, [name], os.O_RDWR)
    try:
        check_regular_file(fd, us, single=True)
        # after a power cut the end of what was written may be zeros
        appended = os.pread(fd, len(data) + 1, size)
        if appended and len(appended) <= len(data) and data.startswith(appended.rstrip(b"\0")):
            os.pwrite(fd, data, size)
            os.fsync(fd)
    finally:
        os.close(fd)
