"""Jobs begin when they are stored: a notification is answered at once, whatever the worker does at that moment."""

import asyncio

import pytest

from bot.runtime.cluster.job_batches import POLL_SECONDS
from bot.runtime.cluster.jobs import JobQueue
from bot.runtime.cluster.open import open_for_command
from memory.store.engine.database import QueueKey
from tests.postgres import fresh, made  # noqa: F401  fixtures

pytestmark = pytest.mark.postgres
JOBS = 60
PATIENCE = 30.0  # seconds; with a poll for each job it would be ten times as long


async def test_a_job_does_not_wait_for_the_next_poll(fresh: str) -> None:  # noqa: F811
    assert JOBS * POLL_SECONDS >= 10 * PATIENCE
    async with open_for_command(fresh, writable=True, alone=False) as (store, _, _):
        jobs = JobQueue(fresh, store.now, store.sessions)
        await jobs.open()
        began = asyncio.Queue[str]()

        async def step(key: str) -> bool:
            began.put_nowait(key)
            return False

        jobs.create_dispatcher("turn", step, 1)
        jobs.work_on("turn", JOBS)
        try:
            async with asyncio.timeout(PATIENCE):
                for number in range(JOBS):
                    await jobs.put(QueueKey(kind="turn", id=f"{number}"))
                    assert await began.get() == f"{number}"
        finally:
            await jobs.close(patience=1.0)
            await jobs.disconnect()
