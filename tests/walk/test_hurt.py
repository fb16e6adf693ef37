"""Several processes while their database, or the way to it, is hurt: nothing is lost, and what ends
begins again.
"""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.walk.cluster import cluster
from tests.walk.harness import until
from tests.walk.play import Plan, Story, play
from tests.walk.processes import several
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import answer, asked

# Literals, so that the product is not compared with itself.
GONE = 75
LEASE_SECONDS = 5.0
MOST_CONNECTIONS = 12

pytestmark = [pytest.mark.kill, pytest.mark.postgres]
BY_DAY = "restart database immediate"
BLOWS = (
    "cut worker 9",
    "restart database fast",
    "freeze database 3",
    "freeze database 8",
    "end database 20",
    "cut worker 2",
    "cut gateway 9",
    "deafen worker 9",
    "deafen gateway 9",
    "reset worker 2",
    "reset gateway 9",
    "stop gateway",
    "stop worker",
)
_ALIVE = "SELECT lease FROM process WHERE until > extract(epoch FROM clock_timestamp())"
_LOCKS = (
    "SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND relation = 'inbox'::regclass AND mode = "
    "'RowExclusiveLock'"
)
_IN_TRANSACTION = (
    "SELECT pid FROM pg_stat_activity a WHERE datname = current_database() AND state = 'idle in "
    f"transaction' AND state_change < clock_timestamp() - interval '0.3 s' AND EXISTS ({_LOCKS})"
)

_GIVEN = (
    "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args, status, worker_id) "
    "VALUES ('turn', 'turn', ?, ?, 'doing', (SELECT min(id) FROM procrastinate_workers)) RETURNING id"  # noqa: E501
)


@pytest.mark.parametrize("blow", [BY_DAY, *(pytest.param(blow, marks=by_night) for blow in BLOWS)])
async def test_whatever_is_hurt_under_load_the_oracle_finds_no_fault(
    tmp_path: Path, blow: str
) -> None:
    plan = Plan(
        conversations=8, workers=2, pace=1.0, slowest=0.8, blows=((1.0, blow),), seconds=3.0
    )
    with cluster() as server:
        assert await play(plan, tmp_path, server, Story()) == []


@by_night
async def test_I11_what_a_stopped_worker_has_locked_is_free_for_the_next_one(
    tmp_path: Path, db: str
) -> None:
    async with several(tmp_path, db, ModelEmulator(responder=answer)) as bots:
        gateway, first = [
            *await bots.start("gateway"),
            *await bots.start("worker", fp="claim.in_txn@1:hang"),
        ]
        id = await gateway.web.post("talk", asked("mine"))
        await _in_transaction(db)
        first.send_signal(signal.SIGSTOP)
        await bots.start("worker")
        assert (await gateway.web.answer("talk", id, 90))["text"] == "re «mine»"
        await until(lambda: len(query(db, _ALIVE)) == 2, "the lease of the stopped one is over")
        first.send_signal(signal.SIGCONT)
        assert await first.ended() == GONE
        assert len(await gateway.web.answers("talk", id)) == 1
        await until(lambda: not unended(db), "all is at rest")
        assert await ledger_faults(db) == []


async def test_a_message_whose_transaction_is_lost_is_refused_and_taken_when_it_is_sent_again(
    tmp_path: Path, db: str
) -> None:
    async with several(tmp_path, db, ModelEmulator(responder=answer)) as bots:
        [bot] = await bots.start("all", fp="recv.in_txn@1:sleep:1.5")
        text = asked("once more")
        sending = asyncio.create_task(bot.web.send("talk", text, "key"))
        pid = await _in_transaction(db)
        assert query(db, "SELECT pg_terminate_backend(?)", pid) == [(True,)]
        assert (await sending).status_code == 503
        taken = await bot.web.send("talk", text, "key")
        assert taken.status_code == 202
        assert (await bot.web.answer("talk", taken.json()["id"]))["text"] == "re «once more»"
        assert len(await bot.web.lines("talk")) == 2


@by_night
async def test_a_job_that_was_handed_over_in_an_answer_which_never_came_is_put_back(
    tmp_path: Path, db: str
) -> None:
    async with several(tmp_path, db, ModelEmulator(responder=answer)) as bots:
        [bot] = await bots.start("all")
        await bot.web.answer("talk", await bot.web.post("talk", asked("one")))
        [(lane,)] = query(db, "SELECT id FROM conversation WHERE channel = 'web'")
        await until(lambda: not query(db, "SELECT id FROM procrastinate_jobs"), "all is at rest")
        query(db, _GIVEN, f"turn:{lane}", json.dumps({"lane": lane}))
        id = await bot.web.post("talk", asked("two"))
        assert (await bot.web.answer("talk", id))["text"] == "re «two»"
        await until(lambda: not query(db, "SELECT id FROM procrastinate_jobs"), "no job is left")


@by_night
async def test_a_worker_whose_connections_are_all_taken_is_busy_and_not_dead(
    tmp_path: Path, db: str
) -> None:
    stuck = ",".join(f"claim.in_txn@{number}:hang" for number in range(1, MOST_CONNECTIONS + 1))
    async with several(tmp_path, db, ModelEmulator(responder=answer)) as bots:
        gateway, worker = [*await bots.start("gateway"), *await bots.start("worker", fp=stuck)]
        for number in range(MOST_CONNECTIONS + 2):
            await gateway.web.post(f"talk{number}", asked("stuck"))
        with pytest.raises(TimeoutError):
            await worker.ended(seconds=LEASE_SECONDS + 3.0)
        assert len(query(db, _ALIVE)) == 2
        await worker.kill()
        await bots.start("worker")
        await until(lambda: not unended(db), "another one answers")


async def _in_transaction(db: str) -> int:
    """The session that waits at the failpoint, with what it has locked."""
    rows = await until(
        lambda: len(found := query(db, _IN_TRANSACTION)) == 1 and found, "it is in its transaction"
    )
    return int(rows[0][0])
