"""Wires the console to a house: what its pages may read and do, and how well the house is."""

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog

from bot.access.permissions import Actor, Where, authorize
from bot.access.usage_report import as_json as as_json_of
from bot.access.usage_report import people_as_json, spans
from bot.commands.router import COMMANDS
from bot.console.routes import Asked, open_site
from bot.console.routes import House as Console
from bot.console.transcripts import name_of
from bot.gateway.channel_status import State, as_json
from bot.memory.recall import told
from bot.models.health import as_json as of_model
from bot.runtime.bot import House
from bot.telemetry.faults import TURNS
from bot.telemetry.faults import as_json as trouble_json
from bot.telemetry.log import hidden
from channels.base import Deliver
from channels.message import Address, LiveEvent, OutboundMessage, Receipt
from channels.web.backend import Health
from channels.web.channel import Web
from channels.web.monitor import Watched, WatchSite
from channels.web.server import Site
from memory.recall.documents import Wanted
from memory.store.errors import StoreError
from memory.store.store import Store

log = structlog.get_logger(__name__)

OWNER = Actor(channel="web", id="owner", role="owner")
CONSOLE = Where(kind="console", space="")
LEAST_FREE = 50 * 2**20
"""Bytes of disk under which the house says it is not ready."""
SLOW_LOOP = 1.0
UNATTENDED = "metrics.read"
"""What a machine asks for again and again: nobody is there for whom the model would have to be loaded."""


def open_console(site: Site, house: House) -> None:
    """From now on the site answers from this house."""
    site.gate.denied = house.signals.denied
    open_site(
        site,
        Console(
            store=house.store,
            files=house.workspace.space(""),
            saved=_Saved(house),
            allow=_Allow(house),
            stop=_Stop(house),
            context=house.report.facts,
            search=_Search(house),
            index=_Index(house),
            settings=house.file,
            status=_Status(house),
            usage=_Usage(house),
            metrics=house.metrics.text,
            commands=commands,
            healthy=_Healthy(house),
            ready=_Ready(house),
            hooked=house.gateway.hooked,
            channels=lambda: house.gateway.channels,
            pairing=house.pairing,
            now=house.now,
        ),
    )


def watch(site: WatchSite, house: House) -> None:
    """From now on this port tells of this house; nothing can be done there."""
    site.open(Watched(healthy=_Healthy(house), ready=_Ready(house), metrics=house.metrics.text))


def allow(action: str) -> bool:
    """Whether the console may do the named action: whoever is in it is the owner."""
    return authorize(OWNER, action, "", CONSOLE).allowed


def commands(lang: str) -> list[Mapping[str, str]]:
    """What may be typed in the page, to who reads Chinese with the Chinese names first."""
    may = [command for command in COMMANDS.values() if allow(command.action)]
    english = [{"name": one.name, "usage": one.usage, "zh": one.zh, "en": one.en} for one in may]
    chinese = [{"name": one.name_zh, "usage": one.usage_zh, "zh": one.zh, "en": one.en} for one in may]
    return [*chinese, *english] if lang == "zh" else [*english]


