"""The seam of the lanes: an engine that runs each conversation in order, and many beside each other."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

from memory.store.engine.database import QueueKind
from memory.tasks import cancel_and_wait

# Does the next thing of one lane; False when there was nothing to do. Must be safe to call again after a crash.
RunStep = Callable[[str], Awaitable[bool]]


class Dispatcher(Protocol):
    """Runs `Step` for each lane that was woken, never two of one lane at once."""

    def wake(self, lane: str, due: float = 0.0) -> None:
        """Something is to be done in this lane; returns at once, and calls that come meanwhile are one.

        Args:
            due: unix seconds before which there is nothing to do.
        """
        ...

    async def settled(self) -> None:
        """Wait until no lane has anything left to do."""
        ...

    async def close(self, patience: float) -> None:
        """Take nothing new; give what runs `patience` seconds, then cancel it (the record lets it go on later)."""
        ...


# Makes the lanes of one kind: what does a step in them, and how many steps may run at once.
CreateDispatcher = Callable[[QueueKind, RunStep, int], Dispatcher]


# One turn at a time per conversation, many conversations at once.


# Lanes on asyncio: a task per busy lane, and a fair share of the running places for each of them.

log = structlog.get_logger(__name__)
MAX_RETRY_SECONDS = 30.0
MIN_DELAY_SECONDS = 0.005  # timers may be a little early


class LocalDispatcher:
    """Lanes of this process. Between two steps a lane gives its place back, so that others get their turn first.

    places: how many steps run at once. A step that raises is logged and tried again after a growing pause
    (seconds, 0.5 to 30): the record knows where it stands.
    """

    def __init__(self, step: RunStep, places: int) -> None:
        self._step = step
        self._places = asyncio.Semaphore(places)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._closing = False

    def wake(self, lane: str, due: float = 0.0) -> None:
        if due and (delay := due - time.time()) > 0:
            asyncio.get_running_loop().call_later(delay + MIN_DELAY_SECONDS, self.wake, lane)
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
            await cancel_and_wait(late)

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
                    pause = min(pause * 2, MAX_RETRY_SECONDS)
                    continue
                if not worked and lane not in self._again:
                    return
        finally:
            del self._tasks[lane]
            if lane in self._again:
                self._again.discard(lane)
                self.wake(lane)


def create_local_dispatcher(kind: QueueKind, step: RunStep, places: int) -> LocalDispatcher:
    """See bot.dispatch.LanesOf: every kind of lanes in this process."""
    return LocalDispatcher(step, places)


# Runs what the process may have died of one at a time, so that the next death says which message it was.

SUSPECT_DEATHS = 2  # deaths of a process that had a message at work after which the message is worked on alone
# How long everything else waits for a suspect that is alone: twice as long with each further death, so that a slow one
# is found. Until it is alone they wait for so long at most, however many deaths there were.
ISOLATION_SECONDS = 30.0
MAX_ISOLATION_SECONDS = 900.0  # as long as a turn may take
# How long the process has to have lived before it takes up a suspect that it died of alone; twice as long the next
# time. A machine that is restarted again and again does not live so long, and so nobody is blamed for it. One such
# suspect is taken up as soon as the process lives, when most of its life is ahead: no storm keeps everybody waiting.
CALM_SECONDS = 3.0
# Age of a message, in seconds, after which it waits for no calm: it comes to its end under any storm.
MAX_WAIT_SECONDS = 1800.0
# After which the next suspect is called if the one that was called has not come: its message may be gone.
NUDGE_SECONDS = 1.0


class CrashIsolation:
    """Says which messages may be at work beside each other in this process.

    Below SUSPECT_DEATHS they all may. A suspect waits until nothing is at work and is then the only one; all others
    wait for it, for a bounded time. Between two suspects whoever waits gets in.

    Args:
        wake: puts a conversation's lane to work again.
        alone_seconds, calm_seconds: see ALONE_SECONDS and CALM_SECONDS.
    """

    def __init__(
        self,
        wake: Callable[[str], None],
        alone_seconds: float = ISOLATION_SECONDS,
        calm_seconds: float = CALM_SECONDS,
    ) -> None:
        self._wake = wake
        self._alone_seconds = alone_seconds
        self._calm_seconds = calm_seconds
        self._born = time.monotonic()
        self._first = ""
        self._inside = 0
        self._suspect = ""
        self._empty = asyncio.Event()
        self._empty.set()
        self._open = asyncio.Event()
        self._open.set()
        self._parked: OrderedDict[str, None] = OrderedDict()
        self._over: asyncio.TimerHandle | None = None
        self._nudge: asyncio.TimerHandle | None = None

    def seconds_until_allowed(self, conversation: str, deaths: int, alone: int, age: float) -> float:
        """Seconds until a conversation's message may be taken up.

        Args:
            deaths: of processes that had it at work. alone: those of them when it was the only one.
            age: seconds since it came in.
        """
        if deaths < SUSPECT_DEATHS or not alone or age > MAX_WAIT_SECONDS:
            return 0.0
        self._first = self._first or conversation
        if self._first == conversation:
            return 0.0
        return max(0.0, self._calm_seconds * min(alone, 2) - (time.monotonic() - self._born))

    def holds_up(self, deaths: int) -> bool:
        """Whether others may go on before a message with so many deaths gets in now: a suspect lets them in first."""
        return not self._open.is_set() or deaths >= SUSPECT_DEATHS

    async def enter(self, conversation: str, deaths: int) -> bool:
        """Wait until this conversation's message may be worked on; whoever gets True calls `leave` at its end.

        Returns:
            False for a suspect while there is another one: its lane is woken when it is its turn, and holds no place
            until then.
        """
        if deaths < SUSPECT_DEATHS:
            while not self._open.is_set():
                await self._open.wait()
            self._come_in()
            return True
        await asyncio.sleep(0)  # those that the last suspect has just let in come first
        if self._suspect:
            self._parked[conversation] = None
            self._arm_nudge()
            return False
        self._parked.pop(conversation, None)
        seconds = min(MAX_ISOLATION_SECONDS, self._alone_seconds * 2.0 ** (deaths - SUSPECT_DEATHS))
        await self._isolate(conversation, seconds)
        return True

    def leave(self, conversation: str) -> None:
        """What was at work for this conversation is over."""
        self._inside -= 1
        if not self._inside:
            self._empty.set()
        if self._suspect == conversation:
            self._release()

    async def _isolate(self, conversation: str, seconds: float) -> None:
        self._suspect = conversation
        self._open.clear()
        try:
            async with asyncio.timeout(self._alone_seconds):
                await self._empty.wait()
        except TimeoutError:
            log.info("a suspect could not be alone", conversation=conversation, inside=self._inside)
            self._come_in()
            self._release()
            return
        except asyncio.CancelledError:
            self._release()
            raise
        self._come_in()
        self._over = asyncio.get_running_loop().call_later(seconds, self._release)

    def _come_in(self) -> None:
        self._inside += 1
        self._empty.clear()

    def _release(self) -> None:
        """The suspect needs to be alone no more: the others go on, and the next suspect is called."""
        if self._over is not None:
            self._over.cancel()
            self._over = None
        self._suspect = ""
        self._open.set()
        self._call_next()

    def _call_next(self) -> None:
        if self._nudge is not None:
            self._nudge.cancel()
            self._nudge = None
        if self._suspect or not self._parked:
            return
        conversation, _ = self._parked.popitem(last=False)
        self._wake(conversation)
        self._arm_nudge()

    def _arm_nudge(self) -> None:
        if self._parked and self._nudge is None:
            self._nudge = asyncio.get_running_loop().call_later(NUDGE_SECONDS, self._call_next)
