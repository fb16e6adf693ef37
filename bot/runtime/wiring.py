"""Builds the components of a bot and connects them. Components are built nowhere else."""

import asyncio
import time
from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence, Set
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Any

from bot.access.conversation_deletion import ConversationDeletions
from bot.agent.prompt.persona import PersonaFiles
from bot.dispatch import CrashIsolation, Dispatcher
from bot.gateway.channel_manager import ChannelManager
from bot.gateway.receiver import Receiver
from bot.jobs.heartbeat import Heartbeat
from bot.jobs.progress import TaskProgress
from bot.jobs.service import JobService
from bot.jobs.ticker import JobTicker, RunSettler
from bot.jobs.times import JobTimes
from bot.runtime.base_wiring import BaseComponents, BotDependencies
from bot.runtime.metrics import MetricsCollector
from bot.runtime.scheduler import DreamSchedule, RetentionJob, Scheduler, SnapshotJob, run_nightly_cleanup
from bot.telemetry.database_repair import RepairNotice
from bot.telemetry.faults import TroubleNotifications
from bot.telemetry.metrics import LoopLag
from bot.telemetry.recent_metrics import RecentMetrics
from channels.base import Channel
from memory.store.engine.database import QueueKey
from memory.store.errors import StoreError
from memory.store.people.background_tasks import TaskRow

UNLIMITED = 10_000  # concurrency of queues whose steps wait for platforms, or must not wait at all
# Seconds that the first turns wait for the owner's index, while the model's SDK is imported.
MAX_INDEX_WAIT = 2.0


