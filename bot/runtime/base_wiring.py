"""Builds the parts of a bot that know of no turns: models, memory, channels, notices and
budgets.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import structlog

from bot.access.budget_guard import BudgetGuard
from bot.access.lost_rights import LostRights
from bot.access.pairing import PairingService
from bot.access.roles import RoleResolver
from bot.access.storage_quota import StorageQuota
from bot.agent.timeouts import DEFAULT_TIMEOUTS, TurnTimeouts
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.keys import known_secrets
from bot.config.schema import Config, time_zone
from bot.dispatch import CreateDispatcher, create_local_dispatcher
from bot.gateway.channel_status import ChannelStatus
from bot.gateway.downloads import Downloads
from bot.gateway.gateway import Gateway
from bot.gateway.notifications import (
    ChannelNotifications,
    ConversationLanguage,
    ModelNotifications,
    Notifier,
    OwnerNotifier,
)
from bot.memory.service import MemoryService
from bot.models.closing_tags import ClosingTags
from bot.models.service import ModelService, log_unusable
from bot.models.windows import ModelWindows, ServedModel, format_cut
from bot.telemetry.faults import TroubleList
from bot.telemetry.recorder import Telemetry
from channels.base import Channel
from memory.recall.index import SpaceIndexes
from memory.recall.search import Recall
from memory.store.automation.background_tasks import TaskRow
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS, WriteLocks


@dataclass(frozen=True, slots=True, kw_only=True)
class BotDependencies:
    """Everything needed to build a bot: home, configuration, open store."""

    home: HomeFolder
    file: ConfigFile
    store: Store
    #: The time, with a zone.
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    #: Runs queued work: in this process, or through the job queue in PostgreSQL.
    create_dispatcher: CreateDispatcher = create_local_dispatcher
    #: Recall indexes, if they are not files of this home.
    indexes: SpaceIndexes | None = None
    telemetry: Telemetry = field(default_factory=Telemetry)
    #: Locks for writing to the workspace.
    writers: WriteLocks = LOCAL_WRITE_LOCKS
    #: Timeouts of one turn.
    times: TurnTimeouts = DEFAULT_TIMEOUTS
    #: Faults of this machine that the owner must know about.
    troubles: TroubleList = field(default_factory=TroubleList)


log = structlog.get_logger(__name__)


class BaseComponents(ABC):
    """The parts that the agent, its tools and the commands are built on."""

    def __init__(self, dependencies: BotDependencies) -> None:
        self.home, self.file, self.store = dependencies.home, dependencies.file, dependencies.store
        self.telemetry, self.troubles = dependencies.telemetry, dependencies.troubles
        self._clock, self._create_dispatcher = dependencies.clock, dependencies.create_dispatcher
        self.writers, self.times = dependencies.writers, dependencies.times
        self.started = self.now()
        self._tasks: set[asyncio.Task[object]] = set()
        self._applied_config, self._warmed_up = self.config(), False
        self._known_secrets: tuple[Config | None, frozenset[str]] = (None, frozenset())
        self.reconfigured: Callable[[Config], None] = lambda config: None
        #: Awaited first when the bot is closed.
        self.on_close: list[Callable[[], Awaitable[None]]] = []
        #: Ends this process, restores the file with the passphrase, and starts again; None where it
        #: cannot be done.
        self.restore: Callable[[Path, str], None] | None = None
        #: The running channels by name; the gateway adds and removes them.
        self.channels: dict[str, Channel] = {}
        self.blobs = Blobs(self.home.blobs)
        self.workspace = Workspace(self.home.workspace, dependencies.writers)
        self.models = ModelService(
            self.blobs.get,
            lambda *asked: self.memory_service.passages(*asked),
            log_unusable,
            self.telemetry,
            ModelWindows(self.store.notes, self._report_cut),
        )
        self.closing_tags = ClosingTags(self.store.notes, self.models, self.spawn)
        self.memory_service = self._memory_service(dependencies.indexes)
        self.summarise = self.memory_service.completion("fold")
        self.memories = self.memory_service.memories
        self.spaces = self.memory_service.spaces
        self.roles = RoleResolver(self.config, self.store.access)
        self.language = ConversationLanguage(self.store.sessions, self.config)
        self.lost_rights = LostRights(
            store=self.store, roles=self.roles, stop=self.stop, end_task=self.end_task
        )
        self.pairing = self._pairing()
        self.gateway = Gateway(
            self.store, self.blobs, self.channels, self.language, self.pairing, self.telemetry
        )
        self.notifier = Notifier(store=self.store, channels=self.channels, language=self.language)
        self.owner = owner = OwnerNotifier(
            sessions=self.store.sessions, states=self.states, notify=self.notifier.notify
        )
        self.channel_notifications = ChannelNotifications(self.gateway.states, owner)
        self.model_notifications = ModelNotifications(self.models.states, owner, owner)
        self.storage = StorageQuota(
            self.store, self.blobs, self.workspace, self.config, self.now, owner
        )
        self.downloads = Downloads(self.gateway.fetch, self.blobs, self.storage.take)
        self.budget_guard = BudgetGuard(
            self.store.spending, self.config, self.now, self.channels, owner, self.storage
        )

    def config(self) -> Config:
        """Return the current settings."""
        return self.file.current

    def now(self) -> datetime:
        """Return the owner's local time."""
        return self._clock().astimezone(self.zone())

    def zone(self) -> tzinfo:
        """Return the configured time zone."""
        return time_zone(self.file.current)

    @property
    def recall(self) -> Recall:
        """Search in long-term memory."""
        return self.memory_service.recall

    def model_name(self) -> str:
        """Return the configured model's name."""
        return self.models.name

    def states(self) -> Mapping[str, ChannelStatus]:
        """Return the status of every channel."""
        return self.gateway.states()

    @abstractmethod
    async def stop(self, conversation: str) -> bool:
        """Stop the running turn of a conversation; False if none runs."""

    @abstractmethod
    async def end_task(self, row: TaskRow) -> None:
        """End work beside a conversation and tell nobody."""

    @abstractmethod
    def quiet(self, space: str) -> AbstractAsyncContextManager[None]:
        """Run no turn and no command in a space while the context is entered."""

    @abstractmethod
    async def drop_view(self, conversation: str) -> None:
        """Drop everything prepared for a conversation whose view has changed."""

    def _memory_service(self, indexes: SpaceIndexes | None) -> MemoryService:
        return MemoryService(
            home=self.home,
            store=self.store,
            workspace=self.workspace,
            config=self.config,
            now=self.now,
            zone=self.zone(),
            models=self.models,
            blobs=self.blobs,
            view_changed=self.drop_view,
            quiet=self.quiet,
            create_dispatcher=self._create_dispatcher,
            indexes=indexes,
        )

    def _pairing(self) -> PairingService:
        return PairingService(
            access=self.store.access,
            roles=self.roles,
            config=self.config,
            now=self.now,
            channels=self.channels,
            language=self.language,
            stop_turn=self.stop,
            roles_changed=self.lost_rights.end,
        )

    def secrets(self) -> Collection[str]:
        """Return the secrets of the configuration."""
        config = self.config()
        if self._known_secrets[0] is not config:
            self._known_secrets = (config, known_secrets(config))
        return self._known_secrets[1]

    def _report_cut(self, served: ServedModel, tokens: int) -> None:
        """Tell the owner once that a server cuts requests silently."""
        self.spawn(self.owner("", format_cut(served, tokens), f"cut:{served.key}:{tokens}"))

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Run work in the background until it ends or the bot is closed; an error is logged."""
        task: asyncio.Task[object] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("background task failed", error=type(err).__name__, exc_info=err)
