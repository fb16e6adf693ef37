"""Finds out that SQLite cut a damaged write-ahead log short, and mends a copy of it as far as it
can be read.

At its first frame that does not fit, SQLite ends the log without a word, and all commits behind it
are gone. They are still in the file: each frame names the checksum of the one before it. Formats:
https://www.sqlite.org/walformat.html
"""

import sqlite3
import struct
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24
_CHECKED_BYTES = 24  # of the header
_LITTLE_ENDIAN_MAGIC = 0x377F0682  # of the words that checksums are made of
_MAX_FRAME = slice(16, 20)  # in the wal-index: number of valid frames
_FORMAT_VERSION = 3_007_000

_Checksum = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """One page in the log."""

    #: Page number, and the size of the database in pages after a commit, 0 for a frame that commits
    #: nothing.
    head: bytes
    salts: bytes
    checksum: _Checksum
    page: bytes

    @property
    def is_commit(self) -> bool:
        return any(self.head[4:])


@dataclass(frozen=True, slots=True, kw_only=True)
class _WriteAheadLog:
    """A write-ahead log."""

    #: Its header without the checksum.
    head: bytes
    checksum: _Checksum
    #: Those of former uses of the file too, which have other salts.
    frames: list[_Frame]

    @property
    def salts(self) -> bytes:
        return self.head[16:]

    def compute(self, content: bytes, before: _Checksum = (0, 0)) -> _Checksum:
        """Compute the checksum of what follows on content with the checksum `before`."""
        (magic,) = struct.unpack(">I", self.head[:4])
        order = "<" if magic == _LITTLE_ENDIAN_MAGIC else ">"
        words = struct.unpack(f"{order}{len(content) // 4}I", content)
        first, second = before
        for even, odd in zip(words[::2], words[1::2], strict=True):
            first = (first + even + second) & 0xFFFFFFFF
            second = (second + odd + first) & 0xFFFFFFFF
        return first, second


def log_path(path: Path) -> Path:
    """Return the path of a database's write-ahead log."""
    return path.with_name(f"{path.name}-wal")


def is_log_cut(path: Path) -> bool:
    """Whether the log has a commit behind the frame at which SQLite ends it; changes nothing.

    Not noticed is damage to the newest commit, and a log that was shortened or removed.

    Raises:
        sqlite3.Error, OSError: one of the files cannot be read.
    """
    if not log_path(path).exists() or log_path(path).stat().st_size <= _HEADER_BYTES:
        return False
    log, valid = _read_log(path), _count_valid_frames(path)
    return any(frame.is_commit and frame.salts == log.salts for frame in log.frames[valid:])


def mend_log(path: Path, target: Path) -> None:
    """Write a copy of a database's log without its damaged frames, which SQLite reads to its
    end.
    """
    log = _read_log(path)
    before, checksum = log.checksum, log.compute(log.head)
    mended = [log.head, struct.pack(">II", *checksum)]
    for frame in log.frames:
        content = frame.head + frame.page
        if frame.salts == log.salts and log.compute(content, before) == frame.checksum:
            checksum = log.compute(content, checksum)
            mended += [frame.head, log.salts, struct.pack(">II", *checksum), frame.page]
        before = frame.checksum
    target.write_bytes(b"".join(mended))


def _count_valid_frames(path: Path) -> int:
    """Return at which frame SQLite ends the log, as it notes it in the wal-index."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        index = path.with_name(f"{path.name}-shm").read_bytes()
    (valid,) = struct.unpack("=I", index[_MAX_FRAME])
    return int(valid)


def _read_log(path: Path) -> _WriteAheadLog:
    """Read a log; where its header is damaged, with what that must have been."""
    data = log_path(path).read_bytes()
    head, checksum = data[:_CHECKED_BYTES], struct.unpack(">II", data[_CHECKED_BYTES:_HEADER_BYTES])
    if _WriteAheadLog(head=head, checksum=checksum, frames=[]).compute(head) != checksum:
        with path.open("rb") as file:
            (page_bytes,) = struct.unpack(">H", file.read(18)[16:])
        magic = _LITTLE_ENDIAN_MAGIC + (sys.byteorder == "big")
        fields = (magic, _FORMAT_VERSION, 65_536 if page_bytes == 1 else page_bytes, 0)
        head = struct.pack(">4I", *fields) + data[_HEADER_BYTES + 8 : _HEADER_BYTES + 16]
    return _WriteAheadLog(head=head, checksum=checksum, frames=list(_frames(head, data)))


def _frames(head: bytes, data: bytes) -> Iterator[_Frame]:
    (page_bytes,) = struct.unpack(">I", head[8:12])
    size = _FRAME_HEADER_BYTES + page_bytes
    for start in range(_HEADER_BYTES, len(data) - size + 1, size):
        page_start = start + _FRAME_HEADER_BYTES
        first, second = struct.unpack(">II", data[start + 16 : page_start])
        yield _Frame(
            head=data[start : start + 8],
            salts=data[start + 8 : start + 16],
            checksum=(first, second),
            page=data[page_start : start + size],
        )
