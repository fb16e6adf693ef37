"""Reads and atomically writes the workspace's files, never over a concurrent change."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memory.failpoints import hit, is_torn, kill_process
from memory.workspace.append import (
    KnownEnd,
    KnownEnds,
    append_noted,
    file_stamp,
    finish_append,
    set_exact_time,
    write_all,
)
from memory.workspace.safe_path import (
    FOLDER_FLAGS,
    TEMPORARY,
    PathRefused,
    check_regular_file,
    make_folders,
    open_below,
    split_path,
)

MAX_BYTES = 25 * 2**20
MAX_ENTRIES = 10_000
MAX_DEPTH = 8
SPACES_FOLDER = "spaces"
# What prompts trust, what is run as it was enabled, and what other people have said: no command may
# change these.
GUARDED_FOLDERS = ("memory", "rules", "skills", "tools", SPACES_FOLDER)
FILES_FOLDER = "files"  # where commands begin
MEMORY_FILE = "MEMORY.md"  # long-term memory of a space
# In lower case, what the program itself makes at the top of a space.
_OWN_NAMES = frozenset({"soul.md", "memory.md", "heartbeat.md", *GUARDED_FOLDERS})
# In names that earlier versions gave to what they took for made by a command; it may be other
# people's memory.
SET_ASIDE = ".made-by-exec-"
_SPACE_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
# An unfinished write of a process that may be suspended; see SpaceWriter.mark.
_TEMPORARY_NAME = re.compile(rf"\..*\.\d+-\d+{re.escape(TEMPORARY)}", re.DOTALL)


class FileConflict(RuntimeError):
    """The file has changed since it was read; nothing was written."""


class FileTooBig(ValueError):
    """The file exceeds the size limit for one text."""


class LockLost(OSError):
    """The write lock is lost or its state is unknown; nothing was written."""


class SpaceWriter(Protocol):
    """A held write lock."""

    @property
    def mark(self) -> str:
        """Part of the names of its unfinished files; "" where a holder cannot be suspended and lose
        the lock.

        The next holder deletes files with other marks, so that a suspended process has nothing left
        to rename.
        """
        ...

    def check_still_held(self) -> None:
        """Called with everything fsynced, as late as possible before the rename.

        Raises:
            LockLost: the lock is no longer held.
        """
        ...


class WriteLocks(Protocol):
    """Allows one writer per space among all threads and processes."""

    def alone(self, space: str, folder: int) -> AbstractContextManager[SpaceWriter]:
        """Wait for the write lock of a space, whose folder is open as `folder`. Blocks.

        Raises:
            LockLost: the lock was not granted in time, or the lock service is unavailable.
        """
        ...


class _FolderLock:
    """A flock on the folder; the kernel releases it when the process ends, never before."""

    mark = ""

    def check_still_held(self) -> None:
        """It always is."""


class LocalWriteLocks:
    """Locks for processes on one machine: flock on the folder itself, two system calls per
    write.
    """

    @contextmanager
    def alone(self, space: str, folder: int) -> Iterator[SpaceWriter]:
        import fcntl  # not on every system

        fcntl.flock(folder, fcntl.LOCK_EX)
        try:
            yield _FolderLock()
        finally:
            fcntl.flock(folder, fcntl.LOCK_UN)


LOCAL_WRITE_LOCKS = LocalWriteLocks()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """The content of a file."""

    #: Relative to its space.
    path: str
    #: Decoded as UTF-8 with replacement; byte order mark and line ends are preserved.
    text: str
    #: Of the bytes.
    sha256: str
    #: Bytes.
    size: int
    #: Unix seconds.
    mtime: float
    #: See `file_stamp`; "" if it changed while it was read.
    stamp: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file or folder in a listing."""

    #: Relative to its space.
    path: str
    #: Bytes, 0 for a folder.
    size: int
    #: Unix seconds.
    mtime: float
    is_dir: bool = False


Entries = list[FileEntry]


