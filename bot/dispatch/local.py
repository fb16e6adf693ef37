"""Lanes on asyncio: a task per busy lane, and a fair share of the running places for each of them."""

import asyncio
import time

import structlog

from bot.dispatch.lanes import Step
from memory.ending import end
from memory.store.lane import LaneKind

log = structlog.get_logger(__name__)
MOST_PAUSE = 30.0
A_LITTLE = 0.005
"""Timers may be a little early."""


class LocalLanes:
    """Lanes of this process. Between two steps a lane gives its place back, so that others get their turn first.

    places: how many steps run at once. A step that raises is logged and tried again after a growing pause
    (seconds, 0.5 to 30): the record knows where it stands.
    """

    def __init__(self, step: Step, places: int) -> None:
        self._step = step
        self._places = asyncio.Semaphore(places)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._closing = False

    def wake(self, lane: str, due: float = 0.0) -> None:
        if due and (delay := due - time.time()) > 0:
            asyncio.get_running_loop().call_later(delay + A_LITTLE, self.wake, lane)
            return
        if self._closing:
            return
        if lane in self._tasks:
            self._again.add(lane)
            return
        self._tasks[lane] = asyncio.create_task(self._run(lane), name=f"lane {lane}")

    async def settled(self) -> None:
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self, patience: float) -> None:
        self._closing = True
        if self._tasks:
            _, late = await asyncio.wait(list(self._tasks.values()), timeout=patience)
            await end(late)

    async def _run(self, lane: str) -> None:
        pause = 0.5
        try:
            while not self._closing:
                self._again.discard(lane)
                try:
                    async with self._places:
                        worked = await self._step(lane)
                    pause = 0.5
                    await asyncio.sleep(0)  # what this step has set off goes first
                except Exception as err:
                    log.error("lane failed", lane=lane, error=type(err).__name__, exc_info=True)
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, MOST_PAUSE)
                    continue
                if not worked and lane not in self._again:
                    return
        finally:
            del self._tasks[lane]
            if lane in self._again:
                self._again.discard(lane)
                self.wake(lane)


def local(kind: LaneKind, step: Step, places: int) -> LocalLanes:
    """See bot.dispatch.lanes.LanesOf: every kind of lanes in this process."""
    return LocalLanes(step, places)
