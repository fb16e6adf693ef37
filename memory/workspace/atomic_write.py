"""Replaces a file atomically, never over a concurrent change, and has it on the disk then."""

import hashlib
import os
import re
import stat
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from memory.failpoints import hit, is_torn, kill_process
from memory.workspace.append import set_exact_time, write_all
from memory.workspace.safe_path import (
    FOLDER_FLAGS,
    TEMPORARY,
    allowed_owners,
    check_regular_file,
    open_below,
    read_limited,
)
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS, LockLost, SpaceWriter

# An unfinished write of a process that may be suspended; see SpaceWriter.mark.
_TEMPORARY_NAME = re.compile(rf"\..*\.\d+-\d+{re.escape(TEMPORARY)}", re.DOTALL)


class FileConflict(RuntimeError):
    """The file has changed since it was read; nothing was written."""


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
            AtomicWrite(
                folder=folder, name=path.name, us=allowed_owners(folder), mode=mode, writer=writer
            ).put(data)
    finally:
        os.close(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicWrite:
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
        """Write the file; return its status."""
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
                and hashlib.sha256(read_limited(fd, self.name)).hexdigest() != self.expected
            ):
                raise FileConflict(f"{self.name} was changed in the meantime")
            return stat.S_IMODE(status.st_mode) & stat.S_IRWXU
        finally:
            os.close(fd)


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
