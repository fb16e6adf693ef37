"""Builds the parts of a bot around its turns: receiver, queues, jobs, heartbeat, scheduler and
metrics.
"""

from abc import abstractmethod
from collections.abc import Sequence, Set
from datetime import datetime, timedelta
from functools import partial

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
from bot.runtime.scheduler import (
    DreamSchedule,
    RetentionJob,
    Scheduler,
    SnapshotJob,
    run_nightly_cleanup,
)
from bot.telemetry.database_repair import RepairNotice
from bot.telemetry.faults import TroubleNotifications
from bot.telemetry.metrics import LoopLag
from bot.telemetry.recent_metrics import RecentMetrics
from bot.telemetry.version_notice import VersionNotice
from channels.base import Channel
from channels.phrases import Phrase
from memory.conversation import ToolSpec
from memory.store.engine.database import QueueKey

UNLIMITED = 10_000  # concurrency of queues whose steps wait for platforms, or must not wait at all


class Components(BaseComponents):
    """The parts around turns: receiver, queues, jobs, heartbeat, scheduler and metrics.

    What answers messages is built on them, in `bot.runtime.turn_wiring`. Methods that need it are
    abstract here.
    """

    def __init__(self, dependencies: BotDependencies) -> None:
        super().__init__(dependencies)
        self.started_at = self.store.now()
        self.job_times = JobTimes(jobs=self.store.jobs, config=self.config)
        self.ticker = self._ticker()
        self.jobs = self._job_service()
        self.progress = TaskProgress(
            store=self.store,
            channels=self.channels,
            language=self.language,
            last_line=self._last_line_of_command,
        )
        self.persona = self._persona()
        self.heartbeat = self._heartbeat()
        self.repair_notice = RepairNotice(self.store, self.home.data, self.zone, self.troubles)
        self.version_notice = VersionNotice(self.troubles)
        self.snapshots = SnapshotJob(store=self.store, troubles=self.troubles, data=self.home.data)
        self.trouble_notifications = TroubleNotifications(
            self.troubles, self.check_files, self.owner
        )
        self.turn_dispatcher = self._create_dispatcher(
            "turn", self._run_turn, self.config().concurrency
        )
        self.outbox_dispatcher = self._create_dispatcher("out", self.gateway.send_next, UNLIMITED)
        self.urgent_dispatcher = self._create_dispatcher("urgent", self._run_urgent, UNLIMITED)
        self.isolation = CrashIsolation(self.turn_dispatcher.wake)
        self.receiver = self._receiver()
        self.channel_manager = self._channel_manager()
        self.store.database.on_commit = self._wake_dispatchers
        self.deletions = ConversationDeletions(self.store, stop=self.stop, drop=self.drop_view)
        self.lag = LoopLag()
        self.metrics = self._metrics()
        self.recent = RecentMetrics(
            self.telemetry.tally, self._depths, self.lag.worst, self._phases
        )
        self._scheduler = self._create_scheduler()

    @abstractmethod
    def warm_up(self) -> None:
        """Load, in threads, what the first reply needs, because a person is present."""

    @abstractmethod
    def stop_soon(self, conversation: str, inbox_id: str) -> None:
        """Stop a conversation's running turn; return at once. inbox_id: only if it answers that
        row, "" for any.
        """

    @abstractmethod
    def is_space_in_use(self, space: str) -> bool:
        """Tell whether a turn of a space runs in this process."""

    @abstractmethod
    def check_files(self) -> None:
        """Check again whether troubles with files are over; blocks."""

    @abstractmethod
    async def end_idle_conversations(self, now: datetime) -> int:
        """End the conversations that are idle for too long, as /new does; return how many."""

    @abstractmethod
    async def log_ended_days(self) -> None:
        """Write to the daily logs what ended days still have in view."""

    @abstractmethod
    async def _run_turn(self, conversation: str) -> bool:
        """Process the oldest open message of a conversation; see TurnRunner.step."""

    @abstractmethod
    async def _run_urgent(self, inbox_id: str) -> bool:
        """Run one command that does not wait for its conversation's queue."""

    @abstractmethod
    def _last_line_of_command(self, id: str) -> str:
        """Return the last line that a command in the background has printed."""

    @abstractmethod
    def _tool_specs(self, space: str) -> tuple[ToolSpec, ...]:
        """Return the specs of the tools of a space."""

    @abstractmethod
    def _deferred_tools(self, space: str) -> tuple[str, ...]:
        """Return the names of the bot's own tools that are not in the prompt of a space."""

    @abstractmethod
    def _mcp_servers_up(self) -> dict[str, bool]:
        """Return whether each server of tools can be reached."""

    def start_receiving(self, channel: Channel) -> None:
        """Start receiving from a registered channel."""
        self.gateway.listen(channel.name, self.receiver.deliver_for(channel.name))

    def _ticker(self) -> JobTicker:
        runs = RunSettler(
            store=self.store, channels=self.channels, language=self.language, now=self.now
        )
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

    def _persona(self) -> PersonaFiles:
        return PersonaFiles(
            self.workspace,
            self._tool_specs,
            self.channels.keys,
            deferred=self._deferred_tools,
            notes_facts=self._notes_facts,
            troubles=self.troubles,
            last_good=self.home.soul_copy,
        )

    def _notes_facts(self) -> bool:
        config = self.config()
        return config.memory.extract and config.llm.background != "off"

    async def hold_approval(self, id: str) -> bool:
        """Mark an approval as run by this process; False if another one runs it."""
        return True

    async def release_approval(self, id: str) -> None:
        """Take back the mark of an approval that this process ran."""

    async def held_approvals(self) -> Set[str]:
        """Load the ids of the approvals that processes run; a process alone asks only when it
        starts.
        """
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
            at=lambda: self.config().memory.dream_at,
            now=self.now,
            night=self.memory_service.dreamer.night,
        )
        retention = RetentionJob(store=self.store, blobs=self.blobs, data=self.home.data)
        nightly = partial(
            run_nightly_cleanup, self.store, self._end_idle_conversations, self.config, retention
        )
        return Scheduler(self.zone(), nightly, dreams, self.log_ended_days)

    async def _end_idle_conversations(self, days: int, now: datetime) -> None:
        if await self.store.sessions.idle(now - timedelta(days=days)):
            await self.end_idle_conversations(now)

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


def _command_menu() -> list[tuple[str, Phrase]]:
    from bot.commands.router import command_menu

    return command_menu()
