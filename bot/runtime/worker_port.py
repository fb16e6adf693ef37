"""A worker's own port: how well it is and its figures, from before it is open until after it has closed."""

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
OpenWorker = Callable[[Any], Awaitable[Any]]  # see bot.runtime.startup.Opened


async def run_with_port(
    home: HomeFolder, port: int, opened: OpenWorker, run: Callable[[OpenWorker], Awaitable[int]]
) -> int:
    """Run a process whose house is told of on a port of this machine; returns what `run` does.

    Args:
        port: 0 for any free one.

    Raises:
        MnemaError: the port cannot be had.
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

    async def seen(page: Any) -> Any:
        house = await opened(page)
        from bot.console.services import attach_metrics

        attach_metrics(site, house)
        return house

    try:
        return await run(seen)
    finally:
        server.stop()
        await serving
