"""One writer of a space at a time: the protocol of the lock, and the locks of one machine."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


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
