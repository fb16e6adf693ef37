"""Runs the extraction of facts in the background: one turn at a time per space, a few spaces at once."""

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

MAX_PARALLEL_SPACES = 4  # spaces that are processed concurrently


class FactExtractionQueue:
    """Runs the extraction queues. No reply waits for them; open work resumes at the next start."""

    def __init__(
        self,
        worker: ExtractionWorker,
        extractions: ExtractionQueue,
        create_dispatcher: CreateDispatcher = create_local_dispatcher,
    ) -> None:
        self._extractions = extractions
        self.dispatcher = create_dispatcher("facts", worker.step, MAX_PARALLEL_SPACES)

    async def resume(self) -> None:
        """Resume the queues that an earlier process left open."""
        for space in await self._extractions.spaces():
            self.dispatcher.wake(space)

    async def settled(self) -> None:
        """Wait until no extraction runs; rows that have to wait stay open."""
        await self.dispatcher.settled()

    async def close(self) -> None:
        """Cancel running extractions."""
        await self.dispatcher.close(0)


def extraction_settings(config: Config) -> ExtractionSettings:
    """Return the configured rules of extraction."""
    memory = config.memory
    return ExtractionSettings(
        extract=memory.extract,
        rules=ExtractionRules(categories=tuple(memory.categories), min_importance=memory.min_importance),
    )


def fast_model_completion(models: ModelService, sessions: Sessions, purpose: Purpose = "extract") -> Complete:
    """Return a `Complete` that uses the fast model and stores its usage under the purpose.

    It raises NoModel if only the offline model is configured.
    """

    async def complete(system: str, prompt: str, max_tokens: int, conversation: str) -> str:
        try:
            text, used = await models.complete(system, prompt, max_tokens, purpose)
        except ModelError as err:
            if err.kind == "offline":
                raise NoModel from err
            raise
        await sessions.spend(conversation, [used])
        return text

    return complete


log = structlog.get_logger(__name__)


class UseCounters:
    """Counts how often memories are recalled: one write per search, in the background."""

    def __init__(self, records: MemoryRecords) -> None:
        self._records = records
        self._tasks: set[asyncio.Task[None]] = set()

    def note(self, passages: Iterable[Passage]) -> None:
        """Count the memories among these passages."""
        for space, norms in memory_line_keys(passages).items():
            self.given(space, norms)

    def given(self, space: str, norms: Sequence[str]) -> None:
        """Count memories by their keys."""
        if norms:
            task = asyncio.create_task(self._write(space, norms))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait until all counts are stored."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    async def _write(self, space: str, norms: Sequence[str]) -> None:
        try:
            await self._records.count_uses(space, norms)
        except StoreError as err:
            log.warning("uses of memory not counted", error=type(err).__name__)


def memory_line_keys(passages: Iterable[Passage]) -> Mapping[str, list[str]]:
    """Return the keys of the memories among the passages, by space."""
    found: dict[str, list[str]] = {}
    for passage in passages:
        if passage.kind == "memory":
            found.setdefault(passage.space, []).append(normalize_key(passage.words))
    return found
