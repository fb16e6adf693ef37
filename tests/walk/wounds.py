"""Looks, from outside, at what a process held when it was hurt, and at who goes on with it after
how long.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.walk.harness import Bot, until
from tests.walk.record import Db, query

LOOK = 0.05
LONGEST = 60.0
_LEASES = "SELECT name, lease FROM process"
_DUTIES = "SELECT name FROM duty WHERE lease = ?"
_TURNS = "SELECT id FROM turn WHERE state IN ('running', 'waiting') AND lease_epoch = ?"
_SENDS = "SELECT id FROM outbox WHERE state = 'sending' AND lease_epoch = ?"
_HOLDERS = "SELECT id, lease_epoch, state IN ('running', 'waiting') FROM turn WHERE id = ANY(?)"
_HEIRS = "SELECT name, lease FROM duty WHERE name = ANY(?)"


@dataclass(slots=True, kw_only=True)
class Held:
    """What one process held. lease: its number; turns, sends: ids of rows; duties: names."""

    lease: int
    turns: list[str] = field(default_factory=list)
    sends: list[str] = field(default_factory=list)
    duties: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        duties = ", ".join(self.duties) or "no duty"
        return f"{len(self.turns)} turns, {len(self.sends)} parts on their way, {duties}"


class Watch:
    """Which process is which, and what each holds. names: what each is called in what is told, by
    pid.
    """

    def __init__(self, db: Db, tell: Callable[[str], None]) -> None:
        self._db = db
        self._tell = tell
        self._names: dict[int, str] = {}
        self._called: dict[int, str] = {}

    def know(self, bot: Bot, name: str) -> None:
        """Call the process of this bot so; it is ready."""
        self._names[bot.pid] = name
        self._learn()

    def name(self, bot: Bot) -> str:
        return self._names[bot.pid]

    def held(self, bot: Bot) -> Held:
        """What this process holds at the moment."""
        lease = next(lease for lease, name in self._called.items() if name == self._names[bot.pid])
        duties = sorted(name for (name,) in query(self._db, _DUTIES, lease))
        turns, sends = ([id for (id,) in query(self._db, sql, lease)] for sql in (_TURNS, _SENDS))
        return Held(lease=lease, turns=turns, sends=sends, duties=duties)

    async def follow(self, held: Held, since: float) -> None:
        """Tell who goes on with it, until nothing of it is left. since: when the process was hurt,
        monotonic.
        """
        await asyncio.gather(self._follow_duties(held, since), self._follow_turns(held, since))

    async def _follow_duties(self, held: Held, since: float) -> None:
        left = set(held.duties)

        def taken() -> bool:
            for name, lease in query(self._db, _HEIRS, [*left]):
                if lease != held.lease:
                    left.discard(name)
                    self._tell(
                        f"{self._who(lease)} has the duty {name!r}, {time.monotonic() - since:.1f} "
                        "s after"
                    )
            return not left

        await until(taken, f"somebody has the duties {left}", LONGEST)

    async def _follow_turns(self, held: Held, since: float) -> None:
        if not held.turns:
            return
        await until(lambda: self._moved(held), "another process goes on with its turns", LONGEST)
        moved = time.monotonic() - since
        await until(lambda: not self._open(held), "its turns are over", LONGEST)
        over = time.monotonic() - since
        heirs = Counter(self._who(lease) for _, lease, _ in query(self._db, _HOLDERS, held.turns))
        told = ", ".join(f"{name} ended {count}" for name, count in sorted(heirs.items()))
        self._tell(
            f"its {len(held.turns)} turns: the first taken over after {moved:.1f} s, all over "
            f"after {over:.1f} s"
        )
        self._tell(f"  of them {told}")

    def _moved(self, held: Held) -> bool:
        return any(lease != held.lease for _, lease, _ in query(self._db, _HOLDERS, held.turns))

    def _open(self, held: Held) -> bool:
        return any(running for _, _, running in query(self._db, _HOLDERS, held.turns))

    def _who(self, lease: int) -> str:
        if lease not in self._called:
            self._learn()
        return self._called.get(lease, f"the process with lease {lease}")

    def _learn(self) -> None:
        for name, lease in query(self._db, _LEASES):
            pid = int(name.split(":")[1])
            if pid in self._names:
                self._called[lease] = self._names[pid]
