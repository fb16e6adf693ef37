"""Dispatchers on Procrastinate: the transaction that stores a row also adds the job that processes it.

The job's lock is its queue key (a conversation, say), so one job per key runs at a time in the whole cluster. A job
runs steps until the key has nothing left to do, so a job too many finds nothing and ends.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import psycopg
import structlog
from procrastinate import App, BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.exceptions import ConnectorException, ProcrastinateException
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job, Status
from procrastinate.worker import Worker

from bot.dispatch import Dispatcher, RunStep
from bot.runtime.cluster.connector import RetryingConnector
from bot.runtime.cluster.job_batches import POLL_SECONDS, JobBatches
from memory.store.conversations.sessions import Sessions
from memory.store.engine.database import QueueKey, QueueKind
from memory.store.engine.postgres import CLOSE_SECONDS
from memory.store.engine.postgres_driver import PostgresDriver
from memory.store.errors import StoreBusy
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
# As Procrastinate's own function does, which costs more time on the server and in this process.
_ADD_JOB = """INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, args, scheduled_at)
VALUES (%s, %s, 0, %s, %s::jsonb, %s::timestamptz)"""
HEARTBEAT_SECONDS = 1.0  # as often as the lease is renewed, in the same transaction
STALLED_SECONDS = 5.0  # a worker without a heartbeat for this long is dead; its jobs go to others
# Between two polls for jobs that were assigned here in a lost response; a job is put back when two polls miss it.
MISSED_POLL_SECONDS = 2.0
_BEAT = "UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = ANY(%s)"
_SELECT_LOCKS = "SELECT DISTINCT lock FROM procrastinate_jobs WHERE lock = ANY(%(locks)s)"
FIRST_RETRY_SECONDS = 0.5
MAX_RETRY_SECONDS = 30.0
MAX_WORKER_RESTART_SECONDS = 5.0
GRACEFUL_SECONDS = 20.0  # for running jobs when a worker stops; `close` may cancel them earlier
CONNECTIONS = 6
MAX_PLACES = 1_000_000  # of the one worker; `JobBatches` counts those of each queue
MISSED_CHECK_SECONDS = 10.0  # between two polls for assigned jobs while no connection was lost
LATER_TASK = "later"
CLOCK_TOLERANCE = 0.05  # seconds by which synchronised clocks may differ: a job that comes too early has to come again


class _EndlessRetry(BaseRetryStrategy):
    """Retries a failed job forever with a growing pause: the store knows where its work stands."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        pause = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** min(job.attempts, 10))
        return RetryDecision(retry_at=datetime.fromtimestamp(self._now() + pause, UTC))


def job_queue(key: QueueKey) -> str:
    """Return the Procrastinate queue of a key: any worker's, or that of the process with the key's channel."""
    return outbox_queue(key.channel) if key.kind == "out" else key.kind


def outbox_queue(channel: str) -> str:
    """Return the Procrastinate queue of what is to be sent through a channel."""
    return f"out {channel}"


class JobDispatcher:
    """The `Dispatcher` of one kind of queue; its jobs run in any process that works on them."""

    def __init__(self, kind: QueueKind, jobs: "JobQueue") -> None:
        self._kind = kind
        self._jobs = jobs

    def wake(self, key: str, due: float = 0.0) -> None:
        self._jobs.run_in_background(self._jobs.put(QueueKey(kind=self._kind, id=key, due=due)))

    async def settled(self) -> None:
        await self._jobs.settled()

    async def close(self, patience: float) -> None:
        await self._jobs.close(patience)


