"""A house that is not alone on its record: it takes jobs, has duties while it lives, and shows what others say."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal

import structlog
from procrastinate.exceptions import ConnectorException

from bot.access.permissions import LOCAL
from bot.gateway.channel_status import State, as_json, moved_by, of_json
from bot.models.base import Model
from bot.runtime.bot import DRAIN_SECONDS, House
from bot.runtime.cluster.events import Bus
from bot.runtime.cluster.jobs import Jobs, channel_of, out_queue
from bot.runtime.cluster.membership import Alive
from bot.runtime.cluster.quiesce import Hush, Own
from bot.runtime.wiring import Ground
from channels.base import Channel
from memory.recall.postgres_spaces import PostgresShared
from memory.store.engine.leases import Leases
from memory.store.engine.postgres import PostgresDatabase
from memory.store.engine.postgres_locks import PostgresWriters
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
Role = Literal["all", "gateway", "worker"]
URGENT_PLACES = 32
OUT_PLACES = 256
CARE_SECONDS = 0.5
FOLLOW_SECONDS = 1.0
SWEEP_EVERY = 60
"""Looks after which every lane with something to do is woken once more: what lost its job is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What several processes have in common, as this one holds it. pulse: what leases are renewed over."""

    jobs: Jobs
    pulse: PostgresDatabase
    leases: Leases
    database: PostgresDatabase
    indexes: PostgresShared
    writers: PostgresWriters
    url: str
    lease_seconds: float


class SharedHouse(House):
    """One process of a bot. role: gateways have the wires and the page, workers answer, "all" does both."""

    def __init__(self, ground: Ground, shared: Shared, role: Role) -> None:
        super().__init__(ground)
        self._shared = shared
        self._role = role
        self._elsewhere: dict[str, State] = {}
        self._jobs = shared.jobs
        self._jobs.stopped = self.turns.stop
        self._jobs.place_of = channel_of(self.store.sessions)
        self._alive = Alive(shared.leases, self._told, shared.lease_seconds)
        here = Own(quiet=self.turns.quiet, storing=self.remembering.lock, anew=self._anew, tell=self._alive.tell)
        self._hush = Hush(shared.leases, here, answers=role != "gateway")
        self._bus = Bus(shared.database, shared.url, self.gateway.show_here)
        self.gateway.elsewhere = self._bus.tell

    async def open(self, channels: Sequence[Channel], model: Model | None = None) -> None:
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

    def states(self) -> Mapping[str, State]:
        """As whoever hears each channel tells it."""
        told = {**self._elsewhere, **self._heard()}
        return {name: told.get(name) or self._unheard(name) for name in sorted({*told, *self.gateway.channels})}

    def _unheard(self, name: str) -> State:
        return State(name=name, mood="down", since=self.started.timestamp(), why="no gateway hears it")

    async def _follow(self) -> None:
        """Hear what the others tell of their channels, until cancelled."""
        while True:
            try:
                told = [json.loads(text) for text in await self._shared.leases.others() if text]
                self._elsewhere = {
                    name: of_json(name, state) for one in told for name, state in one.get("channels", {}).items()
                }
            except StoreError as err:
                log.info("the others are not heard of", error=type(err).__name__)
            await asyncio.sleep(FOLLOW_SECONDS)

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
        if channel.name in LOCAL:
            self._begin_to_hear(channel)
        else:
            self._alive.duty(f"hear {channel.name}", lambda: self._on_duty(channel.name))

    async def _on_duty(self, name: str) -> None:
        channel = self.gateway.channels.get(name)
        if channel is None:  # switched off meanwhile
            await self._shared.leases.let_go(f"hear {name}")
            return
        self._begin_to_hear(channel)

    def _begin_to_hear(self, channel: Channel) -> None:
        super().hear(channel)
        self._jobs.serve([out_queue(channel.name)], OUT_PLACES)

    def _work(self) -> None:
        self._jobs.serve(["turn"], self.config().concurrency)
        self._jobs.serve(["urgent"], URGENT_PLACES)
        self._jobs.serve(["facts"], 4)
        self._alive.duty("care", self._care)
        self._alive.duty("clock", self._clock_starts)
        self._alive.duty("files", self.remembering.watch)
        self._alive.duty("models", self.model_news.watch)  # one tells the owner, by what it has seen itself

    async def _clock_starts(self) -> None:
        await self._scheduler.start()
        await self.remembering.dreamer.resume()

    async def _care(self) -> None:
        """Look after what the dead have left, for as long as this process lives."""
        await self.remembering.open()
        looks = 0
        while True:
            try:
                if await self._shared.leases.dead():
                    recovered = await self.store.delivery.recover(self.store.now(), alone=False)
                    self.folding.resume(recovered.folds)
                    await self._shared.leases.bury()
                    await self.remembering.open()
                if revived := await self._jobs.revive():
                    log.warning("jobs of a process that is gone go on", jobs=revived)
                if looks % SWEEP_EVERY == 0:
                    await self._sweep()
                looks += 1
            except (StoreError, ConnectorException, OSError) as err:
                log.warning("nobody was looked after", error=type(err).__name__)
            await asyncio.sleep(CARE_SECONDS)

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
        channels = {name: as_json(state) for name, state in self._heard().items()}
        return {"role": self._role, **self._hush.told(), "channels": channels}

    def _heard(self) -> dict[str, State]:
        """The channels that are heard here, in times of the clock that all processes go by."""
        ahead = self.store.now() - time.time()
        return {name: moved_by(state, ahead) for name, state in self.gateway.heard().items()}

    async def _anew(self, space: str) -> None:
        for member in await self.store.links.members(space):
            for conversation in await self.store.sessions.ends(member):
                await self._view_changed(conversation)
