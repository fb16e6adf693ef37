"""The floor of `scale`: bare Procrastinate with a row and a job for each message.

`python -m benchmarks.scale_bare URL SECONDS PLACES` is one worker; it prints a line for each
finished job.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.schema import SchemaManager
from psycopg_pool import AsyncConnectionPool

from benchmarks.process import ROOT
from benchmarks.scale_shape import Course, Name, Shape, now
from bot.runtime.cluster.jobs import CONNECTIONS, HEARTBEAT_SECONDS, POLL_SECONDS, STALLED_SECONDS
from memory.store.postgres.open import MAX_CONNECTIONS

TABLE = (
    "CREATE TABLE said (id bigserial PRIMARY KEY, who int, number int, text text, UNIQUE (who, "
    "number))"
)
ADD = "INSERT INTO said (who, number, text) VALUES (%s, %s, %s)"


class Bare:
    """Accepts messages, and reads the results from its workers' output."""

    name = "bare"

    def __init__(
        self, app: App, pool: AsyncConnectionPool[Any], workers: list[asyncio.subprocess.Process]
    ) -> None:
        self.course = Course()
        self.workers = [worker.pid for worker in workers]
        self._task = app.configure_task
        self._pool = pool
        self._readers = [asyncio.create_task(self._read_results(worker)) for worker in workers]

    async def say(self, name: Name, text: str) -> None:
        """Store the row and its job in one durable transaction."""
        self.course.asked[name] = now()
        async with self._pool.connection() as held, held.transaction():
            await held.execute(ADD, [*name, text])
            job = self._task("turn", lock=f"turn:{name[0]}", queue="turn", connection=held)
            await job.defer_async(who=name[0], number=name[1])
        self.course.stored[name] = now()

    async def settle(self) -> int:
        """Return 0: the maximum of open turns is not counted here."""
        return 0

    async def close(self) -> None:
        """Stop reading."""
        for task in self._readers:
            task.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)

    async def _read_results(self, worker: asyncio.subprocess.Process) -> None:
        assert worker.stdout is not None
        while line := await worker.stdout.readline():
            who, number, begun, ended, done = line.split()
            name = (int(who), int(number))
            self.course.begun[name], self.course.ended[name] = float(begun), float(ended)
            self.course.done[name] = float(done)
            self.course.answers.append(name)


@asynccontextmanager
async def bare(url: str, shape: Shape, workers: int) -> AsyncIterator[Bare]:
    """Create the engine's tables, and run so many workers and the accepting side."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as held:
        await held.execute(SchemaManager.get_schema())
        await held.execute(TABLE)
    app = app_on(url)
    app.task(name="turn")(_nothing)
    started = [await _worker(url, shape) for _ in range(workers)]
    pool = AsyncConnectionPool[Any](
        url, kwargs={"autocommit": True}, max_size=MAX_CONNECTIONS, open=False
    )
    await pool.open()
    try:
        async with app.open_async():
            engine = Bare(app, pool, started)
            yield engine
            await engine.close()
    finally:
        await pool.close()
        for worker in started:
            worker.kill()
            await worker.wait()


def app_on(url: str) -> App:
    """Return the engine, connected like ours."""
    return App(
        connector=PsycopgConnector(conninfo=url, min_size=1, max_size=CONNECTIONS, timeout=10.0)
    )


async def _worker(url: str, shape: Shape) -> asyncio.subprocess.Process:
    words = ("-m", "benchmarks.scale_bare", url, str(shape.seconds), str(shape.places))
    worker = await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert worker.stdout is not None
    await worker.stdout.readline()
    return worker


async def _nothing(who: int, number: int) -> None:
    """Do nothing: the workers have the real task."""


async def work(url: str, seconds: float, places: int) -> None:
    """Run one worker until the process ends."""
    app, ends = app_on(url), dict[int, tuple[int, int, float, float]]()

    async def turn(context: Any, who: int, number: int) -> None:
        begun = now()
        await asyncio.sleep(seconds)
        ends[context.job.id] = (who, number, begun, now())

    app.task(name="turn", pass_context=True)(turn)
    async with app.open_async():
        finish = app.job_manager.finish_job

        async def finished(job: Any, *given: Any, **named: Any) -> None:
            await finish(job, *given, **named)
            who, number, begun, ended = ends.pop(job.id)
            print(who, number, begun, ended, now(), flush=True)

        app.job_manager.finish_job = finished  # type: ignore[method-assign]
        print("ready", flush=True)
        await app.run_worker_async(
            queues=["turn"],
            concurrency=places,
            delete_jobs="always",
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_SECONDS,
            fetch_job_polling_interval=POLL_SECONDS,
            abort_job_polling_interval=POLL_SECONDS,
        )


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # such as that the app is of the main module
    asyncio.run(work(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))
