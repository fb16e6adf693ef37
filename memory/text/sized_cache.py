"""A cache whose bound is the size of what it holds: texts of people may be of any length."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SizedCache(Generic[K, V]):
    """Caches values by key, and drops those used longest ago, but never the newest; threads may share it."""

    def __init__(self, max_size: int) -> None:
        """Start empty.

        Args:
            max_size: of all entries, in the unit that callers name for each.
        """
        self.max_size = max_size
        #: Of the entries that are held.
        self.size = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, size: int, compute: Callable[[], V]) -> V:
        """Return the value of a key, computed if it is not there; size: of key and value."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                return entry[0]
        value = compute()
        with self._lock:
            if key not in self._entries:
                self._entries[key] = value, size
                self.size += size
            while self.size > self.max_size and len(self._entries) > 1:
                _, (_, dropped) = self._entries.popitem(last=False)
                self.size -= dropped
        return value

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._entries.clear()
            self.size = 0