def write_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace the file atomically and fsync it; the folder must exist.

    An existing file keeps its owner's permissions; those of group and others are removed.

    Raises:
        PathRefused: a link or something other than a regular file of an allowed owner is there.
        OSError: it could not be written; the former content is still there.
    """
    folder = os.open(path.parent, FOLDER_FLAGS | os.O_CLOEXEC)
    try:
        with LOCAL_WRITE_LOCKS.alone("", folder) as writer:
            _AtomicWrite(
                folder=folder, name=path.name, us=_allowed_owners(folder), mode=mode, writer=writer
            ).put(data)
    finally:
        os.close(folder)


class SpaceFiles:
    """The files of one space. All methods block; call them in a thread.

    All may raise PathRefused (a path or file that is never touched), FileNotFoundError and OSError.
    """

    def __init__(
        self,
        top: Path,
        inside: tuple[str, ...] = (),
        hidden: frozenset[str] = frozenset(),
        writers: WriteLocks = LOCAL_WRITE_LOCKS,
        ends: KnownEnds | None = None,
    ) -> None:
        self.root = top.joinpath(*inside)
        self._ends = ends or KnownEnds()
        self._writers = writers
        self._space = inside[-1] if inside else ""
        self._top = top
        self._inside = inside
        self._hidden = hidden

    def read(self, path: str, *, exact: bool = False, hard_links: bool = False) -> TextFile:
        """Read a file as text; FileTooBig over 25 MB.

        Args:
            exact: raise UnicodeDecodeError for bytes that are not UTF-8, as they would not survive
                a rewrite.
            hard_links: also read a file with a second hard link; never for a reader who sees its
                content.
        """
        read = self._read(path, hard_links=hard_links)
        try:
            return _make_text_file(path, *read, "strict" if exact else "replace")
        except UnicodeDecodeError:  # perhaps it was read in the middle of an append
            self.finish_append(path)
            return _make_text_file(path, *self._read(path, hard_links=hard_links), "strict")

    def read_bytes(self, path: str) -> bytes:
        """Read a file's bytes; FileTooBig over 25 MB."""
        return self._read(path)[0]

    def read_range(self, path: str, first: int, size: int) -> bytes:
        """Read `size` bytes of a file from byte `first` on, counted from its end if negative; fewer
        where it ends before.
        """
        with self._opened() as root:
            fd = open_below(root, self._names(path), os.O_RDONLY)
            try:
                check_regular_file(fd, _allowed_owners(root), single=True)
                begin = first if first >= 0 else max(0, os.fstat(fd).st_size + first)
                return os.pread(fd, size, begin)
            finally:
                os.close(fd)

    def growing(self, path: str) -> AbstractContextManager[None]:
        """Tell the index that something is appended to a file until the end of the block."""
        return self._ends.growing(self._space, path)

    def known_end(self, path: str) -> KnownEnd | None:
        """The end of a file as this process wrote it; see `append`."""
        return self._ends.get(self._space, path)

    def set_known_end(self, path: str, end: KnownEnd | None) -> None:
        """Note the end of a file that was written, for `append` and for the index; None if it is
        not known.
        """
        self._ends.put(self._space, path, end)

    def append(self, path: str, data: bytes, stamp: str) -> str | None:
        """Append to a file, which costs the same however long the file is; fsynced when this
        returns.

        Returns:
            Its new stamp, "" if somebody else has changed it too. None if it has not the stamp
            `stamp`, or cannot be
            appended to safely: then it has to be written as a whole.
        """
        *parents, name = self._names(path)
        with self._opened() as root:
            folder = open_below(root, parents, FOLDER_FLAGS)
            try:
                with self._writers.alone(self._space, folder) as writer:
                    return None if writer.mark else _append(folder, name, data, stamp)
            finally:
                os.close(folder)

    def finish_append(self, path: str) -> None:
        """Wait until no append to a file is running, and finish one that a killed process began."""
        with self._opened() as root:
            folder = open_below(root, self._names(path)[:-1], FOLDER_FLAGS)
            try:
                with self._writers.alone(self._space, folder):
                    finish_append(folder, _allowed_owners(folder))
            finally:
                os.close(folder)

    def write(self, path: str, text: str, expected: str | None) -> TextFile:
        """Replace the file whose SHA-256 is `expected`, or create it where `expected` is None.

        Raises:
            FileConflict: its content is different, or it exists although it should not, or the
                reverse.
        """
        return self.write_bytes(path, text.encode("utf-8", "replace"), expected)

    def write_bytes(self, path: str, data: bytes, expected: str | None) -> TextFile:
        """Like `write`, for bytes."""
        *parents, name = self._names(path) or ("",)
        if not name:
            raise PathRefused("a file needs a name")
        if len(data) > MAX_BYTES:
            raise FileTooBig(f"{path} would be {len(data)} bytes; the limit is {MAX_BYTES}")
        with self._opened() as root:
            folder = make_folders(root, parents)
            try:
                status = self._replace(folder, name, data, expected)
            finally:
                os.close(folder)
        return _make_text_file(path, data, status, file_stamp(status))

    def remove(self, path: str, expected: str) -> None:
        """Delete the file whose SHA-256 is `expected`; fsynced when this returns.

        Raises:
            FileConflict: its content is different, or it does not exist.
        """
        *parents, name = self._names(path) or ("",)
        with self._opened() as root:
            folder = open_below(root, parents, FOLDER_FLAGS)
            try:
                with self._writers.alone(self._space, folder) as writer:
                    us = _allowed_owners(folder)
                    finish_append(folder, us)
                    _AtomicWrite(
                        folder=folder,
                        name=name,
                        us=us,
                        mode=0o600,
                        writer=writer,
                        checked=True,
                        expected=expected,
                    ).take_away()
            finally:
                os.close(folder)

    def list(self, sub: str = "") -> Entries:
        """List everything below the folder `sub`, sorted by path, without links, devices and
        unfinished writes.
        """
        parts = self._names(sub)
        found: Entries = []
        with self._opened() as root:
            folder = open_below(root, parts, FOLDER_FLAGS)
            try:
                self._walk(folder, parts, found)
            finally:
                os.close(folder)
        return sorted(found, key=lambda entry: entry.path)

    def _replace(self, folder: int, name: str, data: bytes, expected: str | None) -> os.stat_result:
        with self._writers.alone(self._space, folder) as writer:
            us = _allowed_owners(folder)
            finish_append(folder, us)
            return _AtomicWrite(
                folder=folder,
                name=name,
                us=us,
                mode=0o600,
                writer=writer,
                checked=True,
                expected=expected,
            ).put(data)

    def _read(self, path: str, *, hard_links: bool = False) -> tuple[bytes, os.stat_result, str]:
        with self._opened() as root:
            fd = open_below(root, self._names(path), os.O_RDONLY)
            try:
                status = check_regular_file(fd, _allowed_owners(root), single=not hard_links)
                data, stamp = _read_bytes(fd, path), file_stamp(status)
                return data, status, stamp if stamp == file_stamp(os.fstat(fd)) else ""
            finally:
                os.close(fd)

    def _names(self, path: str) -> tuple[str, ...]:
        parts = split_path(path)
        if parts and original_name(parts[0]) in self._hidden:
            raise PathRefused(f"not a path inside this folder: {path!r}")
        return parts

    @contextmanager
    def _opened(self) -> Iterator[int]:
        top = os.open(self._top, FOLDER_FLAGS | os.O_CLOEXEC)
        try:
            root = open_below(top, self._inside, FOLDER_FLAGS)
        finally:
            os.close(top)
        try:
            yield root
        finally:
            os.close(root)

    def _walk(self, folder: int, parts: tuple[str, ...], found: Entries) -> None:
        with os.scandir(folder) as items:
            for item in items:
                if len(found) >= MAX_ENTRIES:
                    return
                self._visit(folder, (*parts, item.name), found)

    def _visit(self, folder: int, parts: tuple[str, ...], found: Entries) -> None:
        name = parts[-1]
        if name.endswith(TEMPORARY):
            return
        with suppress(PathRefused, FileNotFoundError):
            path = "/".join(parts)
            self._names(path)
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            is_dir = stat.S_ISDIR(status.st_mode)
            if is_dir or stat.S_ISREG(status.st_mode):
                size = 0 if is_dir else status.st_size
                found.append(FileEntry(path=path, size=size, mtime=status.st_mtime, is_dir=is_dir))
            if is_dir and len(parts) < MAX_DEPTH:
                below = open_below(folder, parts[-1:], FOLDER_FLAGS)
                try:
                    self._walk(below, parts, found)
                finally:
                    os.close(below)


