"""Opens the port of the page and the API, and attaches the channels to it."""

import asyncio
import importlib
import sys
from dataclasses import dataclass
from typing import Any

from bot.config.file import ConfigFile
from bot.gateway.channel_manager import begun_in, channels_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The opened port and what answers on it. made: the token was made just now."""

    site: Any
    web: Any
    server: Any
    url: str
    token: str
    made: bool


async def open_with(house: Any, file: ConfigFile, page: Page | None) -> None:
    """Open a house with the channels that are configured, and the page where there is one."""
    opened = channels_of(file.current, begun_in(file))
    channels = list(opened.channels)
    for why in opened.troubles.values():
        print(f"mnema: {why}.", file=sys.stderr)
    if page is None:
        await house.open(channels)
        return
    console = await asyncio.to_thread(importlib.import_module, "bot.console.services")
    await house.open([page.web, console.TerminalAway(page.web), *channels])
    console.open_console(page.site, house)
