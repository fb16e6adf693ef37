"""The house: every part built once and wired to the others, opened and closed in the order that recovery asks for."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog

from bot.agent.calibration import Calibration
from bot.agent.calls import Calls
from bot.agent.drafting import Drafting
from bot.agent.fit import Fitter
from bot.agent.lining import Lining
from bot.agent.loop import Agent
from bot.agent.opening import Opening
from bot.agent.persona import Persona
from bot.agent.prompt import Prompt
from bot.agent.recalling import Recalling
from bot.agent.report import Report
from bot.brain import Brain
from bot.commands.base import Desk
from bot.commands.router import Router
from bot.config import Config, ConfigFile, Refused
from bot.connecting import changed, channels_of
from bot.counting import counter
from bot.dispatch.local import LocalLanes
from bot.errors import ConfigError, Unusable
from bot.fold_news import FoldNews
from bot.folding import Folding
from bot.gateway import Gateway
from bot.home import Home
from bot.inbound import Inbound
from bot.intake import command_of, ends_turn, load_said
from bot.models.base import Model
from bot.models.offline import Passage
from bot.remembering import MemoryWorks, Remembering
from bot.restoring import make_lean, tell_away
from bot.scheduler import Dreams, Scheduler, drop_old, end_idle
from bot.telling import Teller
from bot.texts import language
from bot.thread_summaries import ThreadSummaries
from bot.tools.registry import Offered
from bot.turn import Turns, Works
from bot.zone import zone_of
from channels.base import Channel
from memory.blobs import Blobs
from memory.context.policy import policy_of
from memory.context.system import Budgets, SystemPart
from memory.fold import Folder
from memory.store.doors import Store
from memory.store.records import Arrival, FoldRow, Stored
from memory.workspace import Workspace

log = structlog.get_logger(__name__)
MANY_LANES = 10_000
DRAIN_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a house stands on: its folder, its configuration, its open record. clock: the time, with its zone."""

    home: Home
    file: ConfigFile
    store: Store
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))