class Workspace:
    """The folder that people browse: the owner's files at its root, other people's below
    `spaces`.
    """

    def __init__(self, root: Path, writers: WriteLocks = LOCAL_WRITE_LOCKS) -> None:
        self.root = root
        self.ends = KnownEnds()
        self._writers = writers

    def space(self, space: str) -> SpaceFiles:
        """The files of a space ("" for the owner's); its folder is created with mode 0700 if it is
        missing.

        Raises:
            PathRefused: not a valid name of a space, or a link is in the path.
        """
        if space and not _SPACE_NAME.fullmatch(space):
            raise PathRefused(f"not the name of a space: {space!r}")
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not space:
            return SpaceFiles(
                self.root, hidden=frozenset({SPACES_FOLDER}), writers=self._writers, ends=self.ends
            )
        root = os.open(self.root, FOLDER_FLAGS | os.O_CLOEXEC)
        try:
            os.close(make_folders(root, (SPACES_FOLDER, space)))
        finally:
            os.close(root)
        return SpaceFiles(
            self.root, inside=(SPACES_FOLDER, space), writers=self._writers, ends=self.ends
        )

    def has_files(self, space: str) -> bool:
        """Tell whether a space has files of a person, beside those that the program makes."""
        root = self.root / SPACES_FOLDER / space if space else self.root
        try:
            with os.scandir(root) as entries:
                return any(map(_is_of_person, entries))
        except OSError:
            return False  # there is none, or nobody can read it


