"""Lets replies come before summaries and other background calls, where a server answers one request
at a time.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from memory.tasks import cancel_and_wait

QUIET_SECONDS = 5.0  # without a reply under way, before a background call begins
MAX_WAIT_SECONDS = 600.0  # then a call runs beside replies
MAX_INTERRUPTIONS = 2  # of one call; then it runs through
Result = TypeVar("Result")


class RepliesFirst(Exception):
    """A background call was given up, as replies took the server's time."""


class BackgroundCalls:
    """Starts background calls while no reply is under way, and ends them when one begins.

    A call that was ended MAX_INTERRUPTIONS times, or has waited MAX_WAIT_SECONDS, runs through.

    Args:
        waits: tells whether calls wait for replies at all.
    """

    def __init__(self, waits: Callable[[], bool]) -> None:
        self._waits = waits
        self._replies = 0
        self._quiet_since = float("-inf")
        #: Set when the next reply begins; replaced by then.
        self._began = asyncio.Event()
        #: Set while no reply is under way.
        self._quiet = asyncio.Event()
        self._quiet.set()

    @contextmanager
    def reply(self) -> Iterator[None]:
        """A reply is under way while the context is entered."""
        self._replies += 1
        self._quiet.clear()
        self._began.set()
        self._began = asyncio.Event()
        try:
            yield
        finally:
            self._replies -= 1
            if not self._replies:
                self._quiet_since = asyncio.get_running_loop().time()
                self._quiet.set()

    async def run(
        self, call: Callable[[], Coroutine[Any, Any, Result]], *, gives_way: bool = False
    ) -> Result:
        """Make a call when its time has come; again where a reply has ended it.

        Args:
            gives_way: give the call up where it would run beside a reply.

        Raises:
            RepliesFirst: it was given up.
            Exception: what the call raises.
        """
        if not self._waits():
            return await call()
        until = asyncio.get_running_loop().time() + MAX_WAIT_SECONDS
        for _ in range(MAX_INTERRUPTIONS):
            if not await self._wait_until_quiet(until):
                break
            began = asyncio.create_task(self._began.wait())
            task = asyncio.create_task(call())
            try:
                await asyncio.wait((task, began), return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    return task.result()
            finally:
                await cancel_and_wait((began, task))
        else:
            if not gives_way:
                await self._wait_until_quiet(until)
        if gives_way:
            raise RepliesFirst
        return await call()

    async def _wait_until_quiet(self, until: float) -> bool:
        """Wait until no reply has been under way for QUIET_SECONDS; False if it was not by then."""
        loop = asyncio.get_running_loop()
        while (now := loop.time()) < until:
            left = self._quiet_since + QUIET_SECONDS - now if self._quiet.is_set() else until - now
            if self._quiet.is_set() and left <= 0:
                return True
            change = self._began if self._quiet.is_set() else self._quiet
            try:
                async with asyncio.timeout(min(left, until - now)):
                    await change.wait()
            except TimeoutError:
                continue
        return False
