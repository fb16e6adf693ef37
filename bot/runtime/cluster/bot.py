"""A bot that is not alone on its record: it takes jobs, has duties while it lives, and shows what others say."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal

import structlog
from procrastinate.exceptions import ConnectorException

from bot.access.permissions import LOCAL_CHANNELS
from bot.gateway.channel_status import ChannelStatus, channel_status_from_json, channel_status_to_json, shift_times
from bot.models.base import ModelClient
from bot.runtime.bot import DRAIN_SECONDS, Bot
from bot.runtime.cluster.events import EventBus
from bot.runtime.cluster.jobs import JobQueue, channel_by_conversation, outbox_queue
from bot.runtime.cluster.membership import Membership
from bot.runtime.cluster.quiesce import LocalQuiesce, SpaceQuiescer
from bot.runtime.wiring import BotDependencies
from channels.base import Channel
from memory.recall.postgres_spaces import PostgresSharedIndexes
from memory.store.engine.leases import Leases
from memory.store.engine.postgres import PostgresDatabase
from memory.store.engine.postgres_locks import PostgresWriteLocks
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
ProcessRole = Literal["all", "gateway", "worker"]
URGENT_CONCURRENCY = 32
OUTBOX_CONCURRENCY = 256
MAINTENANCE_SECONDS = 0.5
CONFIG_POLL_SECONDS = 1.0
SWEEP_INTERVAL = 60  # looks after which every lane with something to do is woken once more: what lost its job is found


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterServices:
    """What several processes have in common, as this one holds it."""

    jobs: JobQueue
    #: What leases are renewed over.
    pulse: PostgresDatabase
    leases: Leases
    database: PostgresDatabase
    indexes: PostgresSharedIndexes
    writers: PostgresWriteLocks
    url: str
    lease_seconds: float


class ClusterBot(Bot):
    """One process of a bot. role: gateways have the wires and the page, workers answer, "all" does both."""

    def __init__(self, ground: BotDependencies, shared: ClusterServices, role: ProcessRole) -> None:
        super().__init__(ground)
        self._shared = shared
        self._role = role
        self._elsewhere: dict[str, ChannelStatus] = {}
        self._jobs = shared.jobs
        self._jobs.stopped = self.turns.stop
        self._jobs.place_of = channel_by_conversation(self.store.sessions)
        self._alive = Membership(shared.leases, self._told, shared.lease_seconds)
        here = LocalQuiesce(
            quiet=self.turns.quiet, storing=self.memory_service.lock, anew=self._anew, tell=self._alive.tell
        )
        self._hush = SpaceQuiescer(shared.leases, here, answers=role != "gateway")
        self._bus = EventBus(shared.database, shared.url, self.gateway.show_here)
        self.gateway.elsewhere = self._bus.tell

    async def open(self, channels: Sequence[Channel], model: ModelClient | None = None) -> None:
        self.brain.configure(self.config())
        if model is not None:
            self.brain.use(model)
        self.reception.switch.know(channels)
        self._alive.open()
        self._spawn(self.lag.watch())
        self._spawn(self._follow())
        self._bus.open(listens=self._role != "worker")
        if self._role != "worker":
            self.reception.switch.listen(channels)
            self._spawn(self.channel_news.watch())
        if self._role != "gateway":
            await self._hush.look()
            self._spawn(self._hush.watch())
            self._work()
        self._spawn(self.file.watch(self._reconfigured, self._misconfigured))
        self._spawn(self._close_files())
        self._spawn(self.trouble_news.watch())

    async def close(self, patience: float = DRAIN_SECONDS) -> None:
        await self._jobs.close(patience)
        await super().close(patience)

    def states(self) -> Mapping[str, ChannelStatus]:
        """As whoever hears each channel tells it."""
        told = {**self._elsewhere, **self._heard()}
        return {name: told.get(name) or self._unheard(name) for name in sorted({*told, *self.gateway.channels})}

    def _unheard(self, name: str) -> ChannelStatus:
        return ChannelStatus(name=name, mood="down", since=self.started.timestamp(), why="no gateway hears it")

    async def _follow(self) -> None:
        """Hear what the others tell of their channels, until cancelled."""
        while True:
            try:
                told = [json.loads(text) for text in await self._shared.leases.others() if text]
                self._elsewhere = {
                    name: channel_status_from_json(name, state)
                    for one in told
                    for name, state in one.get("channels", {}).items()
                }
            except StoreError as err:
                log.info("the others are not heard of", error=type(err).__name__)
            await asyncio.sleep(CONFIG_POLL_SECONDS)

    def quiet(self, space: str) -> AbstractAsyncContextManager[None]:
        return self._hush.quiet(space)

    async def _part(self) -> None:
        await self._hush.close()
        await asyncio.to_thread(self._shared.indexes.close)
        await asyncio.to_thread(self._shared.writers.close)
        await self._bus.close()
        await self._alive.close()
        await self._shared.pulse.close()
        await self._jobs.disconnect()

    async def stop(self, conversation: str) -> bool:
        return await self._jobs.stop(conversation)

    def end_turn(self, conversation: str, inbox_id: str) -> None:
        self._jobs.begin(self._end_turn(conversation, inbox_id))

    def hear(self, channel: Channel) -> None:
        """The page is everywhere; every other channel is heard and spoken through by one process at a time."""
        if self._role == "worker":
            return  # a channel that was changed while this runs is begun to be heard elsewhere
        if channel.name in LOCAL_CHANNELS:
            self._start_receiving(channel)
        else:
            self._alive.duty(f"hear {channel.name}", lambda: self._lead_channel(channel.name))

    async def _lead_channel(self, name: str) -> None:
        channel = self.gateway.channels.get(name)
        if channel is None:  # switched off meanwhile
            await self._shared.leases.release(f"hear {name}")
            return
        self._start_receiving(channel)

    def _start_receiving(self, channel: Channel) -> None:
        super().hear(channel)
        self._jobs.serve([outbox_queue(channel.name)], OUTBOX_CONCURRENCY)

    def _work(self) -> None:
        self._jobs.serve(["turn"], self.config().concurrency)
        self._jobs.serve(["urgent"], URGENT_CONCURRENCY)
        self._jobs.serve(["facts"], 4)
        self._alive.duty("care", self._run_maintenance)
        self._alive.duty("clock", self._start_scheduler)
        self._alive.duty("files", self.memory_service.watch)
        self._alive.duty("models", self.model_news.watch)  # one tells the owner, by what it has seen itself

    async def _start_scheduler(self) -> None:
        await self._scheduler.start()
        await self.memory_service.dreamer.resume()

    async def _run_maintenance(self) -> None:
        """Look after what the dead have left, for as long as this process lives."""
        await self.memory_service.open()
        looks = 0
        while True:
            try:
                if await self._shared.leases.dead():
                    recovered = await self.store.delivery.recover(self.store.now(), alone=False)
                    self.folding.resume(recovered.folds)
                    await self._shared.leases.delete_expired()
                    await self.memory_service.open()
                if revived := await self._jobs.revive():
                    log.warning("jobs of a process that is gone go on", jobs=revived)
                if looks % SWEEP_INTERVAL == 0:
                    await self._sweep()
                looks += 1
            except (StoreError, ConnectorException, OSError) as err:
                log.warning("nobody was looked after", error=type(err).__name__)
            await asyncio.sleep(MAINTENANCE_SECONDS)

    async def _sweep(self) -> None:
        idle = await self._jobs.idle("turn", await self.store.delivery.waiting())
        for conversation in idle:
            self.lanes.wake(conversation)
        for conversation in await self._jobs.idle("out", await self.store.delivery.unsent()):
            self.outbox.wake(conversation)

    async def _end_turn(self, conversation: str, inbox_id: str) -> None:
        row = await self.store.delivery.inbox(inbox_id) if inbox_id else None
        if not inbox_id or (row is not None and row.state == "running"):
            await self._jobs.stop(conversation)

    def _told(self) -> Mapping[str, Any]:
        channels = {name: channel_status_to_json(state) for name, state in self._heard().items()}
        return {"role": self._role, **self._hush.told(), "channels": channels}

    def _heard(self) -> dict[str, ChannelStatus]:
        """The channels that are heard here, in times of the clock that all processes go by."""
        ahead = self.store.now() - time.time()
        return {name: shift_times(state, ahead) for name, state in self.gateway.heard().items()}

    async def _anew(self, space: str) -> None:
        for member in await self.store.links.members(space):
            for conversation in await self.store.sessions.ends(member):
                await self._view_changed(conversation)
