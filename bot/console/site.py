"""A bot at the page's site: messages, health and metrics at once, the console when it is first
asked for.
"""

import asyncio
import importlib
import shutil
import time
from collections.abc import Mapping
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response

from bot.access.permissions import is_console_allowed
from bot.console.page_messages import PageMessages
from bot.console.transcripts import TranscriptBackend
from bot.runtime.bot import Bot
from bot.telemetry.faults import TURNS_SUBJECT, troubles_to_json
from bot.telemetry.log import redact
from channels.phrases import Phrase
from channels.web.backend import EventSources, HealthReport, PasskeySite, WebServices
from channels.web.requests import HttpRefusal, Route
from channels.web.server import Console, MonitorSite, MonitorSources, WebSite
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
METRICS_ACTION = "metrics.read"  # polled by machines: no reason to load the model
METRICS_TYPE = "text/plain; version=0.0.4"
MIN_FREE_BYTES = 50 * 2**20  # free disk space below which the bot reports that it is not ready
MAX_LOOP_LAG = 1.0  # seconds


def attach_console(site: WebSite, bot: Bot) -> None:
    """Serve this bot on the site."""
    site.gate.denied = bot.telemetry.access_denied
    served = SiteServices(bot, site)
    metrics = Route(method="GET", path="/metrics", action=METRICS_ACTION, handler=served.metrics)
    site.open(served.web_services(), (metrics,), served.load_routes)
    site.web.replied = served.note_reply


def attach_metrics(site: MonitorSite, bot: Bot) -> None:
    """Serve health and metrics of this bot on the site, and nothing else."""
    probes = HealthProbes(bot)
    site.open(MonitorSources(healthy=probes.healthy, ready=probes.ready, metrics=bot.metrics.text))


class HealthProbes:
    """Tells whether a bot works."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def healthy(self) -> HealthReport:
        """Tell whether the process works."""
        lag = self._bot.lag.now()
        return HealthReport(ok=lag < MAX_LOOP_LAG, reasons={"loop_lag_seconds": round(lag, 4)})

    async def ready(self) -> HealthReport:
        """Tell whether it can answer people."""
        bot = self._bot
        storage, channels = await self._check_storage(), self._check_channels(time.time())
        await asyncio.to_thread(bot.check_files)
        models, troubles = self._check_models(), troubles_to_json(bot.troubles.current())
        reasons = {
            **storage.reasons,
            **channels.reasons,
            **models.reasons,
            "config": str(bot.file.trouble or "ok"),
            "troubles": troubles,
        }
        is_ready = storage.ok and channels.ok and models.ok and TURNS_SUBJECT not in troubles
        return HealthReport(ok=is_ready, reasons=reasons)

    async def _check_storage(self) -> HealthReport:
        writes, at_head = await self._bot.store.ready(), await self._is_schema_current()
        free = shutil.disk_usage(self._bot.home.root).free
        reasons = {
            "writes": writes,
            "database": self._bot.store.file_trouble() or "ok",
            "schema": "ok" if at_head else "the tables are not of this version",
            "disk_free_bytes": free,
        }
        return HealthReport(ok=writes and at_head and free > MIN_FREE_BYTES, reasons=reasons)

    def _check_channels(self, now: float) -> HealthReport:
        states = self._bot.gateway.local_states()
        down = {name: state.why or state.phase for name, state in states.items() if not state.ready}
        shown = {
            name: {"state": state.phase, "last_ok_age_s": _age(state.last_contact, now)}
            for name, state in states.items()
        }
        return HealthReport(ok=not down, reasons={"channels_down": down, "channels": shown})

    def _check_models(self) -> HealthReport:
        models = self._bot.models
        asked = [state for state in models.states() if state.use != "fast"]
        reasons = {
            "model": models.trouble or "ok",
            "models_left_out": {
                state.name: redact(state.why) for state in asked if not state.ready
            },
            "model_key": "none: offline" if models.provider == "offline" else "ok",
        }
        return HealthReport(
            ok=not models.trouble and any(state.ready for state in asked), reasons=reasons
        )

    async def _is_schema_current(self) -> bool:
        try:
            return (await self._bot.store.figures()).schema_at_head
        except StoreError:
            return False


def _age(contact: float, now: float) -> float | None:
    """Return the seconds since the last contact; None if there was none."""
    return round(max(0.0, now - contact), 1) if contact else None


class SiteServices:
    """What the site uses of a bot.

    Most bots run unwatched, so the console is loaded by the first request for it.
    """

    def __init__(self, bot: Bot, site: WebSite) -> None:
        self._bot, self._site = bot, site
        page_messages = PageMessages(
            delivery=bot.store.delivery,
            roles=bot.pairing.roles,
            channels=bot.channels,
            states=bot.states,
        )
        self._transcripts = TranscriptBackend(bot.store, bot.stop, self.allow, page_messages)
        self._loading = asyncio.Lock()
        self._console: Console | None = None

    def web_services(self) -> WebServices:
        """Return what serves conversations, health, webhooks and logins by passkey."""
        probes = HealthProbes(self._bot)
        return WebServices(
            load_sources=self._sources,
            backend=self._transcripts,
            allow=self.allow,
            healthy=probes.healthy,
            ready=probes.ready,
            find_webhook=self._bot.gateway.hooked,
            passkey_options=self._passkey_options,
            verify_passkey=self._verify_passkey,
        )

    def allow(self, action: str) -> bool:
        """Tell whether the console may do the action now."""
        if action != METRICS_ACTION:
            self._bot.warm_up()  # a person has the page open
        allowed = is_console_allowed(action)
        if not allowed:
            self._bot.telemetry.access_denied()
        return allowed

    async def metrics(self, _: Request) -> Response:
        """Return all metrics in the Prometheus text format."""
        return Response(
            await self._bot.metrics.text(), 200, {"cache-control": "no-store"}, METRICS_TYPE
        )

    def note_reply(self, conversation: str) -> None:
        """Tell browsers of a new message, where that is on."""
        if not self._bot.config().channels.web.push:
            return
        from bot.console.operations.push import build_notifier  # few bots need it

        build_notifier(self._bot, self._site).note_reply(conversation)

    async def load_routes(self) -> tuple[Route, ...]:
        """Return the routes of the console."""
        console = await self._load()
        return console.routes

    async def _sources(self) -> EventSources:
        console = await self._load()
        return console.sources

    async def _passkey_options(self, site: PasskeySite) -> Mapping[str, Any] | None:
        console = await self._load()
        return await asyncio.to_thread(console.login_options, site)

    async def _verify_passkey(self, site: PasskeySite, answer: Mapping[str, Any]) -> str:
        console = await self._load()
        return await asyncio.to_thread(console.verify_passkey, site, answer)

    async def _load(self) -> Console:
        async with self._loading:
            if self._console is None:
                try:
                    # 4 MB, a tenth of a start
                    await asyncio.to_thread(importlib.import_module, "bot.console.routes")
                # no file can be opened now, for example
                except (ImportError, OSError, StoreError) as err:
                    log.error("the console cannot be loaded now", error=str(err))
                    why = Phrase("not ready yet; try again in a moment")
                    raise HttpRefusal(503, "starting", why, {"retry-after": "1"}) from err
                from bot.console.routes import build_bot_console

                self._console = build_bot_console(
                    self._bot, self._transcripts, self._site, self.allow
                )
            return self._console
