"""Wires the console to a house: what its pages may read and do, and how well the house is."""

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from bot.access.permissions import AccessScope, Actor, authorize
from bot.access.usage_report import people_usage_to_json, report_spans
from bot.access.usage_report import usage_to_json as as_json_of
from bot.commands.router import COMMANDS
from bot.console.routes import ConsoleServices as Console
from bot.console.routes import SearchQuery, mount_console
from bot.console.transcripts import conversation_name
from bot.gateway.channel_status import ChannelStatus, channel_status_to_json
from bot.memory.recall import passage_to_json
from bot.models.health import model_status_to_json as of_model
from bot.runtime.bot import Bot
from bot.telemetry.faults import TURNS_SUBJECT
from bot.telemetry.faults import troubles_to_json as trouble_json
from bot.telemetry.log import redact
from channels.web.backend import HealthReport
from channels.web.monitor import MonitorSite, MonitorSources
from channels.web.server import WebSite
from memory.recall.documents import SearchRequest
from memory.store.errors import StoreError
from memory.store.store import Store

log = structlog.get_logger(__name__)

CONSOLE_OWNER = Actor(channel="web", id="owner", role="owner")
CONSOLE_SCOPE = AccessScope(kind="console", space="")
MIN_FREE_BYTES = 50 * 2**20  # bytes of disk under which the house says it is not ready
MAX_LOOP_LAG = 1.0
# What a machine asks for again and again: nobody is there for whom the model would have to be loaded.
METRICS_ACTION = "metrics.read"


def attach_console(site: WebSite, house: Bot) -> None:
    """From now on the site answers from this house."""
    site.gate.denied = house.telemetry.denied
    mount_console(
        site,
        Console(
            store=house.store,
            files=house.workspace.space(""),
            saved=_RefreshMemories(house),
            allow=_CheckAction(house),
            stop=_StopTurn(house),
            context=house.report.facts,
            search=_SearchMemory(house),
            index=_RebuildIndex(house),
            settings=house.file,
            status=_LoadStatus(house),
            usage=_LoadUsage(house),
            metrics=house.metrics.text,
            commands=list_page_commands,
            healthy=_CheckHealth(house),
            ready=_CheckReady(house),
            hooked=house.gateway.hooked,
            channels=lambda: house.gateway.channels,
            pairing=house.pairing,
            now=house.now,
        ),
    )


def attach_metrics(site: MonitorSite, house: Bot) -> None:
    """From now on this port tells of this house; nothing can be done there."""
    site.open(MonitorSources(healthy=_CheckHealth(house), ready=_CheckReady(house), metrics=house.metrics.text))


def is_console_allowed(action: str) -> bool:
    """Whether the console may do the named action: whoever is in it is the owner."""
    return authorize(CONSOLE_OWNER, action, "", CONSOLE_SCOPE).allowed


def list_page_commands(lang: str) -> list[Mapping[str, str]]:
    """What may be typed in the page, to who reads Chinese with the Chinese names first."""
    may = [command for command in COMMANDS.values() if is_console_allowed(command.action)]
    english = [{"name": one.name, "usage": one.usage, "zh": one.zh, "en": one.en} for one in may]
    chinese = [{"name": one.name_zh, "usage": one.usage_zh, "zh": one.zh, "en": one.en} for one in may]
    return [*chinese, *english] if lang == "zh" else [*english]


class _BotCall:
    """Something the console asks of a house."""

    def __init__(self, house: Bot) -> None:
        self._house = house


class _CheckAction(_BotCall):
    def __call__(self, action: str) -> bool:
        if action != METRICS_ACTION:
            self._house.warm_up()  # somebody has the page open
        allowed = is_console_allowed(action)
        if not allowed:
            self._house.telemetry.denied()
        return allowed


class _StopTurn(_BotCall):
    async def __call__(self, conversation: str) -> None:
        await self._house.stop(conversation)


class _RefreshMemories(_BotCall):
    """Lines that were edited keep what is known about them; where that fails, the next look at the file does it."""

    async def __call__(self) -> None:
        try:
            await self._house.memories("").reconcile()
        except (StoreError, OSError) as err:
            log.warning("an edited file was not looked through", error=str(err))


