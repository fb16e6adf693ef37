"""One of several processes exits when its lease ends, and leads work only once it has the duty."""

import asyncio
import subprocess
import sys
from pathlib import Path

from bot.runtime.cluster.membership import Membership
from memory.store.engine.leases import Leases
from memory.store.open import open_store
from tests.conventions.sources import ROOT

OVERSLEPT = """
import asyncio, sqlite3, sys
from pathlib import Path
from bot.runtime.cluster.membership import Membership
from memory.store.open import open_store

async def main():
    store = await open_store(Path(sys.argv[1]))
    alive = Membership(store.leases, dict, 3600.0)
    with sqlite3.connect(sys.argv[1]) as held:
        held.execute("UPDATE process SET until = 1")
    alive.open()
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_I11_a_process_whose_lease_is_over_ends_with_75(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OVERSLEPT, str(tmp_path / "mnema.db")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=30)
    assert ended.returncode == 75


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
