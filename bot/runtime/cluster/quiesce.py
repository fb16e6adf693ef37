"""The quiet that /forget wants, in every process that answers: a mark for all to see, and each says when it rests.

Whoever forgets has the duty to, so that one does it at a time, and leaves a mark that names the space. Each process
that runs turns looks for marks. Where it finds one it ends its own turns in that space, begins no other, notes no
facts, and says so beside its lease. The work begins once all that live have said it. A mark ends with its lease.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from json import loads
from typing import Any

import structlog

from memory.failpoints import hit_async
from memory.store.engine.leases import Leases
from memory.store.errors import StoreError
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
FORGET_LEADERSHIP = "forget"
QUIESCE_PREFIX = "quiet "
MARKER_POLL_SECONDS = 0.5
ACK_POLL_SECONDS = 0.1
MAX_TRIES = 20
PauseSpace = Callable[[str], AbstractAsyncContextManager[None]]


@dataclass(slots=True)
class _LocalPause:
    """What this process does for the mark of another."""

    task: asyncio.Task[None]
    #: The mark is gone.
    over: asyncio.Event
    #: Everything rests.
    still: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQuiesce:
    """This process."""

    #: Ends the turns of a space here, and lets none begin while it is entered.
    quiet: PauseSpace
    #: Held while facts are noted.
    storing: Callable[[], asyncio.Lock]
    #: What was prepared here for a space's conversations is not used any more.
    anew: Callable[[str], Awaitable[None]]
    #: Tells the others at once how it is here.
    tell: Callable[[], None]


@dataclass(slots=True)
class SpaceQuiescer:
    """One process's part of it."""

    leases: Leases
    own: LocalQuiesce
    #: Whether turns run here.
    answers: bool
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)
    _rests: dict[str, _LocalPause] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """What others have to know: whether to wait for this process, and for which marks it rests."""
        return {"answers": self.answers, "rests": [mark for mark, rest in self._rests.items() if rest.still]}

    @asynccontextmanager
    async def quiet(self, space: str) -> AsyncIterator[None]:
        """No turn of a space runs anywhere while this is entered; waits for others who want that, too.

        Raises:
            StoreError: the store is not to be had.
        """
        mark = f"{QUIESCE_PREFIX}{uuid.uuid4().hex} {space}"
        async with self._one:
            try:
                await self._duty()
                await self.leases.take(mark)
                async with self.own.quiet(space):
                    await self._all_rest(mark)
                    await hit_async("forget.quiet")
                    yield
            finally:
                await self._let_go(mark)
                await self._let_go(FORGET_LEADERSHIP)

    async def look(self) -> None:
        """Rest for new marks, and go on where one is gone. To be awaited once before the first turn.

        Raises:
            StoreError: the store is not to be had; all stays as it is.
        """
        marks = set(await self.leases.duties_of_others(QUIESCE_PREFIX))
        for mark in self._rests.keys() - marks:
            self._rests[mark].over.set()
        for mark in marks - self._rests.keys():
            log.info("turns rest while something is forgotten")
            self._begin(mark)
        await asyncio.sleep(0)  # each of them has asked for quiet by then: no turn begins any more

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(MARKER_POLL_SECONDS)
            try:
                await self.look()
            except StoreError as err:
                log.warning("marks not looked for", error=type(err).__name__)

    async def close(self) -> None:
        """Rest no more."""
        await cancel_and_wait([rest.task for rest in self._rests.values()])

    async def _duty(self) -> None:
        while True:
            if await self.leases.take(FORGET_LEADERSHIP):
                return
            await asyncio.sleep(ACK_POLL_SECONDS)

    async def _all_rest(self, mark: str) -> None:
        """Wait until every other process that lives and answers has said that it rests."""
        while True:
            if all(_is_at_rest(told, mark) for told in await self.leases.others()):
                return
            await asyncio.sleep(ACK_POLL_SECONDS)

    async def _let_go(self, name: str) -> None:
        """Tried for longer than a lease lasts that cannot be renewed: by then it is nobody's anyway."""
        for _ in range(MAX_TRIES):
            try:
                await self.leases.release(name)
            except StoreError as err:
                log.warning("a mark is still there", error=type(err).__name__)
                await asyncio.sleep(MARKER_POLL_SECONDS)
            else:
                return

    def _begin(self, mark: str) -> None:
        over = asyncio.Event()
        task = asyncio.create_task(self._rest(mark, over), name=mark)
        self._rests[mark] = _LocalPause(task, over)
        task.add_done_callback(lambda done: self._ended(mark, done))

    async def _rest(self, mark: str, over: asyncio.Event) -> None:
        space = mark.removeprefix(QUIESCE_PREFIX).partition(" ")[2]
        async with self.own.quiet(space), self.own.storing():
            self._rests[mark].still = True
            self.own.tell()
            await over.wait()
            await self.own.anew(space)

    def _ended(self, mark: str, task: asyncio.Task[None]) -> None:
        del self._rests[mark]
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("rest was broken off", error=type(err).__name__, exc_info=err)


def _is_at_rest(told: str, mark: str) -> bool:
    """Whether a process that told this need not be waited for; one that has told nothing yet will."""
    said = loads(told) if told else {}
    return bool(said) and (not said.get("answers") or mark in said.get("rests", ()))
