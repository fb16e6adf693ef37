"""The page's ASGI app, which authenticates before it routes; the monitor app; the server."""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette import routing
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.phrases import Phrase
from channels.web.auth import RequestGuard, derive_csrf, is_framed_twice, require_fresh_login
from channels.web.backend import Allow, EventSources, HealthReport, PasskeySite, Probe, WebServices
from channels.web.channel import Web
from channels.web.requests import (
    HOOKS_PATH,
    BodyLimiter,
    BodyTimes,
    CannotServe,
    HttpRefusal,
    LargeBodies,
    Route,
    error_response,
    header_values,
    json_response,
    peer_address,
    read_json,
    request_language,
)
from channels.web.routes import PROXY_CHECK_PATH, ProxyCheck, WebApi, handle_webhook
from channels.web.sessions import SESSION_IDLE_SECONDS
from channels.web.static_files import (
    PAGE,
    STATIC_PATH,
    asset_response,
    is_page,
    preload_links,
)
from channels.web.validation import read_fields

PASSKEY_LOGIN_PATH = "/login/passkey"
MAX_PASSKEY_BYTES = 20_000  # of a browser's answer
SECURITY_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        b"font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; "
        b"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; "
        b"trusted-types dompurify svelte-trusted-html",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
STARTING = error_response(
    503, "starting", "not ready yet; try again in a moment", {"retry-after": "1"}
)
ERROR_CODES = {404: "not_found", 405: "method"}


