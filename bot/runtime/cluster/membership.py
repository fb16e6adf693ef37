"""Membership of one process in the cluster: it renews its lease or exits, and leads jobs that run
in one process.
"""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

import structlog

from memory.failpoints import hit_async
from memory.store.engine.leases import Beat, Leases
from memory.store.errors import StoreError
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
RENEW_SECONDS = 1.0
LEADER_RETRY_SECONDS = 0.5
LEASE_LOST_EXIT = 75  # another process does its work now, so it must not continue


class Membership:
    """Renews the lease of this process, and publishes its status with it."""

    def __init__(
        self, leases: Leases, status: Callable[[], Mapping[str, Any]], seconds: float
    ) -> None:
        """status: returns what other processes may read of this one; seconds: how long a lease
        lasts.
        """
        self._leases = leases
        self._status = status
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._publish_now = asyncio.Event()
        #: What the last renewal has found.
        self.last_beat = Beat(held=True)
        #: Called after each renewal.
        self.on_beat: Callable[[Beat], None] = lambda beat: None

    def open(self) -> None:
        """Start renewing."""
        self._spawn(self._renew(), "lease")

    def publish(self) -> None:
        """Publish the status at once, not only with the next renewal."""
        self._publish_now.set()

    def run_in_one_process(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `work` while no other process runs work of this name; until then stand by."""
        self._spawn(self._lead(name, work), f"duty {name}")

    async def close(self) -> None:
        """Stop renewing, and cancel all work that this process leads."""
        await cancel_and_wait(self._tasks)

    async def _renew(self) -> None:
        while True:
            self._publish_now.clear()
            began = time.monotonic()
            try:
                # A database that does not answer ends the lease too.
                async with asyncio.timeout(max(0.0, self._until - began)):
                    beat = await self._leases.beat(
                        self._seconds, json.dumps(self._status(), ensure_ascii=False)
                    )
                    held = beat.held
            except TimeoutError:
                held = False
            except StoreError as err:
                held = began < self._until
                log.warning(
                    "lease not renewed",
                    error=type(err).__name__,
                    left=round(self._until - began, 1),
                )
            else:
                self._until = began + self._seconds
                if held:
                    self.last_beat = beat
                    self.on_beat(beat)
                await hit_async("lease.renewed")
            if not held:
                await hit_async("lease.lost")
                log.error("lease lost to other processes: this one exits")
                os._exit(LEASE_LOST_EXIT)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._publish_now.wait(), RENEW_SECONDS)

    async def _lead(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                # While the last renewal found it with another process, there is nothing to ask.
                if name not in self.last_beat.duties_of_others and await self._leases.take(name):
                    break
            except StoreError as err:
                log.warning("duty not taken", duty=name, error=type(err).__name__)
            await asyncio.sleep(LEADER_RETRY_SECONDS)
        log.info("duty taken", duty=name)
        await work()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error(
                "duty failed: this process exits",
                duty=task.get_name(),
                error=type(err).__name__,
                exc_info=err,
            )
            os._exit(LEASE_LOST_EXIT)
