"""Counts the files that a command makes: their number costs the disk something that no count of bytes shows."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.tools.exec.sandbox import SHM_PATH, TMP_PATH

FILE_BYTES = 4_096  # what a file counts against the limit of the disk: an inode and its place in a folder
_LOOK_SECONDS = 2.0  # between two looks where the file system does not say how many files it holds, as btrfs
_CLOCK_SECONDS = 0.1  # the kernel stamps files by a clock that may be a tick late


class FileCount:
    """The files made in some folders since now.

    The file systems are asked first, which costs microseconds; only where these have lost so many free inodes, to
    whomever, the folders are walked.

    Args:
        most: how many may be made.
        read_system: `os.statvfs`.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        most: int,
        clock: Callable[[], float] = time.time,
        read_system: Callable[[Path], os.statvfs_result] = os.statvfs,
    ) -> None:
        self._folders = folders
        self._most = most
        self._clock = clock
        self._read_system = read_system
        self._since = clock() - _CLOCK_SECONDS
        self._next_look = self._since + _LOOK_SECONDS
        one_of_each = {os.stat(folder).st_dev: folder for folder in folders}
        systems = {folder: read_system(folder) for folder in one_of_each.values()}
        #: Free inodes at the beginning, by a folder of each file system.
        self._free = {folder: system.f_ffree for folder, system in systems.items()}
        self._is_counted = all(system.f_files for system in systems.values())

    def is_exceeded(self, pid: int) -> bool:
        """Tell whether more files were made, in the folders or in the memory of the sandbox that `pid` is in."""
        return self._in_memory(pid) > self._most or (self._may_be_exceeded() and self._made() > self._most)

    def _may_be_exceeded(self) -> bool:
        if not self._is_counted:
            now = self._clock()
            is_due = now >= self._next_look
            self._next_look = now + _LOOK_SECONDS if is_due else self._next_look
            return is_due
        return sum(free - self._read_system(folder).f_ffree for folder, free in self._free.items()) > self._most

    def _made(self) -> int:
        """Count the files made or changed since the beginning, up to the first one too many."""
        made = 0
        pending = list(map(str, self._folders))
        while pending and made <= self._most:
            try:
                with os.scandir(pending.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                        made += self._is_new(entry)
            except FileNotFoundError:
                continue  # it was removed meanwhile
            except OSError:
                return self._most + 1  # too deep, or closed to us: a command that is honest does neither
        return made

    def _is_new(self, entry: "os.DirEntry[str]") -> bool:
        try:
            return entry.stat(follow_symlinks=False).st_ctime >= self._since
        except FileNotFoundError:
            return False

    def _in_memory(self, pid: int) -> int:
        """Count the files in the sandbox's folders in memory."""
        made = 0
        for folder in (TMP_PATH, SHM_PATH):
            try:
                system = os.statvfs(f"/proc/{pid}/root{folder}")
            except (FileNotFoundError, ProcessLookupError):
                return 0  # it has ended
            made = max(made, system.f_files - system.f_ffree)
        return made
