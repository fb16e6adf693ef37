"""The page over a whole bot in this process: real record and console, a scripted model, and
Telegram as a list.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.console.site import attach_console
from bot.models.providers.offline import Script, ScriptedModel
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.bot import Bot
from channels.testing import ScriptedChannel as Channel
from channels.web.auth import RequestGuard
from channels.web.channel import Web
from channels.web.events import EventHub
from channels.web.server import WebServer, WebSite, bound_port, open_sockets
from channels.web.settings import parse_public_host
from memory.store.open import open_store
from tests.channels.web.server import TOKEN, Running, ScriptedBot

OWNER, ANN, GROUP = "5005", "5006", "-1007"
QUIET = {
    "language": "en",
    "memory": {"extract": False},
    "channels": {"telegram": {"owners": [OWNER], "allow": [ANN, GROUP]}},
}


@dataclass(kw_only=True)
class Real:
    """What a test holds: the bot, its site, and Telegram, where OWNER and ANN may write."""

    bot: Bot
    site: Running
    telegram: Channel
    model: ScriptedModel | None

    async def audited(self, action: str) -> list[tuple[str, str]]:
        """Actor and subject of each such act, oldest first."""
        return [
            (row.actor, row.subject)
            for row in await self.bot.store.audit.acts(1_000)
            if row.action == action
        ]


@asynccontextmanager
async def real_bot(
    folder: Path,
    script: Script | None,
    *,
    clock: Callable[[], float] = time.time,
    settings: Mapping[str, Any] = QUIET,
    login_clock: Callable[[], float] = time.monotonic,
    public_url: str = "",
) -> AsyncIterator[Real]:
    """script: what the model answers; None for the model of the settings."""
    home = HomeFolder(root=folder)
    home.ensure()
    home.config.write_text(json.dumps(settings))
    home.config.chmod(0o600)
    file = ConfigFile(home.config, poll_seconds=3_600.0 if script else 0.1)
    file.load()
    store = await open_store(home.db, clock=clock)
    bot = Bot(
        BotDependencies(
            home=home, file=file, store=store, clock=lambda: datetime.fromtimestamp(clock(), UTC)
        )
    )
    sockets = open_sockets("127.0.0.1", 0)
    port = bound_port(sockets)
    web, telegram = Web(EventHub(pause=15.0)), Channel(name="telegram", account="1")
    public = parse_public_host(public_url) if public_url else ""
    site = WebSite(
        gate=RequestGuard(token=TOKEN, port=port, clock=login_clock, public=public), web=web
    )
    model = ScriptedModel(script) if script else None
    server = WebServer(site, sockets, grace=2)
    serving = asyncio.create_task(server.run())
    nothing = asyncio.create_task(asyncio.sleep(0))
    up = Running(
        f"http://127.0.0.1:{port}",
        port,
        site,
        server,
        site.gate,
        web,
        ScriptedBot(),
        (serving, nothing),
    )
    try:
        await bot.open([web, telegram], model)
        attach_console(site, bot)
        yield Real(bot=bot, site=up, telegram=telegram, model=model)
    finally:
        await bot.close(patience=1.0)
        await up.close()
