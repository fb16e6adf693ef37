"""One of several processes exits when its lease ends, and leads work only once it has the duty."""

import asyncio
import sqlite3
from pathlib import Path

from bot.runtime.cluster.membership import Membership
from memory.store.engine.leases import Leases
from memory.store.open import open_store
from tests.killed import exit_code


async def oversleep(file: Path) -> None:
    """Take part with a lease that is over at once."""
    store = await open_store(file)
    alive = Membership(store.leases, dict, 3600.0)
    with sqlite3.connect(file) as held:
        held.execute("UPDATE process SET until = 1")
    alive.open()
    await asyncio.Event().wait()


async def test_I11_a_process_whose_lease_is_over_ends_with_75(tmp_path: Path) -> None:
    assert await exit_code(oversleep, tmp_path / "mnema.db") == 75


class Asked(Leases):
    """A record in which somebody else has every duty until it was asked for twice."""

    takes = 0

    async def take(self, name: str) -> bool:
        self.takes += 1
        return self.takes > 2


async def test_a_duty_is_begun_once_it_is_ours_and_not_before(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "mnema.db")
    leases, begun = Asked(store.database), asyncio.Event()
    alive = Membership(leases, dict, 3600.0)
    found = list[int]()

    async def work() -> None:
        found.append(leases.takes)
        begun.set()

    try:
        alive.run_in_one_process("clock", work)
        await asyncio.wait_for(begun.wait(), 30)
    finally:
        await alive.close()
        await store.close()
    assert found == [3]
