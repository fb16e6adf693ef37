"""A bot in several processes on one PostgreSQL store: jobs, leadership, and the state of the other
processes.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from procrastinate.exceptions import ConnectorException

from bot.access.permissions import LOCAL_CHANNELS
from bot.gateway.channel_status import (
    ChannelStatus,
    channel_status_from_json,
    channel_status_to_json,
    shift_times,
)
from bot.models.base import ModelClient
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.bot import DRAIN_SECONDS, Bot
from bot.runtime.cluster.events import EventBus
from bot.runtime.cluster.jobs import JobQueue, outbox_queue
from bot.runtime.cluster.membership import Membership
from bot.runtime.cluster.quiesce import SpaceQuiescer
from bot.runtime.process_role import ProcessRole
from bot.tools.exec.probe import SHARED_REASON
from channels.base import Channel
from memory.store.engine.leases import Beat, Leases
from memory.store.errors import StoreError
from memory.store.postgres.database import PostgresDatabase
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.store.postgres.locks import PostgresWriteLocks

log = structlog.get_logger(__name__)
URGENT_CONCURRENCY = 32
OUTBOX_CONCURRENCY = 256  # per channel
FACTS_CONCURRENCY = 4
MAINTENANCE_SECONDS = 1.0
# rounds of maintenance after which every queue with open rows is woken: a job may be lost
SWEEP_INTERVAL = 30
APPROVAL_DUTY = "approval "  # duties of this prefix name the approved call that a process runs
# a patch that is older has no process any more: a call of a tool takes half of it at most
PATCH_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConnections:
    """Connections of one process to the shared database, besides those of the store."""

    url: str
    database: PostgresDatabase
    jobs: JobQueue
    #: The same database with a connection of its own, for leases: a busy process must not seem
    #: dead.
    lease_database: PostgresDatabase
    indexes: PostgresSharedIndexes
    writers: PostgresWriteLocks
    lease_seconds: float

    async def close(self) -> None:
        """Close everything."""
        await asyncio.to_thread(self.indexes.close)
        await asyncio.to_thread(self.writers.close)
        await self.lease_database.close()
        await self.jobs.disconnect()


class ClusterBot(Bot):
    """One process of a bot: gateways have the channels and the page, workers run turns, "all" does
    both.
    """

    def __init__(
        self, dependencies: BotDependencies, connections: ClusterConnections, role: ProcessRole
    ) -> None:
        super().__init__(dependencies)
        self.exec_tools.refuse(SHARED_REASON)
        self._connections = connections
        self._role = role
        self._remote_channels: dict[str, ChannelStatus] = {}
        self._zone_versions: Set[str] = frozenset()
        #: Keys of the messages that reported the calls which are interrupted at this moment.
        self._reported: Set[str] = frozenset()
        self._jobs = connections.jobs
        self._jobs.on_stop = self.stop_here
        self._leases = Leases(connections.lease_database)
        self._membership = Membership(self._leases, self._status, connections.lease_seconds)
        self._membership.on_beat = self._on_beat
        self._quiescer = SpaceQuiescer(
            self._leases,
            runs_turns=role != "gateway",
            pause=super().quiet,
            storing=self.memory_service.storing,
            drop_views=self._drop_views,
            publish=self._membership.publish,
        )
        self._events = EventBus(connections.database, connections.url, self.gateway.show_here)
        self.gateway.publish = self._events.publish
        #: Channels that this process will receive from as soon as no other one does.
        self._standing_by: set[str] = set()

    async def open(self, channels: Sequence[Channel], model: ModelClient | None = None) -> None:
        await self._configure(channels, model)
        # first: the lease is a few seconds long, and plug-ins may take longer to import
        self._membership.open()
        await self.open_tools()
        await self.lost_rights.end()
        await self.job_times.load_zones()
        await self.closing_tags.load()
        self._events.open(listens=self._role != "worker")
        if self._role != "worker":
            for channel in channels:
                self.start_receiving(channel)
            self.spawn(self.channel_notifications.watch())
        if self._role != "gateway":
            await self._quiescer.poll()
            self._start_work()
        self._watch_process()

    async def close(self, patience: float = DRAIN_SECONDS) -> None:
        await self._jobs.close(patience)
        await super().close(patience)

    async def _leave_cluster(self) -> None:
        await self._quiescer.close()
        await self._events.close()
        await self._membership.close()
        await self._connections.close()

    def states(self) -> Mapping[str, ChannelStatus]:
        known = {**self._remote_channels, **self._local_channels()}
        down_since = self.started.timestamp()
        return {
            name: known.get(name)
            or ChannelStatus(
                name=name, phase="down", since=down_since, why="no gateway receives from it"
            )
            for name in sorted({*known, *self.channels})
        }

    def _on_beat(self, beat: Beat) -> None:
        """Note what the other processes say of themselves, and pause where one of them asks for
        it.
        """
        try:
            processes = [json.loads(status) for status in beat.others if status]
            self._remote_channels = {
                name: channel_status_from_json(name, state)
                for process in processes
                for name, state in process.get("channels", {}).items()
            }
            self._follow_zones(
                frozenset(process["zones"] for process in processes if process.get("zones"))
            )
        except (ValueError, TypeError, LookupError) as err:  # of another version
            log.info("status of other processes not read", error=type(err).__name__)
        if self._role != "gateway":
            self._quiescer.follow(beat.duties_of_others)

    def _follow_zones(self, versions: Set[str]) -> None:
        """Read the zones again if another process has stored one since."""
        if versions <= self._zone_versions:
            return
        self._zone_versions = versions

        async def load() -> None:
            try:
                await self.job_times.load_zones()
            except StoreError as err:
                log.info("zones not read, it is tried again", error=type(err).__name__)
                self._zone_versions = frozenset()

        self.spawn(load())

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        async with self._quiescer.quiet(space):
            yield

    async def stop(self, conversation: str) -> bool:
        cancelled = await self.subagents.cancel_all(conversation)
        return await self._jobs.stop(conversation) or bool(cancelled)

    async def stop_turn(self, conversation: str) -> bool:
        return await self._jobs.stop(conversation)

    def stop_soon(self, conversation: str, inbox_id: str) -> None:
        async def stop() -> None:
            row = await self.store.delivery.inbox(inbox_id) if inbox_id else None
            if not inbox_id:
                await self.subagents.cancel_all(conversation)
            if not inbox_id or (row is not None and row.state == "running"):
                await self._jobs.stop(conversation)

        self._jobs.run_in_background(stop())

    def start_receiving(self, channel: Channel) -> None:
        """Start receiving, if this process is a gateway: from the page always, else once no other
        process does.
        """
        if self._role == "worker":
            return
        if channel.name in LOCAL_CHANNELS:
            self._start_receiving(channel)
        # once it leads, it takes the channel as it is then
        elif channel.name not in self._standing_by:
            self._standing_by.add(channel.name)
            self._membership.run_in_one_process(
                f"hear {channel.name}", lambda: self._lead_channel(channel.name)
            )

    async def _lead_channel(self, name: str) -> None:
        self._standing_by.discard(name)
        channel = self.channels.get(name)
        if channel is None:  # removed while this process stood by
            await self._leases.release(f"hear {name}")
            return
        self._start_receiving(channel)

    def _start_receiving(self, channel: Channel) -> None:
        super().start_receiving(channel)
        self._jobs.work_on(outbox_queue(channel.name), OUTBOX_CONCURRENCY)

    def _start_work(self) -> None:
        self._jobs.work_on("turn", self.config().concurrency)
        self._jobs.work_on("urgent", URGENT_CONCURRENCY)
        self._jobs.work_on("facts", FACTS_CONCURRENCY)
        self._membership.run_in_one_process("care", self._run_maintenance)
        self._membership.run_in_one_process("clock", self._run_scheduler)
        self._membership.run_in_one_process("jobs", self.ticker.run)
        self._membership.run_in_one_process("heartbeat", self.heartbeat.watch)
        self._membership.run_in_one_process("progress", self.progress.watch)
        self._membership.run_in_one_process("files", self.memory_service.watch)
        self._membership.run_in_one_process(
            "models", self.model_notifications.watch
        )  # reports what this process has seen

    async def _run_scheduler(self) -> None:
        await self._scheduler.start()
        await self.memory_service.dreamer.resume()

    async def _run_maintenance(self) -> None:
        """Take over the work of dead processes, until cancelled."""
        await self.memory_service.open()
        rounds = 0
        while True:
            try:
                if has_expired := self._membership.last_beat.has_expired:
                    recovered = await self.store.delivery.recover(alone=False)
                    self.folding.resume(recovered.folds)
                    await self._leases.delete_expired()
                    await self._report_interrupted_approvals()
                    await self.memory_service.open()
                if revived := await self._jobs.revive():
                    log.warning("jobs of a dead process are put back", jobs=revived)
                # What was recovered may have lost its job: one that found nothing to do before has
                # ended.
                if has_expired or rounds % SWEEP_INTERVAL == 0:
                    await self._sweep()
                rounds += 1
            except (StoreError, ConnectorException, OSError) as err:
                log.warning("maintenance failed, it is tried again", error=type(err).__name__)
            await asyncio.sleep(MAINTENANCE_SECONDS)

    async def hold_approval(self, id: str) -> bool:
        held: bool = await self._leases.take(f"{APPROVAL_DUTY}{id}")
        return held

    async def release_approval(self, id: str) -> None:
        try:
            await self._leases.release(f"{APPROVAL_DUTY}{id}")
        except StoreError as err:  # it ends with this process
            log.warning("duty of an approval not released", error=type(err).__name__)

    async def held_approvals(self) -> Set[str]:
        return {name.removeprefix(APPROVAL_DUTY) for name in await self._leases.held(APPROVAL_DUTY)}

    async def _report_interrupted_approvals(self) -> None:
        """Let the model see the approved calls whose process died; one that ran may have had its
        effect.
        """
        found = await self.approvals.report_interrupted()
        if new := [row for row in found if row.key not in self._reported]:
            await self.store.delivery.accept(new)
        self._reported = {row.key for row in found}

    async def _sweep(self) -> None:
        """Wake every queue with open rows that has no waiting job, and report what a dead process
        left.
        """
        await self._report_interrupted_approvals()
        await self.file_changes.resume(self.store.now() - PATCH_SECONDS)
        await self._jobs.delete_failed()
        for conversation in await self.store.delivery.waiting():
            self.turn_dispatcher.wake(conversation)
        for conversation in await self.store.delivery.unsent():
            self.outbox_dispatcher.wake(conversation)

    def _status(self) -> Mapping[str, Any]:
        """Return the status that this process publishes."""
        channels = {
            name: channel_status_to_json(state) for name, state in self._local_channels().items()
        }
        zones = {"zones": self.job_times.version} if self.job_times.version else {}
        return {"role": self._role, **self._quiescer.status(), **zones, "channels": channels}

    def _local_channels(self) -> dict[str, ChannelStatus]:
        """Return the status of the channels received here, in times of the database's clock."""
        ahead = self.store.now() - time.time()
        return {
            name: shift_times(state, ahead) for name, state in self.gateway.local_states().items()
        }

    async def _drop_views(self, space: str) -> None:
        self.prompt.drop_all()
        for member in await self.store.links.members(space):
            for conversation in await self.store.sessions.next_seqs(member):
                await self.drop_view(conversation)
