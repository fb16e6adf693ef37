"""The seam of the lanes: an engine that runs each conversation in order, and many beside each other."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from memory.store.lane import LaneKind

Step = Callable[[str], Awaitable[bool]]
"""Does the next thing of one lane; False when there was nothing to do. Must be safe to call again after a crash."""


class Lanes(Protocol):
    """Runs `Step` for each lane that was woken, never two of one lane at once."""

    def wake(self, lane: str, due: float = 0.0) -> None:
        """Something is to be done in this lane; returns at once, and calls that come meanwhile are one.

        Args:
            due: unix seconds before which there is nothing to do.
        """
        ...

    async def settled(self) -> None:
        """Wait until no lane has anything left to do."""
        ...

    async def close(self, patience: float) -> None:
        """Take nothing new; give what runs `patience` seconds, then cancel it (the record lets it go on later)."""
        ...


LanesOf = Callable[[LaneKind, Step, int], Lanes]
"""Makes the lanes of one kind: what does a step in them, and how many steps may run at once."""
