"""HTTP client, event streams and timeouts of model calls."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Generic, Self, TypeVar, cast
from urllib.parse import urlsplit

from bot.errors import ModelError, Stalled
from channels.toolkit.http import create_tls_context

CONNECT_SECONDS = 10.0  # to open a connection; Timeouts limits every other wait
# kept open for the next call; `concurrency` limits the calls that run at once
MAX_IDLE_CONNECTIONS = 100
CALLS_PER_CLIENT = 8  # at once, see ClientPool
IDLE_SECONDS = 5.0  # after this httpx2 reuses no connection either


def create_http_client(proxy: str) -> Any:
    """Create an httpx2.AsyncClient. proxy: URL; "" for the environment's.

    It follows no redirects: a conversation is sent to the configured host only.
    """
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=MAX_IDLE_CONNECTIONS),
        verify=create_tls_context(),
        proxy=proxy or None,
    )


Client = TypeVar("Client")


@dataclass(slots=True, eq=False)
class _PooledClient(Generic[Client]):
    client: Client
    #: Calls that run on it now.
    calls: int = 0
    #: End of its last call, in the loop's seconds.
    idle_since: float = 0.0


class ClientPool(Generic[Client]):
    """Clients of one account, each for a few calls at once.

    At the start and at the end of each call an HTTP client tests all of its idle connections.
    Measured with 60 and 120 calls at once: 1.74 and 2.18 ms of CPU a call with one client, 1.19 and
    1.22 with one for eight calls.

    Args:
        create: creates a client; the first time in a thread, as it may import the client's library.
        close: closes a client.
        idle_seconds: without a call, until an additional client is closed.
    """

    def __init__(
        self,
        create: Callable[[], Client],
        close: Callable[[Client], Awaitable[None]],
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._create, self._close, self._idle_seconds = create, close, idle_seconds
        self._clients: list[_PooledClient[Client]] = []
        self._opening = asyncio.Lock()

    async def preload(self) -> None:
        """Create the first client."""
        async with self._opening:
            if not self._clients:
                self._clients.append(_PooledClient(await asyncio.to_thread(self._create)))

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client]:
        """Yield the first client that may take one more call."""
        while not self._clients:
            await self.preload()
        pooled = next((each for each in self._clients if each.calls < CALLS_PER_CLIENT), None)
        if pooled is None:
            pooled = _PooledClient(self._create())
            self._clients.append(pooled)
        pooled.calls += 1
        try:
            yield pooled.client
        finally:
            pooled.calls -= 1
            pooled.idle_since = asyncio.get_running_loop().time()
            await self._close_idle(pooled.idle_since)

    async def close(self) -> None:
        """Close all clients; the next call creates new ones."""
        clients, self._clients = self._clients, []
        for each in clients:
            await self._close(each.client)

    async def _close_idle(self, now: float) -> None:
        """Close the clients of an earlier rush, all but the first: nothing else would end their
        connections.
        """
        idle = [
            each
            for each in self._clients[1:]
            if not each.calls and now - each.idle_since >= self._idle_seconds
        ]
        # at once: other calls end meanwhile
        self._clients = [each for each in self._clients if each not in idle]
        for each in idle:
            await self._close(each.client)


Item = TypeVar("Item")
DRAIN_SECONDS = 0.5  # for what follows the end of an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Longest waits of one call, in seconds: for the first event, between two events, and in
    all.
    """

    first: float = 120.0
    gap: float = 90.0
    step: float = 600.0


# Source: Ollama and llama.cpp load a model and read a long prompt before the first token; on a
# small machine that takes minutes. That they accept the connection shows that they work.
FIRST_SECONDS_AT_HOME = 600.0
_HOME_SUFFIXES = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


def is_at_home(base_url: str) -> bool:
    """Tell whether an endpoint is on a private or loopback address."""
    host = urlsplit(base_url).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host.endswith(_HOME_SUFFIXES) or (bool(host) and "." not in host)


def timeouts_for(base_url: str) -> Timeouts:
    """Return the limits for an endpoint: a server on a private or loopback address may take long to
    begin.
    """
    return Timeouts(first=FIRST_SECONDS_AT_HOME) if is_at_home(base_url) else Timeouts()


class ClosingStream(Generic[Item]):
    """Closes `source` at the end of a block, so that its connection is released at once."""

    def __init__(self, source: AsyncIterator[Item]) -> None:
        self._source = source

    async def __aenter__(self) -> AsyncIterator[Item]:
        return self._source

    async def __aexit__(self, *_: object) -> None:
        if isinstance(self._source, AsyncGenerator):
            await self._source.aclose()


class TimedStream(ClosingStream[Item]):
    """Yields the items of `source` within time limits, and closes it at the end of a block.

    One timer serves all waits. It is started for the shortest of them and looks again later if
    nothing is late then; asyncio.timeout around each wait would start and cancel a timer for every
    piece of an answer.

    Raises:
        Stalled: a wait was too long; kind says which: "first_byte", "gap" or "step".
    """

    def __init__(self, source: AsyncIterator[Item], timeouts: Timeouts) -> None:
        super().__init__(source)
        self._loop = asyncio.get_running_loop()
        self._gap = timeouts.gap
        self._wait, self._kind = timeouts.first, "first_byte"
        self._end = self._loop.time() + timeouts.step
        self._due = self._end
        self._timer: asyncio.TimerHandle | None = None
        #: The task that waits for an item; None between the waits.
        self._waiting: asyncio.Task[Any] | None = None
        self._is_late = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await super().__aexit__()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        now = self._loop.time()
        self._due = min(now + self._wait, self._end)
        if self._timer is None or self._due < self._timer.when():
            self._start_timer(min(self._due, now + self._gap))
        task = self._waiting = cast("asyncio.Task[Any]", asyncio.current_task())
        cancelled_before = task.cancelling()
        try:
            item = await anext(self._source)
        except asyncio.CancelledError as err:
            # cancelled by this timer alone
            if self._is_late and task.cancelling() == cancelled_before + 1:
                kind = "step" if self._due == self._end else self._kind
                raise Stalled(f"no word from the model for too long ({kind})", kind=kind) from err
            raise
        finally:
            self._waiting = None
            if self._is_late:
                self._is_late = False
                task.uncancel()
        self._wait, self._kind = self._gap, "gap"
        return item

    async def drain(self) -> None:
        """Read the rest, for at most DRAIN_SECONDS: only a connection that was read to its end can
        be reused.
        """
        self._end = min(self._end, self._loop.time() + DRAIN_SECONDS)
        with suppress(ModelError):
            async for _ in self:
                pass

    def _start_timer(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._check)

    def _check(self) -> None:
        """Cancel a wait that is too long; start the timer again for one that is not."""
        self._timer = None
        if self._waiting is None:
            return  # the next wait starts it
        if self._loop.time() < self._due:
            self._start_timer(self._due)
        else:
            self._is_late = True
            self._waiting.cancel()


async def iterate_data_lines(source: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the text after each `data:` of an event stream; a body that is no event stream is
    yielded whole.

    Bytes are split at line feeds only: inside JSON, U+2028 and similar characters do not end a
    line. What is no UTF-8 is replaced: some servers cut characters of an answer in two, and the
    rest of it can be read.
    """
    rest, bare = b"", []
    async for piece in source:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield _decode(line[5:])
            elif not line.startswith((b":", b"event:", b"id:", b"retry:")):
                bare.append(line)
    if rest.startswith(b"data:"):
        yield _decode(rest[5:])
    elif whole := _decode(b"\n".join([*bare, rest])):
        yield whole


def _decode(line: bytes) -> str:
    return line.strip().decode("utf-8", "replace")
