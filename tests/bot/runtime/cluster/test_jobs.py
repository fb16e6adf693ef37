"""Jobs begin when they are stored: a notification is answered at once, whatever the worker does at
that moment.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from bot.runtime.cluster.jobs import JobQueue
from bot.runtime.cluster.open import open_for_command
from memory.store.engine.database import QueueKey
from memory.store.errors import StoreBusy
from tests.postgres import fresh, made  # noqa: F401  fixtures
from tests.walk.harness import until

pytestmark = pytest.mark.postgres
JOBS = 60
PATIENCE = 45.0  # seconds; with a poll for each job it would be longer
FAR = 4_000_000_000.0
RETRY = "SELECT procrastinate_retry_job_v2(id, now(), NULL, NULL, NULL) FROM procrastinate_jobs"
TAKEN_AGAIN = "SELECT 1 FROM procrastinate_jobs WHERE status = 'doing' AND attempts = 1"
STILL_DOING = """INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args, status,
worker_id)
SELECT 'turn', 'turn', 'turn:two', '{"lane": "two"}', 'doing', max(id) FROM procrastinate_workers"""


@asynccontextmanager
async def queue(url: str) -> AsyncIterator[JobQueue]:
    async with open_for_command(url, writable=True, alone=False) as (store, _, _):
        jobs = JobQueue(url, store.now, store.sessions)
        await jobs.open()
        with psycopg.connect(url) as other:
            other.execute("DELETE FROM procrastinate_jobs")  # tests share a database
        try:
            yield jobs
        finally:
            await jobs.close(patience=1.0)
            await jobs.disconnect()


async def test_a_job_that_a_crash_of_the_server_put_back_is_retried(fresh: str) -> None:  # noqa: F811
    """That it was taken is not on the disk yet."""
    async with queue(fresh) as jobs:
        runs: list[str] = []

        async def step(key: str) -> bool:
            runs.append(key)
            if len(runs) == 1:
                with psycopg.connect(fresh) as other:
                    other.execute("UPDATE procrastinate_jobs SET status = 'todo'")
                raise StoreBusy("the database server does not answer")
            return False

        jobs.create_dispatcher("turn", step, 1)
        jobs.work_on("turn", 1)
        async with asyncio.timeout(PATIENCE):
            await jobs.put(QueueKey(kind="turn", id="one"))
            await until(lambda: runs.count("one") > 1, "it runs again")
            await jobs.put(QueueKey(kind="turn", id="two"))
            await until(lambda: "two" in runs, "its place is free")


async def test_a_job_that_is_put_back_while_it_runs_waits_for_what_it_has_begun(fresh: str) -> None:  # noqa: F811
    async with queue(fresh) as jobs:
        begun, gate, runs = asyncio.Event(), asyncio.Event(), list[str]()

        async def step(key: str) -> bool:
            runs.append(key)
            begun.set()
            if len(runs) == 1:
                await gate.wait()
            return False

        jobs.create_dispatcher("turn", step, 1)
        jobs.work_on("turn", 2)
        async with asyncio.timeout(PATIENCE):
            await jobs.put(QueueKey(kind="turn", id="one"))
            await begun.wait()
            with psycopg.connect(fresh, autocommit=True) as other:
                other.execute(RETRY)
                await until(lambda: other.execute(TAKEN_AGAIN).fetchone(), "the job is taken again")
                assert runs == ["one"]
                gate.set()
                await until(
                    lambda: not other.execute("SELECT 1 FROM procrastinate_jobs").fetchone(),
                    "it has ended",
                )
        assert runs == ["one", "one"]  # the second one looks, as it may have come for something new


async def test_what_waits_is_asked_for_once(fresh: str) -> None:  # noqa: F811
    async with queue(fresh) as jobs:
        for due in (0.0, 0.0, FAR, FAR):
            await jobs.put(QueueKey(kind="turn", id="one", due=due))
        with psycopg.connect(fresh) as other:
            assert other.execute(
                "SELECT task_name FROM procrastinate_jobs ORDER BY id"
            ).fetchall() == [
                ("turn",),
                ("later",),
            ]


async def test_a_job_whose_end_could_not_be_stored_is_put_back(fresh: str) -> None:  # noqa: F811
    async with queue(fresh) as jobs:
        runs: list[str] = []

        async def step(key: str) -> bool:
            runs.append(key)
            return False

        jobs.create_dispatcher("turn", step, 1)
        jobs.work_on("turn", 2)
        async with asyncio.timeout(PATIENCE):
            await jobs.put(QueueKey(kind="turn", id="one"))
            with psycopg.connect(fresh, autocommit=True) as other:
                await until(
                    lambda: not other.execute("SELECT 1 FROM procrastinate_jobs").fetchone(),
                    "it has ended",
                )
                other.execute(STILL_DOING)
            await until(lambda: "two" in runs, "it is put back")


async def test_a_job_does_not_wait_for_the_next_poll(fresh: str) -> None:  # noqa: F811
    async with queue(fresh) as jobs:
        began = asyncio.Queue[str]()

        async def step(key: str) -> bool:
            began.put_nowait(key)
            return False

        jobs.create_dispatcher("turn", step, 1)
        jobs.work_on("turn", JOBS)
        async with asyncio.timeout(PATIENCE):
            for number in range(JOBS):
                await jobs.put(QueueKey(kind="turn", id=f"{number}"))
                assert await began.get() == f"{number}"


async def test_each_turn_of_a_conversation_can_be_stopped(fresh: str) -> None:  # noqa: F811
    """A job is stopped once; the turn after the stopped one runs in another job."""
    async with queue(fresh) as jobs:
        gates: list[asyncio.Event] = []

        async def step(key: str) -> bool:
            gates.append(gate := asyncio.Event())
            await gate.wait()
            return len(gates) < 2

        jobs.create_dispatcher("turn", step, 1)
        jobs.on_stop = lambda conversation: gates[-1].set()
        jobs.work_on("turn", 2)
        async with asyncio.timeout(PATIENCE):
            await jobs.put(QueueKey(kind="turn", id="one"))
            for turn in (1, 2):
                await until(lambda turn=turn: len(gates) == turn, "the turn runs")
                assert await jobs.stop("one")
                await until(gates[turn - 1].is_set, "it is stopped")


async def test_a_queue_that_is_worked_on_already_has_no_second_worker(fresh: str) -> None:  # noqa: F811
    async with queue(fresh) as jobs:
        running, most, gate = 0, 0, asyncio.Event()

        async def step(key: str) -> bool:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await gate.wait()
            running -= 1
            return False

        jobs.create_dispatcher("turn", step, 1)
        jobs.work_on("turn", 1)
        jobs.work_on("turn", 1)
        async with asyncio.timeout(PATIENCE):
            for name in ("one", "two"):
                await jobs.put(QueueKey(kind="turn", id=name))
            await until(lambda: running == 1, "one runs")
            gate.set()
            with psycopg.connect(fresh, autocommit=True) as other:
                await until(
                    lambda: not other.execute("SELECT 1 FROM procrastinate_jobs").fetchone(),
                    "all have ended",
                )
        assert most == 1
