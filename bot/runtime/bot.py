"""The bot: opens its components in the order that recovery needs, closes them, and applies changes
of config.json.
"""

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog

from bot.access.audit import AuditCheckpoints, count_lost_acts, record_checkpoint
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, close_entries
from bot.config.messages import ConfigRejected
from bot.config.schema import Config
from bot.messages import split_reply
from bot.models.base import ModelClient
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.turn_wiring import TurnComponents
from bot.telemetry.database_repair import describe_repair
from bot.telemetry.recorder import create_telemetry
from bot.texts import format_span, resolve_language
from channels.base import Channel
from channels.phrases import Phrase
from memory.failpoints import hit_async
from memory.store.open import open_store
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
AWAY_AFTER = timedelta(minutes=10)
MAX_RESTORED_LINES = 200
DRAIN_SECONDS = 20.0  # that running turns may take at shutdown
QUICK_DRAIN_SECONDS = 5.0  # the same for commands and sends


class Bot(TurnComponents):
    """One running bot."""

    async def open(self, channels: Sequence[Channel], model: ModelClient | None = None) -> None:
        """Recover, then start outbox, turns and receivers, in that order. model: replaces the
        configured one.
        """
        await self._configure(channels, model)
        recovered = await self.store.delivery.recover()
        log.info(
            "recovered",
            turns=len(recovered.turns),
            folds=len(recovered.folds),
            waiting=recovered.inbox_waiting,
        )
        self.telemetry.outcome_unknown(recovered.sends_unknown)
        await self.repair_notice.open()
        if not self.config().database_url and (
            lost := await count_lost_acts(self.store, self.home.data)
        ):
            self.repair_notice.report_lost_acts(lost)
        await self.open_tools()
        self.folding.resume(recovered.folds)
        await self.file_changes.resume(self.store.now())
        await self.memory_service.open()
        await self.lost_rights.end()
        await self.job_times.load_zones()
        await self.closing_tags.load()
        await hit_async("recover.r5")
        await record_checkpoint(self.store, self.home.data, self.now())
        await self._notify_away()
        await hit_async("recover.r11")
        if self.config().session_restore == "lean":
            await self.restore_lean()
        await self._report_unfinished_calls()
        for conversation in await self.store.delivery.unsent():
            self.outbox_dispatcher.wake(conversation)
        for conversation in await self.store.delivery.waiting():
            self.warm_up()
            self.turn_dispatcher.wake(conversation)
        for channel in channels:
            self.start_receiving(channel)
        await hit_async("recover.r13")
        self._watch_process()
        self.spawn(self._scheduler.start_later())
        self.spawn(self.snapshots.watch())
        self.spawn(self.ticker.run())
        self.spawn(self.heartbeat.watch())
        self.spawn(self.progress.watch())
        self.spawn(self.memory_service.dreamer.resume())
        self.spawn(self.memory_service.watch())
        self.spawn(self.channel_notifications.watch())
        self.spawn(self.model_notifications.watch())

    async def _report_unfinished_calls(self) -> None:
        """Let chats see what a former process left; the sandbox is probed by now, without which an
        approval is void.
        """
        await self.exec_tools.background.report_lost()
        if interrupted := await self.approvals.report_interrupted():
            await self.store.delivery.accept(interrupted)

    async def _configure(self, channels: Sequence[Channel], model: ModelClient | None) -> None:
        await self.models.windows.load()
        self.models.configure(self.config())
        if model is not None:
            self.models.use(model)
        self.channel_manager.register(channels)

    def _watch_process(self) -> None:
        """Start what every process watches for itself."""
        self.spawn(self.lag.watch())
        self.spawn(self.recent.watch())
        self.spawn(self.deletions.watch())
        self.spawn(self.trouble_notifications.watch())
        self.spawn(self.file.watch(self._on_config_changed, self._on_config_rejected))
        self.spawn(self._close_files())

    async def _notify_away(self) -> None:
        """Send one notice per conversation whose messages waited for over ten minutes; the replies
        follow it.
        """
        now = datetime.fromtimestamp(self.store.now(), UTC)
        for conversation in await self.store.delivery.waiting():
            lines = await self.store.sessions.lines(conversation, limit=MAX_RESTORED_LINES)
            late = [
                line
                for line in lines
                if line.role == "user" and line.state == "new" and now - line.at > AWAY_AFTER
            ]
            row = await self.store.sessions.conversation(conversation)
            channel = self.channels.get(row.place.channel) if row else None
            if row is None or not late or channel is None or row.place.is_hidden:
                continue
            lang = resolve_language(late[-1].text, self.config().language)
            text = Phrase(
                "I was away for {span}. I will answer the {count} messages from that time in "
                "order.",
                span=format_span(now - late[0].at, lang),
                count=len(late),
            ).text(lang)
            notice = split_reply(text, "notice", channel.capabilities)
            await self.store.delivery.notify(conversation, f"away:{late[-1].id}", notice)

    async def close(self, patience: float = DRAIN_SECONDS) -> None:
        """Stop receiving, give running turns `patience` seconds; the rest resumes at the next
        start.
        """
        for close in self.on_close:
            await close()
        for name in list(self.channels):
            await self.gateway.stop_receiving(name)
        self._scheduler.stop()
        await self.urgent_dispatcher.close(min(patience, QUICK_DRAIN_SECONDS))
        await self.turn_dispatcher.close(patience)
        await self.close_turns()
        await self.outbox_dispatcher.close(min(patience, QUICK_DRAIN_SECONDS))
        await cancel_and_wait(self._tasks)
        await self.memory_service.close()
        await self.close_tools()
        await self.downloads.close()
        await self.gateway.close()
        await self.models.close()
        await record_checkpoint(self.store, self.home.data, self.now())
        await self._leave_cluster()
        await self.store.close()
        await self.telemetry.close()

    async def _leave_cluster(self) -> None:
        """Called just before the store is closed; does something only if other processes use it
        too.
        """

    async def settled(self) -> None:
        """Wait until every message is answered, every reply sent and every fold done."""
        await self.urgent_dispatcher.settled()
        await self.turn_dispatcher.settled()
        await self.turns_settled()
        await self.outbox_dispatcher.settled()
        await self.memory_service.settled()
        await self.models.windows.settled()

    async def _close_files(self) -> None:
        """Close files to other accounts that an older version, or an editor, left open to them."""
        closed = await asyncio.to_thread(close_entries, self.home)
        if closed:
            log.warning(
                "other accounts could open files here", count=len(closed), first=str(closed[0].path)
            )

    async def _on_config_changed(self, config: Config) -> None:
        log.info("configuration changed")
        before, self._applied_config = self._applied_config, config
        self.reconfigured(config)  # first: the log knows a new secret before a channel uses it
        # before the channels, which may take long to close and to connect
        self.models.configure(config)
        await self.closing_tags.load()
        await self.lost_rights.end()
        await self.channel_manager.apply(before, self.file)
        await self.store.note("config.reload", "", "in force", "", args=self.file.masked())
        self._scheduler.reschedule_dreams()
        self.spawn(self.exec_tools.probe())

    async def _on_config_rejected(self, err: ConfigRejected) -> None:
        log.error("config.json is invalid, the last valid one stays in use", why=str(err))


async def build_bot(home: HomeFolder, file: ConfigFile) -> Bot:
    """Open the home's SQLite store and build a bot on it, which does nothing before it is opened.

    Reports on stderr what had to be repaired.
    """
    store = await open_store(home.db)
    if store.repaired is not None:
        text = describe_repair(store.repaired, datetime.now().astimezone().tzinfo or UTC)
        print(f"mnema: {text}", file=sys.stderr)
        AuditCheckpoints(home.data).invalidate(
            f"repaired, {store.repaired.aside} set aside", datetime.now(UTC)
        )
    return Bot(
        BotDependencies(home=home, file=file, store=store, telemetry=create_telemetry(file.current))
    )
