"""Keeps the noting of facts going in the background: one turn at a time per space, a few spaces beside each other."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import structlog

from bot.config.schema import Config
from bot.dispatch import LanesOf, local
from bot.errors import ModelError
from bot.models.base import Purpose
from bot.models.service import Brain
from memory.folding import Complete
from memory.longterm.extraction import Rules
from memory.longterm.extraction_worker import Extracting, NoModel, Settings
from memory.longterm.similarity import normal
from memory.recall.documents import Passage
from memory.store.errors import StoreError
from memory.store.longterm.protocols import Extractions, MemoryRecords
from memory.store.store import Sessions

AT_ONCE = 4
"""Spaces whose turns are read beside each other."""


class Extractor:
    """Works off the queues. No reply waits for it; what is open at the end of the process goes on at the next start."""

    def __init__(self, extracting: Extracting, extractions: Extractions, lanes_of: LanesOf = local) -> None:
        self._extractions = extractions
        self.lanes = lanes_of("facts", extracting.step, AT_ONCE)

    def wake(self, space: str) -> None:
        """Something was put into this space's queue."""
        self.lanes.wake(space)

    async def resume(self) -> None:
        """Go on with what an earlier process left open."""
        for space in await self._extractions.spaces():
            self.wake(space)

    async def settled(self) -> None:
        """Wait until nothing is under way; rows that have to wait stay open."""
        await self.lanes.settled()

    async def close(self) -> None:
        """Stop at once."""
        await self.lanes.close(0)


def settings_of(config: Config) -> Settings:
    """What of the configuration says which facts are noted."""
    memory = config.memory
    return Settings(
        extract=memory.extract,
        rules=Rules(categories=tuple(memory.categories), min_importance=memory.min_importance),
    )


def asking(brain: Brain, sessions: Sessions, purpose: Purpose = "extract") -> Complete:
    """The fast model, its use noted under that purpose; NoModel where there is none."""

    async def complete(system: str, prompt: str, max_tokens: int, conversation: str) -> str:
        try:
            text, used = await brain.complete(system, prompt, max_tokens, purpose)
        except ModelError as err:
            if err.kind == "offline":
                raise NoModel from err
            raise
        await sessions.spend(conversation, [used])
        return text

    return complete


# Counts, beside the answer, which lines of memory were given to somebody.

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
