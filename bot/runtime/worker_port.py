"""A worker's own port for health and metrics, open from before the bot is loaded until it has closed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from bot.config.home import HomeFolder
from bot.errors import MnemaError
from channels.web.auth import RequestGuard, load_token
from channels.web.monitor import MonitorSite
from channels.web.requests import CannotServe
from channels.web.server import WebServer, bound_port, open_sockets

HOST = "127.0.0.1"
AttachMetrics = Callable[[MonitorSite, Any], None]  # serves health and metrics of an opened bot on the site


async def run_with_port(home: HomeFolder, port: int, run: Callable[[MonitorSite], Awaitable[int]]) -> int:
    """Call `run` with a site that is served on a port of this machine; returns its result.

    Args:
        port: 0 for any free one.

    Raises:
        MnemaError: the port cannot be opened.
    """
    try:
        sockets = open_sockets(HOST, port)
    except CannotServe as err:
        raise MnemaError(f"{err}.") from err
    token, _ = load_token(home.web_token)
    site = MonitorSite(RequestGuard(token=token, port=bound_port(sockets)))
    server = WebServer(site, sockets)
    serving = asyncio.create_task(server.run())
    print(f"metrics http://{HOST}:{bound_port(sockets)}/metrics", flush=True)
    try:
        return await run(site)
    finally:
        server.stop()
        await serving
