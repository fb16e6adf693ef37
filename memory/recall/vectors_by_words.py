"""Vectors that are put aside while an index is made again, by a hash of their words, in a file
without a name.
"""

import tempfile
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

KEY_BYTES = 8


class VectorsByWords:
    """Packed vectors by their words. Methods block."""

    def __init__(self, folder: Path) -> None:
        """Create the file.

        Raises:
            OSError: it cannot be made.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file: Any = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  open for as long as this
        self._places: dict[bytes, tuple[int, int]] = {}  # begin and size

    def add(self, vectors: Iterable[tuple[str, bytes]]) -> None:
        """Add vectors by their words.

        Raises:
            OSError: the file cannot be written.
        """
        begin = self._file.seek(0, 2)
        for words, vector in vectors:
            self._file.write(vector)
            self._places[_key(words)] = (begin, len(vector))
            begin += len(vector)

    def find(self, rows: Sequence[tuple[int, str]]) -> list[tuple[int, str, bytes]]:
        """(row, words, vector) of those rows whose words have one."""
        found = []
        for row, words in rows:
            place = self._places.get(_key(words))
            if place is not None:
                self._file.seek(place[0])
                found.append((row, words, self._file.read(place[1])))
        return found

    def __len__(self) -> int:
        return len(self._places)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def _key(words: str) -> bytes:
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()
