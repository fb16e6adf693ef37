"""Jobs begin when they are stored: a notification is answered at once, whatever the worker does at that moment."""

import asyncio

import psycopg
import pytest

from bot.runtime.cluster.job_batches import POLL_SECONDS
from bot.runtime.cluster.jobs import JobQueue
from bot.runtime.cluster.open import open_for_command
from memory.store.engine.database import QueueKey
from memory.store.errors import StoreBusy
from tests.postgres import fresh, made  # noqa: F401  fixtures
from tests.walk.harness import until

pytestmark = pytest.mark.postgres
JOBS = 60
PATIENCE = 30.0  # seconds; with a poll for each job it would be ten times as long


@pytest.mark.parametrize("lost", ["UPDATE procrastinate_jobs SET status = 'todo'", "DELETE FROM procrastinate_jobs"])
async def test_a_job_that_a_crash_of_the_server_put_back_is_retried(fresh: str, lost: str) -> None:  # noqa: F811
    """That it was taken is not on the disk yet; another process may have taken and ended it since."""
    async with open_for_command(fresh, writable=True, alone=False) as (store, _, _):
        jobs = JobQueue(fresh, store.now, store.sessions)
        await jobs.open()
        runs: list[str] = []

        async def step(key: str) -> bool:
            runs.append(key)
            if len(runs) == 1:
                with psycopg.connect(fresh) as other:
                    other.execute(lost)
                raise StoreBusy("the database server does not answer")
            return False

        jobs.create_dispatcher("turn", step, 1)
        jobs.work_on("turn", 1)
        try:
            async with asyncio.timeout(PATIENCE):
                await jobs.put(QueueKey(kind="turn", id="one"))
                await until(lambda: runs.count("one") > 1, "it runs again")
                await jobs.put(QueueKey(kind="turn", id="two"))
                await until(lambda: "two" in runs, "its place is free")
        finally:
            await jobs.close(patience=1.0)
            await jobs.disconnect()


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
