"""The workspace: its spaces, and their files as read, written, appended to and listed."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memory.workspace.append import KnownEnd, KnownEnds, append_noted, file_stamp, finish_append
from memory.workspace.atomic_write import AtomicWrite
from memory.workspace.safe_path import (
    FOLDER_FLAGS,
    MAX_BYTES,
    TEMPORARY,
    FileTooBig,
    PathRefused,
    allowed_owners,
    check_regular_file,
    make_folders,
    open_below,
    read_limited,
    split_path,
)
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS, WriteLocks

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
                check_regular_file(fd, allowed_owners(root), single=True)
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
                    finish_append(folder, allowed_owners(folder))
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
                    us = allowed_owners(folder)
                    finish_append(folder, us)
                    AtomicWrite(
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
            us = allowed_owners(folder)
            finish_append(folder, us)
            return AtomicWrite(
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
                status = check_regular_file(fd, allowed_owners(root), single=not hard_links)
                data, stamp = read_limited(fd, path), file_stamp(status)
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


def _append(folder: int, name: str, data: bytes, stamp: str) -> str | None:
    us = allowed_owners(folder)
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
