"""The port of a process that has no page: how well it is, and its figures, behind the same gate."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from channels.web.auth import Gate
from channels.web.backend import Health, Probe
from channels.web.requests import Refused, every, refusal
from channels.web.server import peer_of, reply_with, told_health

FIGURES = "text/plain; version=0.0.4; charset=utf-8"
PATHS = ("/healthz", "/readyz", "/metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What is told. metrics: in the text format that Prometheus reads."""

    healthy: Probe
    ready: Probe
    metrics: Callable[[], Awaitable[str]]


class WatchSite:
    """Three paths and nothing else; until `open` the process is well and not ready."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._watched: Watched | None = None

    def open(self, watched: Watched) -> None:
        """Answer from this house from now on."""
        self._watched = watched

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await reply_with(self._answer, scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        headers, path = request.scope["headers"], request.scope["path"]
        if not self._gate.host_fits(headers):
            raise Refused(400, "host", self._gate.foreign_host())
        if path not in PATHS:
            raise Refused(404, "not_found", f"there is only {', '.join(PATHS)} here")
        if request.method not in ("GET", "HEAD"):
            raise Refused(405, "method", "send GET")
        known = bool(every(headers, b"authorization"))
        if known or path == "/metrics":
            await self._gate.visitor(request.method, headers, peer_of(request))
        if path == "/metrics":
            return await self._figures()
        return told_health(await self._health(path), full=known)

    async def _figures(self) -> Response:
        if self._watched is None:
            return refusal(503, "starting", "not ready yet; try again in a moment", {"retry-after": "1"})
        return Response(await self._watched.metrics(), 200, {"cache-control": "no-store"}, FIGURES)

    async def _health(self, path: str) -> Health:
        if self._watched is None:
            return Health(ok=path == "/healthz", reasons={"starting": True})
        probe = self._watched.healthy if path == "/healthz" else self._watched.ready
        return await probe()
