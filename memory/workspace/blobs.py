"""Content-addressed storage of the pictures and files that messages refer to."""

import hashlib
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory.failpoints import hit
from memory.workspace.atomic_write import fsync_path, write_atomic
from memory.workspace.safe_path import FOLDER_FLAGS

MAX_BYTES = 64 * 2**20
_NAME = re.compile(r"[0-9a-f]{64}")


class BlobTooBig(ValueError):
    """The data exceeds the size limit of a blob."""


def is_blob_name(name: str) -> bool:
    """Whether the name is a SHA-256 in hex."""
    return bool(_NAME.fullmatch(name))


class Blobs:
    """A folder of blobs named by their SHA-256. All methods block; call them in a thread."""

    def __init__(self, root: Path, most: int = MAX_BYTES) -> None:
        self._root = root
        self._most = most

    def put(self, data: bytes) -> str:
        """Store the bytes and return their SHA-256 in hex; file and folder are fsynced by then.

        Raises:
            BlobTooBig: over the limit.
            OSError: they could not be stored.
        """
        if len(data) > self._most:
            raise BlobTooBig(f"{len(data)} bytes; the limit is {self._most}")
        sha256 = hashlib.sha256(data).hexdigest()
        if not self._holds(sha256, data):
            if not self._root.is_dir():
                self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
                fsync_path(self._root.parent)
            write_atomic(self._root / sha256, data)
        hit("blob.stored")
        return sha256

    def get(self, sha256: str) -> bytes:
        """Read a blob and verify its hash.

        Raises:
            FileNotFoundError: there is no such blob.
            OSError: it could not be read or is damaged.
        """
        if not is_blob_name(sha256):
            raise FileNotFoundError(f"no blob {sha256!r}")
        data = (self._root / sha256).read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise OSError(f"blob {sha256} is damaged")
        return data

    def has(self, sha256: str) -> bool:
        """Whether the blob exists."""
        return is_blob_name(sha256) and (self._root / sha256).is_file()

    def remove(self, sha256: str) -> bool:
        """Delete a blob at a person's request; False when there is none.

        Raises:
            OSError: it could not be deleted.
        """
        if not is_blob_name(sha256) or not (self._root / sha256).exists():
            return False
        (self._root / sha256).unlink()
        fsync_path(self._root)
        return True

    def size_of(self, names: Collection[str] | None = None) -> int:
        """Total bytes of the existing blobs among `names`; None for all blobs."""
        return sum(
            status.st_size for name, status in self._list() if names is None or name in names
        )

    def older(self, before: float) -> set[str]:
        """Names of the blobs that were last put before that time (unix seconds)."""
        return {name for name, status in self._list() if status.st_mtime < before}

    def remove_older(self, sha256: str, before: float) -> bool:
        """Delete an unreferenced blob; False if it was put again since `before`, as a reference is
        about to follow.

        Raises:
            OSError: it could not be deleted.
        """
        path = self._root / sha256
        with _lock_folder(self._root):
            if not path.exists() or path.stat().st_mtime >= before:
                return False
            path.unlink()
        fsync_path(self._root)
        return True

    def _list(self) -> Iterator[tuple[str, os.stat_result]]:
        try:
            items = list(os.scandir(self._root))
        except FileNotFoundError:
            return
        for item in items:
            with suppress(FileNotFoundError):  # deleted in the meantime
                if is_blob_name(item.name) and item.is_file(follow_symlinks=False):
                    yield item.name, item.stat(follow_symlinks=False)

    def _holds(self, sha256: str, data: bytes) -> bool:
        """Whether the blob is complete; if so, make it durable and refresh its time.

        The process that put it may have died before the folder was fsynced. The new time protects
        it from `remove_older` until it is referenced.
        """
        path = self._root / sha256
        if not path.exists():
            return False
        with _lock_folder(self._root):
            try:
                if path.read_bytes() != data:
                    return False
                os.utime(path)
            except FileNotFoundError:
                return False
        fsync_path(self._root)
        return True


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on the folder, among all threads and processes of the bot."""
    import fcntl  # not on every system

    fd = os.open(folder, FOLDER_FLAGS | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
