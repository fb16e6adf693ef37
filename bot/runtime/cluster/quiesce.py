"""Pauses a space in all processes while /forget runs.

The leader stores a marker (a duty whose name holds the space). Each process that runs turns sees it
when it renews its lease: it stops its turns in that space, starts none, stores no facts, and
acknowledges the marker in its published status. The work begins once all living processes have
acknowledged. A marker ends with the lease of its process.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from memory.failpoints import hit_async
from memory.store.engine.leases import Leases
from memory.store.errors import StoreError
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
FORGET_LEADERSHIP = "forget"
MARKER_PREFIX = "quiet "
RELEASE_RETRY_SECONDS = 0.5
ACK_POLL_SECONDS = 0.1
# take longer than a lease that is not renewed lasts: by then the marker is void
MAX_RELEASE_ATTEMPTS = 20


@dataclass(slots=True)
class _LocalPause:
    """A pause of this process for another one's marker."""

    task: asyncio.Task[None]
    #: Set when the marker is gone.
    over: asyncio.Event
    #: No turn runs in the space any more.
    acknowledged: bool = False


class SpaceQuiescer:
    """One process of the cluster: pauses spaces in all processes, and follows the markers of
    others.
    """

    def __init__(
        self,
        leases: Leases,
        *,
        runs_turns: bool,
        pause: Callable[[str], AbstractAsyncContextManager[None]],
        storing: asyncio.Lock,
        drop_views: Callable[[str], Awaitable[None]],
        publish: Callable[[], None],
    ) -> None:
        """Connect this process.

        Args:
            pause: stops the turns of a space here, and starts none while it is entered.
            storing: held while facts are stored.
            drop_views: drops what was prepared here for a space's conversations.
            publish: publishes the status of this process at once.
        """
        self._leases = leases
        self._runs_turns = runs_turns
        self._pause = pause
        self._storing = storing
        self._drop_views = drop_views
        self._publish = publish
        self._one_at_a_time = asyncio.Lock()
        self._pauses: dict[str, _LocalPause] = {}

    def status(self) -> dict[str, Any]:
        """Return what others need: whether to wait for this process, and the markers it has
        acknowledged.
        """
        acknowledged = [marker for marker, pause in self._pauses.items() if pause.acknowledged]
        return {"answers": self._runs_turns, "rests": acknowledged}

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        """Run no turn of a space in any process while this is entered; one caller in the cluster at
        a time.

        Raises:
            StoreError: the store cannot be reached.
        """
        marker = f"{MARKER_PREFIX}{uuid.uuid4().hex} {space}"
        async with self._one_at_a_time:
            try:
                await self._lead()
                await self._leases.take(marker)
                async with self._pause(space):
                    await self._wait_for_others(marker)
                    await hit_async("forget.quiet")
                    yield
            finally:
                await self._release(marker)
                await self._release(FORGET_LEADERSHIP)

    async def poll(self) -> None:
        """Pause for new markers, and resume where one is gone. Await it once before the first turn.

        Raises:
            StoreError: the store cannot be reached; nothing changes.
        """
        self.follow(await self._leases.duties_of_others(MARKER_PREFIX))
        # by then each new task has entered its pause: no turn starts any more
        await asyncio.sleep(0)

    def follow(self, duties: Iterable[str]) -> None:
        """Pause for new markers among the duties of others, and resume where one is gone."""
        markers = {name for name in duties if name.startswith(MARKER_PREFIX)}
        for marker in self._pauses.keys() - markers:
            self._pauses[marker].over.set()
        for marker in markers - self._pauses.keys():
            log.info("turns are paused while something is forgotten")
            over = asyncio.Event()
            task = asyncio.create_task(self._pause_for(marker, over), name=marker)
            self._pauses[marker] = _LocalPause(task, over)
            task.add_done_callback(self._on_pause_done)

    async def close(self) -> None:
        """End all pauses."""
        await cancel_and_wait([pause.task for pause in self._pauses.values()])

    async def _lead(self) -> None:
        while True:
            if await self._leases.take(FORGET_LEADERSHIP):
                return
            await asyncio.sleep(ACK_POLL_SECONDS)

    async def _wait_for_others(self, marker: str) -> None:
        """Wait until every other living process that runs turns has acknowledged."""
        while True:
            if all(_is_acknowledged(status, marker) for status in await self._leases.others()):
                return
            await asyncio.sleep(ACK_POLL_SECONDS)

    async def _release(self, name: str) -> None:
        for _ in range(MAX_RELEASE_ATTEMPTS):
            try:
                await self._leases.release(name)
            except StoreError as err:
                log.warning("marker of a pause not released", error=type(err).__name__)
                await asyncio.sleep(RELEASE_RETRY_SECONDS)
            else:
                return

    async def _pause_for(self, marker: str, over: asyncio.Event) -> None:
        space = marker.removeprefix(MARKER_PREFIX).partition(" ")[2]
        async with self._pause(space), self._storing:
            self._pauses[marker].acknowledged = True
            self._publish()
            await over.wait()
            await self._drop_views(space)

    def _on_pause_done(self, task: asyncio.Task[None]) -> None:
        del self._pauses[task.get_name()]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("pause failed", error=type(err).__name__, exc_info=err)


def _is_acknowledged(published: str, marker: str) -> bool:
    """Tell whether a process with this published status need not be waited for; one without a
    status yet must be.
    """
    status = json.loads(published) if published else {}
    return bool(status) and (not status.get("answers") or marker in status.get("rests", ()))
