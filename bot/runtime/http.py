"""Opens the port of the page and the API, and attaches the channels to it."""

import asyncio
import importlib
import sys
from dataclasses import dataclass
from typing import Any

from bot.config.file import ConfigFile
from bot.gateway.channel_manager import build_channels, partly_configured_channels


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """The opened port and what answers on it."""

    site: Any
    web: Any
    server: Any
    url: str
    token: str
    #: The token was made just now.
    made: bool


async def open_with_channels(house: Any, file: ConfigFile, page: WebPage | None) -> None:
    """Open a house with the channels that are configured, and the page where there is one."""
    opened = build_channels(file.current, partly_configured_channels(file))
    channels = list(opened.channels)
    for why in opened.troubles.values():
        print(f"mnema: {why}.", file=sys.stderr)
    if page is None:
        await house.open(channels)
        return
    console = await asyncio.to_thread(importlib.import_module, "bot.console.services")
    await house.open([page.web, console.RemoteTerminal(page.web), *channels])
    console.attach_console(page.site, house)
