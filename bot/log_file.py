"""The file of a log: whole lines, a new file when it is full, and several processes may write to it."""

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class LogFile:
    """A stream of lines for a logging handler: `mnema.log`, and as `mnema.log.1` and so on what was full before.

    Nobody waits for anybody: a line is one write at the end of the file, and only the changing of the files is done
    by one process at a time; one that is held up or frozen meanwhile keeps no other from writing.
    """

    def __init__(self, path: Path, max_bytes: int, keep: int) -> None:
        self._path, self._max_bytes, self._keep = path, max_bytes, keep
        self._handle = -1

    def write(self, line: str) -> None:
        """Put one line, with its end, behind all others.

        Raises:
            OSError: it, or the end of it, could not be written; the next one begins on a line of its own.
        """
        rest = memoryview(line.encode("utf-8", "replace"))
        self._ready(len(rest))
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError:
            self.close()
            raise

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Let go of the file; the next line opens it again."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            with suppress(OSError):
                os.close(handle)

    def _ready(self, more: int) -> None:
        """The file that goes by the name now is open, and has room or could not be given any."""
        self._follow()
        size = os.fstat(self._handle).st_size
        if size and size + more > self._max_bytes:
            with suppress(OSError):  # then this one grows on, and the next line tries again
                self._turn_over(more)
            self._follow()

    def _follow(self) -> None:
        """Another process may have begun a new file, or a person may have taken this one away."""
        try:
            there = os.stat(self._path, follow_symlinks=False)
        except FileNotFoundError:
            there = None
        if self._handle >= 0:
            ours = os.fstat(self._handle)
            if there and (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
                return
            self.close()
        self._open()

    def _open(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._handle = os.open(self._path, _FLAGS, 0o600)
        held = os.fstat(self._handle)
        if stat.S_IMODE(held.st_mode) & 0o077 and held.st_uid == os.geteuid():
            os.fchmod(self._handle, 0o600)
        if held.st_size and os.pread(self._handle, 1, held.st_size - 1) != b"\n":
            os.write(self._handle, b"\n")  # whoever wrote last was cut short

    def _turn_over(self, more: int) -> None:
        """Each file takes the next number, unless another process does that now or has just done it."""
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.stat(self._path).st_size + more > self._max_bytes:
                self._shift()
        finally:
            os.close(folder)

    def _shift(self) -> None:
        for old in self._numbered():
            old.unlink()
        for number in range(self._keep, 1, -1):
            with suppress(FileNotFoundError):
                os.replace(self._name(number - 1), self._name(number))
        os.replace(self._path, self._name(1))

    def _name(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def _numbered(self) -> list[Path]:
        """Files with numbers that are not kept any more."""
        found = self._path.parent.glob(f"{self._path.name}.*")
        return [path for path in found if path.suffix[1:].isdigit() and int(path.suffix[1:]) > self._keep]
