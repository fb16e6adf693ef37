"""Keeps the noting of facts going in the background: one turn at a time per space, a few spaces beside each other."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import structlog

from bot.config.schema import Config
from bot.dispatch import CreateDispatcher, create_local_dispatcher
from bot.errors import ModelError
from bot.models.base import Purpose
from bot.models.service import ModelService
from memory.folding import Complete
from memory.longterm.extraction import ExtractionRules
from memory.longterm.extraction_worker import ExtractionSettings, ExtractionWorker, NoModel
from memory.longterm.similarity import normalize_key
from memory.recall.documents import Passage
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError
from memory.store.longterm.extractions import ExtractionQueue
from memory.store.longterm.memories import MemoryRecords

MAX_PARALLEL_SPACES = 4  # spaces whose turns are read beside each other


class FactExtractionQueue:
    """Works off the queues. No reply waits for it; what is open at the end of the process goes on at the next start."""

    def __init__(
        self,
        extracting: ExtractionWorker,
        extractions: ExtractionQueue,
        create_dispatcher: CreateDispatcher = create_local_dispatcher,
    ) -> None:
        self._extractions = extractions
        self.lanes = create_dispatcher("facts", extracting.step, MAX_PARALLEL_SPACES)

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


def extraction_settings(config: Config) -> ExtractionSettings:
    """What of the configuration says which facts are noted."""
    memory = config.memory
    return ExtractionSettings(
        extract=memory.extract,
        rules=ExtractionRules(categories=tuple(memory.categories), min_importance=memory.min_importance),
    )


def fast_model_completion(brain: ModelService, sessions: Sessions, purpose: Purpose = "extract") -> Complete:
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


class UseCounters:
    """Tells the record of the lines that a search gave: one write for each search, and nobody waits for it."""

    def __init__(self, records: MemoryRecords) -> None:
        self._records = records
        self._tasks: set[asyncio.Task[None]] = set()

    def note(self, passages: Iterable[Passage]) -> None:
        """These were given; only lines of a MEMORY.md are counted."""
        for space, norms in memory_line_keys(passages).items():
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


def memory_line_keys(passages: Iterable[Passage]) -> Mapping[str, list[str]]:
    """The keys of the lines of a MEMORY.md among the passages, by space."""
    found: dict[str, list[str]] = {}
    for passage in passages:
        if passage.kind == "memory":
            found.setdefault(passage.space, []).append(normalize_key(passage.words))
    return found
