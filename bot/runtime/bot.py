"""The bot: its parts opened and closed in the order that recovery asks for, and kept in step with config.json."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog

from bot.access.audit import record_checkpoint
from bot.agent.context_fitter import build_fold_plan, request_limits
from bot.agent.folding import FoldManager
from bot.agent.turn_context import MessageCounter
from bot.config.home import close_entries
from bot.config.messages import ConfigRejected
from bot.config.schema import Config
from bot.gateway.channel_manager import partly_configured_channels
from bot.gateway.gateway import Gateway
from bot.messages import split_reply
from bot.models.base import ModelClient
from bot.runtime.wiring import Components
from bot.texts import format_span, format_text, resolve_language
from channels.base import Channel
from memory.context.policies.planner import plan_context
from memory.context.policies.policies import LEAN
from memory.failpoints import hit_async
from memory.store.store import Store
from memory.tasks import cancel_and_wait

# What a bot does once after a restart: tells people what waited, and makes views lean where that is wanted.

AWAY_AFTER = timedelta(minutes=10)
MAX_RESTORED_LINES = 200
MAX_RESTORED_CONVERSATIONS = 10_000


async def notify_away(store: Store, gateway: Gateway, setting: str) -> None:
    """One notice per conversation whose messages have waited for over ten minutes; the answers follow it."""
    now = datetime.fromtimestamp(store.now(), UTC)
    for conversation in await store.delivery.waiting():
        lines = await store.sessions.lines(conversation, limit=MAX_RESTORED_LINES)
        late = [line for line in lines if line.role == "user" and line.state == "new" and now - line.at > AWAY_AFTER]
        row = await store.sessions.conversation(conversation)
        channel = gateway.channels.get(row.place.channel) if row else None
        if not late or channel is None:
            continue
        lang = resolve_language(late[-1].text, setting)
        text = format_text(lang, "away", span=format_span(now - late[0].at, lang), count=len(late))
        await store.delivery.notify(
            conversation, f"away:{late[-1].id}", split_reply(text, "notice", channel.capabilities)
        )


async def restore_lean(
    store: Store, folding: FoldManager, message_counter: MessageCounter, config: Config, model: str
) -> None:
    """`session_restore` "lean": the newest turns stay, as question and answer; what is left out is folded first."""
    counter = await message_counter.counter()
    limits = request_limits(config, model, 1.0)
    for row in await store.sessions.conversations(limit=MAX_RESTORED_CONVERSATIONS):
        session = await store.sessions.load(row.id)
        planned = plan_context(session, LEAN, limits, 0, counter)
        if planned.reductions:
            await store.sessions.reduce(row.id, planned.reductions, "lean restart")
        if planned.fold is not None:
            await folding.begin(build_fold_plan(session, planned.fold, LEAN.name, counter))


log = structlog.get_logger(__name__)
DRAIN_SECONDS = 20.0


class Bot(Components):
    """One running bot."""

    async def open(self, channels: Sequence[Channel], model: ModelClient | None = None) -> None:
        """Recover, then let outbox, turns and receivers start, in that order. model: instead of the configured."""
        self.brain.configure(self.config())
        if model is not None:
            self.brain.use(model)
        self.reception.switch.know(channels)
        recovered = await self.store.delivery.recover(self.store.now())
        log.info("recovered", turns=len(recovered.turns), folds=len(recovered.folds), waiting=recovered.inbox_waiting)
        self.telemetry.unknown(recovered.sends_unknown)
        self.folding.resume(recovered.folds)
        await self.memory_service.open()
        await hit_async("recover.r5")
        await record_checkpoint(self.store, self.home.data, self.now())
        await notify_away(self.store, self.gateway, self.config().language)
        await hit_async("recover.r11")
        if self.config().session_restore == "lean":
            await restore_lean(self.store, self.folding, self.message_counter, self.config(), self.model_name())
        for conversation in await self.store.delivery.unsent():
            self.outbox.wake(conversation)
        for conversation in await self.store.delivery.waiting():
            self.warm_up()
            self.lanes.wake(conversation)
        self.reception.switch.listen(channels)
        await hit_async("recover.r13")
        self._spawn(self.lag.watch())
        self._spawn(self._scheduler.start())
        self._spawn(self.memory_service.dreamer.resume())
        self._spawn(self.memory_service.watch())
        self._spawn(self.channel_news.watch())
        self._spawn(self.model_news.watch())
        self._spawn(self.trouble_news.watch())
        self._spawn(self.file.watch(self._reconfigured, self._misconfigured))
        self._spawn(self._close_files())

    async def close(self, patience: float = DRAIN_SECONDS) -> None:
        """Hear nothing new, let what runs end for `patience` seconds; the rest goes on at the next start."""
        for name in list(self.gateway.channels):
            await self.gateway.stop_receiving(name)
        self._scheduler.stop()
        await self.urgent.close(min(patience, 5.0))
        await self.lanes.close(patience)
        await self.turns.close()
        await self.outbox.close(min(patience, 5.0))
        await cancel_and_wait(self._tasks)
        await self.lining.close()
        await self.folding.close()
        await self.memory_service.close()
        await self.fitter.calibration.settled()
        await self.downloads.close()
        await self.gateway.close()
        await self.brain.close()
        await record_checkpoint(self.store, self.home.data, self.now())
        await self._part()
        await self.store.close()
        await self.telemetry.close()

    async def _close_files(self) -> None:
        """Take away what other accounts may do with files of an older version, or of an editor."""
        closed = await asyncio.to_thread(close_entries, self.home)
        if closed:
            log.warning("other accounts could open files here", count=len(closed), first=str(closed[0].path))

    async def _part(self) -> None:
        """Just before the store is closed; for bots that are not alone on theirs."""

    async def settled(self) -> None:
        """Wait until every message is answered, every answer sent and every fold done."""
        await self.urgent.settled()
        await self.lanes.settled()
        await self.turns.settled()
        await self.outbox.settled()
        await self.folding.settled()
        await self.lining.settled()
        await self.memory_service.settled()
        await self.fitter.calibration.settled()

    async def _reconfigured(self, config: Config) -> None:
        log.info("configuration changed")
        before, self._held = self._held, config
        await self.reception.switch.follow(before, config, partly_configured_channels(self.file))
        await self.store.note("config.reload", "", "in force", "", args=self.file.masked())
        self.reconfigured(config)
        self.brain.configure(config)
        self._scheduler.reschedule_dreams()

    async def _misconfigured(self, trouble: ConfigRejected) -> None:
        log.error("config.json is broken, the last good one holds", why=str(trouble))
