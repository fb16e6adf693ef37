"""Builds and runs long-term memory: recall, memories, extraction of facts, dreams and
forgetting.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime, tzinfo
from weakref import WeakValueDictionary

import structlog

from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.dispatch import CreateDispatcher, Dispatcher, create_local_dispatcher
from bot.errors import ModelError
from bot.memory.files import list_spaces
from bot.memory.recall import UseCounters
from bot.memory.search import open_recall, open_removal, open_vectors
from bot.models.base import Purpose
from bot.models.providers.offline import OfflinePassage
from bot.models.service import ModelService
from bot.texts import resolve_language
from channels.phrases import Phrase
from memory.conversation import BOT_SPEAKER, Complete
from memory.forgetting.forget import ForgetService
from memory.longterm.dream_worker import DreamSettings, DreamWorker
from memory.longterm.extraction import ExtractionRules
from memory.longterm.extraction_worker import ExtractionSettings, ExtractionWorker, NoModel
from memory.longterm.memories import Memories
from memory.recall.documents import SearchRequest
from memory.recall.index import SpaceIndexes
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError
from memory.store.longterm.extractions import ExtractionQueue
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import SPACES_FOLDER, Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused
from memory.workspace.watch import watch_spaces

log = structlog.get_logger(__name__)
# spaces whose memories stay loaded; for others only the file's last seen state is lost
MAX_SPACES = 1_000
MAX_PARALLEL_SPACES = 4  # whose facts are extracted at a time
QUOTED_PASSAGES = 8  # that the offline model chooses from


async def resume_extractions(dispatcher: Dispatcher, extractions: ExtractionQueue) -> None:
    """Wake the queue of each space that an earlier process left open."""
    for space in await extractions.spaces():
        dispatcher.wake(space)


def extraction_settings(config: Config) -> ExtractionSettings:
    """Return the configured rules of extraction."""
    memory = config.memory
    return ExtractionSettings(
        extract=memory.extract,
        rules=ExtractionRules(
            categories=tuple(memory.categories), min_importance=memory.min_importance
        ),
    )


def fast_model_completion(
    models: ModelService,
    sessions: Sessions,
    purpose: Purpose = "extract",
    *,
    gives_way: bool = False,
) -> Complete:
    """Return a `Complete` that uses the fast model and stores its usage under the purpose.

    Args:
        gives_way: give a call up where it would run beside a reply.

    It raises NoModel if only the offline model is configured.
    """

    async def complete(system: str, prompt: str, max_tokens: int, conversation: str) -> str:
        try:
            text, used = await models.complete(
                system, prompt, max_tokens, purpose, gives_way=gives_way
            )
        except ModelError as err:
            if err.kind == "offline":
                raise NoModel from err
            raise
        await sessions.spend(conversation, [used])
        return text

    return complete


class MemoryService:
    """Long-term memory: recall, memories of each space, extraction, dreams and forgetting."""

    def __init__(
        self,
        *,
        home: HomeFolder,
        store: Store,
        workspace: Workspace,
        config: Callable[[], Config],
        now: Callable[[], datetime],
        zone: tzinfo,
        models: ModelService,
        blobs: Blobs,
        view_changed: Callable[[str], Awaitable[None]],
        quiet: Callable[[str], AbstractAsyncContextManager[None]],
        create_dispatcher: CreateDispatcher = create_local_dispatcher,
        indexes: SpaceIndexes | None = None,
    ) -> None:
        """Wire the parts; nothing runs before `open`.

        Args:
            now: returns the owner's local time.
            zone: of dates in questions.
            view_changed: called with each conversation whose view has changed.
            quiet: see OpenTurns.quiet.
            indexes: indexes that several processes share; None for files of this home.
        """
        self._store, self._workspace = store, workspace
        self._config, self._now, self._models = config, now, models
        self.uses = UseCounters(store.memories)
        self._loaded: WeakValueDictionary[str, Memories] = WeakValueDictionary()
        self._newest: OrderedDict[str, Memories] = OrderedDict()
        #: Held while facts are stored, and while stored messages are redacted.
        self.storing = asyncio.Lock()
        #: Runs the extraction of facts by space; no reply waits for it.
        self.extraction_dispatcher = create_dispatcher(
            "facts", self._extraction_worker().step, MAX_PARALLEL_SPACES
        )
        self.dreamer = self._dreamer()
        # another embedding needs a new start
        vectors = open_vectors(home, config)
        self.recall = open_recall(home, store, zone, indexes, workspace=workspace, vectors=vectors)
        self.removal = open_removal(home, store, workspace.root, self.recall.forget)
        self.forgetter = ForgetService(
            store=store,
            workspace=workspace,
            recall=self.recall,
            blobs=blobs,
            data=home.data,
            now=now,
            detach=view_changed,
            quiet=quiet,
            storing=self.storing,
        )

    def memories(self, space: str) -> Memories:
        """Return the memories of one space; the same object while it is in use."""
        memories = self._loaded.get(space)
        if memories is None:
            memories = self._loaded[space] = Memories(
                space,
                records=self._store.memories,
                workspace=self._workspace,
                similarity=lambda: self._config().memory.similarity,
            )
        self._newest[space] = memories
        self._newest.move_to_end(space)
        if len(self._newest) > MAX_SPACES:
            self._newest.popitem(last=False)
        return memories

    def completion(self, purpose: Purpose, *, gives_way: bool = False) -> Complete:
        """Return a `Complete` of the fast model; see `fast_model_completion`."""
        return fast_model_completion(
            self._models, self._store.sessions, purpose, gives_way=gives_way
        )

    async def spaces(self) -> list[str]:
        """List every space that has a conversation or a folder."""
        return await list_spaces(self._store, self._workspace)

    async def passages(self, question: str, conversation: str, space: str) -> list[OfflinePassage]:
        """Search for the offline model: what people and files say, not its own quotations."""
        request = SearchRequest(
            space=space,
            query=question,
            now=self._now(),
            limit=QUOTED_PASSAGES * 2,
            on_behalf_of=conversation,
        )
        found = await self.recall.search(request)
        lang = resolve_language(question)
        return [
            OfflinePassage(
                text=item.text,
                source=f"{item.path}:{item.line}"
                if item.path
                else Phrase("turn {number}", number=item.turn).text(lang),
            )
            for item in found
            if item.kind != "tool" and (item.kind != "said" or item.speaker != BOT_SPEAKER)
        ][:QUOTED_PASSAGES]

    async def open(self) -> None:
        """Resume the work of an earlier process; pending removals are done first, before any
        turn.
        """
        await self._store.forgettings.expire(self._now())
        if await self._store.forgettings.load_open():
            await self.forgetter.resume()
        if await self._store.people.load_removals():
            await self.removal.resume()
        await resume_extractions(self.extraction_dispatcher, self._store.extractions)

    async def watch(self) -> None:
        """Index files as they change, until cancelled, so that searches need not."""
        await watch_spaces(self._workspace, self._changed)

    async def settled(self) -> None:
        """Wait until no work is in progress."""
        await self.extraction_dispatcher.settled()
        await self.uses.settled()
        await self.recall.settled()

    async def close(self) -> None:
        """Stop; open work resumes at the next start."""
        await self.extraction_dispatcher.close(0)
        await self.uses.settled()
        await self.recall.close()

    async def _changed(self, spaces: frozenset[str]) -> None:
        for space in spaces:
            if space and not (self._workspace.root / SPACES_FOLDER / space).is_dir():
                continue  # its person was deleted; reading it would make the folder again
            try:
                await self.memories(space).reconcile()
                await self.recall.refresh(space)
            except (OSError, StoreError, PathRefused, FileTooBig) as err:
                log.warning("changed files were not read", error=type(err).__name__)

    def _extraction_worker(self) -> ExtractionWorker:
        return ExtractionWorker(
            extractions=self._store.extractions,
            sessions=self._store.sessions,
            memories=self.memories,
            complete=self.completion("extract"),
            settings=lambda: extraction_settings(self._config()),
            prompt_tokens=self._models.background_prompt_tokens,
            storing=self.storing,
        )

    def _dreamer(self) -> DreamWorker:
        def settings() -> DreamSettings:
            memory = self._config().memory
            return DreamSettings(similarity=memory.similarity, categories=tuple(memory.categories))

        return DreamWorker(
            store=self._store,
            workspace=self._workspace,
            memories=self.memories,
            spaces=self.spaces,
            settings=settings,
            now=self._now,
            complete=self.completion("dream"),
        )
