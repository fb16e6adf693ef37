"""A house's long-term memory, wired: recall, each space's lines, the noting of facts, dreams and forgetting."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from weakref import WeakValueDictionary

import structlog

from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.dispatch import CreateDispatcher, create_local_dispatcher
from bot.memory.extraction import FactExtractionQueue, UseCounters, extraction_settings, fast_model_completion
from bot.memory.files import list_spaces, open_removal
from bot.models.embedding import open_embedder
from bot.models.providers.offline import OfflinePassage
from bot.models.service import ModelService
from bot.texts import format_text, resolve_language
from bot.tools.memory import MemoryToolServices, NotifyOnce
from memory.conversation import BOT_SPEAKER
from memory.forgetting.forget import ForgetService
from memory.longterm.dream_worker import DreamSettings, DreamWorker
from memory.longterm.extraction_worker import ExtractionWorker
from memory.longterm.memories import Memories
from memory.recall.documents import SearchRequest
from memory.recall.search import Recall
from memory.recall.sqlite_index import RecallDependencies as RecallGround
from memory.recall.sqlite_index import Shared
from memory.recall.vectors import VectorSearch
from memory.store.errors import StoreError
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import FileTooBig, Workspace
from memory.workspace.safe_path import PathRefused
from memory.workspace.watch import watch_spaces

log = structlog.get_logger(__name__)
MAX_SPACES = 1_000  # spaces whose lines are kept at hand; of another one it is only forgotten which file was seen
QUOTED_PASSAGES = 8  # passages that the model without a key chooses from
# Share of recall's time in which a question's vector must have come; the rest is for the search.
VECTOR_TIME_SHARE = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryServiceDependencies:
    """What long-term memory works with."""

    home: HomeFolder
    store: Store
    workspace: Workspace
    #: As they are at that moment.
    config: Callable[[], Config]
    #: As they are at that moment.
    now: Callable[[], datetime]
    #: Whose days are told.
    zone: tzinfo
    brain: ModelService
    blobs: Blobs
    #: Told each conversation that shows something else than before.
    view_changed: Callable[[str], Awaitable[None]]
    #: As Turns.quiet. lanes_of: the engine that runs lanes.
    quiet: Callable[[str], AbstractAsyncContextManager[None]]
    create_dispatcher: CreateDispatcher = create_local_dispatcher
    #: Where they are kept that several processes work with; None for files.
    indexes: Shared | None = None


class MemoryService:
    """All of it, begun and ended together."""

    def __init__(self, works: MemoryServiceDependencies) -> None:
        self._works = works
        store = works.store
        self.recall = Recall(
            RecallGround(
                store=store,
                workspace=works.workspace,
                folder=works.home.index,
                zone=works.zone,
                shared=works.indexes,
            ),
            _vector_settings(works.config),
        )
        self.uses = UseCounters(store.memories)
        self._lines: WeakValueDictionary[str, Memories] = WeakValueDictionary()
        self._newest: OrderedDict[str, Memories] = OrderedDict()
        self._storing = asyncio.Lock()
        extracting = ExtractionWorker(
            extractions=store.extractions,
            sessions=store.sessions,
            memories=self.memories,
            complete=fast_model_completion(works.brain, store.sessions),
            settings=lambda: extraction_settings(works.config()),
            storing=self._storing,
        )
        self.extractor = FactExtractionQueue(extracting, store.extractions, works.create_dispatcher)
        self.dreamer = self._dreamer()
        self.forgetter = self._forgetter()
        self.removal = open_removal(works.home, store, works.workspace.root, self.recall.forget)

    def memories(self, space: str) -> Memories:
        """The lines of one space's MEMORY.md, and what is known of them; the same object while it is in use."""
        lines = self._lines.get(space)
        if lines is None:
            lines = self._lines[space] = Memories(
                space,
                records=self._works.store.memories,
                workspace=self._works.workspace,
                similarity=lambda: self._works.config().memory.similarity,
            )
        self._newest[space] = lines
        self._newest.move_to_end(space)
        if len(self._newest) > MAX_SPACES:
            self._newest.popitem(last=False)
        return lines

    def tools(self, tell: NotifyOnce) -> MemoryToolServices:
        """What the model's own memory tools work with. tell: says something to a conversation."""
        return MemoryToolServices(
            store=self._works.store,
            workspace=self._works.workspace,
            search=self.recall.search,
            memories=self.memories,
            uses=self.uses,
            tell=tell,
        )

    def lock(self) -> asyncio.Lock:
        """Held while facts are noted, and while the record is redacted."""
        return self._storing

    async def spaces(self) -> list[str]:
        """Every space that a conversation or a folder has."""
        return await list_spaces(self._works.store, self._works.workspace)

    async def passages(self, question: str, conversation: str, space: str) -> list[OfflinePassage]:
        """For the model without a key: what people and files say; its own quotes are no source."""
        wanted = SearchRequest(
            space=space, query=question, now=self._works.now(), limit=QUOTED_PASSAGES * 2, on_behalf_of=conversation
        )
        found = await self.recall.search(wanted)
        lang = resolve_language(question)
        return [
            OfflinePassage(
                text=item.text,
                source=f"{item.path}:{item.line}" if item.path else format_text(lang, "turn", number=item.turn),
            )
            for item in found
            if item.kind != "said" or item.speaker != BOT_SPEAKER
        ][:QUOTED_PASSAGES]

    async def open(self) -> None:
        """Go on with what an earlier process left open; what was to be forgotten is so before anything is said."""
        await self.forgetter.resume()
        await self.removal.resume()
        await self.extractor.resume()

    async def watch(self) -> None:
        """Until cancelled: look through files that somebody has changed, so that the next search need not."""
        await watch_spaces(self._works.workspace, self._changed)

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        await self.extractor.settled()
        await self.uses.settled()
        await self.recall.settled()

    async def close(self) -> None:
        """Stop; what is open goes on at the next start."""
        await self.extractor.close()
        await self.uses.settled()
        await self.recall.close()

    async def _changed(self, spaces: frozenset[str]) -> None:
        for space in spaces:
            try:
                await self.memories(space).reconcile()
                await self.recall.refresh(space)
            except (OSError, StoreError, PathRefused, FileTooBig) as err:
                log.warning("changed files were not looked through", error=type(err).__name__)

    def _dreamer(self) -> DreamWorker:
        def settings() -> DreamSettings:
            memory = self._works.config().memory
            return DreamSettings(similarity=memory.similarity, categories=tuple(memory.categories))

        return DreamWorker(
            store=self._works.store,
            workspace=self._works.workspace,
            memories=self.memories,
            spaces=self.spaces,
            settings=settings,
            now=self._works.now,
            complete=fast_model_completion(self._works.brain, self._works.store.sessions, "dream"),
        )

    def _forgetter(self) -> ForgetService:
        return ForgetService(
            store=self._works.store,
            workspace=self._works.workspace,
            recall=self.recall,
            blobs=self._works.blobs,
            data=self._works.home.data,
            now=self._works.now,
            let_go=self._works.view_changed,
            quiet=self._works.quiet,
            storing=self._storing,
        )


def _vector_settings(config: Callable[[], Config]) -> VectorSearch | None:
    """Nearness in meaning, as configured at the start; None for words alone.

    Raises:
        ConfigError: what it needs is not installed.
    """
    embedding = config().memory.embedding
    if embedding is None:
        return None
    return VectorSearch(open_embedder(embedding), lambda: VECTOR_TIME_SHARE * config().memory.recall_timeout_ms / 1_000)
