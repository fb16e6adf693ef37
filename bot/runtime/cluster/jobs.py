"""Dispatchers on Procrastinate: the transaction that stores a row also adds the job that processes
it.

The job's lock is its queue key (a conversation, say), so one job per key runs at a time in the
whole cluster. A job runs steps until the key has nothing left to do, so a job too many finds
nothing and ends. Jobs only say that there may be work: which process does it, and that it is done
once, is decided by the store's rows and leases.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import psycopg
import structlog
from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, UniqueViolation
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job, Status

from bot.dispatch import Dispatcher, RunStep
from memory.store.conversations.sessions import Sessions
from memory.store.engine.database import QueueKey, QueueKind
from memory.store.errors import StoreBusy, WrongState
from memory.store.postgres.connection import PostgresConnection, set_idle_timeout
from memory.store.postgres.database import CLOSE_SECONDS
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
CONNECTIONS = 6
CONNECT_SECONDS = 10.0  # to get a connection; a process whose lease expires exits sooner
# Between two polls of a queue. A notification comes first, except for jobs that were put back or
# have become due, and for those whose notification arrived while the worker was looking: it forgets
# these.
POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 5.0  # a worker without a heartbeat for this long is dead; its jobs go to others
# between two looks for jobs that have ended here, and whose end could not be stored
LOST_SECONDS = 5.0
FIRST_RETRY_SECONDS = 0.5
MAX_RETRY_SECONDS = 30.0
HELD_RETRY_SECONDS = 1.0  # where another process works on the row: until it has ended, or died
RESTART_SECONDS = 1.0  # until a worker that failed, as when the server was restarted, is replaced
# For the jobs of a worker that stops, which are put back then. What they have begun goes on without
# them.
GRACEFUL_SECONDS = 1.0
KEEP_FAILED_HOURS = 1  # of jobs that were to be stopped when their worker died
LATER_TASK = "later"
# seconds by which synchronised clocks may differ: a job that comes too early has to come again
CLOCK_TOLERANCE = 0.05


class _EndlessRetry(BaseRetryStrategy):
    """Retries a failed job forever with a growing pause: the store knows where its work stands."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        if isinstance(exception, WrongState):
            pause = HELD_RETRY_SECONDS
        else:
            pause = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** min(job.attempts, 10))
        return RetryDecision(retry_at=datetime.fromtimestamp(self._now() + pause, UTC))