LoadRoutes = Callable[[], Awaitable[Iterable[Route]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What requests of the console need beside conversations."""

    routes: tuple[Route, ...]
    #: Topics of the event stream.
    sources: EventSources
    #: Options of a login by passkey for the browser; None if there is no passkey of that site.
    login_options: Callable[[PasskeySite], Mapping[str, Any] | None]
    #: Check a browser's answer; return the passkey's name. Raises PasskeyRefused.
    verify_passkey: Callable[[PasskeySite, Mapping[str, Any]], str]


class WebSite:
    """ASGI app: page, login and health at once, the API from `open` on, and 503 "starting" until
    then.

    Routes that few bots are asked for are loaded by the first request that fits no other.
    """

    def __init__(self, *, gate: RequestGuard, web: Web) -> None:
        self.gate = gate
        self.web = web
        self.calls: tuple[Route, ...] = ()
        self._proxy_check = ProxyCheck()
        self._large_bodies = LargeBodies()
        self._services: WebServices | None = None
        self._router: Starlette | None = None
        self._load: LoadRoutes | None = None
        self._loading = asyncio.Lock()
        gate.changed = web.hub.wake_readers

    def open(
        self, services: WebServices, calls: Iterable[Route] = (), load: LoadRoutes | None = None
    ) -> None:
        """Serve the API from now on: the channel's own routes, `calls`, and what `load` returns
        once it is needed.
        """
        self._services, self._load = services, load
        self._serve(
            services, (*WebApi(self.web, services).calls(), *self._proxy_check.calls(), *calls)
        )

    async def load_calls(self) -> None:
        """Load the routes that are left, unless they are loaded."""
        async with self._loading:
            if self._services and self._load:
                more = await self._load()
                self._load = None
                self._serve(self._services, (*self.calls, *more))

    def _serve(self, services: WebServices, calls: tuple[Route, ...]) -> None:
        self.calls = calls
        self._router = Starlette(
            routes=[
                routing.Route(
                    path,
                    _make_endpoint(route, services.allow, self._large_bodies),
                    methods=[route.method],
                )
                for route in calls
                for path in route.paths
            ],
            exception_handlers={
                HttpRefusal: _refusal_response,
                HTTPException: _http_error,
                Exception: _internal_error,
            },
        )
        self._router.router.redirect_slashes = False

    async def _find_router(self, scope: Scope) -> ASGIApp:
        """Return what routes a request."""
        if self._router is None:
            return STARTING
        if self._load and not any(
            route.matches(scope)[0] is routing.Match.FULL for route in self._router.routes
        ):
            await self.load_calls()
        return self._router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _run_handler(self._answer, scope, receive, send)

    async def _answer(self, request: Request) -> ASGIApp:
        headers = request.scope["headers"]
        if request.scope["path"].startswith(HOOKS_PATH):
            return (
                await handle_webhook(request, self._services.find_webhook)
                if self._services
                else STARTING
            )
        if request.scope["path"].startswith(PROXY_CHECK_PATH):
            return await self._proxy_check.answer(request)
        if not self.gate.host_fits(headers):
            raise HttpRefusal(400, "host", self.gate.foreign_host())
        if header_values(headers, b"upgrade"):
            raise HttpRefusal(403, "upgrade", Phrase("there are no WebSockets here"))
        path = request.scope["path"]
        if path.startswith(STATIC_PATH) and request.method in ("GET", "HEAD"):
            return asset_response(request, path.removeprefix(STATIC_PATH))
        if path == "/login":
            return await self._login(request)
        if path == PASSKEY_LOGIN_PATH:
            return await self._login_by_passkey(request)
        if path in ("/healthz", "/readyz") and not header_values(
            headers, b"authorization"
        ) + header_values(headers, b"cookie"):
            return await _health_response(self._services, path, full=False)
        return await self._answer_visitor(request, path)

    async def _answer_visitor(self, request: Request, path: str) -> ASGIApp:
        """Answer a request that needs a session or the token."""
        try:
            visitor = await self.gate.visitor(
                request.method, request.scope["headers"], peer_address(request)
            )
        except HttpRefusal as err:
            if path in ("/healthz", "/readyz"):
                return await _health_response(self._services, path, full=False)
            if (
                is_page(path)
                and err.status == 401
                and "text/html" in request.headers.get("accept", "")
            ):
                return asset_response(request, PAGE, 401)
            raise
        request.state.visitor = visitor
        if path in ("/healthz", "/readyz"):
            return await _health_response(self._services, path, full=True)
        if is_page(path) and request.method in ("GET", "HEAD"):
            language = request_language(request)
            page = asset_response(request, PAGE)
            page.headers["link"] = preload_links(path, language)
            return page
        if path == "/logout" and request.method == "POST":
            headers = request.scope["headers"]
            self.gate.logout(headers)
            return json_response(
                {"ok": True}, headers={"set-cookie": self.gate.set_cookie(headers, "", 0)}
            )
        return await self._find_router(request.scope)

    async def _login(self, request: Request) -> Response:
        if request.method in ("GET", "HEAD"):
            return asset_response(request, PAGE)
        if request.method != "POST":
            raise HttpRefusal(405, "method", Phrase("the login page takes GET and POST"))
        if request.headers.get("content-type") != "application/json":
            raise HttpRefusal(403, "content_type", Phrase("send Content-Type: application/json"))
        fields = await read_json(request, limit=4096)
        headers, peer = request.scope["headers"], peer_address(request)
        if "code" in fields:
            code = str(fields["code"])
            return self._welcome(request, await self.gate.login_by_code(code, headers, peer))
        token = str(fields.get("token", "")).strip()
        return self._welcome(request, await self.gate.login(token, headers, peer))

    async def _login_by_passkey(self, request: Request) -> Response:
        """GET: the options of a login, null where no passkey is registered.

        POST: the browser's answer to them.
        """
        headers, services = request.scope["headers"], self._services
        site = self.gate.passkey_site(headers)
        if request.method in ("GET", "HEAD"):
            options = await services.passkey_options(site) if services and site else None
            return json_response({"options": options})
        if request.method != "POST" or request.headers.get("content-type") != "application/json":
            raise HttpRefusal(403, "content_type", Phrase("send Content-Type: application/json"))
        answer = (await read_json(request, limit=MAX_PASSKEY_BYTES)).get("credential")
        passkey = ""
        if services and site and isinstance(answer, dict):
            passkey = await services.verify_passkey(site, answer)
        return self._welcome(
            request, await self.gate.login_by_passkey(passkey, headers, peer_address(request))
        )

    def _welcome(self, request: Request, session_cookie: str) -> Response:
        cookie = self.gate.set_cookie(
            request.scope["headers"], session_cookie, SESSION_IDLE_SECONDS
        )
        response = json_response(
            {"csrf": derive_csrf(session_cookie)}, headers={"set-cookie": cookie}
        )
        # Once the browser has its new cookie: its streams of the login before come back with it.
        response.background = BackgroundTask(self._end_replaced_streams)
        return response

    async def _end_replaced_streams(self) -> None:
        self.gate.changed()


def _make_endpoint(route: Route, allow: Allow, large_bodies: LargeBodies) -> Any:
    """Return what answers a route's requests: access first, then what it is given, then its
    handler.
    """

    async def endpoint(request: Request) -> ASGIApp:
        if not allow(route.action):
            raise HttpRefusal(403, "denied", Phrase("not allowed"))
        if route.needs_fresh_login:
            require_fresh_login(request.state.visitor)
        async with read_fields(route, request, large_bodies) as fields:
            return await route.handler(request, *fields)

    return endpoint


async def _health_response(
    sources: "WebServices | MonitorSources | None", path: str, *, full: bool
) -> Response:
    """Probe /healthz or /readyz. full: include the reasons, which only a known visitor may read."""
    if sources is None:
        report = HealthReport(ok=path == "/healthz", reasons={"starting": True})
    else:
        report = await (sources.healthy() if path == "/healthz" else sources.ready())
    body: dict[str, Any] = {"ok": report.ok, **({"reasons": dict(report.reasons)} if full else {})}
    return json_response(body, 200 if report.ok else 503)


async def _run_handler(
    handle: Callable[[Request], Awaitable[ASGIApp]], scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer one ASGI request with what `handle` returns or refuses, plus the security headers."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *SECURITY_HEADERS]
        await send(message)

    if scope["type"] != "http":
        await send({"type": "websocket.close", "code": 1008})
        return
    request = Request(scope, receive)
    try:
        if is_framed_twice(scope["headers"], scope["http_version"]):
            raise HttpRefusal(
                400,
                "framing",
                Phrase("the length of the body is given twice"),
                {"connection": "close"},
            )
        response = await handle(request)
    except HttpRefusal as err:
        response = await _refusal_response(request, err)
    await response(scope, receive, send_with_headers)


async def _refusal_response(request: Request, err: Exception) -> Response:
    """Answer with a refusal, in the language that the client asks for."""
    assert isinstance(err, HttpRefusal)
    lang = request_language(request)
    message, hint = err.message.text(lang), err.hint.text(lang)
    return error_response(err.status, err.code, message, err.headers, field=err.field, hint=hint)


async def _http_error(_: Request, err: Exception) -> Response:
    assert isinstance(err, HTTPException)
    headers: Mapping[str, str] = err.headers or {}
    return error_response(
        err.status_code, ERROR_CODES.get(err.status_code, "http"), str(err.detail).lower(), headers
    )


async def _internal_error(request: Request, _: Exception) -> Response:
    # uvicorn closes the connection after an error; without the header a client would send its next
    # request into it.
    message = Phrase("something went wrong here; the log has the details")
    return error_response(
        500, "fault", message.text(request_language(request)), {"connection": "close"}
    )


# Health and metrics of a process without a page, behind the same guard.

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MONITOR_PATHS = ("/healthz", "/readyz", "/metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSources:
    """What a MonitorSite serves."""

    healthy: Probe
    ready: Probe
    #: In the Prometheus text format.
    metrics: Callable[[], Awaitable[str]]


class MonitorSite:
    """ASGI app with three paths; until `open` the process counts as healthy and not ready."""

    def __init__(self, gate: RequestGuard) -> None:
        self._gate = gate
        self._sources: MonitorSources | None = None

    def open(self, sources: MonitorSources) -> None:
        """Serve these from now on."""
        self._sources = sources

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _run_handler(self._answer, scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        headers, path = request.scope["headers"], request.scope["path"]
        if not self._gate.host_fits(headers):
            raise HttpRefusal(400, "host", self._gate.foreign_host())
        if path not in MONITOR_PATHS:
            raise HttpRefusal(
                404,
                "not_found",
                Phrase(
                    "there is only {monitor_paths} here", monitor_paths=", ".join(MONITOR_PATHS)
                ),
            )
        if request.method not in ("GET", "HEAD"):
            raise HttpRefusal(405, "method", Phrase("send GET"))
        known = bool(header_values(headers, b"authorization"))
        if known or path == "/metrics":
            await self._gate.visitor(request.method, headers, peer_address(request))
        if path == "/metrics":
            if self._sources is None:
                return STARTING
            return Response(
                await self._sources.metrics(), 200, {"cache-control": "no-store"}, METRICS_TYPE
            )
        return await _health_response(self._sources, path, full=known)


# The loopback port: opened before anything heavy is imported, then served until `stop`.

LOOPBACK = {
    "127.0.0.1": ((socket.AF_INET, "127.0.0.1"),),
    "::1": ((socket.AF_INET6, "::1"),),
    "localhost": ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")),
}
# for which an idle connection stays open: proxies reuse one for 60, browsers for longer
KEEP_ALIVE_SECONDS = 75
# per iteration of the loop; at the descriptor limit each further one fails and is logged
MAX_ACCEPTS = 64
# of the loop, from accept() until the connection that was closed for the new one is gone
CLOSE_ITERATIONS = 4
MAX_CONNECTIONS = 1024
SPARE_DESCRIPTORS = 256  # for the database, the platforms and the models


def open_sockets(host: str, port: int) -> list[socket.socket]:
    """Open sockets that already accept connections; port 0 takes a free one.

    Raises:
        CannotServe: the host is not loopback, or the port is taken or may not be used.
    """
    addresses = LOOPBACK.get(host)
    if addresses is None:
        raise CannotServe(
            f"the web channel listens on 127.0.0.1, ::1 or localhost only, not on {host!r}; "
            "to reach it from elsewhere, put a proxy with TLS in front and set "
            "channels.web.public_url to its address"
        )
    sockets: list[socket.socket] = []
    for family, address in addresses:
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
    """Return the port that the sockets listen on."""
    return int(sockets[0].getsockname()[1])


def connection_limits(descriptors: int) -> tuple[int, int]:
    """Return how many connections, and accepts per loop iteration, fit into so many descriptors.

    Pure.
    """
    accepts = max(1, min(MAX_ACCEPTS, descriptors // 32))
    spare = min(SPARE_DESCRIPTORS + CLOSE_ITERATIONS * accepts, descriptors * 2 // 3)
    return max(8, min(MAX_CONNECTIONS, descriptors - spare)), accepts


class WebServer:
    """A uvicorn server over open sockets, without signal handlers.

    Args:
        grace: seconds for open responses at the end.
        idle: seconds for which an idle connection stays open.
        bodies: how long the bodies of requests are waited for.
        limits: fields of ConnectionLimiter that differ from their defaults.
    """

    def __init__(
        self,
        app: ASGIApp,
        sockets: Sequence[socket.socket],
        *,
        grace: float = 10.0,
        idle: int = KEEP_ALIVE_SECONDS,
        bodies: BodyTimes | None = None,
        **limits: Any,
    ) -> None:
        import resource  # not on every system

        from uvicorn.config import Config

        from channels.web.connections import BoundedProtocol, ConnectionLimiter, QueueingServer

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most, accepts = connection_limits(soft if soft != resource.RLIM_INFINITY else 1 << 20)
        self.connections = ConnectionLimiter(**{"most": most, **limits})
        protocol: Any = partial(BoundedProtocol, group=self.connections)
        self._sockets = list(sockets)
        self._bodies = BodyLimiter(app, bodies or BodyTimes())
        self._server = QueueingServer(
            Config(
                self._bodies,
                http=protocol,
                backlog=accepts,
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
        """Serve until `stop`, then finish open responses within the grace time.

        Close the hub first.
        """
        await self._server.serve(self._sockets)

    def stop(self) -> None:
        """Accept no more connections, wait for no more of requests' bodies, and end `run`."""
        self._bodies.stop()
        self._server.stop()


def _open_socket(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    # Only for sockets created as IPPROTO_TCP does asyncio switch Nagle's algorithm off: 40 ms per
    # response.
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
        return (
            f"port {port} on {address} is in use by another program; set channels.web.port to a "
            "free one"
        )
    return f"port {port} on {address} cannot be opened: {err.strerror or err}"
