"""The port of a process that has no page: how well it is, and its figures, behind the same gate."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from channels.web.auth import RequestGuard
from channels.web.backend import HealthReport, Probe
from channels.web.requests import HttpRefusal, error_response, header_values
from channels.web.server import health_response, peer_address, run_handler

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PATHS = ("/healthz", "/readyz", "/metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSources:
    """What is told."""

    healthy: Probe
    ready: Probe
    #: In the text format that Prometheus reads.
    metrics: Callable[[], Awaitable[str]]


class MonitorSite:
    """Three paths and nothing else; until `open` the process is well and not ready."""

    def __init__(self, gate: RequestGuard) -> None:
        self._gate = gate
        self._watched: MonitorSources | None = None

    def open(self, watched: MonitorSources) -> None:
        """Answer from this house from now on."""
        self._watched = watched

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await run_handler(self._answer, scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        headers, path = request.scope["headers"], request.scope["path"]
        if not self._gate.host_fits(headers):
            raise HttpRefusal(400, "host", self._gate.foreign_host())
        if path not in PATHS:
            raise HttpRefusal(404, "not_found", f"there is only {', '.join(PATHS)} here")
        if request.method not in ("GET", "HEAD"):
            raise HttpRefusal(405, "method", "send GET")
        known = bool(header_values(headers, b"authorization"))
        if known or path == "/metrics":
            await self._gate.visitor(request.method, headers, peer_address(request))
        if path == "/metrics":
            return await self._figures()
        return health_response(await self._health(path), full=known)

    async def _figures(self) -> Response:
        if self._watched is None:
            return error_response(503, "starting", "not ready yet; try again in a moment", {"retry-after": "1"})
        return Response(await self._watched.metrics(), 200, {"cache-control": "no-store"}, METRICS_TYPE)

    async def _health(self, path: str) -> HealthReport:
        if self._watched is None:
            return HealthReport(ok=path == "/healthz", reasons={"starting": True})
        probe = self._watched.healthy if path == "/healthz" else self._watched.ready
        return await probe()
