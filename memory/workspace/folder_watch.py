"""Tells which entries of a folder have changed, without looking at them: by the kernel's inotify,
on Linux.

An event is in the queue before the system call that changed the file returns, so a reader that
finds the queue empty knows that nothing has changed. watchfiles cannot tell that: it collects
events in a thread, and waits for more of them.
"""

import ctypes
import os
import re
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_IN_MODIFY, _IN_ATTRIB, _IN_CLOSE_WRITE, _IN_MOVED_FROM, _IN_MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_IN_CREATE, _IN_DELETE, _IN_Q_OVERFLOW, _IN_IGNORED = 0x100, 0x200, 0x4000, 0x8000
_IN_ONLYDIR, _IN_DONT_FOLLOW = 0x01000000, 0x02000000
_MASK = (
    (
        _IN_MODIFY
        | _IN_ATTRIB
        | _IN_CLOSE_WRITE
        | _IN_MOVED_FROM
        | _IN_MOVED_TO
        | _IN_CREATE
        | _IN_DELETE
    )
    | _IN_ONLYDIR
    | _IN_DONT_FOLLOW
)
_EVENT = struct.Struct("iIII")  # watch, mask, cookie, bytes of the name
_READ_BYTES = 1 << 16
_MOUNTS = Path("/proc/self/mountinfo")
# Changes are reported where they are made by this machine only: not on network folders, and not on
# folders that a container or a virtual machine shares with its host.
_LOCAL_FILE_SYSTEMS = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "f2fs", "bcachefs", "jfs")
)
_OCTAL = re.compile(r"\\([0-7]{3})")


class WatchedFolder:
    """A folder whose changes are noted; it may be missing, and may be replaced by another."""

    def __init__(self, watches: "FolderWatches", path: Path) -> None:
        self._watches = watches
        self._path = path
        self._inode: tuple[int, int] | None = None  # device and inode
        self._number = -1  # of the watch, -1 for none
        self._names: set[str] | None = None  # changed entries, None for any

    def take(self) -> frozenset[str] | None:
        """The names of the entries that have changed since the last call; None where any may have.

        Raises:
            OSError: the folder cannot be watched.
        """
        self._watches.read_events()
        inode = _inode(self._path)
        if inode != self._inode or (inode is not None and self._number < 0):
            self._watches.remove(self._number)
            self._inode, self._number, self._names = None, -1, None
            if inode is not None:
                self._number = self._watches.add(self, self._path)
                self._inode = _inode(self._path)
        names, self._names = self._names, set()
        return None if names is None else frozenset(names)

    def note(self, name: str | None) -> None:
        """Note a changed entry; None for any."""
        if name is None:
            self._names = None
        elif self._names is not None:
            self._names.add(name)

    def end(self) -> None:
        """Note that the kernel has ended the watch."""
        self._number = -1

    def close(self) -> None:
        """Stop watching."""
        self._watches.remove(self._number)
        self._number = -1


class FolderWatches:
    """All watched folders, with one inotify descriptor, as a user may have few.

    Used by one thread at a time.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._folders: dict[int, WatchedFolder] = {}
        self._lock = threading.Lock()

    def folder(self, path: Path) -> WatchedFolder | None:
        """Watch a folder from the first `take` on; None where its changes are not reported."""
        return WatchedFolder(self, path) if sys.platform == "linux" and _is_local(path) else None

    def add(self, folder: WatchedFolder, path: Path) -> int:
        """Begin to watch an existing folder; returns the watch's number.

        Raises:
            OSError: it cannot be watched.
        """
        with self._lock:
            if self._descriptor is None:
                self._descriptor = _call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
            number = _call("inotify_add_watch", self._descriptor, os.fsencode(path), _MASK)
            self._folders[number] = folder
        return number

    def remove(self, number: int) -> None:
        """Stop watching."""
        with self._lock, suppress(OSError):
            if self._folders.pop(number, None) is not None and self._descriptor is not None:
                _call("inotify_rm_watch", self._descriptor, number)
            if self._descriptor is not None and not self._folders:
                os.close(self._descriptor)
                self._descriptor = None

    def read_events(self) -> None:
        """Note what the kernel has reported; costs one system call if that is nothing."""
        with self._lock:
            for number, mask, name in self._events():
                folder = self._folders.get(number)
                if mask & _IN_Q_OVERFLOW:
                    for each in self._folders.values():
                        each.note(None)
                elif folder is not None and mask & _IN_IGNORED:  # the folder was deleted
                    del self._folders[number]
                    folder.end()
                elif folder is not None:
                    folder.note(name or None)

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while self._descriptor is not None:
            try:
                data = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                yield number, mask, os.fsdecode(data[at - length : at].rstrip(b"\0"))


def _call(function: str, *arguments: object) -> int:
    result = int(getattr(ctypes.CDLL(None, use_errno=True), function)(*arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), function)
    return result


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_local(path: Path) -> bool:
    """Whether the file system that holds a folder reports all changes."""
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
        real = os.path.realpath(path)
    except OSError:
        return False
    kind, longest = "", -1
    for line in lines:
        place, _, source = line.partition(" - ")
        mount = _OCTAL.sub(lambda found: chr(int(found[1], 8)), place.split(" ")[4])
        inside = real == mount or real.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= longest:  # of two mounts at one place the later one counts
            kind, longest = source.split(" ")[0], len(mount)
    return kind in _LOCAL_FILE_SYSTEMS
