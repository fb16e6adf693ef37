"""Who may write a space's files now: one at a time, and sure of it up to the moment in which a file gets its name."""

import fcntl
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class LockLost(OSError):
    """Somebody else may be writing here by now, or nobody knows; nothing was written."""


class SpaceWriter(Protocol):
    """The one who may write.

    mark: what its unfinished writes have in their names, so that whoever comes after takes away those of others, and
    what a process that slept would put in place is not there any more; "" where nobody can sleep and be overtaken.
    """

    @property
    def mark(self) -> str: ...

    def check_still_held(self) -> None:
        """Asked when all is on the disk but the name, and for as long as is possible the last thing before it.

        Raises:
            Overtaken: it may not write any more.
        """
        ...


class WriteLocks(Protocol):
    """One writer in a space at a time, among all threads and processes that write there."""

    def alone(self, space: str, folder: int) -> AbstractContextManager[SpaceWriter]:
        """Wait for the turn to write in the open `folder` of a space. Blocks.

        Raises:
            Overtaken: it did not come, or whoever keeps the order is not to be had.
        """
        ...


class _FolderLock:
    """Holds the folder: the kernel lets go of it when the process ends, and nobody else gets it before."""

    mark = ""

    def check_still_held(self) -> None:
        """Always."""


class LocalWriteLocks:
    """For processes of one machine, by a lock on the folder itself; it costs two calls of the kernel."""

    @contextmanager
    def alone(self, space: str, folder: int) -> Iterator[SpaceWriter]:
        fcntl.flock(folder, fcntl.LOCK_EX)
        try:
            yield _FolderLock()
        finally:
            fcntl.flock(folder, fcntl.LOCK_UN)


LOCAL_WRITE_LOCKS = LocalWriteLocks()
