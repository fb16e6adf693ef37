"""A cache whose bound is the size of what it holds: texts of people may be of any length. Pure."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# that an entry takes beside its text, in a cache whose size is counted in characters
ENTRY_CHARS = 100


class SizedCache(Generic[K, V]):
    """Caches values by key; when it is full, the half that was used longest ago is dropped, never
    the newest.

    Threads may share it: at worst, a value is computed once more.
    """

    def __init__(self, max_size: int) -> None:
        """Start empty.

        Args:
            max_size: of all entries, in the unit that callers name for each.
        """
        self.max_size = max_size
        #: Of the entries that are held.
        self.size = 0
        self._entries: dict[K, tuple[V, int]] = {}  # in the order of their last use

    def get(self, key: K, size: int, compute: Callable[[], V]) -> V:
        """Return the value of a key, computed if it is not there; size: of key and value."""
        entry = self._entries.pop(key, None)
        if entry is None:
            entry = compute(), size
            self.size += size
        self._entries[key] = entry
        if self.size > self.max_size:
            self._shrink()
        return entry[0]

    def clear(self) -> None:
        """Drop everything."""
        self._entries, self.size = {}, 0

    def _shrink(self) -> None:
        kept: list[tuple[K, tuple[V, int]]] = []
        total = 0
        for key, entry in reversed(list(self._entries.items())):
            total += entry[1]
            if kept and total > self.max_size / 2:
                break
            kept.append((key, entry))
        self._entries = dict(reversed(kept))
        self.size = sum(size for _, size in self._entries.values())
