"""What every platform's emulator is made of: a world with a clock, faults, a port, a log of calls,
a test's orders.
"""

import asyncio
import inspect
import json
import random
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

from aiohttp import web

World = TypeVar("World", bound="PlatformWorld")
Call = TypeVar("Call")
MAX_LOGGED = 20_000
Action = Literal[
    "delay",
    "status",
    "html_502",
    "retry_after",
    "close_before_reply",
    "accept_then_drop",
    "half_open",
    "truncate",
    "drip",
]
# these let the call have its effect; the others come before it
AFTER = ("accept_then_drop", "truncate", "drip")


# -- worlds ---------------------------------------------------------------------------------------


class PlatformWorld:
    """State of a platform: random choices from a seed, a clock that can jump, and a signal for
    every change.
    """

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.skew = 0.0
        self._changed = asyncio.Event()

    def now(self) -> float:
        """Unix seconds of the platform's clock."""
        return time.time() + self.skew

    def advance(self, seconds: float) -> None:
        """Let the platform's clock jump: windows close, files and tokens expire."""
        self.skew += seconds
        self.notify()

    def notify(self) -> None:
        """Something changed: wake all that wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def change(self, seconds: float) -> None:
        """Wait until something changes, at most so long."""
        changed = self._changed
        with suppress(TimeoutError):
            async with asyncio.timeout(max(seconds, 0.001)):
                await changed.wait()

    async def until(self, holds: Callable[[], object], seconds: float = 20.0) -> None:
        """Wait until something is true of this world. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not holds():
                await self.change(0.5)


# -- faults ---------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class FaultRule:
    """Which of the matching calls are hit: after `skip`, the `nth`, at most `times` (0: always),
    how probably.
    """

    skip: int = 0
    nth: int = 0
    times: int = 0
    probability: float = 1.0
    seed: int = 0
    #: Of a delay, of a rate limit, or between two bytes of a drip.
    seconds: float = 0.0
    #: Bytes that a truncated answer keeps.
    size: int = 0
    seen: int = 0
    used: int = 0
    chance: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self.chance.seed(self.seed)

    def due(self) -> bool:
        """Whether this matching call is hit; counts it."""
        self.seen += 1
        if (
            self.seen <= self.skip
            or (self.nth and self.seen != self.nth)
            or (self.times and self.used >= self.times)
        ):
            return False
        if self.chance.random() >= self.probability:
            return False
        self.used += 1
        return True


@dataclass(slots=True, kw_only=True)
class Fault(FaultRule):
    """A fault of HTTP calls, chosen by method and chat."""

    action: Action
    method: str = ""
    chat: str = ""
    code: int = 500
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    #: Whether a 429 carries its seconds as a field and header, or only in its words.
    parameters: bool = True

    def strikes(self, method: str, chat: str) -> bool:
        """Whether this call is hit; counts it."""
        if self.method and self.method.lower() != method.lower():
            return False
        return self.chat in ("", chat) and self.due()


class SpoilingFault(Protocol):
    """A fault that lets a call have its effect."""

    @property
    def action(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def size(self) -> int: ...


# -- emulators ------------------------------------------------------------------------------------


class HttpEmulator(ABC, Generic[World, Call]):
    """Listens on loopback inside `async with`; stopped and started again, it keeps its port and its
    world.
    """

    def __init__(self, world: World, port: int = 0) -> None:
        self.world = world
        self.port = port
        self.faults: list[Any] = []
        self.calls: deque[Call] = deque(maxlen=MAX_LOGGED)
        self._runner: web.AppRunner | None = None
        self.until = world.until

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def serving(self) -> bool:
        return self._runner is not None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @abstractmethod
    def routes(self) -> Sequence[web.AbstractRouteDef]:
        """The platform's side, and the test's side under /_ctl/."""

    async def start(self) -> None:
        """Listen; on the same port again after a stop."""
        self._runner = await listen(self.port, *self.routes())
        self.port = port_of(self._runner)

    async def stop(self) -> None:
        """Close the port and all connections; the world stays."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def refuse_connections(self) -> None:
        """Take no more connections, at once; those that are open go on."""
        if self._runner is not None:
            close_listeners(self._runner)

    def fault(self, action: Any, **rule: Any) -> Any:
        """Let something go wrong from now on; see Fault."""
        self.faults.append(Fault(action=action, **rule))
        return self.faults[-1]

    def clear_faults(self) -> None:
        self.faults.clear()

    async def through_faults(
        self,
        request: web.Request,
        struck: Sequence[Any],
        respond: Callable[[], Awaitable[web.Response]],
        instead: Callable[[Any, web.Request], Awaitable[web.Response | None]] | None = None,
    ) -> tuple[web.StreamResponse, int]:
        """Answer as far as the faults let it be.

        Returns the answer and the status that the client saw, 0 for none.
        """
        for fault in struck:
            if (
                fault.action not in AFTER
                and (answer := await (instead or answer_instead)(fault, request)) is not None
            ):
                return answer, answer.status
        answered = await respond()
        for fault in struck:
            if fault.action in AFTER:
                return await spoiled(fault, request, answered), 0
        self.world.notify()
        return answered, answered.status

    async def wait(self, holds: Callable[[], object], timeout: float = 10) -> bool:
        """Whether something became true of the world within `timeout` seconds."""
        try:
            await self.world.until(holds, timeout)
        except TimeoutError:
            return False
        return True


def serve_until_killed(emulator: Any, *urls: Callable[[], str]) -> None:
    """Run an emulator as a process: print its URLs on one line, then serve."""

    async def serve() -> None:
        async with emulator:
            print(*(url() for url in urls), flush=True)
            await asyncio.Event().wait()

    asyncio.run(serve())


# -- HTTP -----------------------------------------------------------------------------------------


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


def close_listeners(runner: web.AppRunner) -> None:
    """Take no more connections, at once; those that are open go on."""
    for site in runner.sites:
        site._server.close()  # type: ignore[attr-defined]


def cut_connections(runner: web.AppRunner) -> None:
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


async def answer_instead(fault: Fault, request: web.Request) -> web.Response | None:
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
            return web.Response(
                status=429, text="", headers={"Retry-After": str(int(fault.seconds))}
            )
        case "half_open":
            await asyncio.Event().wait()
    drop(request)
    return web.Response()


async def spoiled(
    fault: SpoilingFault, request: web.Request, answer: web.Response
) -> web.StreamResponse:
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
    request: web.Request,
    acts: Mapping[str, Callable[..., Any]],
    plain: Callable[[Any], Any] = lambda value: value,
) -> web.Response:
    """Carry out the act that a test names in the path, with arguments as query or JSON, and tell
    what came of it.

    plain: makes something of a value that has no JSON by itself; what it gives back as it is has
    none.
    """
    name = request.match_info["name"]
    if name not in acts:
        return web.json_response(
            {"error": f"no control {name}; there are {sorted(acts)}"}, status=404
        )
    given = (
        await request.json()
        if request.can_read_body
        else {key: _number(text) for key, text in request.query.items()}
    )
    try:
        result = acts[name](**given)
        result = await result if inspect.isawaitable(result) else result
    except (TypeError, ValueError, LookupError, AttributeError, StopIteration) as err:
        return web.json_response({"error": repr(err)}, status=400)
    return web.json_response(
        result, dumps=lambda told: json.dumps(told, default=lambda value: _told(value, plain))
    )


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