def job_queue(key: QueueKey) -> str:
    """Return the Procrastinate queue of a key: any worker's, or that of the process with the key's
    channel.
    """
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
    """The job queue as one process uses it: adds jobs, and runs those of the queues in
    `work_on`.
    """

    def __init__(self, url: str, now: Callable[[], float], sessions: Sessions) -> None:
        """url: of the database, as libpq takes it; now: unix seconds by its clock."""
        self._now = now
        self._sessions = sessions
        self.app = App(
            connector=PsycopgConnector(
                conninfo=url,
                min_size=1,
                max_size=CONNECTIONS,
                timeout=CONNECT_SECONDS,
                configure=_configure_connection,
            )
        )
        #: Called with the conversation whose running turn is to be stopped.
        self.on_stop: Callable[[str], object] = lambda conversation: None
        self._steps: dict[str, RunStep] = {}
        #: What jobs have begun, by kind and key. It outlives its job where the worker is replaced.
        self._drains: dict[tuple[QueueKind, str], asyncio.Task[None]] = {}
        self._running_jobs: set[int] = set()
        self._worker_ids: set[int] = set()
        #: Keys whose running step was stopped: their next steps are for another job, which can be
        #: stopped too.
        self._stopped: set[tuple[QueueKind, str]] = set()
        self._queues: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._worker_tasks: list[asyncio.Task[None]] = []
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

    async def enqueue(self, connection: PostgresConnection, keys: Sequence[QueueKey]) -> None:
        """See memory.store.postgres.database.Enqueue."""
        for key in keys:
            try:
                await self._defer(key, connection)
            except ConnectorException as err:
                raise err.__cause__ or err from None  # the store handles errors of its own driver

    async def put(self, key: QueueKey) -> None:
        """Add a job for a key whose work is stored already, unless one waits: that one will see
        it.
        """
        with suppress(AlreadyEnqueued):
            await self._defer(key, None)

    async def _defer(self, key: QueueKey, connection: PostgresConnection | None) -> None:
        """Add a job; a missing channel of "out" is looked up.

        Args:
            connection: in a transaction that stores the work. A waiting job may run before it is
                committed, so this one is added in any case.
        """
        if key.kind == "out" and not key.channel:
            conversation = await self._sessions.conversation(key.id)
            key = replace(
                key, channel=conversation.place.channel if conversation is not None else ""
            )
        name = f"{key.kind}:{key.id}"
        if key.due > self._now():
            due = datetime.fromtimestamp(key.due + CLOCK_TOLERANCE, UTC)
            job = self.app.configure_task(
                LATER_TASK,
                queue="facts",
                queueing_lock=None if connection else f"{LATER_TASK} {key.due} {name}",
                schedule_at=due,
                connection=connection,
            )
            await job.defer_async(lane=key.id, kind=key.kind, queue=job_queue(key))
            return
        job = self.app.configure_task(
            key.kind,
            queue=job_queue(key),
            lock=None if key.kind == "urgent" else name,
            queueing_lock=None if connection else name,
            connection=connection,
        )
        await job.defer_async(lane=key.id)

    def run_in_background(self, work: Coroutine[Any, Any, object]) -> None:
        """Start work without waiting for it; if it fails, the next sweep over all queues makes up
        for it.
        """
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def work_on(self, queue: str, concurrency: int) -> None:
        """Run jobs of a queue, so many at once, until `close`; a second call for a queue does
        nothing.
        """
        if self._closing or queue in self._queues:
            return
        self._queues.add(queue)
        if not self._worker_tasks:
            self._worker_tasks.append(
                asyncio.create_task(self._put_back_lost_jobs(), name="lost jobs")
            )
        worker = asyncio.create_task(self._run_worker(queue, concurrency), name=f"jobs of {queue}")
        self._worker_tasks.append(worker)

    async def stop(self, conversation: str) -> bool:
        """Stop the turn of a conversation, in whichever process it runs; False if none runs.

        Raises:
            StoreBusy: the database cannot be reached.
        """
        manager = self.app.job_manager
        try:
            running = await manager.list_jobs_async(
                lock=f"turn:{conversation}", status=Status.DOING.value
            )
            ids = [job.id for job in running if job.id is not None]
            stopped = [await manager.cancel_job_by_id_async(id, abort=True) for id in ids]
        except ConnectorException as err:
            raise StoreBusy("the database server does not answer") from err
        return any(stopped)

    async def revive(self) -> int:
        """Put back the jobs of dead workers; return how many.

        Those that were to be stopped fail instead.
        """
        stalled = list(
            await self.app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS)
        )
        for job in stalled:
            if job.id is not None:
                await self._put_back(job.id)
        return len(stalled)

    async def _put_back(self, job: int) -> None:
        """Run a job again, or end it where another one with its queueing lock waits: that one does
        the same work.

        It waits for the lock that this job holds, so one of the two has to end.
        """
        manager = self.app.job_manager
        try:
            await manager.retry_job_by_id_async(job, retry_at=self._at_once())
        except UniqueViolation:
            await manager.finish_job_by_id_async(job, Status.FAILED, delete_job=True)

    async def delete_failed(self) -> None:
        """Delete the jobs that failed because their worker died."""
        await self.app.job_manager.delete_old_jobs(KEEP_FAILED_HOURS, include_failed=True)

    async def settled(self) -> None:
        """Wait until the work in the background is done."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    async def close(self, patience: float) -> None:
        """Take no more jobs, give what runs `patience` seconds; a second call does nothing."""
        self._closing = True
        workers, self._worker_tasks = self._worker_tasks, []
        for worker in workers:
            worker.cancel()
        if self._drains:
            await asyncio.wait(list(self._drains.values()), timeout=patience)
        await cancel_and_wait(self._drains.values())
        if workers:
            _, late = await asyncio.wait(workers, timeout=GRACEFUL_SECONDS + CLOSE_SECONDS)
            await cancel_and_wait(late)

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
        await self.app.configure_task(kind, lock=f"{kind}:{lane}", queue=queue).defer_async(
            lane=lane
        )

    async def _run(self, context: JobContext, lane: str) -> None:
        job = context.job
        if job.worker_id is not None:
            self._worker_ids.add(job.worker_id)
        id = job.id or 0
        self._running_jobs.add(id)
        try:
            key = (cast(QueueKind, job.task_name), lane)
            # its job was taken from its worker
            while (earlier := self._drains.get(key)) is not None:
                await self._follow(context, earlier, lane)
            await self._follow(context, self._begin(key), lane)
        finally:
            self._running_jobs.discard(id)

    async def _follow(self, context: JobContext, drain: asyncio.Task[None], lane: str) -> None:
        """Wait for work in this process; it goes on where the job is taken from the worker."""
        while True:
            try:
                await asyncio.shield(drain)
                return
            except asyncio.CancelledError:
                if drain.done() or context.abort_reason() is not AbortReason.USER_REQUEST:
                    raise
                self._stopped.add((cast(QueueKind, context.job.task_name), lane))
                self.on_stop(lane)

    def _begin(self, key: tuple[QueueKind, str]) -> asyncio.Task[None]:
        kind, id = key
        drain = self._drains[key] = asyncio.create_task(self._drain(key), name=f"{kind} {id}")
        # its job may be gone by then
        drain.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return drain

    async def _drain(self, key: tuple[QueueKind, str]) -> None:
        kind, id = key
        try:
            while await self._steps[kind](id):
                if key in self._stopped:  # a job can be stopped once
                    await self.put(QueueKey(kind=kind, id=id))
                    return
        finally:
            self._stopped.discard(key)
            del self._drains[key]

    async def _run_worker(self, queue: str, concurrency: int) -> None:
        while not self._closing:
            try:
                await self.app.run_worker_async(
                    queues=[queue],
                    concurrency=concurrency,
                    install_signal_handlers=False,
                    delete_jobs="always",
                    update_heartbeat_interval=HEARTBEAT_SECONDS,
                    stalled_worker_timeout=STALLED_SECONDS,
                    fetch_job_polling_interval=POLL_SECONDS,
                    abort_job_polling_interval=POLL_SECONDS,
                    shutdown_graceful_timeout=GRACEFUL_SECONDS,
                )
            except Exception as err:
                log.error("jobs are not taken", queue=queue, error=type(err).__name__, exc_info=err)
            await asyncio.sleep(RESTART_SECONDS)

    async def _put_back_lost_jobs(self) -> None:
        """Put back jobs that the database says run here, and that do not: their end, or their
        start, was lost.
        """
        suspects: set[int] = set()
        while not self._closing:
            await asyncio.sleep(LOST_SECONDS)
            try:
                found = await self._find_lost_jobs()
                for job in found & suspects:
                    log.warning("a job that has ended here is put back", job=job)
                    await self._put_back(job)
                suspects = found
            except Exception as err:
                log.warning("lost jobs not looked for", error=type(err).__name__, exc_info=err)

    async def _find_lost_jobs(self) -> set[int]:
        manager = self.app.job_manager
        assigned: set[int] = set()
        for worker_id in tuple(self._worker_ids):
            jobs = await manager.list_jobs_async(worker_id=worker_id, status=Status.DOING.value)
            assigned.update(job.id for job in jobs if job.id is not None)
        return assigned - self._running_jobs

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("background work on jobs failed", error=type(err).__name__)


async def _configure_connection(connection: psycopg.AsyncConnection[Any]) -> None:
    """Do not wait for the disk when a job's state is stored: the store decides what was done.

    If the server crashes right after, a job that was taken is taken again and finds what it would
    have found.
    """
    await set_idle_timeout(connection)
    await connection.set_autocommit(True)
    await connection.execute("SET synchronous_commit = off")
