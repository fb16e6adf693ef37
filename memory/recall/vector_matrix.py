"""The vectors of a space as a search compares them: bytes in a memory-mapped file without a name,
which the system may drop from memory, and which is gone with the process.

NumPy is imported where it is used.
"""

import mmap
import os
import struct
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from memory.recall.index import VectorChange

# Numbers are stored as signed bytes after a scale for all of them, in a quarter of the size.
# What ranks first on the development sets is the same.
LARGEST_BYTE, SCALE_BYTES = 127, 4
# Rows that are compared in one step: larger products are computed by several threads, which wait
# for one another on busy cores. 0.12 s of CPU for a million rows; with 2,048 it was 3.7.
STEP_ROWS = 1_024


def pack_vector(vector: bytes) -> bytes:
    """Pack a vector of 32-bit floats into a scale and bytes; b"" stays b""."""
    import numpy

    if not vector:
        return b""
    numbers = numpy.frombuffer(vector, dtype="<f4")
    scale = float(numpy.abs(numbers).max()) / LARGEST_BYTE or 1.0
    packed = numpy.rint(numbers / scale).astype(numpy.int8)
    return struct.pack("<f", scale) + bytes(packed.tobytes())


def packed_width(changes: Iterable[VectorChange]) -> int:
    """The numbers of the first of these vectors, 0 if there is none."""
    sizes = (len(change.vector) for change in changes if change.vector)
    return next(sizes, SCALE_BYTES) - SCALE_BYTES


class VectorMatrix:
    """Packed vectors of one width, by row.

    Used by one thread at a time, except that `cosines` may run beside changes: it then may have the
    old or the new vector of a row.
    """

    def __init__(self, folder: Path, width: int, most: int) -> None:
        """Create its file.

        Args:
            folder: on the disk of the home; made if it is missing.
            width: numbers of a vector.
            most: rows; of more, the first that were added are replaced.

        Raises:
            OSError: the file cannot be made.
        """
        import numpy

        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.width = width
        self._most = most
        self._size = SCALE_BYTES + width
        self._file: Any = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  open for as long as this
        self._map: mmap.mmap | None = None
        # Row of each slot, 0 for none, with spare capacity.
        self._rows: Any = numpy.zeros(STEP_ROWS, dtype=numpy.int64)
        self._free: list[int] = []
        self._count = self._next_replaced = 0

    def apply(self, changes: Sequence[VectorChange]) -> None:
        """Overwrite vectors that were removed, and add new ones; those of another width are left
        out.

        Raises:
            OSError: the file cannot be written.
        """
        import numpy

        removed = [change.row for change in changes if change.vector is None]
        if removed:
            slots = numpy.flatnonzero(numpy.isin(self._rows[: self._count], removed)).tolist()
            for slot in slots:
                self._write(slot, 0, bytes(self._size))
            self._free += slots
        for change in changes:
            if change.vector is not None and len(change.vector) == self._size:
                self._write(self._take_slot(), change.row, change.vector)
        size = self._count * self._size
        if size and (self._map is None or len(self._map) < size):
            self._map = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ)

    def cosines(self, question: Any) -> tuple[Any, Any]:
        """The row of each slot, and its cosine with a question's vector; row 0 is none."""
        import numpy

        mapped, count = self._map, self._count
        found = numpy.zeros(count, dtype=numpy.float32)
        rows = self._rows[:count]
        if mapped is None:
            return rows, found
        packed = numpy.frombuffer(mapped, dtype=numpy.int8, count=count * self._size)
        packed = packed.reshape(count, self._size)
        numbers = numpy.empty((STEP_ROWS, self.width), dtype=numpy.float32)
        for first in range(0, count, STEP_ROWS):
            step = packed[first : first + STEP_ROWS]
            numpy.copyto(numbers[: len(step)], step[:, SCALE_BYTES:])
            scales = step[:, :SCALE_BYTES].copy().view("<f4").ravel()
            found[first : first + len(step)] = numbers[: len(step)] @ question * scales
        return rows, found

    def close(self) -> None:
        """Give the file back."""
        self._map = None
        self._file.close()

    def _take_slot(self) -> int:
        """A slot without a vector; of a full matrix the one that was filled first."""
        import numpy

        if self._free:
            return self._free.pop()
        if self._count == self._most:
            slot = self._next_replaced
            self._next_replaced = (slot + 1) % self._most
            return slot
        if self._count == len(self._rows):
            self._rows = numpy.concatenate((self._rows, numpy.zeros_like(self._rows)))
        self._count += 1
        return self._count - 1

    def _write(self, slot: int, row: int, vector: bytes) -> None:
        # Not through the map: on a full disk that is a signal that ends the process.
        os.pwrite(self._file.fileno(), vector, slot * self._size)
        self._rows[slot] = row