def _is_of_person(entry: "os.DirEntry[str]") -> bool:
    """Tell whether an entry at the top of a space is a person's; the folder for their files is once
    it holds one.
    """
    if entry.name.startswith(".") or original_name(entry.name) in _OWN_NAMES:
        return False
    if entry.name != FILES_FOLDER:
        return True
    with suppress(NotADirectoryError), os.scandir(entry.path) as items:
        return any(True for _ in items)
    return True


def original_name(name: str) -> str:
    """Return a name without upper case, and without what an earlier version added to set it
    aside.
    """
    return name.casefold().partition(SET_ASIDE)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _AtomicWrite:
    """One write of `name` in the open `folder`."""

    folder: int
    name: str
    us: frozenset[int]
    mode: int
    #: The lock that this write holds.
    writer: SpaceWriter
    #: Compare the content with `expected` before the rename.
    checked: bool = False
    expected: str | None = None

    def put(self, data: bytes) -> os.stat_result:
        temporary = f".{self.name}{self.writer.mark}{TEMPORARY}"
        self._sweep()
        mode = self._examine()
        with ExitStack() as undo:
            undo.callback(self._unlink, temporary)
            status = self._fill(temporary, data, mode)
            self._examine()
            self.writer.check_still_held()
            self._name(temporary)
            undo.pop_all()
        status = self._status_of(status)
        hit("file.replaced")
        os.fsync(self.folder)
        hit("file.dir_synced")
        return status

    def take_away(self) -> None:
        """Delete the file."""
        self._examine()
        self.writer.check_still_held()
        os.unlink(self.name, dir_fd=self.folder)
        os.fsync(self.folder)

    def _sweep(self) -> None:
        """Delete unfinished writes of other processes, so that a suspended one has nothing to
        rename when it wakes.
        """
        if self.writer.mark:
            for name in os.listdir(self.folder):
                if _TEMPORARY_NAME.fullmatch(name):
                    self._unlink(name)

    def _name(self, temporary: str) -> None:
        try:
            os.replace(temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        except FileNotFoundError as err:
            raise LockLost(
                f"another process has taken {self.name} over; nothing was written"
            ) from err

    def _fill(self, temporary: str, data: bytes, mode: int) -> os.stat_result:
        # The lock is held, so this is the leftover of a killed process.
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=self.folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(temporary, flags, 0o600, dir_fd=self.folder)
        try:
            if is_torn("file.tmp_written"):
                write_all(fd, data[: len(data) // 2])
                kill_process()
            write_all(fd, data)
            hit("file.tmp_written")
            os.fchmod(fd, mode)
            set_exact_time(fd)
            os.fsync(fd)
            hit("file.synced")
            return os.fstat(fd)
        finally:
            os.close(fd)

    def _status_of(self, written: os.stat_result) -> os.stat_result:
        """The status of the file that was written, which its renaming has changed; `written` if it
        was replaced.
        """
        with suppress(OSError):
            found = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
            if (found.st_ino, found.st_mtime_ns) == (written.st_ino, written.st_mtime_ns):
                return found
        return written

    def _unlink(self, temporary: str) -> None:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=self.folder)

    def _examine(self) -> int:
        """Check that the existing file may be replaced; return the mode to write with."""
        try:
            fd = open_below(self.folder, [self.name], os.O_RDONLY)
        except FileNotFoundError:
            if self.checked and self.expected is not None:
                raise FileConflict(f"{self.name} no longer exists") from None
            return self.mode
        try:
            status = check_regular_file(fd, self.us, single=True)
            if (
                self.checked
                and hashlib.sha256(_read_bytes(fd, self.name)).hexdigest() != self.expected
            ):
                raise FileConflict(f"{self.name} was changed in the meantime")
            return stat.S_IMODE(status.st_mode) & stat.S_IRWXU
        finally:
            os.close(fd)


def _append(folder: int, name: str, data: bytes, stamp: str) -> str | None:
    us = _allowed_owners(folder)
    finish_append(folder, us)
    try:
        fd = open_below(folder, [name], os.O_RDWR | os.O_APPEND)
    except (FileNotFoundError, PermissionError, PathRefused):
        return None
    try:
        before = check_regular_file(fd, us, single=True)
        is_private = before.st_uid == os.geteuid() and not before.st_mode & (
            stat.S_IRWXG | stat.S_IRWXO
        )
        if file_stamp(before) != stamp or not is_private or before.st_size + len(data) > MAX_BYTES:
            return None
        after = append_noted(folder, name, fd, data)
        if os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino != after.st_ino:
            return None  # an editor has put another file in its place
        return file_stamp(after) if after.st_size == before.st_size + len(data) else ""
    except FileNotFoundError:
        return None
    finally:
        os.close(fd)


def _allowed_owners(folder: int) -> frozenset[int]:
    """User ids that may own a file here: this process's and the folder owner's (root in a
    container, for example).
    """
    return frozenset({os.geteuid(), os.fstat(folder).st_uid})


def _read_bytes(fd: int, path: str) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(fd, 1 << 20):
        size += len(piece)
        if size > MAX_BYTES:
            raise FileTooBig(f"{path} is larger than {MAX_BYTES} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _make_text_file(
    path: str, data: bytes, status: os.stat_result, stamp: str, errors: str = "replace"
) -> TextFile:
    return TextFile(
        path=path,
        text=data.decode("utf-8", errors),
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        mtime=status.st_mtime,
        stamp=stamp,
    )


def fsync_path(path: Path) -> None:
    """Fsync a file or a folder.

    Raises:
        OSError: it may not be on the disk.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
