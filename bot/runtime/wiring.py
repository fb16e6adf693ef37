"""Builds the components of a bot and connects them. Components are built nowhere else."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog

from bot.access.budget_guard import BudgetGuard
from bot.access.pairing import PairingService
from bot.access.roles import RoleResolver
from bot.access.storage_quota import StorageLocations, StorageQuota
from bot.agent.approvals import ApprovalService
from bot.agent.context_fitter import ContextFitter
from bot.agent.context_report import ContextReport
from bot.agent.folding import FoldManager
from bot.agent.loop import Agent
from bot.agent.prompt import PersonaFiles, SystemPromptBuilder
from bot.agent.thread_summary import ThreadSummaries
from bot.agent.token_calibration import TokenCalibration, load_best_counter
from bot.agent.tool_calls import ToolRunner
from bot.agent.tool_lines import ToolLineWriter
from bot.agent.turn import TurnRunner
from bot.agent.turn_context import DEFAULT_TIMEOUTS, MessageCounter, TurnSetup, TurnTimeouts
from bot.commands.base import CommandServices
from bot.commands.router import CommandRouter
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.schema import Config, time_zone
from bot.dispatch import CreateDispatcher, Dispatcher, create_local_dispatcher
from bot.gateway.channel_manager import ChannelManager
from bot.gateway.channel_status import ChannelStatus
from bot.gateway.downloads import Downloads
from bot.gateway.gateway import Gateway
from bot.gateway.notifications import (
    ChannelNotifications,
    ConversationLanguage,
    FoldNotifications,
    ModelNotifications,
    Notifier,
    OwnerNotifier,
)
from bot.gateway.receiver import Receiver
from bot.memory.recall import TurnRecall
from bot.memory.service import MemoryService
from bot.messages import ends_turn, load_body, to_address
from bot.models.providers.offline import OfflinePassage
from bot.models.service import ModelService, SummaryModel, log_unusable
from bot.runtime.metrics import MetricsCollector, MetricSources
from bot.runtime.scheduler import DreamSchedule, RetentionJob, Scheduler, run_nightly_cleanup
from bot.telemetry.faults import TroubleList, TroubleNotifications
from bot.telemetry.metrics import LoopLag
from bot.telemetry.recorder import Telemetry
from bot.tools.registry import OfferedTools
from bot.tools.send_file import SendFileServices
from channels.base import Channel
from channels.message import Address, InboundMessage, LiveEvent
from memory.context.policies.policies import build_policy
from memory.context.system_prompt import PromptBudgets
from memory.conversation import SystemPart
from memory.folding import FoldRunner
from memory.recall.sqlite_index import SharedIndexes
from memory.store.engine.database import QueueKey
from memory.store.rows import AcceptedRow, FoldRow, NewInboxRow
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import LOCAL_WRITE_LOCKS, Workspace, WriteLocks


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
    indexes: SharedIndexes | None = None
    telemetry: Telemetry = field(default_factory=Telemetry)
    #: Locks for writing to the workspace.
    writers: WriteLocks = LOCAL_WRITE_LOCKS
    #: Timeouts of one turn.
    times: TurnTimeouts = DEFAULT_TIMEOUTS
    #: Faults of this machine that the owner must know about.
    troubles: TroubleList = field(default_factory=TroubleList)


# Who comes in: channels are heard, what they hear is stored, and once a row is in the store its lane wakes.

OUTBOX_CONCURRENCY = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceptionDependencies:
    """Where things go."""

    store: Store
    blobs: Blobs
    config: Callable[[], Config]
    roles: RoleResolver
    gateway: Gateway
    downloads: Downloads
    router: CommandRouter
    #: Ends the running turn of a conversation, or only the one that answers that inbox row.
    stop: Callable[[str, str], object]
    #: Begins to hear a channel.
    hear: Callable[[Channel], object]
    lanes: Dispatcher
    outbox: Dispatcher
    create_dispatcher: CreateDispatcher
    #: Told of strangers and of groups that took us in.
    met: Callable[[InboundMessage, AcceptedRow], Awaitable[None]]
    #: Of a chat and its new id; stir: somebody is here.
    moved: Callable[[Address, str], Awaitable[None]]
    warm_up: Callable[[], None]
    #: See Storage.take.
    take: Callable[[str, int], Awaitable[None]]
    telemetry: Telemetry


class MessageReception:
    """What `Inbound` tells of each new row, and the lane of what overtakes the queue. switch: channels on and off."""

    def __init__(self, places: ReceptionDependencies) -> None:
        self._places = places
        self.urgent = places.create_dispatcher("urgent", self._urgent, OUTBOX_CONCURRENCY)
        self.inbound = Receiver(
            store=places.store,
            blobs=places.blobs,
            roles=places.roles,
            config=places.config,
            on_work=self.noticed,
            on_request=self.met,
            on_withdrawn=self.withdrawn,
            on_moved=places.moved,
            reserve_storage=places.take,
            telemetry=places.telemetry,
        )
        self.switch = ChannelManager(
            gateway=places.gateway,
            outbox=places.outbox,
            lanes=places.lanes,
            delivery=places.store.delivery,
            hear=lambda channel: places.hear(channel),
        )

    def noticed(self, arrival: NewInboxRow, row: AcceptedRow) -> None:
        """Something to do, in a lane whose bell has rung: a command may end what runs, files are fetched ahead."""
        places = self._places
        places.warm_up()
        if arrival.kind == "command" and ends_turn(load_body(arrival.body).text):
            places.stop(row.conversation, "")
        for file in load_body(arrival.body).files:
            if file.ref and not file.sha256:
                places.downloads.begin(arrival.place.channel, file.ref, arrival.place.space)
        channel = places.gateway.channels.get(arrival.place.channel)
        if channel is not None and channel.capabilities.asks_first:
            places.gateway.show(LiveEvent(address=to_address(arrival.place), name="accepted", message_id=row.id))

    async def met(self, message: InboundMessage, row: AcceptedRow) -> None:
        """A stranger wrote, or we were taken into a group."""
        await self._places.met(message, row)

    def withdrawn(self, row: AcceptedRow) -> None:
        """A message was taken back by its writer: its answer is not gone on with."""
        self._places.stop(row.meant_in, row.meant)

    async def _urgent(self, inbox_id: str) -> bool:
        """The step of what overtakes: one row, beside its conversation's lane."""
        places = self._places
        began, row = time.perf_counter(), await places.store.delivery.inbox(inbox_id)
        if row is not None and row.state == "new":
            await places.router.run(row, load_body(row.body))
            places.telemetry.handled(row.trace_id, "command", began)
        return False


