"""All parts of a house, each built once and wired to the others."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog

from bot.access.budget_guard import Budgeting
from bot.access.pairing import Pairing
from bot.access.roles import Roles
from bot.access.storage_quota import Kept, Storage
from bot.agent.approvals import Approvals
from bot.agent.context_fitter import Fitter
from bot.agent.context_report import Report
from bot.agent.folding import Folding
from bot.agent.loop import Agent
from bot.agent.prompt import Persona, Prompt
from bot.agent.thread_summary import ThreadSummaries
from bot.agent.token_calibration import Calibration, counter
from bot.agent.tool_calls import Bench, Calls
from bot.agent.tool_lines import Lining
from bot.agent.turn import Opening, Turns, Works
from bot.agent.turn_context import USUAL, Drafting, Times
from bot.commands.base import Desk
from bot.commands.router import Router
from bot.config.file import ConfigFile
from bot.config.home import Home
from bot.config.schema import Config, zone_of
from bot.dispatch import Lanes, LanesOf, local
from bot.gateway.channel_manager import Switch
from bot.gateway.channel_status import State
from bot.gateway.downloads import Fetching
from bot.gateway.gateway import Gateway
from bot.gateway.notifications import ChannelNews, FoldNews, ModelNews, OwnersChat, Spoken, Teller
from bot.gateway.receiver import Inbound, Listeners
from bot.memory.recall import Recalling
from bot.memory.service import MemoryWorks, Remembering
from bot.messages import address_of, ends_turn, load_said
from bot.models.providers.offline import Passage
from bot.models.service import Brain, Summariser, log_unusable
from bot.runtime.metrics import Metrics, Watched
from bot.runtime.retention import Retaining
from bot.runtime.scheduler import Dreams, Scheduler, tidy
from bot.telemetry.faults import TroubleNews, Troubles
from bot.telemetry.loop_lag import LoopLag
from bot.telemetry.recorder import Signals
from bot.tools.registry import Offered
from bot.tools.send_file import Outwards
from channels.base import Channel
from channels.message import Address, InboundMessage, LiveEvent
from memory.context.policies.policies import policy_of
from memory.context.system_prompt import Budgets
from memory.conversation import SystemPart
from memory.folding import Folder
from memory.recall.sqlite_index import Shared
from memory.store.engine.database import Lane
from memory.store.rows import Arrival, FoldRow, Stored
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace
from memory.workspace.locks import LOCAL, Writers

# What a house stands on.


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a house stands on: its folder, its configuration, its open record.

    clock: the time, with its zone. lanes_of: the engine that runs its lanes. indexes: of recall, where they are not
    files of this home. signals: what is told of all that happens. writers: who keeps apart what writes the workspace.
    times: of one turn. troubles: faults of this machine that the owner has to know of.
    """

    home: Home
    file: ConfigFile
    store: Store
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    lanes_of: LanesOf = local
    indexes: Shared | None = None
    signals: Signals = field(default_factory=Signals)
    writers: Writers = LOCAL
    times: Times = USUAL
    troubles: Troubles = field(default_factory=Troubles)


# Who comes in: channels are heard, what they hear is stored, and once a row is in the record its lane wakes.

MANY_LANES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things go.

    stop: ends the running turn of a conversation, or only the one that answers that inbox row. hear: begins to hear a
    channel. met: told of strangers and of groups that took us in; moved: of a chat and its new id; stir: somebody is
    here; take: see Storage.take.
    """

    store: Store
    blobs: Blobs
    config: Callable[[], Config]
    roles: Roles
    gateway: Gateway
    fetching: Fetching
    router: Router
    stop: Callable[[str, str], object]
    hear: Callable[[Channel], object]
    lanes: Lanes
    outbox: Lanes
    lanes_of: LanesOf
    met: Callable[[InboundMessage, Stored], Awaitable[None]]
    moved: Callable[[Address, str], Awaitable[None]]
    stir: Callable[[], None]
    take: Callable[[str, int], Awaitable[None]]
    signals: Signals


class Reception:
    """What `Inbound` tells of each new row, and the lane of what overtakes the queue. switch: channels on and off."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.urgent = places.lanes_of("urgent", self._urgent, MANY_LANES)
        told = Listeners(
            noticed=self.noticed,
            met=self.met,
            withdrawn=self.withdrawn,
            moved=places.moved,
            take=places.take,
            signals=places.signals,
        )
        self.inbound = Inbound(places.store, places.blobs, places.roles, places.config, told)
        self.switch = Switch(
            gateway=places.gateway,
            outbox=places.outbox,
            lanes=places.lanes,
            delivery=places.store.delivery,
            hear=lambda channel: places.hear(channel),
        )

    def noticed(self, arrival: Arrival, row: Stored) -> None:
        """Something to do, in a lane whose bell has rung: a command may end what runs, files are fetched ahead."""
        places = self._places
        places.stir()
        if arrival.kind == "command" and ends_turn(load_said(arrival.body).text):
            places.stop(row.conversation, "")
        for file in load_said(arrival.body).files:
            if file.ref and not file.sha256:
                places.fetching.begin(arrival.place.channel, file.ref, arrival.place.space)
        channel = places.gateway.channels.get(arrival.place.channel)
        if channel is not None and channel.capabilities.asks_first:
            places.gateway.show(LiveEvent(address=address_of(arrival.place), name="accepted", message_id=row.id))

    async def met(self, message: InboundMessage, row: Stored) -> None:
        """A stranger wrote, or we were taken into a group."""
        await self._places.met(message, row)

    def withdrawn(self, row: Stored) -> None:
        """A message was taken back by its writer: its answer is not gone on with."""
        self._places.stop(row.meant_in, row.meant)

    async def _urgent(self, inbox_id: str) -> bool:
        """The step of what overtakes: one row, beside its conversation's lane."""
        places = self._places
        began, row = time.perf_counter(), await places.store.delivery.inbox(inbox_id)
        if row is not None and row.state == "new":
            await places.router.run(row, load_said(row.body))
            places.signals.handled(row.trace_id, "command", began)
        return False


