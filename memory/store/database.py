"""The seam between the record's doors and a backend: units of work, each in a transaction of its own."""

from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from memory.store.engine import Tx
from memory.store.lane import Lane

T = TypeVar("T")
P = ParamSpec("P")
Work = Callable[[Tx], Coroutine[Any, Any, T]]
Bell = Callable[[Sequence[Lane]], None]
"""Told, after a commit, in which lanes there is something to do now."""


class Database(Protocol):
    """Runs units of work: functions whose first argument is the transaction, which may be run more than once.

    lease: this opening's number, what the rows it holds are marked with. clock: unix seconds, where
    several processes have the record by the clock of the database. suspect: the database
    was found damaged while in use. bell: where the engine of the lanes is not itself in the database. breaks: changes
    of prefixes that were committed here, by reason; busy: how often a unit was given up because others were in its way.
    """

    lease: int
    clock: Callable[[], float]
    suspect: bool
    bell: Bell
    breaks: Counter[str]
    busy: int

    async def read(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run queries on one snapshot of what is committed."""
        ...

    async def write(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a unit of work; returns after the commit that holds it. A cancelled caller's unit is still done.

        Raises:
            StoreError: nothing of this unit is in the record.
        """
        ...

    async def compact(self) -> bool:
        """Leave no byte of what was deleted where this program can reach; False when somebody was in the way."""
        ...

    async def close(self) -> None:
        """Finish what waits, then let go of the database."""
        ...


def silent(lanes: Sequence[Lane]) -> None:
    """The bell of a record whose lanes nobody runs here."""
