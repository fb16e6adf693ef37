"""The house: its parts opened and closed in the order that recovery asks for, and kept in step with config.json."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog

from bot.access.audit import note_head
from bot.agent.context_fitter import fold_plan, limits_of
from bot.agent.folding import Folding
from bot.agent.turn_context import Drafting
from bot.config.messages import Refused
from bot.config.private_files import close_entries
from bot.config.schema import Config
from bot.gateway.channel_manager import begun_in
from bot.gateway.gateway import Gateway
from bot.messages import outgoing
from bot.models.base import Model
from bot.runtime.wiring import Parts
from bot.texts import language, say, span
from channels.base import Channel
from memory.context.policies.planner import plan
from memory.context.policies.policies import LEAN
from memory.failpoints import afp
from memory.store.store import Store
from memory.tasks import end

# What a house does once after a restart: tells people what waited, and makes views lean where that is wanted.

LATE = timedelta(minutes=10)
MOST_LINES = 200
MOST_CONVERSATIONS = 10_000


async def tell_away(store: Store, gateway: Gateway, setting: str) -> None:
    """One notice per conversation whose messages have waited for over ten minutes; the answers follow it."""
    now = datetime.fromtimestamp(store.now(), UTC)
    for conversation in await store.delivery.waiting():
        lines = await store.sessions.lines(conversation, limit=MOST_LINES)
        late = [line for line in lines if line.role == "user" and line.state == "new" and now - line.at > LATE]
        row = await store.sessions.conversation(conversation)
        channel = gateway.channels.get(row.place.channel) if row else None
        if not late or channel is None:
            continue
        lang = language(late[-1].text, setting)
        text = say(lang, "away", span=span(now - late[0].at, lang), count=len(late))
        await store.delivery.notify(conversation, f"away:{late[-1].id}", outgoing(text, "notice", channel.capabilities))


async def make_lean(store: Store, folding: Folding, drafting: Drafting, config: Config, model: str) -> None:
    """`session_restore` "lean": the newest turns stay, as question and answer; what is left out is folded first."""
    counter = await drafting.counter()
    limits = limits_of(config, model, 1.0)
    for row in await store.sessions.conversations(limit=MOST_CONVERSATIONS):
        session = await store.sessions.load(row.id)
        planned = plan(session, LEAN, limits, 0, counter)
        if planned.reductions:
            await store.sessions.reduce(row.id, planned.reductions, "lean restart")
        if planned.fold is not None:
            await folding.begin(fold_plan(session, planned.fold, LEAN.name, counter))


log = structlog.get_logger(__name__)
DRAIN_SECONDS = 20.0


class House(Parts):
    """One running bot."""

    async def open(self, channels: Sequence[Channel], model: Model | None = None) -> None:
        """Recover, then let outbox, turns and receivers start, in that order. model: instead of the configured."""
        self.brain.configure(self.config())
        if model is not None:
            self.brain.use(model)
        self.reception.switch.know(channels)
        recovered = await self.store.delivery.recover(self.store.now())
        log.info("recovered", turns=len(recovered.turns), folds=len(recovered.folds), waiting=recovered.inbox_waiting)
        self.signals.unknown(recovered.sends_unknown)
        self.folding.resume(recovered.folds)
        await self.remembering.open()
        await afp("recover.r5")
        await note_head(self.store, self.home.data, self.now())
        await tell_away(self.store, self.gateway, self.config().language)
        await afp("recover.r11")
        if self.config().session_restore == "lean":
            await make_lean(self.store, self.folding, self.drafting, self.config(), self.model_name())
        for conversation in await self.store.delivery.unsent():
            self.outbox.wake(conversation)
        for conversation in await self.store.delivery.waiting():
            self.stir()
            self.lanes.wake(conversation)
        self.reception.switch.listen(channels)
        await afp("recover.r13")
        self._spawn(self.lag.watch())
        self._spawn(self._scheduler.start())
        self._spawn(self.remembering.dreamer.resume())
        self._spawn(self.remembering.watch())
        self._spawn(self.channel_news.watch())
        self._spawn(self.model_news.watch())
        self._spawn(self.trouble_news.watch())
        self._spawn(self.file.watch(self._reconfigured, self._misconfigured))
        self._spawn(self._close_files())

    async def close(self, patience: float = DRAIN_SECONDS) -> None:
        """Hear nothing new, let what runs end for `patience` seconds; the rest goes on at the next start."""
        for name in list(self.gateway.channels):
            await self.gateway.deafen(name)
        self._scheduler.stop()
        await self.urgent.close(min(patience, 5.0))
        await self.lanes.close(patience)
        await self.turns.close()
        await self.outbox.close(min(patience, 5.0))
        await end(self._tasks)
        await self.lining.close()
        await self.folding.close()
        await self.remembering.close()
        await self.fitter.calibration.settled()
        await self.fetching.close()
        await self.gateway.close()
        await self.brain.close()
        await note_head(self.store, self.home.data, self.now())
        await self._part()
        await self.store.close()
        await self.signals.close()

    async def _close_files(self) -> None:
        """Take away what other accounts may do with files of an older version, or of an editor."""
        closed = await asyncio.to_thread(close_entries, self.home)
        if closed:
            log.warning("other accounts could open files here", count=len(closed), first=str(closed[0].path))

    async def _part(self) -> None:
        """Just before the record is closed; for houses that are not alone on theirs."""

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

    async def _reconfigured(self, config: Config) -> None:
        log.info("configuration changed")
        before, self._held = self._held, config
        await self.reception.switch.follow(before, config, begun_in(self.file))
        await self.store.note("config.reload", "", "in force", "", args=self.file.masked())
        self.reconfigured(config)
        self.brain.configure(config)
        self._scheduler.retime()

    async def _misconfigured(self, trouble: Refused) -> None:
        log.error("config.json is broken, the last good one holds", why=str(trouble))
