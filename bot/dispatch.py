"""Queues: each conversation is processed in order, many conversations concurrently."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

from memory.store.engine.database import QueueKind
from memory.tasks import cancel_and_wait

# Does the next work of the queue with that key; returns False when there is none. Safe to call
# again after a crash.
RunStep = Callable[[str], Awaitable[bool]]


class Dispatcher(Protocol):
    """Runs a step for each queue that was woken; never two of one queue at once."""

    def wake(self, key: str, due: float = 0.0) -> None:
        """Schedule the queue's step and return at once; calls made while it waits count as one.

        Args:
            due: unix seconds; the step runs no earlier.
        """
        ...

    async def settled(self) -> None:
        """Wait until no queue has work left."""
        ...

    async def close(self, patience: float) -> None:
        """Start nothing new; cancel running steps after `patience` seconds.

        They resume from what is stored.
        """
        ...


# Makes the dispatcher of one kind of queue: its step, and how many steps may run at once.
CreateDispatcher = Callable[[QueueKind, RunStep, int], Dispatcher]


log = structlog.get_logger(__name__)
MAX_RETRY_SECONDS = 30.0  # pause after repeated errors of one queue
MIN_DELAY_SECONDS = 0.005  # timers may fire a little early


class LocalDispatcher:
    """Runs queues as asyncio tasks, one per busy queue; between two steps other queues get their
    chance.

    A step that raises is logged and retried after a growing pause: what it had stored is not done
    again.
    """

    def __init__(self, step: RunStep, concurrency: int, gather_seconds: float = 0.0) -> None:
        """Start with no queue.

        Args:
            gather_seconds: pause before the step of a queue that was idle, in which more work may
                come for it.
        """
        self._step = step
        self._gather_seconds = gather_seconds
        self._gathering: dict[str, asyncio.TimerHandle] = {}
        self._slots = asyncio.Semaphore(concurrency)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._closing = False

    def wake(self, key: str, due: float = 0.0) -> None:
        if due and (delay := due - time.time()) > 0:
            asyncio.get_running_loop().call_later(delay + MIN_DELAY_SECONDS, self.wake, key)
            return
        if self._closing:
            return
        if key in self._tasks:
            self._again.add(key)
        elif not self._gather_seconds:
            self._begin(key)
        elif key not in self._gathering:
            loop = asyncio.get_running_loop()
            self._gathering[key] = loop.call_later(self._gather_seconds, self._begin, key)

    async def settled(self) -> None:
        while self._tasks or self._gathering:
            for key in list(self._gathering):
                self._begin(key)
            await asyncio.wait(list(self._tasks.values()))

    async def close(self, patience: float) -> None:
        self._closing = True
        for timer in self._gathering.values():
            timer.cancel()
        self._gathering.clear()
        if self._tasks:
            _, late = await asyncio.wait(list(self._tasks.values()), timeout=patience)
            await cancel_and_wait(late)

    def _begin(self, key: str) -> None:
        if (timer := self._gathering.pop(key, None)) is not None:
            timer.cancel()
        self._tasks[key] = asyncio.create_task(self._run(key), name=f"queue {key}")

    async def _run(self, key: str) -> None:
        pause = 0.5
        try:
            while not self._closing:
                self._again.discard(key)
                try:
                    async with self._slots:
                        worked = await self._step(key)
                    pause = 0.5
                    await asyncio.sleep(0)  # callbacks of this step run first
                except Exception as err:
                    log.error(
                        "queue step failed", queue=key, error=type(err).__name__, exc_info=True
                    )
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, MAX_RETRY_SECONDS)
                    continue
                if not worked and key not in self._again:
                    return
        finally:
            del self._tasks[key]
            if key in self._again:
                self._again.discard(key)
                self.wake(key)


GATHER_SECONDS = 2.0  # in which turns gather for one request about their facts


def create_local_dispatcher(kind: QueueKind, step: RunStep, concurrency: int) -> LocalDispatcher:
    """Create a dispatcher of this process."""
    return LocalDispatcher(step, concurrency, GATHER_SECONDS if kind == "facts" else 0.0)


SUSPECT_DEATHS = 2  # process deaths with a message in progress, after which it is processed alone
# How long other messages wait for a suspect that runs alone; doubled with each further death, so
# that a slow one is found too. While the suspect waits for the others to finish, new ones wait at
# most this long.
ISOLATION_SECONDS = 30.0
MAX_ISOLATION_SECONDS = 900.0  # the time limit of a turn
# How long the process must have run before it starts a message that it died of alone; doubled the
# next time. A machine that restarts again and again does not run so long, so no message is blamed
# for it. The first such message starts at once, when most of the process's life is ahead: frequent
# restarts do not delay everyone.
CALM_SECONDS = 3.0
# Age of a message after which it no longer waits, so that it ends even under frequent restarts.
MAX_WAIT_SECONDS = 1800.0
# After this the next suspect is woken if the one that was woken has not come: its message may be
# gone.
NUDGE_SECONDS = 1.0


class CrashIsolation:
    """Runs messages that may have killed the process one at a time, so that the next death shows
    which one it was.

    Below SUSPECT_DEATHS all messages run concurrently. A suspect waits until no message runs, then
    runs alone; the others wait for it, for a bounded time, and enter between two suspects.
    """

    def __init__(
        self,
        wake: Callable[[str], None],
        alone_seconds: float = ISOLATION_SECONDS,
        calm_seconds: float = CALM_SECONDS,
    ) -> None:
        """wake: schedules a conversation's queue."""
        self._wake = wake
        self._alone_seconds = alone_seconds
        self._calm_seconds = calm_seconds
        self._born = time.monotonic()
        self._first = ""
        self._running_count = 0
        self._suspect = ""
        self._all_ended = asyncio.Event()
        self._all_ended.set()
        self._open = asyncio.Event()
        self._open.set()
        self._parked: OrderedDict[str, None] = OrderedDict()
        self._over: asyncio.TimerHandle | None = None
        self._nudge: asyncio.TimerHandle | None = None

    def seconds_until_allowed(
        self, conversation: str, deaths: int, alone: int, age: float
    ) -> float:
        """Return the seconds until a conversation's message may start.

        Args:
            deaths: process deaths with the message in progress.
            alone: those of them when it was the only one.
            age: seconds since it was received.
        """
        if deaths < SUSPECT_DEATHS or not alone or age > MAX_WAIT_SECONDS:
            return 0.0
        self._first = self._first or conversation
        if self._first == conversation:
            return 0.0
        return max(0.0, self._calm_seconds * min(alone, 2) - (time.monotonic() - self._born))

    def holds_up(self, deaths: int) -> bool:
        """Tell whether a message with so many deaths would wait, so that others may run before
        it.
        """
        return not self._open.is_set() or deaths >= SUSPECT_DEATHS

    async def enter(self, conversation: str, deaths: int, *, is_awaited: bool = False) -> bool:
        """Wait until this conversation's message may run; after True the caller calls `leave` at
        its end.

        Args:
            is_awaited: another message waits for it. Below SUSPECT_DEATHS it then runs beside a
                suspect: that one may be what waits, or may itself wait until the other one has
                    ended.

        Returns:
            False for a suspect while there is another one: its queue is woken in time, and takes no
                slot until then.
        """
        if deaths < SUSPECT_DEATHS:
            while not (is_awaited or self._open.is_set()):
                await self._open.wait()
            self._register()
            return True
        await asyncio.sleep(0)  # messages that the last suspect made wait come first
        if self._suspect:
            self._parked[conversation] = None
            self._arm_nudge()
            return False
        self._parked.pop(conversation, None)
        seconds = min(MAX_ISOLATION_SECONDS, self._alone_seconds * 2.0 ** (deaths - SUSPECT_DEATHS))
        await self._isolate(conversation, seconds)
        return True

    def leave(self, conversation: str) -> None:
        """Note that this conversation's message has ended."""
        self._running_count -= 1
        if not self._running_count:
            self._all_ended.set()
        if self._suspect == conversation:
            self._release()

    async def _isolate(self, conversation: str, seconds: float) -> None:
        self._suspect = conversation
        self._open.clear()
        try:
            async with asyncio.timeout(self._alone_seconds):
                await self._all_ended.wait()
        except TimeoutError:
            log.info(
                "a suspect could not run alone",
                conversation=conversation,
                running=self._running_count,
            )
            self._register()
            self._release()
            return
        except asyncio.CancelledError:
            self._release()
            raise
        self._register()
        self._over = asyncio.get_running_loop().call_later(seconds, self._release)

    def _register(self) -> None:
        self._running_count += 1
        self._all_ended.clear()

    def _release(self) -> None:
        """Let the other messages run again and wake the next suspect."""
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
