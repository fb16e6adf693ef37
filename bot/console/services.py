"""What the console reads from a running bot and does with it."""

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog

from bot.access.permissions import AccessScope, Actor, authorize
from bot.access.usage_report import people_usage_to_json, report_spans, usage_to_json
from bot.commands.router import COMMANDS
from bot.console.routes import SearchQuery, mount_console
from bot.console.transcripts import conversation_name
from bot.gateway.channel_status import ChannelStatus, channel_status_to_json
from bot.memory.recall import passage_to_json
from bot.models.health import model_status_to_json
from bot.runtime.bot import Bot
from bot.telemetry.faults import TURNS_SUBJECT, troubles_to_json
from bot.telemetry.log import redact
from channels.base import Channel, HasWebhook
from channels.web.backend import HealthReport
from channels.web.server import MonitorSite, MonitorSources, WebSite
from memory.recall.documents import SearchRequest
from memory.store.errors import StoreError
from memory.store.store import Store

log = structlog.get_logger(__name__)

CONSOLE_OWNER = Actor(channel="web", id="owner", role="owner")
CONSOLE_SCOPE = AccessScope(kind="console", space="")
MIN_FREE_BYTES = 50 * 2**20  # free disk space below which the bot reports that it is not ready
MAX_LOOP_LAG = 1.0
METRICS_ACTION = "metrics.read"  # polled by machines: no reason to load the model


def attach_console(site: WebSite, bot: Bot) -> None:
    """Serve the console of this bot on the site."""
    site.gate.denied = bot.telemetry.denied
    mount_console(site, BotConsole(bot))


def attach_metrics(site: MonitorSite, bot: Bot) -> None:
    """Serve health and metrics of this bot on the site, and nothing else."""
    console = BotConsole(bot)
    site.open(MonitorSources(healthy=console.healthy, ready=console.ready, metrics=console.metrics))


def is_console_allowed(action: str) -> bool:
    """Whether the console may do this action. Its user is always the owner."""
    return authorize(CONSOLE_OWNER, action, "", CONSOLE_SCOPE).allowed


def list_page_commands(lang: str) -> list[Mapping[str, str]]:
    """Commands that may be typed in the page; Chinese names come first for "zh"."""
    may = [command for command in COMMANDS.values() if is_console_allowed(command.action)]
    english = [{"name": one.name, "usage": one.usage, "zh": one.zh, "en": one.en} for one in may]
    chinese = [{"name": one.name_zh, "usage": one.usage_zh, "zh": one.zh, "en": one.en} for one in may]
    return [*chinese, *english] if lang == "zh" else [*english]