class TerminalAway:
    """The terminal's conversations while `mnema run` holds the home: they are seen and continued in the page.

    In paths they go by "terminal:" and their name.
    """

    name = "terminal"
    account = "local"

    def __init__(self, web: Web) -> None:
        self._web = web
        self.capabilities = web.capabilities

    async def run(self, deliver: Deliver) -> None:
        """Nothing is heard here: what is typed comes by the page's API."""
        await asyncio.Event().wait()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show one part in the page."""
        return await self._web.send(_moved(message))

    def show(self, event: LiveEvent) -> None:
        """Show one event in the page."""
        self._web.show(_moved(event))


def _moved(item: Any) -> Any:
    place = item.address
    return replace(item, address=Address(channel="web", account="console", chat_id=f"terminal:{place.chat_id}"))


class _Part:
    """Something the console asks of a house."""

    def __init__(self, house: House) -> None:
        self._house = house


class _Allow(_Part):
    def __call__(self, action: str) -> bool:
        if action != UNATTENDED:
            self._house.stir()  # somebody has the page open
        allowed = allow(action)
        if not allowed:
            self._house.signals.denied()
        return allowed


class _Stop(_Part):
    async def __call__(self, conversation: str) -> None:
        await self._house.stop(conversation)


class _Saved(_Part):
    """Lines that were edited keep what is known about them; where that fails, the next look at the file does it."""

    async def __call__(self) -> None:
        try:
            await self._house.memories("").reconcile()
        except (StoreError, OSError) as err:
            log.warning("an edited file was not looked through", error=str(err))


class _Search(_Part):
    async def __call__(self, asked: Asked) -> Sequence[Mapping[str, Any]]:
        house = self._house
        if asked.space:
            if asked.space not in await house.spaces():
                return []
            await house.store.note("memory.read.other", asked.space, "searched", OWNER.channel)
        wanted = Wanted(
            space=asked.space,
            query=asked.query,
            now=house.now(),
            limit=asked.limit,
            since=asked.since,
            until=asked.until,
            speaker=asked.speaker,
        )
        found = [told(passage) for passage in await house.recall.search(wanted)]
        return [{**one, **await self._named(one)} for one in found]

    async def _named(self, found: Mapping[str, Any]) -> Mapping[str, str]:
        """The conversation by the name that paths have for it."""
        row = await self._house.store.sessions.conversation(found.get("conversation", ""))
        return {"conversation": name_of(row)} if row else {}


class _Index(_Part):
    async def __call__(self, space: str | None) -> Mapping[str, int]:
        known = await self._house.spaces()
        chosen = known if space is None else [name for name in known if name == space]
        return {name: await self._house.recall.rebuild(name) for name in chosen}


class _Status(_Part):
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
            "channels": {name: as_json(state) for name, state in house.states().items()},
            "troubles": trouble_json(house.troubles.current()),
        }


class _Usage(_Part):
    async def __call__(self) -> Mapping[str, Any]:
        told: dict[str, Any] = {"unit": "USD"}
        for name, (_, _, since) in spans(self._house.now()).items():
            used = await self._house.store.spending.sums(since)
            told |= {name: as_json_of(used), f"{name}_people": people_as_json(used)}
        return told


class _Healthy(_Part):
    async def __call__(self) -> Health:
        lag = self._house.lag.now()
        return Health(ok=lag < SLOW_LOOP, reasons={"loop_lag_seconds": round(lag, 4)})


class _Ready(_Part):
    async def __call__(self) -> Health:
        house, now = self._house, time.time()
        writes, at_head = await house.store.ready(), await _at_head(house.store)
        free = shutil.disk_usage(house.home.root).free
        states = house.gateway.heard()
        down = {name: state.why or state.mood for name, state in states.items() if not state.ready}
        models = [state for state in house.brain.states() if state.use != "fast"]
        await asyncio.to_thread(house.prompt.look_at_files)
        troubles = trouble_json(house.troubles.current())
        reasons = {
            "writes": writes,
            "database": house.store.file_trouble() or "ok",
            "schema": "ok" if at_head else "the tables are not of this version",
            "disk_free_bytes": free,
            "channels_down": down,
            "channels": {name: _heard(state, now) for name, state in states.items()},
            "model": house.brain.trouble or "ok",
            "models_left_out": {state.name: hidden(state.why) for state in models if not state.ready},
            "model_key": "none: offline" if house.brain.provider == "offline" else "ok",
            "config": str(house.file.trouble or "ok"),
            "troubles": troubles,
        }
        stored = writes and at_head and free > LEAST_FREE
        answers = not house.brain.trouble and any(state.ready for state in models)
        return Health(ok=stored and not down and answers and TURNS not in troubles, reasons=reasons)


async def _at_head(store: Store) -> bool:
    try:
        return (await store.figures()).schema_at_head
    except StoreError:
        return False


def _heard(state: State, now: float) -> Mapping[str, Any]:
    """last_ok_age_s: seconds since the platform was heard, None where it was not yet, or cannot be."""
    age = round(max(0.0, now - state.heard), 1) if state.heard else None
    return {"state": state.mood, "last_ok_age_s": age}
