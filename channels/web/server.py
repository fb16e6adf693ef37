"""The site: one ASGI app in which every request passes the gate before any route is looked at."""

import errno
import hashlib
import resource
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.web import routes as proxy_check
from channels.web.auth import MAX_SESSION_SECONDS, SECURITY_HEADERS, RequestGuard, is_framed_twice
from channels.web.backend import Allow, HealthReport, Probe, WebServices
from channels.web.channel import Web
from channels.web.requests import CannotServe, HttpRefusal, error_response, header_values, json_response, read_json
from channels.web.requests import Route as Call
from channels.web.routes import ProxyCheck, WebApi
from channels.web.webhooks import HOOKS_PATH, handle_webhook

# The page's files, read once from the package; what is not among them does not exist.

STATIC_FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticFile:
    """One file: its bytes, media type and ETag."""

    body: bytes
    media_type: str
    etag: str


@cache
def load_assets() -> dict[str, StaticFile]:
    """Every servable file by its path below the folder."""
    found = (path for path in sorted(STATIC_FOLDER.rglob("*")) if path.suffix in MEDIA_TYPES)
    return {path.relative_to(STATIC_FOLDER).as_posix(): _asset(path) for path in found}


def asset_response(request: Request, name: str, status: int = 200) -> Response:
    """One file as an answer: 404 when it is not ours, 304 when the browser has it."""
    asset = load_assets().get(name)
    if asset is None:
        return Response(b"not found", 404, media_type="text/plain")
    headers = {"etag": asset.etag, "cache-control": "no-cache"}
    if status == 200 and request.headers.get("if-none-match") == asset.etag:
        return Response(b"", 304, headers)
    return Response(asset.body, status, headers, asset.media_type)