class TurnPart:
    """A part of a bot that its TurnComponents have."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, bot: "Components", owner: type | None = None) -> Any:
        return getattr(bot.turn_components, self._name)


class Components(BaseComponents):
    """All components of a bot, built once; those that answer messages by the first one. `Bot` opens and closes them."""

    # Of TurnComponents. Their first use loads them, on the event loop unless `load_turn_components` came first.
    agent = TurnPart()
    approvals = TurnPart()
    exec_tools = TurnPart()
    file_changes = TurnPart()
    fitter = TurnPart()
    fold_notifications = TurnPart()
    folding = TurnPart()
    mcp_logins = TurnPart()
    mcp_tools = TurnPart()
    message_counter = TurnPart()
    plugins = TurnPart()
    prompt = TurnPart()
    report = TurnPart()
    skills = TurnPart()
    subagents = TurnPart()
    summaries = TurnPart()
    tool_lines = TurnPart()
    toolset = TurnPart()
    turns = TurnPart()
    view_recorder = TurnPart()
    web_tools = TurnPart()
    cancel_task = TurnPart()
    person_deletion = TurnPart()
    decide_approval = TurnPart()

    def __init__(self, dependencies: BotDependencies) -> None:
        super().__init__(dependencies)
        self.started_at = self.store.now()
        self._loading_turns, self._are_turns_open = asyncio.Lock(), False
        self.job_times = JobTimes(jobs=self.store.jobs, config=self.config)
        self.ticker = self._ticker()
        self.jobs = self._job_service()
        self.progress = TaskProgress(
            store=self.store,
            channels=self.channels,
            language=self.language,
            last_line=lambda id: str(self.exec_tools.background.last_line(id)),
        )
        self.persona = self._persona()
        self.heartbeat = self._heartbeat()
        self.repair_notice = RepairNotice(self.store, self.home.data, self.zone, self.troubles)
        self.snapshots = SnapshotJob(store=self.store, troubles=self.troubles, data=self.home.data)
        self.trouble_notifications = TroubleNotifications(self.troubles, self.check_files, self.owner)
        self.turn_dispatcher = self._create_dispatcher("turn", self._run_turn, self.config().concurrency)
        self.outbox_dispatcher = self._create_dispatcher("out", self.gateway.send_next, UNLIMITED)
        self.urgent_dispatcher = self._create_dispatcher("urgent", self._run_urgent, UNLIMITED)
        self.isolation = CrashIsolation(self.turn_dispatcher.wake)
        self.receiver = self._receiver()
        self.channel_manager = self._channel_manager()
        self.store.database.on_commit = self._wake_dispatchers
        self.deletions = ConversationDeletions(self.store, stop=self.stop, drop=self.drop_view)
        self.lag = LoopLag()
        self.metrics = self._metrics()
        self.recent = RecentMetrics(self.telemetry.tally, self._depths, self.lag.worst, self._phases)
        self._scheduler = self._create_scheduler()

    @cached_property
    def turn_components(self) -> Any:
        """The TurnComponents; see `load_turn_components`."""
        return self._build_turn_components()

    @abstractmethod
    def _import_turn_components(self) -> Any:
        """Import the class TurnComponents, which imports this module; blocks."""

    def _build_turn_components(self) -> Any:
        return self._import_turn_components()(self)

    @property
    def has_turn_components(self) -> bool:
        """Whether they are built; if not, no turn has run yet."""
        return "turn_components" in vars(self)

    async def load_turn_components(self) -> Any:
        """Return the TurnComponents; the first call imports them in a thread, builds and opens them."""
        if not self._are_turns_open:
            async with self._loading_turns:  # 200 conversations may begin at once
                if not self._are_turns_open:
                    await self._open_turn_components()
        return self.turn_components

    async def _open_turn_components(self) -> None:
        try:
            await self.memory_service.load_search()
            await asyncio.to_thread(self._import_turn_components)
            await asyncio.gather(self.turn_components.open(), self._open_index())
        except StoreError:
            raise
        except Exception as err:  # such as a module that an upgrade replaced under this process
            self.troubles.turn_failed(err)
            raise
        self.spawn(self.mcp_tools.watch())
        self._are_turns_open = True

    async def _open_index(self) -> None:
        """Bring the owner's index up to date before turns search it; a long update goes on beside."""
        updated = asyncio.Event()

        async def update() -> None:
            try:
                await self.recall.refresh("")
            finally:
                updated.set()

        self.spawn(update())
        with suppress(TimeoutError):
            await asyncio.wait_for(updated.wait(), MAX_INDEX_WAIT)

    def warm_up(self) -> None:
        """Load, in threads, what the first reply needs, because a person is present.

        Until then the model's SDK and the token ranks (100 MB together) are not in memory.
        """
        if not self._warmed_up:
            self._warmed_up = True
            self.spawn(self.models.preload())
            self.spawn(self._prepare_turns())

    async def _prepare_turns(self) -> None:
        await (await self.load_turn_components()).message_counter.counter()

    def check_files(self) -> None:
        """Check again whether troubles with files are over; blocks."""
        self.repair_notice.check()
        if self.has_turn_components:
            self.prompt.check_files()
        else:
            self.persona.soul()
            self.persona.store()

    async def stop(self, conversation: str) -> bool:
        """Stop the running turn of a conversation; False if none runs."""
        return self.has_turn_components and bool(await self.turn_components.stop(conversation))

    async def end_task(self, row: TaskRow) -> None:
        """End work beside a conversation and tell nobody."""
        await (await self.load_turn_components()).end_task(row)

    async def stop_turn(self, conversation: str) -> bool:
        """Stop the running turn of a conversation and nothing else; False if none runs."""
        return self.stop_here(conversation)

    def stop_here(self, conversation: str, inbox_id: str = "") -> bool:
        """Stop the turn of a conversation that runs in this process; see TurnRunner.stop."""
        return self.has_turn_components and bool(self.turns.stop(conversation, inbox_id))

    def stop_soon(self, conversation: str, inbox_id: str) -> None:
        """Stop a conversation's running turn; return at once. inbox_id: only if it answers that row, "" for any."""
        if self.has_turn_components and not inbox_id:
            self.spawn(self.exec_tools.stop(conversation))
            self.spawn(self.subagents.cancel_all(conversation))
        self.stop_here(conversation, inbox_id)

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        """Run no turn and no command in a space while the context is entered, and drop its web pages."""
        async with (await self.load_turn_components()).quiet(space):
            yield

    def start_receiving(self, channel: Channel) -> None:
        """Start receiving from a registered channel."""
        self.gateway.listen(channel.name, self.receiver.deliver_for(channel.name))

    def _ticker(self) -> JobTicker:
        runs = RunSettler(store=self.store, channels=self.channels, language=self.language, now=self.now)
        return JobTicker(
            store=self.store,
            roles=self.roles,
            times=self.job_times,
            channels=self.channels,
            language=self.language,
            now=self.now,
            telemetry=self.telemetry,
            runs=runs,
        )

    def _job_service(self) -> JobService:
        return JobService(
            jobs=self.store.jobs,
            times=self.job_times,
            config=self.config,
            now=self.now,
            announce=self.notifier.notify,
            changed=self.ticker.wake,
            conversation=self.store.sessions.conversation,
            channels=self.channels,
        )

    def _heartbeat(self) -> Heartbeat:
        return Heartbeat(
            store=self.store,
            workspace=self.workspace,
            models=self.models,
            config=self.config,
            times=self.job_times,
            now=self.now,
            soul=self.persona.soul,
            channels=self.channels,
            language=self.language,
            is_busy=self.is_space_in_use,
            telemetry=self.telemetry,
        )

    def is_space_in_use(self, space: str) -> bool:
        """Tell whether a turn of a space runs in this process."""
        return self.has_turn_components and bool(self.turns.is_space_open(space))

    def _persona(self) -> PersonaFiles:
        return PersonaFiles(
            self.workspace,
            lambda space: tuple(self.toolset(space).specs()),
            self.channels.keys,
            troubles=self.troubles,
            last_good=self.home.soul_copy,
        )

    async def hold_approval(self, id: str) -> bool:
        """Mark an approval as run by this process; False if another one runs it."""
        return True

    async def release_approval(self, id: str) -> None:
        """Take back the mark of an approval that this process ran."""

    async def held_approvals(self) -> Set[str]:
        """Load the ids of the approvals that processes run; a process alone asks only when it starts."""
        return frozenset()

    def _receiver(self) -> Receiver:
        return Receiver(
            store=self.store,
            blobs=self.blobs,
            roles=self.roles,
            config=self.config,
            gateway=self.gateway,
            downloads=self.downloads,
            pairing=self.pairing,
            storage=self.storage,
            stop_turn=self.stop_soon,
            warm_up=self.warm_up,
            telemetry=self.telemetry,
        )

    def _channel_manager(self) -> ChannelManager:
        return ChannelManager(
            gateway=self.gateway,
            turn_dispatcher=self.turn_dispatcher,
            outbox_dispatcher=self.outbox_dispatcher,
            delivery=self.store.delivery,
            start_receiving=self.start_receiving,
            command_menu=_command_menu,
        )

    def _metrics(self) -> MetricsCollector:
        return MetricsCollector(
            store=self.store,
            root=self.home.root,
            started=self.started,
            counters=self.telemetry.tally,
            channels=self.gateway.local_states,
            servers=self._mcp_servers_up,
            lag=self.lag.worst,
        )

    async def _depths(self) -> tuple[int, int]:
        stats = await self.store.figures()
        return stats.inbox_depth, stats.outbox_depth

    def _phases(self) -> dict[str, str]:
        return {name: state.phase for name, state in self.states().items()}

    def _create_scheduler(self) -> Scheduler:
        dreams = DreamSchedule(
            at=lambda: self.config().memory.dream_at, now=self.now, night=self.memory_service.dreamer.night
        )
        retention = RetentionJob(store=self.store, blobs=self.blobs, data=self.home.data)
        nightly = partial(run_nightly_cleanup, self.store, self._end_idle_conversations, self.config, retention)
        return Scheduler(self.zone(), nightly, dreams)

    async def _end_idle_conversations(self, days: int, now: datetime) -> None:
        if await self.store.sessions.idle(now - timedelta(days=days)):
            await (await self.load_turn_components()).end_idle_conversations(now)

    async def drop_view(self, conversation: str) -> None:
        """Drop everything prepared for a conversation whose view has changed."""
        if self.has_turn_components:
            await self.turn_components.drop_view(conversation)

    def _mcp_servers_up(self) -> dict[str, bool]:
        return dict(self.mcp_tools.up()) if self.has_turn_components else {}

    async def _run_turn(self, conversation: str) -> bool:
        """Process the oldest open message of a conversation; see TurnRunner.step."""
        return bool(await (await self.load_turn_components()).turns.step(conversation))

    async def _run_urgent(self, inbox_id: str) -> bool:
        """Run one command that does not wait for its conversation's queue."""
        began, components = time.perf_counter(), await self.load_turn_components()
        row = await self.store.delivery.inbox(inbox_id)
        if row is not None and row.state == "new":
            await components.run_command(row)
            self.telemetry.row_handled(row.trace_id, "command", began)
        return False

    def _wake_dispatchers(self, keys: Sequence[QueueKey]) -> None:
        """Wake the dispatchers of rows that were just committed."""
        dispatchers: dict[str, Dispatcher] = {
            "turn": self.turn_dispatcher,
            "out": self.outbox_dispatcher,
            "urgent": self.urgent_dispatcher,
            "facts": self.memory_service.extraction_dispatcher,
        }
        for key in keys:
            dispatchers[key.kind].wake(key.id, key.due)


def _command_menu() -> list[tuple[str, str, str]]:
    from bot.commands.router import command_menu

    return command_menu()
