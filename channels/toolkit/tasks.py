"""Background tasks of a channel: side calls, and the typing indicator that is repeated while a reply is written."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from channels.errors import ChannelError
from channels.message import Address
from channels.toolkit.sending import without_leaving


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
    """Calls `act` for an address every `every` seconds until stopped, or for `longest` seconds after the last `beat`.

    A ChannelError of `act` ends the repetition for its address; the indicator is only cosmetic.
    """

    def __init__(self, act: Callable[[Address], Awaitable[None]], *, every: float, longest: float) -> None:
        self._act = act
        self._every = every
        self._longest = longest
        self._until: dict[Address, float] = {}
        self._tasks: dict[Address, asyncio.Task[None]] = {}

    def beat(self, address: Address) -> None:
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
