"""What a process that died was doing goes on in another one as soon as its lease is over."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from bot.models.base import ModelEvent, Request
from bot.models.providers.offline import ScriptedModel
from bot.runtime.cluster.jobs import STALLED_SECONDS, JobQueue
from bot.runtime.cluster.open import open_for_command
from memory.store.engine.database import QueueKey
from tests.bot.runtime.cluster.test_transactions import at_work
from tests.postgres import fresh, made  # noqa: F401  fixtures
from tests.walk.harness import until
from tests.walk.processes import address

pytestmark = pytest.mark.postgres
GONE = 1_000_000  # a lease that no process of these tests has
ADD_WORKER = (
    "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - make_interval(secs => %s)) "
    "RETURNING id"
)
TAKE = (
    "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s, abort_requested = %s WHERE "
    "lock = %s"
)
REFUSED = "SELECT 1 FROM procrastinate_jobs WHERE attempts > 1"
JOBS = "SELECT lock, status::text FROM procrastinate_jobs ORDER BY id"


async def test_jobs_of_dead_workers_are_put_back_and_those_to_be_stopped_fail(fresh: str) -> None:  # noqa: F811
    async with open_for_command(fresh, writable=True, alone=False) as (store, _, _):
        jobs = JobQueue(fresh, store.now, store.sessions)
        await jobs.open()
        try:
            for name in ("gone", "late", "stopped", "at work", "waiting"):
                await jobs.put(QueueKey(kind="turn", id=name))
            with psycopg.connect(fresh, autocommit=True) as held:

                def take(name: str, seconds: float, *, stopped: bool = False) -> int:
                    [worker] = held.execute(ADD_WORKER, [seconds]).fetchone() or [0]
                    held.execute(TAKE, [worker, stopped, f"turn:{name}"])
                    return int(worker)

                held.execute("DELETE FROM procrastinate_workers WHERE id = %s", [take("gone", 0)])
                take("late", STALLED_SECONDS + 1)
                take("stopped", STALLED_SECONDS + 1, stopped=True)
                take("at work", STALLED_SECONDS - 3)
                assert await jobs.revive() == 3
                states = dict.fromkeys(("gone", "late", "waiting"), "todo")
                states |= {"at work": "doing", "stopped": "failed"}
                assert dict(held.execute(JOBS).fetchall()) == {
                    f"turn:{name}": state for name, state in states.items()
                }
                assert await jobs.revive() == 0
                # as the sweep does after a process died
                await jobs.put(QueueKey(kind="turn", id="stopped"))
                assert ("turn:stopped", "todo") in held.execute(JOBS).fetchall()
                held.execute("DELETE FROM procrastinate_jobs")  # tests share a database
        finally:
            await jobs.disconnect()


async def test_a_job_of_a_dead_worker_ends_where_another_of_its_key_waits(fresh: str) -> None:  # noqa: F811
    """Only one that waits may have the queueing lock that both have, and that one waits for the
    other's lock.
    """
    async with open_for_command(fresh, writable=True, alone=False) as (store, _, _):
        jobs = JobQueue(fresh, store.now, store.sessions)
        await jobs.open()
        key = QueueKey(kind="turn", id="twice")
        try:
            with psycopg.connect(fresh, autocommit=True) as held:
                await jobs.put(key)
                [worker] = held.execute(ADD_WORKER, [STALLED_SECONDS + 1]).fetchone() or [0]
                held.execute(TAKE, [worker, False, "turn:twice"])
                await jobs.put(key)
                assert held.execute(JOBS).fetchall() == [
                    ("turn:twice", "doing"),
                    ("turn:twice", "todo"),
                ]
                assert await jobs.revive() == 1
                assert held.execute(JOBS).fetchall() == [("turn:twice", "todo")]
                held.execute("DELETE FROM procrastinate_jobs")  # tests share a database
        finally:
            await jobs.disconnect()


class _GatedModel(ScriptedModel):
    """Answers once it may."""

    def __init__(self) -> None:
        super().__init__(lambda _: "It is the second report.")
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        self.asked.set()
        await self.may_answer.wait()
        async for event in super().stream(request):
            yield event


async def test_I11_a_stalled_worker_s_job_that_is_put_back_while_it_runs_ends_in_one_answer(
    tmp_path: Path,
    fresh: str,  # noqa: F811
) -> None:
    """Each worker has one place, so the other one takes the job, and finds its work in a living
    process.
    """
    model, url = _GatedModel(), address(fresh)
    async with (
        asyncio.timeout(90),
        at_work(tmp_path, url, url, url, model=model, concurrency=1) as channel,
    ):
        channel.hear("Which of the two reports?", chat="u1", key="k")
        await model.asked.wait()
        with psycopg.connect(fresh, autocommit=True) as held:
            [id] = held.execute(
                "SELECT id FROM procrastinate_jobs WHERE status = 'doing'"
            ).fetchone() or [0]
            held.execute("SELECT procrastinate_retry_job_v2(%s, now(), NULL, NULL, NULL)", [id])
            await until(lambda: held.execute(REFUSED).fetchone(), "the other one has looked")
            model.may_answer.set()
            await channel.until(lambda: len(channel.sent) == 1)
            await until(
                lambda: not held.execute("SELECT 1 FROM procrastinate_jobs").fetchone(),
                "all is at rest",
            )
            for number in (2, 3):  # each has its place again
                channel.hear("And the other?", chat="u1", key=f"k{number}")
            await channel.until(lambda: len(channel.sent) == 3)
            await until(
                lambda: not held.execute("SELECT 1 FROM procrastinate_jobs").fetchone(),
                "all is at rest",
            )
            assert held.execute("SELECT state FROM outbox").fetchall() == [("sent",)] * 3
            assert held.execute("SELECT state, attempts FROM inbox").fetchall() == [("done", 0)] * 3
        assert len(model.requests) == 3


async def test_a_part_that_a_dead_process_was_sending_is_sent_at_once(
    tmp_path: Path,
    fresh: str,  # noqa: F811
) -> None:  # noqa: F811, RUF100
    async with at_work(tmp_path, address(fresh), address(fresh)) as channel:
        channel.hear("Which of the two reports?", chat="u1", key="k")
        await channel.until(lambda: len(channel.sent) == 1)
        with psycopg.connect(fresh, autocommit=True) as held:
            # the process that sent it has nothing to store about it any more
            await until(
                lambda: held.execute("SELECT 1 FROM outbox WHERE state = 'sent'").fetchone(),
                "it is sent",
            )
        with psycopg.connect(fresh) as held:
            held.execute("UPDATE outbox SET state = 'sending', lease_epoch = %s", [GONE])
            held.execute(
                "INSERT INTO process (lease, name, until, told) VALUES (%s, 'gone', 0, '')", [GONE]
            )
        # the sweep of all queues is 30 s away
        await channel.until(lambda: len(channel.sent) == 2, 15.0)
