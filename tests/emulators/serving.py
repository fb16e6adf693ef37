"""What the emulators over HTTP share: a port, answers that do not come through whole, and the orders of a test."""

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Protocol

from aiohttp import web

from tests.emulators.telegram_faults import Fault


class Spoiling(Protocol):
    """A fault that lets a call have its effect; see telegram_faults."""

    @property
    def action(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def size(self) -> int: ...


async def listen(port: int, *routes: web.AbstractRouteDef) -> web.AppRunner:
    """Serve on this port of the machine, on any free one for 0; cleaning the runner up ends it."""
    app = web.Application(client_max_size=64 * 2**20)
    app.add_routes(routes)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    return runner


def port_of(runner: web.AppRunner) -> int:
    return int(runner.addresses[0][1])


def deafen(runner: web.AppRunner) -> None:
    """Take no more connections, at once; those that are open go on."""
    for site in runner.sites:
        site._server.close()  # type: ignore[attr-defined]


def cut(runner: web.AppRunner) -> None:
    """Break every connection that is open now."""
    for connection in list(runner.server.connections) if runner.server else ():
        if connection.transport is not None:
            connection.transport.abort()


def drop(request: web.Request, gently: bool = False) -> None:
    """Break the connection that a request came by; gently: after what was written has gone out."""
    if request.transport is not None:
        request.transport.close() if gently else request.transport.abort()


def gateway_page() -> web.Response:
    """What stands in front of a platform that is down."""
    page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    return web.Response(status=502, text=page, content_type="text/html")


async def instead(fault: Fault, request: web.Request) -> web.Response | None:
    """What comes in the place of the call; None where it is only delayed."""
    match fault.action:
        case "delay":
            await asyncio.sleep(fault.seconds)
            return None
        case "status":
            return web.Response(status=fault.code, text=fault.body, headers=fault.headers)
        case "html_502":
            return gateway_page()
        case "retry_after":
            return web.Response(status=429, text="", headers={"Retry-After": str(int(fault.seconds))})
        case "half_open":
            await asyncio.Event().wait()
    drop(request)
    return web.Response()


async def spoiled(fault: Spoiling, request: web.Request, answer: web.Response) -> web.StreamResponse:
    """The effect has happened; the answer does not come through whole."""
    if fault.action == "accept_then_drop":
        drop(request)
        return web.Response()
    body = answer.body if isinstance(answer.body, bytes) else b""
    half = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
    half.content_length = len(body)
    await half.prepare(request)
    if fault.action == "truncate":
        await half.write(body[: fault.size])
        drop(request, gently=True)
        return half
    for place in range(len(body)):
        await half.write(body[place : place + 1])
        await asyncio.sleep(fault.seconds)
    return half


async def obey(
    request: web.Request, acts: Mapping[str, Callable[..., Any]], plain: Callable[[Any], Any] = lambda value: value
) -> web.Response:
    """Carry out the act that a test names in the path, with arguments as query or JSON, and tell what came of it.

    plain: makes something of a value that has no JSON by itself; what it gives back as it is has none.
    """
    name = request.match_info["name"]
    if name not in acts:
        return web.json_response({"error": f"no control {name}; there are {sorted(acts)}"}, status=404)
    given = (
        await request.json() if request.can_read_body else {key: _number(text) for key, text in request.query.items()}
    )
    try:
        result = acts[name](**given)
        result = await result if inspect.isawaitable(result) else result
    except (TypeError, ValueError, LookupError, AttributeError, StopIteration) as err:
        return web.json_response({"error": repr(err)}, status=400)
    return web.json_response(result, dumps=lambda told: json.dumps(told, default=lambda value: _told(value, plain)))


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        if text.removeprefix("-").replace(".", "", kind is float).isdigit():
            return kind(text)
    return text


def _told(value: Any, plain: Callable[[Any], Any]) -> Any:
    if (made := plain(value)) is not value:
        return made
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "action") and hasattr(value, "used"):
        return {"action": value.action, "used": value.used}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"no JSON for {value!r}")
