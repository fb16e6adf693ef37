"""Helpers to receive and send: store until done, report the part that leaves, side calls, the typing indicator.

A part that waits for a connection, a token or a rate limit has certainly not been sent. It is not yet marked as
sending, so after a crash it is sent without the mark of a possible repeat. Therefore a channel reports the moment a
part leaves: just before the first bytes of its message are sent.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import structlog

from channels.errors import ChannelError, Rejected
from channels.message import Address

log = structlog.get_logger(__name__)

MIN_PAUSE = 0.25
MAX_PAUSE = 30.0

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
OnLeave = Callable[[], Awaitable[None]]
_ON_LEAVE: ContextVar[OnLeave | None] = ContextVar("leave", default=None)


async def store_with_retry(
    store: Callable[[], Awaitable[T]],
    channel: str,
    *,
    on_trouble: Callable[[str], None] = lambda trouble: None,
    shortest: float = MIN_PAUSE,
    longest: float = MAX_PAUSE,
) -> T:
    """Retry until stored or cancelled, with growing pauses (seconds).

    Args:
        store: one attempt; raises OSError or RuntimeError if nothing was stored, as `Deliver` does.
        on_trouble: called after each attempt with what is wrong, "" for success.
    """
    pause = shortest
    while True:
        try:
            stored = await store()
            on_trouble("")
            return stored
        except (OSError, RuntimeError) as err:
            on_trouble(f"messages are not stored: {type(err).__name__}")
            log.warning("messages not stored", channel=channel, error=f"{type(err).__name__}: {err}")
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)


class PartWithdrawn(Rejected):
    """The part was dropped while it waited, and must not be sent."""


@contextmanager
def report_leaving(leave: OnLeave) -> Iterator[None]:
    """Call `leave` when a message leaves within this context."""
    before = _ON_LEAVE.set(leave)
    try:
        yield
    finally:
        _ON_LEAVE.reset(before)


@contextmanager
def without_leaving() -> Iterator[None]:
    """Do not report requests within this context (a token, an upload): they do not show the part to anyone."""
    before = _ON_LEAVE.set(None)
    try:
        yield
    finally:
        _ON_LEAVE.reset(before)


async def mark_leaving() -> None:
    """Report that the part leaves now; repeated reports in one send change nothing.

    Raises:
        PartWithdrawn: it must not be sent.
    """
    leave = _ON_LEAVE.get()
    if leave is not None:
        await leave()


async def mark_leaving_request(request: Any) -> None:
    """Request hook of an HTTP client (httpx, httpx2): report the part when the first bytes of the request leave.

    That is after the wait for the pool and after the connection is established, including one through a proxy: its
    CONNECT is a request of the client's own.
    """
    leave = _ON_LEAVE.get()
    if leave is None:
        return

    async def trace(event: str, info: Any) -> None:
        if event.endswith("send_request_headers.started") and info["request"].method != b"CONNECT":
            await leave()

    request.extensions["trace"] = trace


HTTP_HOOKS = {"request": [mark_leaving_request]}  # `event_hooks` of an HTTP client


class BackgroundTasks:
    """Holds references to running tasks, so that they are not garbage collected, and cancels them on `close`."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task; its requests do not report the part that is being sent."""
        with without_leaving():
            task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def close(self) -> None:
        """Cancel all tasks and wait for their end."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class TypingIndicator:
    """Calls `act` for an address every `every` seconds until stopped, or for `longest` seconds after the last `show`.

    A ChannelError of `act` ends the repetition for its address; the indicator is only cosmetic.
    """

    def __init__(self, act: Callable[[Address], Awaitable[None]], *, every: float, longest: float) -> None:
        self._act = act
        self._every = every
        self._longest = longest
        self._until: dict[Address, float] = {}
        self._tasks: dict[Address, asyncio.Task[None]] = {}

    def show(self, address: Address) -> None:
        """Start, or continue for another `longest` seconds; needs a running event loop."""
        self._until[address] = time.monotonic() + self._longest
        if address not in self._tasks:
            self._tasks[address] = asyncio.create_task(self._repeat(address), name="typing indicator")

    def stop(self, address: Address) -> None:
        """Stop at an address."""
        self._until.pop(address, None)
        task = self._tasks.pop(address, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Stop at all addresses."""
        tasks = list(self._tasks.values())
        for address in list(self._tasks):
            self.stop(address)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _repeat(self, address: Address) -> None:
        try:
            while time.monotonic() < self._until[address]:
                await self._act(address)
                await asyncio.sleep(self._every)
        except ChannelError:
            return
        finally:
            if self._tasks.get(address) is asyncio.current_task():
                del self._tasks[address], self._until[address]


class EmptyNotebook:
    """Stores nothing: the notebook of a channel until `bind`."""

    async def read(self, start: str = "") -> dict[str, str]:
        return {}

    async def write(self, values: Mapping[str, str]) -> None:
        return


class BoundedDict(dict[K, V]):
    """A dict that drops its oldest keys beyond `limit` entries; replacing a value does not renew its key."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        while len(self) > self._limit:
            del self[next(iter(self))]