def _asset(path: Path) -> StaticFile:
    body = path.read_bytes()
    return StaticFile(body=body, media_type=MEDIA_TYPES[path.suffix], etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"')


STATIC_PATH = "/static/"
SECURITY_HEADER_PAIRS = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
ERROR_CODES = {404: "not_found", 405: "method"}


class WebSite:
    """Page, login and health from the first moment; the API from `open` on, and 503 "starting" until then."""

    def __init__(self, *, gate: RequestGuard, web: Web) -> None:
        self.gate = gate
        self.web = web
        self.calls: tuple[Call, ...] = ()
        self._proxy_check = ProxyCheck()
        self._doors: WebServices | None = None
        self._app: ASGIApp = self._starting
        gate.changed = web.hub.wake

    def open(self, doors: WebServices, calls: Iterable[Call] = ()) -> None:
        """Answer the API from now on, `calls` beside the channel's own."""
        self.calls = (*WebApi(self.web, doors).calls(), *self._proxy_check.calls(), *calls)
        self._doors = doors
        routes = [Route(call.path, _require_access(call, doors.allow), methods=[call.method]) for call in self.calls]
        app = Starlette(
            routes=routes,
            exception_handlers={HttpRefusal: refusal_response, HTTPException: _http_error, Exception: _internal_error},
        )
        app.router.redirect_slashes = False
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await run_handler(self._answer, scope, receive, send)

    async def _answer(self, request: Request) -> ASGIApp:
        headers = request.scope["headers"]
        if request.scope["path"].startswith(HOOKS_PATH):
            return await handle_webhook(request, self._doors.hooked) if self._doors else self._starting
        if request.scope["path"].startswith(proxy_check.PATH):
            return await self._proxy_check.answer(request)
        if not self.gate.host_fits(headers):
            raise HttpRefusal(400, "host", self.gate.foreign_host())
        if header_values(headers, b"upgrade"):
            raise HttpRefusal(403, "upgrade", "there are no WebSockets here")
        path = request.scope["path"]
        if path.startswith(STATIC_PATH) and request.method in ("GET", "HEAD"):
            return asset_response(request, path.removeprefix(STATIC_PATH))
        if path == "/login":
            return await self._login(request)
        if path in ("/healthz", "/readyz") and not header_values(headers, b"authorization") + header_values(
            headers, b"cookie"
        ):
            return await self._health(path, full=False)
        return await self._inside(request, path)

    async def _inside(self, request: Request, path: str) -> ASGIApp:
        """Everything for which one must be known."""
        try:
            visitor = await self.gate.visitor(request.method, request.scope["headers"], peer_address(request))
        except HttpRefusal as err:
            if path in ("/healthz", "/readyz"):
                return await self._health(path, full=False)
            if path == "/" and err.status == 401 and "text/html" in request.headers.get("accept", ""):
                return asset_response(request, "login.html", 401)
            raise
        request.state.visitor = visitor
        if path in ("/healthz", "/readyz"):
            return await self._health(path, full=True)
        if path == "/" and request.method in ("GET", "HEAD"):
            return asset_response(request, "index.html")
        if path == "/logout" and request.method == "POST":
            headers = request.scope["headers"]
            self.gate.logout(headers)
            return json_response({"ok": True}, headers={"set-cookie": self.gate.set_cookie(headers, "", 0)})
        return self._app

    async def _login(self, request: Request) -> Response:
        if request.method in ("GET", "HEAD"):
            return asset_response(request, "login.html")
        if request.method != "POST":
            raise HttpRefusal(405, "method", "the login page takes GET and POST")
        if request.headers.get("content-type") != "application/json":
            raise HttpRefusal(403, "content_type", "send Content-Type: application/json")
        fields = await read_json(request, limit=4096)
        headers, token = request.scope["headers"], str(fields.get("token", "")).strip()
        session_cookie, session = await self.gate.login(token, headers, peer_address(request))
        return json_response(
            {"csrf": session.csrf},
            headers={"set-cookie": self.gate.set_cookie(headers, session_cookie, MAX_SESSION_SECONDS)},
        )

    async def _health(self, path: str, *, full: bool) -> Response:
        return health_response(await self._probe(path), full=full)

    async def _probe(self, path: str) -> HealthReport:
        if self._doors is None:
            return HealthReport(ok=path == "/healthz", reasons={"starting": True})
        probe: Probe = self._doors.healthy if path == "/healthz" else self._doors.ready
        return await probe()

    async def _starting(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = error_response(503, "starting", "not ready yet; try again in a moment", {"retry-after": "1"})
        await reply(scope, receive, send)


def _require_access(call: Call, allow: Allow) -> Any:
    async def endpoint(request: Request) -> ASGIApp:
        if not allow(call.action):
            raise HttpRefusal(403, "denied", "not allowed")
        return await call.handler(request)

    return endpoint


def peer_address(request: Request) -> str:
    """The address at the other end of the connection."""
    return request.client.host if request.client else ""


def health_response(health: HealthReport, *, full: bool) -> Response:
    """Whether all is well, and to who may know it why not."""
    told: dict[str, Any] = {"ok": health.ok, **({"reasons": dict(health.reasons)} if full else {})}
    return json_response(told, 200 if health.ok else 503)


def with_headers(send: Send) -> Send:
    """Sends what every answer of this server carries too."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *SECURITY_HEADER_PAIRS]
        await send(message)

    return sending


async def run_handler(
    door: Callable[[Request], Awaitable[ASGIApp]], scope: Scope, receive: Receive, send: Send
) -> None:
    """One request through a site's door, which raises Refused for what it does not let in."""
    if scope["type"] != "http":
        await send({"type": "websocket.close", "code": 1008})
        return
    request = Request(scope, receive)
    try:
        if is_framed_twice(scope["headers"], scope["http_version"]):
            raise HttpRefusal(400, "framing", "the body's length is given in two ways", {"connection": "close"})
        reply = await door(request)
    except HttpRefusal as err:
        reply = await refusal_response(request, err)
    await reply(scope, receive, with_headers(send))


async def refusal_response(_: Request, err: Exception) -> Response:
    """What a request that was refused is told."""
    assert isinstance(err, HttpRefusal)
    return error_response(err.status, err.code, err.message, err.headers)


async def _http_error(_: Request, err: Exception) -> Response:
    assert isinstance(err, HTTPException)
    headers: Mapping[str, str] = err.headers or {}
    return error_response(err.status_code, ERROR_CODES.get(err.status_code, "http"), str(err.detail).lower(), headers)


async def _internal_error(_: Request, __: Exception) -> Response:
    # The connection is closed after a fault; a client that was not told would send its next request into the close.
    return error_response(500, "fault", "something went wrong here; the log has the trace", {"connection": "close"})


# The loopback port: opened before anything heavy is imported, then served until it is asked to end.

LOOPBACK = {
    "127.0.0.1": ((socket.AF_INET, "127.0.0.1"),),
    "::1": ((socket.AF_INET6, "::1"),),
    "localhost": ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")),
}
KEEP_ALIVE_SECONDS = 75  # that a connection is kept for another request: proxies count on 60, browsers on more
MAX_ACCEPTS = 64  # in one turn of the loop; at the descriptor limit each further try fails and is reported
CLOSE_ITERATIONS = 4  # turns from accept() until a connection that had to make room is closed
MAX_CONNECTIONS = 1024
SPARE_DESCRIPTORS = 256  # for the database, the platforms and the models


def open_sockets(host: str, port: int) -> list[socket.socket]:
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
            sockets.append(_open_socket(family, address, port))
        except OSError as err:
            if sockets and err.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue  # "localhost" on a machine without IPv6
            for opened in sockets:
                opened.close()
            raise CannotServe(_open_error_text(address, port, err)) from err
        port = bound_port(sockets)
    return sockets


def bound_port(sockets: Sequence[socket.socket]) -> int:
    """The port that was got."""
    return int(sockets[0].getsockname()[1])


def connection_limits(descriptors: int) -> tuple[int, int]:
    """What a server takes of so many descriptors: connections in all, and new ones in one turn of the loop. Pure."""
    together = max(1, min(MAX_ACCEPTS, descriptors // 32))
    spare = min(SPARE_DESCRIPTORS + CLOSE_ITERATIONS * together, descriptors * 2 // 3)
    return max(8, min(MAX_CONNECTIONS, descriptors - spare)), together


def _descriptor_limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20


class WebServer:
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
        idle: int = KEEP_ALIVE_SECONDS,
        **bounds: Any,
    ) -> None:
        import uvicorn

        from channels.web.connections import BoundedProtocol, ConnectionLimiter, QueueingServer

        most, together = connection_limits(_descriptor_limit())
        self.connections = ConnectionLimiter(**{"most": most, **bounds})
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


def _open_socket(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
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


def _open_error_text(address: str, port: int, err: OSError) -> str:
    if err.errno == errno.EADDRINUSE:
        return f"port {port} on {address} is in use by another program; set channels.web.port to a free one"
    return f"port {port} on {address} cannot be opened: {err.strerror or err}"
