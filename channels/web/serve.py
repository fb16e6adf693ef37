"""The loopback port: opened before anything heavy is imported, then served until it is asked to end."""

import errno
import resource
import socket
from collections.abc import Sequence
from functools import partial
from typing import Any

from starlette.types import ASGIApp

from channels.web.errors import CannotServe

LOOPBACK = {
    "127.0.0.1": ((socket.AF_INET, "127.0.0.1"),),
    "::1": ((socket.AF_INET6, "::1"),),
    "localhost": ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")),
}
IDLE_SECONDS = 75  # that a connection is kept for another request: proxies count on 60, browsers on more
ACCEPTED_TOGETHER = 64  # in one turn of the loop; at the descriptor limit each further try fails and is reported
TURNS_TO_CLOSE = 4  # turns from accept() until a connection that had to make room is closed
MOST_CONNECTIONS = 1024
SPARE_DESCRIPTORS = 256  # for the database, the platforms and the models


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that already accept connections; port 0 takes a free one.

    Raises:
        CannotServe: the host is not loopback, or the port is taken or may not be used.
    """
    places = LOOPBACK.get(host)
    if places is None:
        raise CannotServe(
            f"the web channel listens on 127.0.0.1, ::1 or localhost only, not on {host!r}; "
            "to reach it from elsewhere, put a proxy with TLS in front and set channels.web.public_url to its address"
        )
    sockets: list[socket.socket] = []
    for family, address in places:
        try:
            sockets.append(_open(family, address, port))
        except OSError as err:
            if sockets and err.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue  # "localhost" on a machine without IPv6
            for opened in sockets:
                opened.close()
            raise CannotServe(_why(address, port, err)) from err
        port = port_of(sockets)
    return sockets


def port_of(sockets: Sequence[socket.socket]) -> int:
    """The port that was got."""
    return int(sockets[0].getsockname()[1])


def share_of(descriptors: int) -> tuple[int, int]:
    """What a server takes of so many descriptors: connections in all, and new ones in one turn of the loop. Pure."""
    together = max(1, min(ACCEPTED_TOGETHER, descriptors // 32))
    spare = min(SPARE_DESCRIPTORS + TURNS_TO_CLOSE * together, descriptors * 2 // 3)
    return max(8, min(MOST_CONNECTIONS, descriptors - spare)), together


def _descriptors() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20


class Server:
    """One uvicorn over open sockets; takes no signals of its own.

    grace: seconds that open answers have at the end. idle: seconds that a connection is kept without a request.
    bounds: fields of Connections that differ from the usual.
    """

    def __init__(
        self,
        app: ASGIApp,
        sockets: Sequence[socket.socket],
        *,
        grace: float = 10.0,
        idle: int = IDLE_SECONDS,
        **bounds: Any,
    ) -> None:
        import uvicorn

        from channels.web.connections import BoundedProtocol, Connections, QueueingServer

        most, together = share_of(_descriptors())
        self.connections = Connections(**{"most": most, **bounds})
        protocol: Any = partial(BoundedProtocol, group=self.connections)
        self._sockets = list(sockets)
        self._server = QueueingServer(
            uvicorn.Config(
                app,
                http=protocol,
                backlog=together,
                ws="none",
                lifespan="off",
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=int(grace),
                timeout_keep_alive=idle,
                h11_max_incomplete_event_size=32_768,
            )
        )

    async def run(self) -> None:
        """Serve until `stop`; open answers are finished, up to the grace in seconds. Close the hub first."""
        # serve() would take SIGTERM for itself; the process has one handler, and it drains more than this.
        await self._server._serve(self._sockets)

    def stop(self) -> None:
        """Take no more connections and let `run` come to its end."""
        self._server.should_exit = True


def _open(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    # Named as TCP, or asyncio does not know it for TCP and leaves Nagle's delay on: 40 ms an answer.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind((address, port))
        opened.listen()
        opened.setblocking(False)
    except OSError:
        opened.close()
        raise
    return opened


def _why(address: str, port: int, err: OSError) -> str:
    if err.errno == errno.EADDRINUSE:
        return f"port {port} on {address} is in use by another program; set channels.web.port to a free one"
    return f"port {port} on {address} cannot be opened: {err.strerror or err}"
