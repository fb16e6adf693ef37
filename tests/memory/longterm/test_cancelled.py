"""A write of memory that is cancelled halfway is completed: the line in the file, and its row."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memory.longterm.memories import Memories
from tests.memory.longterm.remembering import Place, settled, wanted


class Slow:
    """Memory records whose `put` waits for the test."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.coming, self.go = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def put(self, *args: Any, **kwargs: Any) -> Any:
        self.coming.set()
        await self.go.wait()
        return await self._real.put(*args, **kwargs)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    held = await settled(tmp_path)
    await held.memories().reconcile()
    yield held
    await held.store.close()


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("said", ["I sail on Sundays", "我周日去划船"])
async def test_a_write_that_is_stopped_keeps_its_source(
    place: Place, said: str, times: int
) -> None:
    slow: Any = Slow(place.store.memories)
    memories = Memories("", records=slow, workspace=place.workspace, similarity=lambda: 0.85)
    writing = asyncio.create_task(memories.upsert(wanted(said, origin="tool")))
    await slow.coming.wait()
    for _ in range(times):
        writing.cancel()
        await asyncio.sleep(0)
    looking = asyncio.create_task(memories.reconcile())
    slow.go.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await looking
    await place.memories().reconcile()
    [row] = await place.store.memories.rows("")
    assert (row.text, row.origin, row.source.message_id, row.source.quote) == (
        said,
        "tool",
        "m1",
        said,
    )
    [change] = await place.store.memories.changes("")
    assert (change.kind, change.added) == ("tool", (said,))
