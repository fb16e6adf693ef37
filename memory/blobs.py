"""Bytes kept under the name of their SHA-256: pictures and files that messages point to."""

import hashlib
import os
import re
from pathlib import Path

from memory.beneath import FOLDER
from memory.failpoint import fp
from memory.workspace import write_atomic

MOST_BYTES = 64 * 2**20
_NAME = re.compile(r"[0-9a-f]{64}")


class BlobTooBig(ValueError):
    """More bytes than one blob may have."""


class Blobs:
    """A folder of blobs; the same bytes are kept once. All methods block; call them in a thread."""

    def __init__(self, root: Path, most: int = MOST_BYTES) -> None:
        self._root = root
        self._most = most

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their SHA-256 in hex; file and folder are on the disk by then.

        Raises:
            BlobTooBig: over `most` bytes.
            OSError: they could not be stored.
        """
        if len(data) > self._most:
            raise BlobTooBig(f"{len(data)} bytes; {self._most} is the most")
        sha256 = hashlib.sha256(data).hexdigest()
        if not self._holds(sha256, data):
            self._make_root()
            write_atomic(self._root / sha256, data)
        fp("blob.stored")
        return sha256

    def get(self, sha256: str) -> bytes:
        """The bytes of that name.

        Raises:
            FileNotFoundError: there are none, or it is no such name.
            OSError: they could not be read, or are damaged.
        """
        if not _NAME.fullmatch(sha256):
            raise FileNotFoundError(f"no blob {sha256!r}")
        data = (self._root / sha256).read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise OSError(f"blob {sha256} is damaged")
        return data

    def remove(self, sha256: str) -> bool:
        """Delete the blob of that name for good, because a person asked for it; False where there is none.

        Raises:
            OSError: it could not be deleted.
        """
        if not _NAME.fullmatch(sha256) or not (self._root / sha256).exists():
            return False
        (self._root / sha256).unlink()
        _sync(self._root)
        return True

    def _holds(self, sha256: str, data: bytes) -> bool:
        """Whether it is there whole and for sure: who put it may have died before the folder was synced."""
        try:
            if (self._root / sha256).read_bytes() != data:
                return False
        except FileNotFoundError:
            return False
        _sync(self._root)
        return True

    def _make_root(self) -> None:
        if not self._root.is_dir():
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sync(self._root.parent)


def _sync(folder: Path) -> None:
    fd = os.open(folder, FOLDER | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
