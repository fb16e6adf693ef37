"""Tasks that lose their first cancellation."""

import asyncio

from memory.tasks import cancel_and_wait


async def test_a_cancellation_that_is_lost_is_told_again() -> None:
    """Cancel it together with its result: `asyncio.wait_for` of Python 3.11 returns then and drops
    the cancellation.
    """
    came = asyncio.Event()

    async def work_for_ever() -> None:
        while True:
            await asyncio.wait_for(came.wait(), 60)
            came.clear()

    task = asyncio.create_task(work_for_ever())
    for _ in range(5):
        await asyncio.sleep(0)
    came.set()
    await asyncio.sleep(0)
    await asyncio.wait_for(cancel_and_wait([task]), 20)
    assert task.cancelled()


async def test_one_that_never_ends_is_left_behind() -> None:
    over = asyncio.Event()

    async def deaf() -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)
    await asyncio.wait_for(cancel_and_wait([task]), 20)
    assert not task.done()
    over.set()
    await task


async def test_who_ended_before_is_waited_for_no_longer() -> None:
    async def broke() -> None:
        raise ValueError

    task = asyncio.create_task(broke())
    await asyncio.wait([task])
    await cancel_and_wait([task])
    await cancel_and_wait([])
