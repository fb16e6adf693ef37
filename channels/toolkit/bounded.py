"""A dict of limited size."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedDict(dict[K, V]):
    """A dict that drops its oldest keys beyond `limit` entries; replacing a value does not renew its key."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        while len(self) > self._limit:
            del self[next(iter(self))]
