"""The site: one ASGI app in which every request passes the gate before any route is looked at."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.web import proxy_check
from channels.web.api import Api
from channels.web.assets import page
from channels.web.backend import Allow, Doors, Health, Probe
from channels.web.calls import Call, answer, refusal
from channels.web.channel import Web
from channels.web.errors import Refused
from channels.web.gate import LONGEST, Gate
from channels.web.hooks import HOOKS, answer_hook
from channels.web.proxy_check import ProxyCheck
from channels.web.rules import SECURITY_HEADERS, every, is_framed_twice
from channels.web.strict import read_json

STATIC = "/static/"
HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
CODES = {404: "not_found", 405: "method"}


class Site:
    """Page, login and health from the first moment; the API from `open` on, and 503 "starting" until then."""

    def __init__(self, *, gate: Gate, web: Web) -> None:
        self.gate = gate
        self.web = web
        self.calls: tuple[Call, ...] = ()
        self._proxy_check = ProxyCheck()
        self._doors: Doors | None = None
        self._app: ASGIApp = self._starting
        gate.changed = web.hub.wake

    def open(self, doors: Doors, calls: Iterable[Call] = ()) -> None:
        """Answer the API from now on, `calls` beside the channel's own."""
        self.calls = (*Api(self.web, doors).calls(), *self._proxy_check.calls(), *calls)
        self._doors = doors
        routes = [Route(call.path, _guarded(call, doors.allow), methods=[call.method]) for call in self.calls]
        app = Starlette(
            routes=routes, exception_handlers={Refused: refused, HTTPException: _http_error, Exception: _fault}
        )
        app.router.redirect_slashes = False
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await reply_with(self._answer, scope, receive, send)

    async def _answer(self, request: Request) -> ASGIApp:
        headers = request.scope["headers"]
        if request.scope["path"].startswith(HOOKS):
            return await answer_hook(request, self._doors.hooked) if self._doors else self._starting
        if request.scope["path"].startswith(proxy_check.PATH):
            return await self._proxy_check.answer(request)
        if not self.gate.host_fits(headers):
            raise Refused(400, "host", self.gate.foreign_host())
        if every(headers, b"upgrade"):
            raise Refused(403, "upgrade", "there are no WebSockets here")
        path = request.scope["path"]
        if path.startswith(STATIC) and request.method in ("GET", "HEAD"):
            return page(request, path.removeprefix(STATIC))
        if path == "/login":
            return await self._login(request)
        if path in ("/healthz", "/readyz") and not every(headers, b"authorization") + every(headers, b"cookie"):
            return await self._health(path, full=False)
        return await self._inside(request, path)

    async def _inside(self, request: Request, path: str) -> ASGIApp:
        """Everything for which one must be known."""
        try:
            visitor = await self.gate.visitor(request.method, request.scope["headers"], peer_of(request))
        except Refused as err:
            if path in ("/healthz", "/readyz"):
                return await self._health(path, full=False)
            if path == "/" and err.status == 401 and "text/html" in request.headers.get("accept", ""):
                return page(request, "login.html", 401)
            raise
        request.state.visitor = visitor
        if path in ("/healthz", "/readyz"):
            return await self._health(path, full=True)
        if path == "/" and request.method in ("GET", "HEAD"):
            return page(request, "index.html")
        if path == "/logout" and request.method == "POST":
            headers = request.scope["headers"]
            self.gate.logout(headers)
            return answer({"ok": True}, headers={"set-cookie": self.gate.set_cookie(headers, "", 0)})
        return self._app

    async def _login(self, request: Request) -> Response:
        if request.method in ("GET", "HEAD"):
            return page(request, "login.html")
        if request.method != "POST":
            raise Refused(405, "method", "the login page takes GET and POST")
        if request.headers.get("content-type") != "application/json":
            raise Refused(403, "content_type", "send Content-Type: application/json")
        fields = await read_json(request, limit=4096)
        headers, token = request.scope["headers"], str(fields.get("token", "")).strip()
        crumb, session = await self.gate.login(token, headers, peer_of(request))
        return answer({"csrf": session.csrf}, headers={"set-cookie": self.gate.set_cookie(headers, crumb, LONGEST)})

    async def _health(self, path: str, *, full: bool) -> Response:
        return told_health(await self._probe(path), full=full)

    async def _probe(self, path: str) -> Health:
        if self._doors is None:
            return Health(ok=path == "/healthz", reasons={"starting": True})
        probe: Probe = self._doors.healthy if path == "/healthz" else self._doors.ready
        return await probe()

    async def _starting(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = refusal(503, "starting", "not ready yet; try again in a moment", {"retry-after": "1"})
        await reply(scope, receive, send)


def _guarded(call: Call, allow: Allow) -> Any:
    async def endpoint(request: Request) -> ASGIApp:
        if not allow(call.action):
            raise Refused(403, "denied", "not allowed")
        return await call.handler(request)

    return endpoint


def peer_of(request: Request) -> str:
    """The address at the other end of the connection."""
    return request.client.host if request.client else ""


def told_health(health: Health, *, full: bool) -> Response:
    """Whether all is well, and to who may know it why not."""
    told: dict[str, Any] = {"ok": health.ok, **({"reasons": dict(health.reasons)} if full else {})}
    return answer(told, 200 if health.ok else 503)


def with_headers(send: Send) -> Send:
    """Sends what every answer of this server carries too."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending


async def reply_with(door: Callable[[Request], Awaitable[ASGIApp]], scope: Scope, receive: Receive, send: Send) -> None:
    """One request through a site's door, which raises Refused for what it does not let in."""
    if scope["type"] != "http":
        await send({"type": "websocket.close", "code": 1008})
        return
    request = Request(scope, receive)
    try:
        if is_framed_twice(scope["headers"], scope["http_version"]):
            raise Refused(400, "framing", "the body's length is given in two ways", {"connection": "close"})
        reply = await door(request)
    except Refused as err:
        reply = await refused(request, err)
    await reply(scope, receive, with_headers(send))


async def refused(_: Request, err: Exception) -> Response:
    """What a request that was refused is told."""
    assert isinstance(err, Refused)
    return refusal(err.status, err.code, err.message, err.headers)


async def _http_error(_: Request, err: Exception) -> Response:
    assert isinstance(err, HTTPException)
    headers: Mapping[str, str] = err.headers or {}
    return refusal(err.status_code, CODES.get(err.status_code, "http"), str(err.detail).lower(), headers)


async def _fault(_: Request, __: Exception) -> Response:
    # The connection is closed after a fault; a client that was not told would send its next request into the close.
    return refusal(500, "fault", "something went wrong here; the log has the trace", {"connection": "close"})
