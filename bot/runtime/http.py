"""Opens the HTTP port before the bot is loaded: of the page and the API, or of a worker's health
and metrics.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.errors import MnemaError
from channels.base import Deliver
from channels.message import Address, LiveEvent, OutboundMessage, Receipt
from channels.web.auth import RequestGuard, load_token
from channels.web.channel import Web
from channels.web.requests import CannotServe
from channels.web.server import MonitorSite, WebServer, WebSite, bound_port, open_sockets
from channels.web.settings import parse_networks, parse_public_host

Message = TypeVar("Message", OutboundMessage, LiveEvent)
METRICS_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """The open port of the page and the API."""

    site: WebSite
    web: Web
    server: WebServer
    url: str
    token: str
    #: The token was created at this start.
    is_new_token: bool


class RemoteTerminal:
    """The terminal's conversations while `mnema run` holds the home: the page shows and continues
    them.

    In paths of the page they are named "terminal:" and the conversation's name.
    """

    name = "terminal"
    account = "local"

    def __init__(self, web: Web) -> None:
        self._web = web
        self.capabilities = web.capabilities

    async def run(self, deliver: Deliver) -> None:
        """Receive nothing: the page's API accepts what is typed."""
        await asyncio.Event().wait()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show one part in the page."""
        return await self._web.send(_to_page(message))

    def show(self, event: LiveEvent) -> None:
        """Show one event in the page."""
        self._web.show(_to_page(event))


def _to_page(item: Message) -> Message:
    address = Address(channel="web", account="console", chat_id=f"terminal:{item.address.chat_id}")
    return replace(item, address=address)


def open_page(home: HomeFolder, config: Config) -> WebPage | None:
    """Open the page's port, which answers "starting" until the bot is loaded; None if the page is
    off.

    Raises:
        MnemaError: the port cannot be opened.
    """
    settings = config.channels.web
    if not settings.on:
        return None
    token, is_new = load_token(home.web_token)
    sockets = _open_sockets(settings.host, settings.port)
    port, web = bound_port(sockets), Web()
    public = parse_public_host(settings.public_url) if settings.public_url else ""
    gate = RequestGuard(
        token=token,
        port=port,
        public=public,
        proxies=parse_networks(settings.trusted_proxies),
        sessions_path=home.web_sessions(port),
    )
    site = WebSite(gate=gate, web=web)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{port}"
    return WebPage(
        site=site,
        web=web,
        server=WebServer(site, sockets),
        url=url,
        token=token,
        is_new_token=is_new,
    )


def _open_sockets(host: str, port: int) -> list[socket.socket]:
    try:
        return open_sockets(host, port)
    except CannotServe as err:
        raise MnemaError(f"{err}.") from err


@asynccontextmanager
async def serve_worker_metrics(home: HomeFolder, port: int) -> AsyncIterator[MonitorSite]:
    """Serve a site for a worker's health and metrics on a local port; 0 for any free one.

    Raises:
        MnemaError: the port cannot be opened.
    """
    sockets = _open_sockets(METRICS_HOST, port)
    token, _ = load_token(home.web_token)
    site = MonitorSite(RequestGuard(token=token, port=bound_port(sockets)))
    server = WebServer(site, sockets)
    serving = asyncio.create_task(server.run())
    print(f"metrics http://{METRICS_HOST}:{bound_port(sockets)}/metrics", flush=True)
    try:
        yield site
    finally:
        server.stop()
        await serving
