"""While something is forgotten, no turn of its space runs in any living process."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from bot.runtime.cluster.quiesce import SpaceQuiescer
from memory.store.engine.leases import Leases
from memory.store.postgres.open import open_postgres
from tests.postgres import fresh, made  # noqa: F401  fixtures
from tests.walk.harness import until

pytestmark = pytest.mark.postgres
SECONDS = 3_600.0


@dataclass
class Process:
    """One process's quiescer, and what its turns see. ended: set once its turns have ended;
    resting: paused spaces.
    """

    leases: Leases
    answers: bool = True
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    resting: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.quiescer = SpaceQuiescer(
            self.leases,
            runs_turns=self.answers,
            pause=self._pause,
            storing=self.lock,
            drop_views=self._drop_views,
            publish=lambda: None,
        )

    @asynccontextmanager
    async def _pause(self, space: str) -> AsyncIterator[None]:
        self.resting.append(space)
        await self.ended.wait()
        yield
        self.resting.remove(space)

    async def _drop_views(self, space: str) -> None:
        self.dropped.append(space)

    async def tell(self, seconds: float = SECONDS) -> None:
        """Renew the lease, and tell what there is to tell."""
        assert await self.leases.renew(seconds, json.dumps(self.quiescer.status()))


@asynccontextmanager
async def processes(url: str) -> AsyncIterator["Processes"]:
    async with AsyncExitStack() as stack:
        yield Processes(url, stack)


@dataclass(frozen=True)
class Processes:
    url: str
    stack: AsyncExitStack

    async def join(
        self, *, answers: bool = True, busy: bool = False, silent: bool = False
    ) -> Process:
        store = await open_postgres(self.url, lease_seconds=SECONDS, connections=3)
        self.stack.push_async_callback(store.close)
        process = Process(Leases(store.database), answers)
        self.stack.push_async_callback(process.quiescer.close)
        if not busy:
            process.ended.set()
        if not silent:
            await process.tell()
        return process

    async def begin(
        self, process: Process, space: str, at_work: asyncio.Event, go: asyncio.Event
    ) -> asyncio.Task[None]:
        """It forgets something: at work once there is quiet, until it may go on."""
        task = asyncio.create_task(entered(process.quiescer, space, at_work, go))
        self.stack.push_async_callback(_cancelled, task)
        return task


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def entered(
    quiescer: SpaceQuiescer, space: str, at_work: asyncio.Event, go: asyncio.Event
) -> None:
    async with quiescer.quiet(space):
        at_work.set()
        await go.wait()


async def test_it_begins_once_the_turns_of_all_others_have_ended(fresh: str) -> None:  # noqa: F811
    async with processes(fresh) as all_of_them:
        forgets, turns = await all_of_them.join(), await all_of_them.join(busy=True)
        await all_of_them.join(answers=False)
        at_work, go = asyncio.Event(), asyncio.Event()
        task = await all_of_them.begin(forgets, "u7", at_work, go)
        await until(lambda: _looked(turns), "the other process has seen the mark")
        await turns.tell()
        assert not at_work.is_set()
        assert turns.lock.locked() is False
        turns.ended.set()
        await until(lambda: turns.quiescer.status()["rests"], "its turns have ended")
        assert not at_work.is_set()
        await turns.tell()
        await at_work.wait()
        assert turns.lock.locked()
        await turns.quiescer.poll()
        assert turns.resting == ["u7"]
        go.set()
        await task
        await turns.quiescer.poll()
        await until(lambda: turns.resting == [], "turns go on")
        assert turns.dropped == ["u7"]
        assert not turns.lock.locked()


async def test_a_process_whose_lease_is_over_is_not_waited_for_and_its_mark_is_none(
    fresh: str,  # noqa: F811
) -> None:  # noqa: F811, RUF100
    async with processes(fresh) as all_of_them:
        forgets, turns = await all_of_them.join(), await all_of_them.join(busy=True)
        at_work, go = asyncio.Event(), asyncio.Event()
        task = await all_of_them.begin(forgets, "u7", at_work, go)
        await until(lambda: _looked(turns), "the other process has seen the mark")
        await turns.tell(0.0)
        await at_work.wait()
        third = await all_of_them.join()
        await third.quiescer.poll()
        assert third.resting == ["u7"]
        await forgets.tell(0.0)
        await third.quiescer.poll()
        await until(lambda: third.resting == [], "turns go on when whoever forgets is dead")
        go.set()
        await task


async def test_one_that_has_told_nothing_yet_is_waited_for(fresh: str) -> None:  # noqa: F811
    async with processes(fresh) as all_of_them:
        forgets, new = await all_of_them.join(), await all_of_them.join(silent=True)
        at_work, go = asyncio.Event(), asyncio.Event()
        go.set()
        task = await all_of_them.begin(forgets, "", at_work, go)
        await until(lambda: _looked(new), "the new process has seen the mark before its first turn")
        assert new.resting == [""]
        assert not at_work.is_set()
        await until(lambda: new.quiescer.status()["rests"], "it rests")
        await new.tell()
        await task


async def test_two_that_forget_do_so_one_after_the_other(fresh: str) -> None:  # noqa: F811
    async with processes(fresh) as all_of_them:
        one, two = await all_of_them.join(), await all_of_them.join()
        first, second, go = asyncio.Event(), asyncio.Event(), asyncio.Event()
        tasks = [
            await all_of_them.begin(one, "u7", first, go),
            await all_of_them.begin(two, "u8", second, go),
        ]

        async def steps() -> bool:
            for each in (one, two):
                await each.quiescer.poll()
                await each.tell()
            return first.is_set() or second.is_set()

        await until(steps, "one of them begins")
        assert first.is_set() != second.is_set()
        go.set()

        async def ended() -> bool:
            await steps()
            return all(task.done() for task in tasks)

        await until(ended, "both have been at work")


async def _looked(process: Process) -> bool:
    await process.quiescer.poll()
    return bool(process.resting)
