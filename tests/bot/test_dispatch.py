"""Queues: one step at a time in each, a fair share for all, and nothing lost when a step fails."""

import asyncio
from collections import defaultdict

from bot.dispatch import LocalDispatcher


async def test_one_lane_never_runs_two_steps_at_once() -> None:
    running: dict[str, int] = defaultdict(int)
    left = {"a": 5, "b": 5}
    most = 0

    async def step(lane: str) -> bool:
        nonlocal most
        running[lane] += 1
        most = max(most, running[lane])
        for _ in range(3):
            await asyncio.sleep(0)
        running[lane] -= 1
        left[lane] -= 1
        return left[lane] > 0

    lanes = LocalDispatcher(step, concurrency=8)
    for _ in range(4):
        lanes.wake("a")
        lanes.wake("b")
    await lanes.settled()
    assert most == 1
    assert left["a"] <= 0
    assert left["b"] <= 0


async def test_a_loud_lane_shares_the_places_with_quiet_ones() -> None:
    left = {"loud": 100, "quiet": 1}
    order: list[str] = []

    async def step(lane: str) -> bool:
        if left[lane] == 0:
            return False
        left[lane] -= 1
        order.append(lane)
        await asyncio.sleep(0)
        return True

    lanes = LocalDispatcher(step, concurrency=1)
    lanes.wake("loud")
    lanes.wake("quiet")
    await lanes.settled()
    assert order.index("quiet") <= 2


async def test_a_wake_during_the_last_step_is_not_lost() -> None:
    queue = ["first"]
    done: list[str] = []
    lanes: LocalDispatcher

    async def step(lane: str) -> bool:
        if not queue:
            return False
        item = queue.pop()
        if item == "first":
            queue.append("second")
            lanes.wake(lane)
        done.append(item)
        return False

    lanes = LocalDispatcher(step, concurrency=1)
    lanes.wake("a")
    await lanes.settled()
    assert done == ["first", "second"]


async def test_a_lane_that_breaks_is_tried_again_and_holds_up_no_other() -> None:
    tries = 0
    other = asyncio.Event()

    async def step(lane: str) -> bool:
        nonlocal tries
        if lane == "b":
            other.set()
            return False
        tries += 1
        if tries == 1:
            raise ValueError("broken once")
        return False

    lanes = LocalDispatcher(step, concurrency=1)
    lanes.wake("a")
    lanes.wake("b")
    await asyncio.wait_for(other.wait(), 0.4)
    await lanes.settled()
    assert tries == 2


async def test_closing_takes_nothing_new_and_cancels_what_will_not_end() -> None:
    started = asyncio.Event()

    async def step(lane: str) -> bool:
        started.set()
        await asyncio.Event().wait()
        return True

    lanes = LocalDispatcher(step, concurrency=1)
    lanes.wake("a")
    await started.wait()
    await lanes.close(patience=0.01)
    lanes.wake("b")
    await asyncio.wait_for(lanes.settled(), 1)


async def test_work_that_comes_while_a_queue_gathers_is_done_in_one_step() -> None:
    done: list[str] = []

    async def step(key: str) -> bool:
        done.append(key)
        return False

    lanes = LocalDispatcher(step, concurrency=8, gather_seconds=3600.0)
    for _ in range(3):
        lanes.wake("facts of one")
        lanes.wake("facts of another")
    await asyncio.sleep(0)
    assert done == []
    await lanes.settled()
    assert sorted(done) == ["facts of another", "facts of one"]
    lanes.wake("facts of one")
    await lanes.close(0.0)
    assert len(done) == 2


async def test_a_queue_begins_by_itself_when_it_has_gathered() -> None:
    begun = asyncio.Event()

    async def step(key: str) -> bool:
        begun.set()
        return False

    lanes = LocalDispatcher(step, concurrency=8, gather_seconds=0.01)
    lanes.wake("facts")
    await asyncio.wait_for(begun.wait(), 10)
    await lanes.close(1.0)
