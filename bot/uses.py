"""Counts, beside the answer, which lines of memory were given to somebody."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import structlog

from memory.longterm.similarity import normal
from memory.recall.passages import Passage
from memory.store.errors import StoreError
from memory.store.memory_doors import MemoryRecords

log = structlog.get_logger(__name__)


class Uses:
    """Tells the record of the lines that a search gave: one write for each search, and nobody waits for it."""

    def __init__(self, records: MemoryRecords) -> None:
        self._records = records
        self._tasks: set[asyncio.Task[None]] = set()

    def note(self, passages: Iterable[Passage]) -> None:
        """These were given; only lines of a MEMORY.md are counted."""
        for space, norms in lines_of_memory(passages).items():
            self.given(space, norms)

    def given(self, space: str, norms: Sequence[str]) -> None:
        """The same for lines by their keys."""
        if norms:
            task = asyncio.create_task(self._write(space, norms))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait until all of it is in the record."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    async def _write(self, space: str, norms: Sequence[str]) -> None:
        try:
            await self._records.used(space, norms)
        except StoreError as err:
            log.warning("uses of memory not counted", error=type(err).__name__)


def lines_of_memory(passages: Iterable[Passage]) -> Mapping[str, list[str]]:
    """The keys of the lines of a MEMORY.md among the passages, by space."""
    found: dict[str, list[str]] = {}
    for passage in passages:
        if passage.kind == "memory":
            found.setdefault(passage.space, []).append(normal(passage.words))
    return found