class House:
    """All parts of one running bot."""

    def __init__(self, ground: Ground) -> None:
        self.home, self.file, self.store = ground.home, ground.file, ground.store
        self._clock = ground.clock
        self.started = self.now()
        self.blobs = Blobs(self.home.blobs)
        self.workspace = Workspace(self.home.workspace)
        self.brain = Brain(self.blobs.get, self._passages, self._model_unusable)
        self.remembering = self._remembering()
        self.recall, self.memories = self.remembering.recall, self.remembering.memories
        self.spaces = self.remembering.spaces
        self.gateway = Gateway(self.store.delivery, self._language)
        self.folding = Folding(self._folder(), self.store.folds)
        self.teller = Teller(
            store=self.store,
            gateway=self.gateway,
            language=self._language,
            wake_out=lambda conversation: self.outbox.wake(conversation),
        )
        self.fold_news = FoldNews(store=self.store, gateway=self.gateway, config=self.config, tell=self.teller.tell)
        self.toolset = Offered(self.remembering.tools(self.teller.tell), lambda: tuple(self.config().tools.off))
        persona = Persona(self.workspace, lambda: self.toolset().specs(), lambda: self.gateway.channels)
        self.prompt = Prompt(persona, self.store, self.now)
        self.prompt.cut = self._memory_cut
        self.drafting = Drafting(counter)
        self.lining = Lining(self._summarise)
        self.fitter = Fitter(
            sessions=self.store.sessions,
            folding=self.folding,
            prompt=self.prompt,
            drafting=self.drafting,
            calibration=Calibration(self.store.sessions),
            lining=self.lining,
            config=self.config,
        )
        self.summaries = ThreadSummaries(self.store.sessions, self.folding, self.config, self.fitter.counter)
        self.agent = self._agent()
        self.report = Report(self.store, self.fitter, self.config, self.model_name)
        self.router = Router(self._desk(), lambda: self.gateway.channels, self.gateway.show)
        self.turns = Turns(self._works())
        self.lanes = LocalLanes(self.turns.step, self.config().concurrency)
        self.urgent = LocalLanes(self._urgent, MANY_LANES)
        self.outbox = LocalLanes(self.gateway.send_next, MANY_LANES)
        self.inbound = Inbound(self.store.delivery, self.blobs, self.config, self._noticed)
        self._scheduler = self._clockwork()
        self._tasks: set[asyncio.Task[object]] = set()
        self._held = self.config()
        self._stirred = False
        self.reconfigured: Callable[[Config], None] = lambda config: None

    def config(self) -> Config:
        """The settings that hold now."""
        return self.file.current

    def now(self) -> datetime:
        """The time where the owner is."""
        return self._clock().astimezone(zone_of(self.file.current))

    def model_name(self) -> str:
        """The model that conversations without a choice of their own use."""
        return self.brain.name

    async def open(self, channels: Sequence[Channel], model: Model | None = None) -> None:
        """Recover, then let outbox, turns and receivers start, in that order. model: instead of the configured."""
        self.brain.configure(self.config())
        if model is not None:
            self.brain.use(model)
        for channel in channels:
            self.gateway.add(channel)
        recovered = await self.store.delivery.recover(time.time())
        log.info("recovered", turns=len(recovered.turns), folds=len(recovered.folds), waiting=recovered.inbox_waiting)
        self.folding.resume(recovered.folds)
        await self.remembering.open()
        await tell_away(self.store, self.gateway, self.config().language)
        if self.config().session_restore == "lean":
            await make_lean(self.store, self.folding, self.drafting, self.config(), self.model_name())
        for conversation in await self.store.delivery.unsent():
            self.outbox.wake(conversation)
        for conversation in await self.store.delivery.waiting():
            self.stir()
            self.lanes.wake(conversation)
        for channel in channels:
            self.gateway.listen(channel.name, self.inbound.deliver)
        self._spawn(self._scheduler.start())
        self._spawn(self.remembering.dreamer.resume())
        self._spawn(self.remembering.watch())
        self._spawn(self.file.watch(self._reconfigured, self._misconfigured))

    async def add(self, channel: Channel) -> None:
        """Start one more channel, and send what waits for it."""
        self.gateway.add(channel)
        self.gateway.listen(channel.name, self.inbound.deliver)
        for conversation in await self.store.delivery.unsent():
            self.outbox.wake(conversation)

    async def close(self, patience: float = DRAIN_SECONDS) -> None:
        """Hear nothing new, let what runs end for `patience` seconds; the rest goes on at the next start."""
        for name in list(self.gateway.channels):
            await self.gateway.deafen(name)
        self._scheduler.stop()
        await self.urgent.close(min(patience, 5.0))
        await self.lanes.close(patience)
        await self.turns.close()
        await self.outbox.close(min(patience, 5.0))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.lining.close()
        await self.folding.close()
        await self.remembering.close()
        await self.fitter.calibration.settled()
        await self.gateway.close()
        await self.brain.close()
        await self.store.close()

    async def settled(self) -> None:
        """Wait until every message is answered, every answer sent and every fold done."""
        await self.urgent.settled()
        await self.lanes.settled()
        await self.turns.settled()
        await self.outbox.settled()
        await self.folding.settled()
        await self.lining.settled()
        await self.remembering.settled()
        await self.fitter.calibration.settled()

    def stir(self) -> None:
        """Somebody is here: load, in threads, what the first answer needs, before it is asked for.

        Until then the model's SDK and the token ranks, 100 MB together, are not in memory.
        """
        if not self._stirred:
            self._stirred = True
            self._spawn(self.brain.preload())
            self._spawn(self.drafting.counter())
            self._spawn(self.recall.refresh(""))

    def stop(self, conversation: str) -> bool:
        """End the running turn of a conversation."""
        return self.turns.stop(conversation)

    def _noticed(self, arrival: Arrival, row: Stored) -> None:
        self.stir()
        if arrival.kind == "command" and ends_turn(load_said(arrival.body).text):
            self.turns.stop(row.conversation)
        if arrival.urgent:
            self.urgent.wake(row.id)
        else:
            self.lanes.wake(row.conversation)

    async def _urgent(self, inbox_id: str) -> bool:
        """The step of what overtakes: one row, beside its conversation's lane."""
        row = await self.store.delivery.inbox(inbox_id)
        if row is not None and row.state == "new":
            await self.router.run(row, load_said(row.body))
            self.outbox.wake(row.conversation)
        return False

    async def _passages(self, question: str, conversation: str, space: str) -> list[Passage]:
        return await self.remembering.passages(question, conversation, space)

    async def _language(self, conversation: str) -> str:
        lines = await self.store.sessions.lines(conversation, limit=60)
        words = [line.text for line in lines if line.role == "user" and command_of(line.text) is None]
        return language(words[-1] if words else "", self.config().language)

    def _model_unusable(self, name: str, error: Unusable) -> None:
        log.error("model unusable", model=name, error=type(error).__name__, status=error.status, kind=error.kind)

    async def _reconfigured(self, config: Config) -> None:
        log.info("configuration changed")
        before, self._held = self._held, config
        await self._rechannel(before, config)
        self.reconfigured(config)
        self.brain.configure(config)
        self._scheduler.retime()

    async def _rechannel(self, before: Config, after: Config) -> None:
        """Start, stop or replace the channels whose own settings changed; who may talk is read at each message."""
        try:
            wanted = {channel.name: channel for channel in channels_of(after)}
        except ConfigError as err:
            log.error("channels stay as they are", why=str(err))
            return
        for name in changed(before, after):
            await self.gateway.remove(name)
            if name in wanted:
                await self.add(wanted[name])

    async def _misconfigured(self, trouble: Refused) -> None:
        log.error("config.json is broken, the last good one holds", why=str(trouble))

    async def _nightly(self) -> None:
        now = datetime.now(UTC)
        await end_idle(self.store, self.folding, self.config(), now)
        await drop_old(self.store, self.config(), now)

    def _remembering(self) -> Remembering:
        return Remembering(
            MemoryWorks(
                home=self.home,
                store=self.store,
                workspace=self.workspace,
                config=self.config,
                now=self.now,
                zone=zone_of(self.config()),
                brain=self.brain,
                blobs=self.blobs,
                view_changed=self._view_changed,
                quiet=lambda space: self.turns.quiet(space),
            )
        )

    def _clockwork(self) -> Scheduler:
        dreams = Dreams(at=lambda: self.config().memory.dream_at, now=self.now, night=self.remembering.dreamer.night)
        return Scheduler(zone_of(self.config()), self._nightly, dreams)

    def _folder(self) -> Folder:
        return Folder(
            folds=self.store.folds,
            sessions=self.store.sessions,
            workspace=self.workspace,
            complete=self._summarise,
            counter=counter,
            zone=zone_of(self.config()),
            summary_tokens=lambda policy: policy_of(policy, self.config().policies).numbers.summary_tokens,
            notify=self._fold_moved,
        )

    async def _summarise(self, system: str, prompt: str, max_tokens: int, conversation: str) -> str:
        text, used = await self.brain.complete(system, prompt, max_tokens)
        await self.store.sessions.spend(conversation, [used])
        return text

    def _fold_moved(self, row: FoldRow, state: str) -> None:
        self._spawn(self.fold_news.moved(row, state))

    def _memory_cut(self, conversation: str, part: SystemPart, budgets: Budgets) -> None:
        self._spawn(self.teller.tell_cut(conversation, part, budgets, f"{self.now():%Y-%m}"))

    async def _view_changed(self, conversation: str) -> None:
        """What was shown here is not what is shown now: nothing that was prepared for it is used any more."""
        self.prompt.drop(conversation)
        self.lining.begin(conversation, ())
        await self.folding.let_go(conversation)

    def _agent(self) -> Agent:
        calls = Calls(self.store, self.toolset, self.workspace, self.now, self.drafting)
        return Agent(self.store.sessions, self.fitter, self.drafting, calls, lambda: self.brain.model, self.config)

    def _desk(self) -> Desk:
        return Desk(
            store=self.store,
            config=self.file,
            fitter=self.fitter,
            folding=self.folding,
            workspace=self.workspace,
            report=self.report,
            stop=self.stop,
            health=lambda: self.gateway.health,
            model_name=self.model_name,
            provider=lambda: self.brain.provider,
            now=self.now,
            started=self.started,
            tell=self.teller.tell,
            memories=self.memories,
            recall=self.recall,
            dreamer=self.remembering.dreamer,
            forgetter=self.remembering.forgetter,
        )

    def _works(self) -> Works:
        opening = Opening(
            store=self.store,
            blobs=self.blobs,
            drafting=self.drafting,
            config=self.config,
            model_name=self.model_name,
            now=self.now,
            show=self.gateway.show,
            recalling=Recalling(self.remembering.recall.search, self.remembering.uses, self.config, self.now),
        )
        return Works(
            store=self.store,
            opening=opening,
            drafting=self.drafting,
            fitter=self.fitter,
            agent=self.agent,
            command=self.router.run,
            channels=lambda: self.gateway.channels,
            wake_out=lambda conversation: self.outbox.wake(conversation),
            config=self.config,
            remembered=self.remembering.extractor.wake,
        )

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        task: asyncio.Task[object] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("background task failed", error=type(err).__name__, exc_info=err)
