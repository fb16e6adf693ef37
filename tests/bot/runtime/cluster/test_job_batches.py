"""What a worker takes and ends, where the server crashed before the disk had it: against a scripted server."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from procrastinate.jobs import Job

from bot.runtime.cluster.connector import RetryingConnector
from bot.runtime.cluster.job_batches import JobBatches

WORKER, PATIENCE = 1, 10.0


def row(number: int) -> dict[str, Any]:
    return {
        "id": number, "status": "doing", "task_name": "turn", "priority": 0, "lock": f"turn:{number}",
        "queueing_lock": None, "args": {"lane": "x"}, "scheduled_at": None, "queue_name": "turn", "attempts": 0,
        "worker_id": WORKER, "due": None,
    }  # fmt: skip


class Server:
    """Answers each exchange with the next of its rows, once it may; notes what was ended."""

    def __init__(self, *answers: Sequence[int]) -> None:
        self.answers, self.ended = list(answers), list[list[int]]()
        self.may_answer, self.asked = asyncio.Event(), asyncio.Event()
        self.may_answer.set()

    async def exchange(self, query: str, values: Sequence[Any]) -> list[dict[str, Any]]:
        self.ended.append(values[0])
        self.asked.set()
        await self.may_answer.wait()
        return [row(number) for number in (self.answers.pop(0) if self.answers else ())]


async def taken(server: Server, count: int) -> tuple[JobBatches, list[Job]]:
    batches = JobBatches(cast(RetryingConnector, server), "unused")
    batches.serve("turn", 5)
    jobs = [await batches.fetch_job(None, WORKER) for _ in range(count)]
    return batches, [job for job in jobs if job is not None]


async def test_a_job_that_a_crash_gave_back_as_it_ended_holds_up_nobody() -> None:
    server = Server([1, 2], [], [2])
    batches, [first, second] = await taken(server, 2)
    server.may_answer.clear()
    ending = [asyncio.create_task(batches.finish_job(first, cast(Any, "succeeded"), True))]
    server.asked.clear()
    await server.asked.wait()
    ending.append(asyncio.create_task(batches.finish_job(second, cast(Any, "succeeded"), True)))
    server.may_answer.set()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*ending)
    again = await batches.fetch_job(None, WORKER)
    assert again is not None
    assert again.id == 2


async def test_a_job_that_runs_here_is_not_taken_again() -> None:
    server = Server([1], [1, 2])
    batches, [first] = await taken(server, 1)
    batches._has_news = True
    second = await batches.fetch_job(None, WORKER)
    assert (first.id, second and second.id) == (1, 2)
    assert await batches.fetch_job(None, WORKER) is None


async def test_what_is_being_taken_as_the_worker_closes_is_put_back() -> None:
    server = Server([], [7])
    batches, _ = await taken(server, 1)
    server.may_answer.clear()
    server.asked.clear()
    batches._has_news = True
    taking = asyncio.create_task(batches._exchange())
    await server.asked.wait()
    left = asyncio.create_task(batches.take_unstarted())
    server.may_answer.set()
    async with asyncio.timeout(PATIENCE):
        assert [job.id for job in await left] == [7]
        await taking
