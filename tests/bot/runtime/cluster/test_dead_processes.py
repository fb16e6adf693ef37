"""What a process that died was doing goes on in another one as soon as its lease is over."""

from pathlib import Path

import psycopg
import pytest

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
    "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - make_interval(secs => %s)) RETURNING id"
)
TAKE = "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s, abort_requested = %s WHERE lock = %s"
JOBS = "SELECT lock, status::text, attempts, abort_requested FROM procrastinate_jobs ORDER BY id"


async def test_jobs_of_dead_workers_are_put_back_and_have_not_failed(fresh: str) -> None:  # noqa: F811
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
                states = dict.fromkeys(("gone", "late", "stopped", "waiting"), "todo") | {"at work": "doing"}
                found = held.execute(JOBS).fetchall()
                assert {row[0]: row[1:] for row in found} == {
                    f"turn:{name}": (state, 0, False) for name, state in states.items()
                }
                assert await jobs.revive() == 0
        finally:
            await jobs.disconnect()


async def test_a_part_that_a_dead_process_was_sending_is_sent_at_once(tmp_path: Path, fresh: str) -> None:  # noqa: F811
    async with at_work(tmp_path, address(fresh), address(fresh)) as channel:
        channel.hear("Which of the two reports?", chat="u1", key="k")
        await channel.until(lambda: len(channel.sent) == 1)
        with psycopg.connect(fresh, autocommit=True) as held:
            # the process that sent it has nothing to store about it any more
            await until(lambda: held.execute("SELECT 1 FROM outbox WHERE state = 'sent'").fetchone(), "it is sent")
        with psycopg.connect(fresh) as held:
            held.execute("UPDATE outbox SET state = 'sending', lease_epoch = %s", [GONE])
            held.execute("INSERT INTO process (lease, name, until, told) VALUES (%s, 'gone', 0, '')", [GONE])
        await channel.until(lambda: len(channel.sent) == 2, 15.0)  # the sweep of all queues is 30 s away
