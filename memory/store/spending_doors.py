"""The Spending door: what people have used since when, and who was told that it is enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from memory.store.records import Outgoing

OWNER = "owner"
"""Whose budget the owner's turns count to, on whatever channel; every other name has a colon in it."""


Want = Literal["messages", "everybody", "tokens", "whole"]
ALL: frozenset[Want] = frozenset({"messages", "everybody", "tokens", "whole"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Whose spending is asked for, and since when. Times are unix seconds.

    wants: what is looked up; the rest stays empty. "messages": of the person's minute and day; "everybody": turns of
    all; "tokens": the person's, with the turns that run; "whole": everybody's tokens.

    minute: turns after that, up to and with `asked`, are those of the minute; day: since when the day is. most: turns
    of the minute and of the day beyond so many are not counted. turn: one that is left out of those that run. mine,
    whole: since when the person's tokens, and everybody's tokens and turns, are added up.
    """

    who: str
    minute: float
    asked: float
    day: float
    most: tuple[int, int]
    turn: str = ""
    mine: float = 0.0
    whole: float = 0.0
    wants: frozenset[Want] = ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Tokens of calls to one model. input: all of it, cached parts included. who, purpose: "" for any."""

    model: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    who: str = ""
    purpose: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a person, and everybody but the owner, has used.

    minute: when the turns of the minute were asked for, the newest first; today: turns of the day; everybody: turns of
    all people. running: other turns of that person that run. used, whole: tokens by model.
    """

    minute: tuple[float, ...] = ()
    today: int = 0
    everybody: int = 0
    running: int = 0
    used: tuple[Used, ...] = ()
    whole: tuple[Used, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a person is told of a limit. asked: when the message came in that is refused; until: when it is over."""

    who: str
    limit: str
    asked: float
    until: float


class Spending(Protocol):
    """What was used, by person, from the record: the same for every process."""

    async def spent(self, asking: Asking) -> Spent:
        """All that the limits of one person are held against, in one read."""
        ...

    async def mine(self, who: str, since: float, until: float) -> list[Used]:
        """Tokens that a person has used between two times, by model."""
        ...

    async def whole(self, since: float, until: float) -> tuple[int, list[Used]]:
        """Turns, and tokens by model, of everybody but the owner between two times."""
        ...

    async def sums(self, since: datetime, who: str = "") -> list[Used]:
        """Tokens by person, model and purpose; of that person, or "" for all of them."""
        ...

    async def calls(self, who: str, since: float, named: Sequence[str] = ()) -> int:
        """Tool calls of a person's turns since then that were not refused; named: of those tools alone, () for any."""
        ...

    async def files(self, space: str) -> set[str]:
        """Names of all attachments in the conversations of this very space."""
        ...

    async def refuse(self, inbox_id: str, told: Told, out: Sequence[Outgoing]) -> bool:
        """End a row that is over a limit: with its sentence, or as ignored where it has been said and still holds.

        Returns whether it was said.
        """
        ...