class BotConsole:
    """The console's services on one running bot."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.store: Store = bot.store
        self.files = bot.workspace.space("")
        self.settings = bot.file
        self.pairing = bot.pairing

    def now(self) -> datetime:
        """The time in the owner's zone."""
        return self._bot.now()

    def channels(self) -> Mapping[str, Channel]:
        return self._bot.gateway.channels

    def hooked(self, name: str) -> HasWebhook | None:
        return self._bot.gateway.hooked(name)

    def commands(self, lang: str) -> list[Mapping[str, str]]:
        return list_page_commands(lang)

    def allow(self, action: str) -> bool:
        if action != METRICS_ACTION:
            self._bot.warm_up()  # a person has the page open
        allowed = is_console_allowed(action)
        if not allowed:
            self._bot.telemetry.denied()
        return allowed

    async def stop(self, conversation: str) -> None:
        await self._bot.stop(conversation)

    async def context(self, conversation: str) -> Mapping[str, Any]:
        return await self._bot.report.facts(conversation)

    async def metrics(self) -> str:
        return await self._bot.metrics.text()

    async def saved(self) -> None:
        """Match edited lines with their memories; if that fails, the next check of the file does it."""
        try:
            await self._bot.memories("").reconcile()
        except (StoreError, OSError) as err:
            log.warning("an edited file was not looked through", error=str(err))

    async def search(self, query: SearchQuery) -> Sequence[Mapping[str, Any]]:
        bot = self._bot
        if query.space:
            if query.space not in await bot.spaces():
                return []
            await bot.store.note("memory.read.other", query.space, "searched", CONSOLE_OWNER.channel)
        request = SearchRequest(
            space=query.space,
            query=query.query,
            now=bot.now(),
            limit=query.limit,
            since=query.since,
            until=query.until,
            speaker=query.speaker,
        )
        found = [passage_to_json(passage) for passage in await bot.recall.search(request)]
        return [{**result, **await self._conversation_name(result)} for result in found]

    async def _conversation_name(self, result: Mapping[str, Any]) -> Mapping[str, str]:
        """The conversation of a result, by its name in paths."""
        row = await self._bot.store.sessions.conversation(result.get("conversation", ""))
        return {"conversation": conversation_name(row)} if row else {}

    async def index(self, space: str | None) -> Mapping[str, int]:
        known = await self._bot.spaces()
        chosen = known if space is None else [name for name in known if name == space]
        return {name: await self._bot.recall.rebuild(name) for name in chosen}

    async def status(self) -> Mapping[str, Any]:
        bot = self._bot
        return {
            "started": bot.started.isoformat(),
            "uptime_seconds": round((bot.now() - bot.started).total_seconds()),
            "provider": bot.brain.provider,
            "model": bot.brain.name,
            "fast_model": bot.brain.fast_name,
            "trouble": bot.brain.trouble,
            "models": [model_status_to_json(state) for state in bot.brain.states()],
            "waiting": len(await bot.store.delivery.waiting()),
            "database": bot.store.file_trouble() or "ok",
            "unsent": len(await bot.store.delivery.unsent()),
            "channels": {name: channel_status_to_json(state) for name, state in bot.states().items()},
            "troubles": troubles_to_json(bot.troubles.current()),
        }

    async def usage(self) -> Mapping[str, Any]:
        report: dict[str, Any] = {"unit": "USD"}
        for name, (_, _, since) in report_spans(self._bot.now()).items():
            used = await self._bot.store.spending.sums(since)
            report |= {name: usage_to_json(used), f"{name}_people": people_usage_to_json(used)}
        return report

    async def healthy(self) -> HealthReport:
        lag = self._bot.lag.now()
        return HealthReport(ok=lag < MAX_LOOP_LAG, reasons={"loop_lag_seconds": round(lag, 4)})

    async def ready(self) -> HealthReport:
        bot, now = self._bot, time.time()
        writes, at_head = await bot.store.ready(), await _is_schema_current(bot.store)
        free = shutil.disk_usage(bot.home.root).free
        states = bot.gateway.heard()
        down = {name: state.why or state.mood for name, state in states.items() if not state.ready}
        models = [state for state in bot.brain.states() if state.use != "fast"]
        await asyncio.to_thread(bot.prompt.check_files)
        troubles = troubles_to_json(bot.troubles.current())
        reasons = {
            "writes": writes,
            "database": bot.store.file_trouble() or "ok",
            "schema": "ok" if at_head else "the tables are not of this version",
            "disk_free_bytes": free,
            "channels_down": down,
            "channels": {name: _seconds_since_seen(state, now) for name, state in states.items()},
            "model": bot.brain.trouble or "ok",
            "models_left_out": {state.name: redact(state.why) for state in models if not state.ready},
            "model_key": "none: offline" if bot.brain.provider == "offline" else "ok",
            "config": str(bot.file.trouble or "ok"),
            "troubles": troubles,
        }
        stored = writes and at_head and free > MIN_FREE_BYTES
        answers = not bot.brain.trouble and any(state.ready for state in models)
        return HealthReport(ok=stored and not down and answers and TURNS_SUBJECT not in troubles, reasons=reasons)


async def _is_schema_current(store: Store) -> bool:
    try:
        return (await store.figures()).schema_at_head
    except StoreError:
        return False


def _seconds_since_seen(state: ChannelStatus, now: float) -> Mapping[str, Any]:
    """last_ok_age_s: seconds since the platform last answered, None if it has not or cannot."""
    age = round(max(0.0, now - state.heard), 1) if state.heard else None
    return {"state": state.mood, "last_ok_age_s": age}
