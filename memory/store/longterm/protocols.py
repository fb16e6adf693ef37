"""The store's doors to long-term memory, as Protocols that any backend passes the suite of.

Every method that reads or writes memory takes the space it is about; there is no way to leave it out.
All methods may raise StoreFull, StoreBusy or StoreCorrupt.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from memory.store.longterm.rows import (
    EraseReport,
    ForgetTargets,
    ForgettingRow,
    ForgettingState,
    LocatedMessage,
)


class ForgetRequests(Protocol):
    """What people asked to have forgotten, and T14."""

    async def ask(self, row: ForgettingRow) -> None:
        """A new one in state asked; an older asked one of the same conversation is dropped."""
        ...

    async def asked(self, conversation: str, now: datetime) -> ForgettingRow | None:
        """The one that waits for its confirmation and has not expired."""
        ...

    async def move(
        self, id: str, state: ForgettingState, *, targets: str | None = None, receipt: str | None = None
    ) -> None:
        """asked -> confirmed | dropped; confirmed -> removed; removed -> done; anything else raises WrongState."""
        ...

    async def row(self, id: str) -> ForgettingRow:
        """Raises WrongState where there is none."""
        ...

    async def load_open(self) -> list[ForgettingRow]:
        """confirmed or removed: they go on at start."""
        ...

    async def expire(self, now: datetime) -> None:
        """asked -> dropped for those that nobody confirmed in time; what they were to forget is not kept."""
        ...

    async def said(self, space: str, after: str, limit: int) -> list[LocatedMessage]:
        """Messages of a space and those linked to it in order of their ids, from behind the id `after`."""
        ...

    async def confirm(
        self, row: ForgettingRow, targets: ForgetTargets, written: Callable[[EraseReport], tuple[str, str]]
    ) -> EraseReport:
        """T14: asked -> confirmed, the record redacted, and what `written` makes of it kept as targets and receipt."""
        ...

    async def erase(self, space: str, targets: ForgetTargets) -> EraseReport:
        """The same redaction once more, for what was written meanwhile."""
        ...

    async def empty(self, id: str, receipt: str) -> None:
        """What was to be forgotten is not kept any more, in its place the receipt; the state stays."""
        ...

    async def compact(self) -> bool:
        """No byte of what was deleted is left in the database's files; False when a reader was in the way."""
        ...

    async def last(self, space: str) -> ForgettingRow | None:
        """The newest one that is done."""
        ...