class JobQueue:
    """The job queue as one process uses it: adds jobs, and runs those of the queues in `work_on`."""

    def __init__(self, url: str, now: Callable[[], float], sessions: Sessions) -> None:
        """url: of the database, as libpq takes it; now: unix seconds by its clock."""
        self._now = now
        self._sessions = sessions
        self._connector = RetryingConnector(url, CONNECTIONS)
        self._batches = JobBatches(self._connector, url)
        self.app = App(connector=self._connector)
        self.app.job_manager = self._batches
        #: Called with the conversation whose running turn is to be stopped.
        self.on_stop: Callable[[str], object] = lambda conversation: None
        self._steps: dict[str, RunStep] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._worker_tasks: list[asyncio.Task[None]] = []
        self._worker: Worker | None = None
        self._missed: set[int] = set()
        self._closing = False
        retry = _EndlessRetry(now)
        for kind in ("turn", "urgent", "out", "facts"):
            self.app.task(name=kind, pass_context=True, retry=retry)(self._run)
        self.app.task(name=LATER_TASK, retry=retry)(self._run_later)

    def create_dispatcher(self, kind: QueueKind, step: RunStep, _: int) -> Dispatcher:
        """See bot.dispatch.CreateDispatcher; the concurrency is that of `work_on`."""
        self._steps[kind] = step
        return JobDispatcher(kind, self)

    async def open(self) -> None:
        """Connect; Procrastinate's tables exist already."""
        await self.app.open_async()

    async def enqueue(self, driver: PostgresDriver, keys: Sequence[QueueKey]) -> None:
        """See memory.store.engine.postgres.Enqueue."""
        for key in keys:
            await self.put(key, driver)

    async def put(self, key: QueueKey, driver: PostgresDriver | None = None) -> None:
        """Add a job for a key, with `driver` in its open transaction. A missing channel of "out" is looked up."""
        if key.kind == "out" and not key.channel:
            conversation = await self._sessions.conversation(key.id)
            key = replace(key, channel=conversation.place.channel if conversation is not None else "")
        is_later = key.due > self._now()
        task, queue = (LATER_TASK, "facts") if is_later else (key.kind, job_queue(key))
        lock = None if is_later or key.kind == "urgent" else f"{key.kind}:{key.id}"
        arguments = {"lane": key.id, **({"kind": key.kind, "queue": job_queue(key)} if is_later else {})}
        due = datetime.fromtimestamp(key.due + CLOCK_TOLERANCE, UTC) if is_later else None
        if driver is None:
            await self.app.configure_task(task, lock=lock, queue=queue, schedule_at=due).defer_async(**arguments)
        else:
            await driver.change_later(_ADD_JOB, [queue, task, lock, json.dumps(arguments), due])

    def run_in_background(self, work: Coroutine[Any, Any, object]) -> None:
        """Start work without waiting for it; if it fails, the next sweep over all queues makes up for it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def work_on(self, queue: str, concurrency: int) -> None:
        """Run jobs of a queue, so many at once, until `close`."""
        self._batches.serve(queue, concurrency)
        if not self._worker_tasks and not self._closing:
            self._worker_tasks = [
                asyncio.create_task(self._run_worker(), name="jobs"),
                asyncio.create_task(self._put_back_missed_jobs(), name="jobs that never came"),
            ]

    async def beat(self, driver: PostgresDriver) -> None:
        """Store that the worker of this process is alive, in an open transaction."""
        worker = self._worker
        if worker is not None and worker.worker_id is not None:
            await driver.change_later(_BEAT, [[worker.worker_id]])

    async def stop(self, conversation: str) -> bool:
        """Stop the turn of a conversation, in whichever process it runs; False if none runs.

        Raises:
            StoreBusy: the database cannot be reached.
        """
        manager = self.app.job_manager
        try:
            running = await manager.list_jobs_async(lock=f"turn:{conversation}", status=Status.DOING.value)
            stopped = [await manager.cancel_job_by_id_async(cast(int, job.id), abort=True) for job in running]
        except ConnectorException as err:
            raise StoreBusy("the database server does not answer") from err
        return any(stopped)

    async def revive(self) -> int:
        """Put back the jobs of dead workers; return how many."""
        return await self._batches.revive(STALLED_SECONDS)

    async def without_job(self, kind: QueueKind, keys: Sequence[str]) -> list[str]:
        """Return those of the keys that have no job."""
        locks = [f"{kind}:{key}" for key in keys]
        rows = await self.app.connector.execute_query_all_async(_SELECT_LOCKS, locks=locks) if locks else []
        found = {row["lock"] for row in rows}
        return [key for key in keys if f"{kind}:{key}" not in found]

    async def settled(self) -> None:
        """Wait until the work in the background is done."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    async def close(self, patience: float) -> None:
        """Take no more jobs, give running ones `patience` seconds; a second call does nothing."""
        self._closing = True
        self._batches.stop_taking()
        tasks, self._worker_tasks = self._worker_tasks, []
        for task in tasks:
            task.cancel()
        if self._worker is not None:
            cast(Any, self._worker).stop()  # if it has lost its cancellation
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=patience + CLOSE_SECONDS)
            await cancel_and_wait(late)
        await self._put_back_unstarted()

    async def _put_back_unstarted(self) -> None:
        for job in await self._batches.take_unstarted():
            try:
                await self._batches.retry_job(job, self._at_once())
            except ConnectorException as err:  # then it goes to others as that of a stalled worker
                log.info("a job was not put back", job=job.id, error=type(err).__name__)

    async def disconnect(self) -> None:
        """Close the connections, after some seconds for the work in the background."""
        if self._tasks:
            _, late = await asyncio.wait(list(self._tasks), timeout=CLOSE_SECONDS)
            await cancel_and_wait(late)
        await self.app.close_async()

    def _at_once(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC)

    # The parameters' names are the keys of arguments in stored jobs.
    async def _run_later(self, kind: QueueKind, lane: str, queue: str) -> None:
        await self.app.configure_task(kind, lock=f"{kind}:{lane}", queue=queue).defer_async(lane=lane)

    async def _run(self, context: JobContext, lane: str) -> None:
        kind = context.job.task_name
        steps = asyncio.create_task(self._drain(self._steps[kind], lane), name=f"{kind} {lane}")
        while True:
            try:
                await asyncio.shield(steps)
                return
            except asyncio.CancelledError:
                if steps.done():
                    raise
                if context.abort_reason() is AbortReason.USER_REQUEST:
                    self.on_stop(lane)
                    continue
                await cancel_and_wait((steps,))
                raise

    @staticmethod
    async def _drain(step: RunStep, key: str) -> None:
        while await step(key):
            pass

    async def _run_worker(self) -> None:
        pause = FIRST_RETRY_SECONDS
        while not self._closing:
            worker = self._worker = Worker(
                self.app,
                concurrency=MAX_PLACES,
                install_signal_handlers=False,
                delete_jobs="always",
                update_heartbeat_interval=POLL_SECONDS,
                stalled_worker_timeout=STALLED_SECONDS,
                fetch_job_polling_interval=POLL_SECONDS,
                abort_job_polling_interval=POLL_SECONDS,
                shutdown_graceful_timeout=GRACEFUL_SECONDS,
            )
            try:
                await cast(Any, worker).run()
            except (ProcrastinateException, psycopg.Error, OSError) as err:
                log.error("jobs are not taken", error=type(err).__name__)
                pause = min(pause * 2, MAX_WORKER_RESTART_SECONDS)
            finally:
                self._worker = None
            await asyncio.sleep(pause)

    async def _put_back_missed_jobs(self) -> None:
        """Put back jobs that were assigned here in a response that was lost."""
        while not self._closing:
            await self._connector.wait_for_loss(MISSED_POLL_SECONDS if self._missed else MISSED_CHECK_SECONDS)
            try:
                missed = await self._batches.find_missed()
                for job in missed & self._missed:
                    log.warning("a job that was assigned here and never arrived is put back", job=job)
                    await self._batches.retry_job_by_id_async(job, retry_at=self._at_once())
                self._missed = missed
            except (ProcrastinateException, psycopg.Error, OSError) as err:
                log.info("missed jobs not looked for", error=type(err).__name__)
                await asyncio.sleep(MISSED_POLL_SECONDS)

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("background work on jobs failed", error=type(err).__name__)