class _SearchMemory(_BotCall):
    async def __call__(self, asked: SearchQuery) -> Sequence[Mapping[str, Any]]:
        house = self._house
        if asked.space:
            if asked.space not in await house.spaces():
                return []
            await house.store.note("memory.read.other", asked.space, "searched", CONSOLE_OWNER.channel)
        wanted = SearchRequest(
            space=asked.space,
            query=asked.query,
            now=house.now(),
            limit=asked.limit,
            since=asked.since,
            until=asked.until,
            speaker=asked.speaker,
        )
        found = [passage_to_json(passage) for passage in await house.recall.search(wanted)]
        return [{**one, **await self._named(one)} for one in found]

    async def _named(self, found: Mapping[str, Any]) -> Mapping[str, str]:
        """The conversation by the name that paths have for it."""
        row = await self._house.store.sessions.conversation(found.get("conversation", ""))
        return {"conversation": conversation_name(row)} if row else {}


class _RebuildIndex(_BotCall):
    async def __call__(self, space: str | None) -> Mapping[str, int]:
        known = await self._house.spaces()
        chosen = known if space is None else [name for name in known if name == space]
        return {name: await self._house.recall.rebuild(name) for name in chosen}


class _LoadStatus(_BotCall):
    async def __call__(self) -> Mapping[str, Any]:
        house = self._house
        return {
            "started": house.started.isoformat(),
            "uptime_seconds": round((house.now() - house.started).total_seconds()),
            "provider": house.brain.provider,
            "model": house.brain.name,
            "fast_model": house.brain.fast_name,
            "trouble": house.brain.trouble,
            "models": [of_model(state) for state in house.brain.states()],
            "waiting": len(await house.store.delivery.waiting()),
            "database": house.store.file_trouble() or "ok",
            "unsent": len(await house.store.delivery.unsent()),
            "channels": {name: channel_status_to_json(state) for name, state in house.states().items()},
            "troubles": trouble_json(house.troubles.current()),
        }


class _LoadUsage(_BotCall):
    async def __call__(self) -> Mapping[str, Any]:
        told: dict[str, Any] = {"unit": "USD"}
        for name, (_, _, since) in report_spans(self._house.now()).items():
            used = await self._house.store.spending.sums(since)
            told |= {name: as_json_of(used), f"{name}_people": people_usage_to_json(used)}
        return told


class _CheckHealth(_BotCall):
    async def __call__(self) -> HealthReport:
        lag = self._house.lag.now()
        return HealthReport(ok=lag < MAX_LOOP_LAG, reasons={"loop_lag_seconds": round(lag, 4)})


class _CheckReady(_BotCall):
    async def __call__(self) -> HealthReport:
        house, now = self._house, time.time()
        writes, at_head = await house.store.ready(), await _is_schema_current(house.store)
        free = shutil.disk_usage(house.home.root).free
        states = house.gateway.heard()
        down = {name: state.why or state.mood for name, state in states.items() if not state.ready}
        models = [state for state in house.brain.states() if state.use != "fast"]
        await asyncio.to_thread(house.prompt.check_files)
        troubles = trouble_json(house.troubles.current())
        reasons = {
            "writes": writes,
            "database": house.store.file_trouble() or "ok",
            "schema": "ok" if at_head else "the tables are not of this version",
            "disk_free_bytes": free,
            "channels_down": down,
            "channels": {name: _seconds_since_seen(state, now) for name, state in states.items()},
            "model": house.brain.trouble or "ok",
            "models_left_out": {state.name: redact(state.why) for state in models if not state.ready},
            "model_key": "none: offline" if house.brain.provider == "offline" else "ok",
            "config": str(house.file.trouble or "ok"),
            "troubles": troubles,
        }
        stored = writes and at_head and free > MIN_FREE_BYTES
        answers = not house.brain.trouble and any(state.ready for state in models)
        return HealthReport(ok=stored and not down and answers and TURNS_SUBJECT not in troubles, reasons=reasons)


async def _is_schema_current(store: Store) -> bool:
    try:
        return (await store.figures()).schema_at_head
    except StoreError:
        return False


def _seconds_since_seen(state: ChannelStatus, now: float) -> Mapping[str, Any]:
    """last_ok_age_s: seconds since the platform was heard, None where it was not yet, or cannot be."""
    age = round(max(0.0, now - state.heard), 1) if state.heard else None
    return {"state": state.mood, "last_ok_age_s": age}
