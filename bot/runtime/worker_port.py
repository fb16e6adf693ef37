"""A worker's own port: how well it is and its figures, from before it is open until after it has closed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from bot.config.home import Home
from bot.errors import MnemaError
from channels.web.auth import Gate, load_token
from channels.web.monitor import WatchSite
from channels.web.requests import CannotServe
from channels.web.server import Server, listen, port_of

HOST = "127.0.0.1"
Opened = Callable[[Any], Awaitable[Any]]
"""See bot.runtime.startup.Opened."""


async def watched(home: Home, port: int, opened: Opened, run: Callable[[Opened], Awaitable[int]]) -> int:
    """Run a process whose house is told of on a port of this machine; returns what `run` does.

    Args:
        port: 0 for any free one.

    Raises:
        MnemaError: the port cannot be had.
    """
    try:
        sockets = listen(HOST, port)
    except CannotServe as err:
        raise MnemaError(f"{err}.") from err
    token, _ = load_token(home.web_token)
    site = WatchSite(Gate(token=token, port=port_of(sockets)))
    server = Server(site, sockets)
    serving = asyncio.create_task(server.run())
    print(f"metrics http://{HOST}:{port_of(sockets)}/metrics", flush=True)

    async def seen(page: Any) -> Any:
        house = await opened(page)
        from bot.console.services import watch

        watch(site, house)
        return house

    try:
        return await run(seen)
    finally:
        server.stop()
        await serving
