"""Being one of several processes: a lease that is renewed in time or ends the process, and duties one of them has."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import structlog

from memory.failpoints import hit_async
from memory.store.engine.leases import Leases
from memory.store.errors import StoreError
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
RENEW_SECONDS = 1.0
LEADER_RETRY_SECONDS = 0.5
LEASE_LOST_EXIT = 75  # the exit code of a process whose lease is over: another does its work now, so it must not go on
OnLeaseLost = Callable[[], Awaitable[None]]


class Membership:
    """Renews this process's lease. told: what other processes may read of it; seconds: how long a lease lasts."""

    def __init__(self, leases: Leases, told: Callable[[], Mapping[str, Any]], seconds: float) -> None:
        self._leases = leases
        self._told = told
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._now = asyncio.Event()

    def open(self) -> None:
        """Begin."""
        self._begin(self._renew(), "lease")

    def tell(self) -> None:
        """Tell the others at once what is to be told."""
        self._now.set()

    def duty(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do this once no other process does it, and until `close`; whoever else wants it stands by."""
        self._begin(self._wait_for(name, work), f"duty {name}")

    async def close(self) -> None:
        """Stop renewing, and everything that was a duty."""
        await cancel_and_wait(self._tasks)

    async def _renew(self) -> None:
        while True:
            self._now.clear()
            asked = time.monotonic()
            try:
                async with asyncio.timeout(max(0.0, self._until - asked)):  # whoever hears nothing is given up too
                    held = await self._leases.renew(self._seconds, json.dumps(self._told(), ensure_ascii=False))
            except TimeoutError:
                held = False
            except StoreError as err:
                held = asked < self._until
                log.warning("lease not renewed", error=type(err).__name__, left=round(self._until - asked, 1))
            else:
                self._until = asked + self._seconds
                await hit_async("lease.renewed")
            if not held:
                await hit_async("lease.lost")
                log.error("the lease of this process is over, and others have taken its work: it ends")
                os._exit(LEASE_LOST_EXIT)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._now.wait(), RENEW_SECONDS)

    async def _wait_for(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                if await self._leases.take(name):
                    break
            except StoreError as err:
                log.warning("duty not taken", duty=name, error=type(err).__name__)
            await asyncio.sleep(LEADER_RETRY_SECONDS)
        log.info("duty taken", duty=name)
        await work()

    def _begin(self, work: Any, name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("a duty broke", duty=task.get_name(), error=type(err).__name__, exc_info=err)
            os._exit(LEASE_LOST_EXIT)
