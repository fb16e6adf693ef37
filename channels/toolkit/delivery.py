"""Helpers to receive and send: store until done, side calls, the typing indicator."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

import structlog

from channels.errors import ChannelError
from channels.message import Address

log = structlog.get_logger(__name__)

MIN_PAUSE = 0.25
MAX_PAUSE = 30.0

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


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
            log.warning(
                "messages not stored", channel=channel, error=f"{type(err).__name__}: {err}"
            )
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)


class BackgroundTasks:
    """Holds references to running tasks, so that they are not garbage collected, and cancels them
    on `close`.
    """

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task."""
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
    """Calls `act` for an address every `every` seconds until stopped, or for `longest` seconds
    after the last `show`.

    A ChannelError of `act` ends the repetition for its address; the indicator is only cosmetic.
    """

    def __init__(
        self, act: Callable[[Address], Awaitable[None]], *, every: float, longest: float
    ) -> None:
        self._act = act
        self._every = every
        self._longest = longest
        self._until: dict[Address, float] = {}
        self._tasks: dict[Address, asyncio.Task[None]] = {}

    def show(self, address: Address) -> None:
        """Start, or continue for another `longest` seconds; needs a running event loop."""
        self._until[address] = time.monotonic() + self._longest
        if address not in self._tasks:
            self._tasks[address] = asyncio.create_task(
                self._repeat(address), name="typing indicator"
            )

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
    """A dict that drops its oldest keys beyond `limit` entries; replacing a value does not renew
    its key.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        while len(self) > self._limit:
            del self[next(iter(self))]