log = structlog.get_logger(__name__)


class Components:
    """All components of a bot, built once. `Bot` opens and closes them."""

    def __init__(self, ground: BotDependencies) -> None:
        self.home, self.file, self.store, self.telemetry = ground.home, ground.file, ground.store, ground.telemetry
        self._clock, self._create_dispatcher, self._indexes = ground.clock, ground.create_dispatcher, ground.indexes
        self._times, self.troubles = ground.times, ground.troubles
        self.started = self.now()
        self.blobs = Blobs(self.home.blobs)
        self.workspace = Workspace(self.home.workspace, ground.writers)
        self.brain = ModelService(self.blobs.get, self._passages, log_unusable, self.telemetry)
        self._summarise = SummaryModel(self.brain, self.store.sessions)
        self.memory_service = self._remembering()
        self.recall, self.memories = self.memory_service.recall, self.memory_service.memories
        self.spaces = self.memory_service.spaces
        self._language = ConversationLanguage(self.store.sessions, self.config)
        self.gateway = Gateway(self.store, self.blobs, self._language, self._moved_to, self.telemetry)
        self.roles = RoleResolver(self.config, self.store.access)
        self.folding = FoldManager(self._folder(), self.store.folds)
        self.teller = self._teller()
        self.pairing = self._pairing()
        owner = OwnerNotifier(sessions=self.store.sessions, states=self.states, tell=self.teller.tell)
        self.channel_news = ChannelNotifications(self.gateway.states, owner)
        self.model_news = ModelNotifications(self.brain.states, owner)
        self.trouble_news = TroubleNotifications(self.troubles, lambda: self.prompt.check_files(), owner)
        self.fold_news = self._fold_news()
        kept = StorageLocations(store=self.store, blobs=self.blobs, workspace=self.workspace)
        self.storage = StorageQuota(kept, self.config, self.now, owner)
        self.downloads = Downloads(self.gateway.fetch, self.blobs, self.storage.take)
        spending, channels = self.store.spending, lambda: self.gateway.channels
        self.budget_guard = BudgetGuard(spending, self.config, self.now, channels, owner, self.storage)
        self.toolset = self._offered_tools()
        self.prompt = self._prompt()
        self.message_counter = MessageCounter(load_best_counter)
        self.lining = ToolLineWriter(self._summarise)
        self.fitter = self._fitter()
        self.summaries = ThreadSummaries(self.store.sessions, self.folding, self.config, self.fitter.counter)
        self.approvals = self._approvals()
        self.agent = self._agent()
        self.report = ContextReport(self.store, self.fitter, self.config, self.model_name)
        self.router = self._router()
        self.turns = self._turn_runner()
        self.lanes = self._create_dispatcher("turn", self.turns.step, self.config().concurrency)
        self.outbox = self._create_dispatcher("out", self.gateway.send_next, OUTBOX_CONCURRENCY)
        self.reception = self._reception()
        self.urgent, self.inbound = self.reception.urgent, self.reception.inbound
        self.store.set_on_commit(self._wake_dispatchers)
        self.lag = LoopLag()
        self.metrics = self._metrics()
        self._scheduler = self._create_scheduler()
        self._tasks: set[asyncio.Task[object]] = set()
        self._held, self._warmed_up = self.config(), False
        self.reconfigured: Callable[[Config], None] = lambda config: None

    def config(self) -> Config:
        """The settings that hold now."""
        return self.file.current

    def now(self) -> datetime:
        """The time where the owner is."""
        return self._clock().astimezone(time_zone(self.file.current))

    def model_name(self) -> str:
        """The model that conversations without a choice of their own use."""
        return self.brain.name

    def states(self) -> Mapping[str, ChannelStatus]:
        """How every channel is."""
        return self.gateway.states()

    def warm_up(self) -> None:
        """Load, in threads, what the first reply needs, because a person is present.

        Until then the model's SDK and the token ranks (100 MB together) are not in memory.
        """
        if not self._warmed_up:
            self._warmed_up = True
            self._spawn(self.brain.preload())
            self._spawn(self.message_counter.counter())
            self._spawn(self.recall.refresh(""))

    async def stop(self, conversation: str) -> bool:
        """End the running turn of a conversation; False when none runs."""
        return self.turns.stop(conversation)

    def quiet(self, space: str) -> AbstractAsyncContextManager[None]:
        """While it is entered, no turn runs in a space."""
        return self.turns.quiet(space)

    def hear(self, channel: Channel) -> None:
        """Start receiving from a registered channel."""
        self.gateway.listen(channel.name, self.inbound.ear(channel.name))

    def end_turn(self, conversation: str, inbox_id: str) -> None:
        """The same, begun at once. inbox_id: only where it answers that row, "" for any."""
        self.turns.stop(conversation, inbox_id)

    async def _passages(self, question: str, conversation: str, space: str) -> list[OfflinePassage]:
        return await self.memory_service.passages(question, conversation, space)

    def _remembering(self) -> MemoryService:
        return MemoryService(
            home=self.home,
            store=self.store,
            workspace=self.workspace,
            config=self.config,
            now=self.now,
            zone=time_zone(self.config()),
            brain=self.brain,
            blobs=self.blobs,
            view_changed=self._view_changed,
            quiet=lambda space: self.quiet(space),
            create_dispatcher=self._create_dispatcher,
            indexes=self._indexes,
        )

    def _prompt(self) -> SystemPromptBuilder:
        specs, channels = (lambda: self.toolset().specs()), (lambda: self.gateway.channels)
        copy = self.home.soul_copy
        persona = PersonaFiles(self.workspace, specs, channels, troubles=self.troubles, last_good=copy)
        prompt = SystemPromptBuilder(persona, self.store, self.now)
        prompt.cut = self._memory_cut
        return prompt

    def _teller(self) -> Notifier:
        return Notifier(store=self.store, gateway=self.gateway, language=self._language)

    async def _moved_to(self, address: Address, chat_id: str) -> None:
        await self.pairing.moved(address, chat_id)

    def _pairing(self) -> PairingService:
        return PairingService(
            access=self.store.access,
            roles=self.roles,
            config=self.config,
            now=self.now,
            channels=lambda: self.gateway.channels,
            spoken=self._language,
            ended=self.stop,
        )

    def _approvals(self) -> ApprovalService:
        return ApprovalService(
            access=self.store.access,
            toolset=self.toolset,
            workspace=self.workspace,
            now=self.now,
            channels=lambda: self.gateway.channels,
        )

    def _reception(self) -> MessageReception:
        return MessageReception(
            ReceptionDependencies(
                store=self.store,
                blobs=self.blobs,
                config=self.config,
                roles=self.roles,
                gateway=self.gateway,
                downloads=self.downloads,
                router=self.router,
                stop=self.end_turn,
                hear=self.hear,
                lanes=self.lanes,
                outbox=self.outbox,
                create_dispatcher=self._create_dispatcher,
                met=self.pairing.met,
                moved=self.pairing.moved,
                take=self.storage.take,
                warm_up=self.warm_up,
                telemetry=self.telemetry,
            )
        )

    def _fitter(self) -> ContextFitter:
        return ContextFitter(
            sessions=self.store.sessions,
            folding=self.folding,
            prompt=self.prompt,
            message_counter=self.message_counter,
            calibration=TokenCalibration(self.store.sessions),
            lining=self.lining,
            config=self.config,
            telemetry=self.telemetry,
        )

    def _metrics(self) -> MetricsCollector:
        return MetricsCollector(
            MetricSources(
                store=self.store,
                root=self.home.root,
                started=self.started,
                tally=self.telemetry.tally,
                channels=self.gateway.heard,
                lag=self.lag.worst,
            )
        )

    def _offered_tools(self) -> OfferedTools:
        memory_service = self.memory_service.tools(self.teller.tell)
        return OfferedTools(memory_service, self._send_file_services(), lambda: tuple(self.config().tools.off))

    def _send_file_services(self) -> SendFileServices:
        return SendFileServices(
            store=self.store,
            workspace=self.workspace,
            blobs=self.blobs,
            channels=lambda: self.gateway.channels,
        )

    def _create_scheduler(self) -> Scheduler:
        dreams = DreamSchedule(
            at=lambda: self.config().memory.dream_at, now=self.now, night=self.memory_service.dreamer.night
        )
        retention = RetentionJob(store=self.store, blobs=self.blobs, data=self.home.data)
        nightly = partial(run_nightly_cleanup, self.store, self.folding, self.config, retention)
        return Scheduler(time_zone(self.config()), nightly, dreams)

    def _folder(self) -> FoldRunner:
        return FoldRunner(
            folds=self.store.folds,
            sessions=self.store.sessions,
            workspace=self.workspace,
            complete=self._summarise,
            counter=load_best_counter,
            zone=time_zone(self.config()),
            summary_tokens=lambda policy: build_policy(policy, self.config().policies).numbers.summary_tokens,
            notify=self._fold_moved,
        )

    def _fold_news(self) -> FoldNotifications:
        return FoldNotifications(store=self.store, gateway=self.gateway, config=self.config, tell=self.teller.tell)

    def _router(self) -> CommandRouter:
        services, gateway = self._command_services(), self.gateway
        return CommandRouter(services, lambda: gateway.channels, self._language, self.telemetry.denied)

    def _fold_moved(self, row: FoldRow, state: str) -> None:
        self._spawn(self.fold_news.moved(row, state))

    def _memory_cut(self, conversation: str, part: SystemPart, budgets: PromptBudgets) -> None:
        self._spawn(self.teller.notify_cut(conversation, part, budgets, f"{self.now():%Y-%m}"))

    async def _view_changed(self, conversation: str) -> None:
        """Drop everything prepared for a conversation whose view has changed."""
        self.prompt.drop(conversation)
        self.lining.begin(conversation, ())
        await self.folding.let_go(conversation)

    def _agent(self) -> Agent:
        tool_runner = ToolRunner(
            store=self.store,
            toolset=self.toolset,
            workspace=self.workspace,
            now=self.now,
            message_counter=self.message_counter,
            approvals=self.approvals,
            roles=self.roles,
            telemetry=self.telemetry,
            budget_guard=self.budget_guard,
        )
        return Agent(
            sessions=self.store.sessions,
            fitter=self.fitter,
            message_counter=self.message_counter,
            tool_runner=tool_runner,
            budget_guard=self.budget_guard,
            model=lambda: self.brain.model,
            config=self.config,
        )

    def _command_services(self) -> CommandServices:
        return CommandServices(
            store=self.store,
            config=self.file,
            fitter=self.fitter,
            folding=self.folding,
            workspace=self.workspace,
            blobs=self.blobs,
            report=self.report,
            stop=self.stop,
            channels=self.states,
            model_name=self.model_name,
            provider=lambda: self.brain.provider,
            models=self.brain.states,
            now=self.now,
            started=self.started,
            tell=self.teller.tell,
            memories=self.memories,
            recall=self.recall,
            dreamer=self.memory_service.dreamer,
            forgetter=self.memory_service.forgetter,
            roles=self.roles,
            pairing=self.pairing,
            approvals=self.approvals,
        )

    def _turn_runner(self) -> TurnRunner:
        setup = TurnSetup(
            store=self.store,
            blobs=self.blobs,
            message_counter=self.message_counter,
            config=self.config,
            model_name=self.model_name,
            now=self.now,
            show=self.gateway.show,
            roles=self.roles,
            downloads=self.downloads,
            budget_guard=self.budget_guard,
            times=self._times,
            turn_recall=TurnRecall(self.memory_service.recall.search, self.memory_service.uses, self.config, self.now),
        )
        return TurnRunner(
            store=self.store,
            setup=setup,
            message_counter=self.message_counter,
            fitter=self.fitter,
            agent=self.agent,
            run_command=self.router.run,
            channels=lambda: self.gateway.channels,
            config=self.config,
            wake=lambda conversation, when: self.lanes.wake(conversation, when),
            telemetry=self.telemetry,
            troubles=self.troubles,
        )

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        task: asyncio.Task[object] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _wake_dispatchers(self, keys: Sequence[QueueKey]) -> None:
        """Wake the dispatchers of rows that were just committed."""
        lanes: dict[str, Dispatcher] = {"turn": self.lanes, "out": self.outbox, "urgent": self.urgent}
        for lane in keys:
            (lanes.get(lane.kind) or self.memory_service.extractor.lanes).wake(lane.id, lane.due)

    def _done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("background task failed", error=type(err).__name__, exc_info=err)
