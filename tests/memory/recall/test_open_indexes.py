"""So many indexes are open at a time; one that is in use, or handed out to be used, is never
closed.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from memory.recall.index import RecallDependencies
from memory.recall.search import Recall
from memory.store.engine.database import MessageChanges
from memory.workspace.files import Workspace


class Index:
    """One space's index.

    A use goes on until `gate` is set; using it after it was closed is a fault.
    """

    def __init__(
        self, space: str, gate: asyncio.Event, moved: asyncio.Event, faults: list[str]
    ) -> None:
        self.space, self.gate, self.moved, self.faults = space, gate, moved, faults
        self.uses, self.closed = 0, False
        self.checks, self.fault = 0, ""

    @property
    def busy(self) -> bool:
        return bool(self.uses)

    async def use(
        self, work: Callable[[Any], Any], *, fresh: bool = True, besides: str = ""
    ) -> int:
        if self.closed:
            self.faults.append(f"{self.space} is used after it was closed")
        self.uses += 1
        self.moved.set()
        await self.gate.wait()
        self.uses -= 1
        return 0

    async def change(self, work: Callable[[Any], Any]) -> str:
        self.checks += 1
        return self.fault

    async def settled(self) -> None:
        pass

    async def close(self) -> None:
        if self.uses:
            self.faults.append(f"{self.space} is closed while in use")
        self.closed = True


class Indexes:
    """Where they are kept: `made` in the order in which they were opened, of each space each
    time.
    """

    def __init__(self, folder: Path, members: dict[str, list[str]] | None = None) -> None:
        self.gate, self.moved = asyncio.Event(), asyncio.Event()
        self.faults, self.made = list[str](), list[Index]()
        links = SimpleNamespace(members=self._members)
        database = SimpleNamespace(changes=MessageChanges(is_complete=True))
        self._linked = members or {}
        self.recall = Recall(
            RecallDependencies(
                store=SimpleNamespace(links=links, database=database),  # type: ignore[arg-type]
                workspace=Workspace(folder),
                zone=UTC,
                indexes=self,  # type: ignore[arg-type]
            )
        )

    def keeper(self, space: str, dependencies: RecallDependencies) -> Index:
        self.made.append(Index(space, self.gate, self.moved, self.faults))
        return self.made[-1]

    @property
    def open(self) -> list[str]:
        return [index.space for index in self.made if not index.closed]

    async def until_in_use(self, *spaces: str) -> None:
        """Wait until these are being used."""
        async with asyncio.timeout(10):
            while not {*spaces} <= {index.space for index in self.made if index.uses}:
                await self.moved.wait()
                self.moved.clear()

    async def _members(self, space: str) -> list[str]:
        return self._linked.get(space, [space])


async def test_thirty_three_in_use_stay_open_and_thirty_two_are_left_afterwards(
    tmp_path: Path,
) -> None:
    indexes = Indexes(tmp_path)
    searches = [asyncio.create_task(indexes.recall.check(f"s{number}")) for number in range(33)]
    await indexes.until_in_use(*(f"s{number}" for number in range(33)))
    assert len(indexes.open) == 33
    indexes.gate.set()
    await asyncio.gather(*searches)
    await indexes.recall.settled()
    assert indexes.open == [f"s{number}" for number in range(1, 33)]
    assert indexes.faults == []


async def test_one_that_was_handed_out_stays_open_until_its_turn_comes(tmp_path: Path) -> None:
    indexes = Indexes(tmp_path, {"pair": ["first", "second"]})
    searches = [asyncio.create_task(indexes.recall.check(f"s{number}")) for number in range(32)]
    await indexes.until_in_use(*(f"s{number}" for number in range(32)))
    searches.append(asyncio.create_task(indexes.recall.check("pair")))
    await indexes.until_in_use("first")
    assert {"first", "second"} <= {*indexes.open}
    indexes.gate.set()
    await asyncio.gather(*searches)
    await indexes.recall.settled()
    assert indexes.faults == []
    assert len(indexes.made) == 34
    assert len(indexes.open) == 32


async def test_a_sound_index_is_not_checked_again_at_once_and_a_faulty_one_is(
    tmp_path: Path,
) -> None:
    indexes = Indexes(tmp_path)
    indexes.gate.set()
    assert [await indexes.recall.check("") for _ in range(3)] == ["", "", ""]
    [index] = indexes.made
    assert index.checks == 1
    await indexes.recall.refresh("other")
    indexes.made[1].fault = "row 1 is missing"
    assert [await indexes.recall.check("other") for _ in range(2)] == ["row 1 is missing"] * 2