log = structlog.get_logger(__name__)


class Parts:
    """What a house is made of; `House` gives it a life."""

    def __init__(self, ground: Ground) -> None:
        self.home, self.file, self.store, self.signals = ground.home, ground.file, ground.store, ground.signals
        self._clock, self._lanes_of, self._indexes = ground.clock, ground.lanes_of, ground.indexes
        self._times, self.troubles = ground.times, ground.troubles
        self.started = self.now()
        self.blobs = Blobs(self.home.blobs)
        self.workspace = Workspace(self.home.workspace, ground.writers)
        self.brain = Brain(self.blobs.get, self._passages, log_unusable, self.signals)
        self._summarise = Summariser(self.brain, self.store.sessions)
        self.remembering = self._remembering()
        self.recall, self.memories = self.remembering.recall, self.remembering.memories
        self.spaces = self.remembering.spaces
        self._language = Spoken(self.store.sessions, self.config)
        self.gateway = Gateway(self.store, self.blobs, self._language, self._moved_to, self.signals)
        self.roles = Roles(self.config, self.store.access)
        self.folding = Folding(self._folder(), self.store.folds)
        self.teller = self._teller()
        self.pairing = self._pairing()
        owner = OwnersChat(sessions=self.store.sessions, states=self.states, tell=self.teller.tell)
        self.channel_news = ChannelNews(self.gateway.states, owner)
        self.model_news = ModelNews(self.brain.states, owner)
        self.trouble_news = TroubleNews(self.troubles, lambda: self.prompt.look_at_files(), owner)
        self.fold_news = FoldNews(store=self.store, gateway=self.gateway, config=self.config, tell=self.teller.tell)
        kept = Kept(store=self.store, blobs=self.blobs, workspace=self.workspace)
        self.storage = Storage(kept, self.config, self.now, owner)
        self.fetching = Fetching(self.gateway.fetch, self.blobs, self.storage.take)
        spending, channels = self.store.spending, lambda: self.gateway.channels
        self.budgeting = Budgeting(spending, self.config, self.now, channels, owner, self.storage)
        self.toolset = self._offered()
        self.prompt = self._prompt()
        self.drafting = Drafting(counter)
        self.lining = Lining(self._summarise)
        self.fitter = self._fitter()
        self.summaries = ThreadSummaries(self.store.sessions, self.folding, self.config, self.fitter.counter)
        self.approvals = self._approvals()
        self.agent = self._agent()
        self.report = Report(self.store, self.fitter, self.config, self.model_name)
        self.router = Router(self._desk(), lambda: self.gateway.channels, self.gateway.show, self.signals.denied)
        self.turns = Turns(self._works())
        self.lanes = self._lanes_of("turn", self.turns.step, self.config().concurrency)
        self.outbox = self._lanes_of("out", self.gateway.send_next, MANY_LANES)
        self.reception = self._reception()
        self.urgent, self.inbound = self.reception.urgent, self.reception.inbound
        self.store.rings(self._rung)
        self.lag = LoopLag()
        self.metrics = self._metrics()
        self._scheduler = self._clockwork()
        self._tasks: set[asyncio.Task[object]] = set()
        self._held, self._stirred = self.config(), False
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

    def states(self) -> Mapping[str, State]:
        """How every channel is."""
        return self.gateway.states()

    def stir(self) -> None:
        """Somebody is here: load, in threads, what the first answer needs, before it is asked for.

        Until then the model's SDK and the token ranks, 100 MB together, are not in memory.
        """
        if not self._stirred:
            self._stirred = True
            self._spawn(self.brain.preload())
            self._spawn(self.drafting.counter())
            self._spawn(self.recall.refresh(""))

    async def stop(self, conversation: str) -> bool:
        """End the running turn of a conversation; False when none runs."""
        return self.turns.stop(conversation)

    def quiet(self, space: str) -> AbstractAsyncContextManager[None]:
        """While it is entered, no turn runs in a space."""
        return self.turns.quiet(space)

    def hear(self, channel: Channel) -> None:
        """Begin to hear a channel that is known."""
        self.gateway.listen(channel.name, self.inbound.ear(channel.name))

    def end_turn(self, conversation: str, inbox_id: str) -> None:
        """The same, begun at once. inbox_id: only where it answers that row, "" for any."""
        self.turns.stop(conversation, inbox_id)

    async def _passages(self, question: str, conversation: str, space: str) -> list[Passage]:
        return await self.remembering.passages(question, conversation, space)

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
                quiet=lambda space: self.quiet(space),
                lanes_of=self._lanes_of,
                indexes=self._indexes,
            )
        )

    def _prompt(self) -> Prompt:
        specs, channels = (lambda: self.toolset().specs()), (lambda: self.gateway.channels)
        copy = self.home.soul_copy
        persona = Persona(self.workspace, specs, channels, troubles=self.troubles, last_good=copy)
        prompt = Prompt(persona, self.store, self.now)
        prompt.cut = self._memory_cut
        return prompt

    def _teller(self) -> Teller:
        return Teller(store=self.store, gateway=self.gateway, language=self._language)

    async def _moved_to(self, address: Address, chat_id: str) -> None:
        await self.pairing.moved(address, chat_id)

    def _pairing(self) -> Pairing:
        return Pairing(
            access=self.store.access,
            roles=self.roles,
            config=self.config,
            now=self.now,
            channels=lambda: self.gateway.channels,
            spoken=self._language,
            ended=self.stop,
        )

    def _approvals(self) -> Approvals:
        return Approvals(
            access=self.store.access,
            toolset=self.toolset,
            workspace=self.workspace,
            now=self.now,
            channels=lambda: self.gateway.channels,
        )

    def _reception(self) -> Reception:
        return Reception(
            Places(
                store=self.store,
                blobs=self.blobs,
                config=self.config,
                roles=self.roles,
                gateway=self.gateway,
                fetching=self.fetching,
                router=self.router,
                stop=self.end_turn,
                hear=self.hear,
                lanes=self.lanes,
                outbox=self.outbox,
                lanes_of=self._lanes_of,
                met=self.pairing.met,
                moved=self.pairing.moved,
                take=self.storage.take,
                stir=self.stir,
                signals=self.signals,
            )
        )

    def _fitter(self) -> Fitter:
        return Fitter(
            sessions=self.store.sessions,
            folding=self.folding,
            prompt=self.prompt,
            drafting=self.drafting,
            calibration=Calibration(self.store.sessions),
            lining=self.lining,
            config=self.config,
            signals=self.signals,
        )

    def _metrics(self) -> Metrics:
        return Metrics(
            Watched(
                store=self.store,
                root=self.home.root,
                started=self.started,
                tally=self.signals.tally,
                channels=self.gateway.heard,
                lag=self.lag.worst,
            )
        )

    def _offered(self) -> Offered:
        remembering = self.remembering.tools(self.teller.tell)
        return Offered(remembering, self._outwards(), lambda: tuple(self.config().tools.off))

    def _outwards(self) -> Outwards:
        return Outwards(
            store=self.store,
            workspace=self.workspace,
            blobs=self.blobs,
            channels=lambda: self.gateway.channels,
        )

    def _clockwork(self) -> Scheduler:
        dreams = Dreams(at=lambda: self.config().memory.dream_at, now=self.now, night=self.remembering.dreamer.night)
        retaining = Retaining(store=self.store, blobs=self.blobs, data=self.home.data)
        nightly = partial(tidy, self.store, self.folding, self.config, retaining)
        return Scheduler(zone_of(self.config()), nightly, dreams)

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
        self.bench = Bench(
            store=self.store,
            toolset=self.toolset,
            workspace=self.workspace,
            now=self.now,
            drafting=self.drafting,
            approvals=self.approvals,
            roles=self.roles,
            signals=self.signals,
            budgeting=self.budgeting,
        )
        calls, model = Calls(self.bench), lambda: self.brain.model
        return Agent(self.store.sessions, self.fitter, self.drafting, calls, model, self.config)

    def _desk(self) -> Desk:
        return Desk(
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
            dreamer=self.remembering.dreamer,
            forgetter=self.remembering.forgetter,
            roles=self.roles,
            pairing=self.pairing,
            approvals=self.approvals,
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
            roles=self.roles,
            fetching=self.fetching,
            budgeting=self.budgeting,
            times=self._times,
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
            config=self.config,
            wake=lambda conversation, when: self.lanes.wake(conversation, when),
            signals=self.signals,
            troubles=self.troubles,
        )

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        task: asyncio.Task[object] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _rung(self, rung: Sequence[Lane]) -> None:
        """Rows were stored that ask for work."""
        lanes: dict[str, Lanes] = {"turn": self.lanes, "out": self.outbox, "urgent": self.urgent}
        for lane in rung:
            (lanes.get(lane.kind) or self.remembering.extractor.lanes).wake(lane.id, lane.due)

    def _done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("background task failed", error=type(err).__name__, exc_info=err)
