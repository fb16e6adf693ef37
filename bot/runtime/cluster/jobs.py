"""Lanes on Procrastinate: a row's wish to be worked on is a job, put in by the row's own transaction.

One job of a lane runs at a time wherever it runs, for the lane's name is the job's lock. A job works until its lane has
nothing to do, so one that comes too late finds nothing and ends.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, LiteralString, TypeVar, cast

import psycopg
import structlog
from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException, ProcrastinateException
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job, Status
from procrastinate.worker import Worker
from psycopg_pool import AsyncConnectionPool

from bot.dispatch import Dispatcher, RunStep
from memory.store.conversations.sessions import Sessions
from memory.store.engine.database import QueueKey, QueueKind
from memory.store.engine.postgres import CLOSE_SECONDS, PostgresConnection, is_connection_lost, set_idle_timeout
from memory.store.errors import StoreBusy
from memory.tasks import cancel_and_wait

# How the lanes' engine reaches the database: it waits for one that is away, for it gives up what it does otherwise.

log = structlog.get_logger(__name__)
T = TypeVar("T")
RECONNECT_SECONDS = 10.0  # seconds for which one question is asked again; a process whose lease is over ends sooner
RETRY_SECONDS = 0.2


class RetryingConnector(PsycopgConnector):
    """Asks once more when the connection is lost, so that a job that is done is not taken for one that still runs.

    A question may be asked twice that way: a job put in twice finds nothing to do the second time, and one that was
    handed over in an answer that never came is found by `Jobs`. Each of its questions is one statement, which needs
    neither a transaction around it nor a look at the connection before it: one round trip instead of four.
    """

    def __init__(self, url: str, most: int) -> None:
        """url: of the server, as libpq takes it; most: connections at once."""
        super().__init__(
            pool_factory=_create_unchecked_pool,
            conninfo=url,
            min_size=1,
            max_size=most,
            timeout=RECONNECT_SECONDS,
            configure=_configure_connection,
        )

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        await _retry_on_disconnect(lambda: super(RetryingConnector, self).execute_query_async(query, **arguments))

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        return await _retry_on_disconnect(
            lambda: super(RetryingConnector, self).execute_query_one_async(query, **arguments)
        )

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        return await _retry_on_disconnect(
            lambda: super(RetryingConnector, self).execute_query_all_async(query, **arguments)
        )

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Forever: an engine whose ear is gone ends its jobs, and takes none while they end."""
        names = list(channels)
        while True:
            try:
                await super().listen_notify(on_notification, names)
            except ConnectorException as err:
                log.info("jobs are looked for, not listened for", error=type(err.__cause__).__name__)
            await asyncio.sleep(RETRY_SECONDS)


def _create_unchecked_pool(**wanted: Any) -> AsyncConnectionPool[Any]:
    return AsyncConnectionPool(**{**wanted, "check": None})


async def _configure_connection(bare: psycopg.AsyncConnection[Any]) -> None:
    """A job's mark need not be on the disk before the next thing is done: the store is what counts.

    Where the server crashes within a moment of it, a job that was taken is taken again, and finds what it would have
    found; one that was done is given back by `Jobs`.
    """
    await set_idle_timeout(bare)
    await bare.set_autocommit(True)
    await bare.execute("SET synchronous_commit = off")


async def _retry_on_disconnect(ask: Callable[[], Awaitable[T]]) -> T:
    until = time.monotonic() + RECONNECT_SECONDS
    while True:
        try:
            return await ask()
        except ConnectorException as err:
            if err.__cause__ is None or not is_connection_lost(err.__cause__) or time.monotonic() > until:
                raise
        await asyncio.sleep(RETRY_SECONDS)


HEARTBEAT_SECONDS = 1.0
STALLED_SECONDS = 5.0  # a worker that has not been heard of for so long is gone; its jobs go to another
POLL_SECONDS = 1.0  # how often workers look for jobs and aborts of which no notification came
# How often a process looks for jobs that it was given in an answer which never came; they are missed twice first.
MISSED_SECONDS = 2.0
_SELECT_TAKEN_JOBS = "SELECT id FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = ANY(%(workers)s)"
MAX_RETRY_SECONDS = 30.0
CONNECTIONS = 6
LATER_QUEUE = "later"
CLOCK_TOLERANCE = 0.05  # seconds by which clocks that agree may differ: who comes too early has to come again
_MISSED_JOBS_LOG = "jobs that never came"


class _EndlessRetry(BaseRetryStrategy):
    """A lane that broke is tried again forever, after a growing pause: the store knows where it stands."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        pause = min(MAX_RETRY_SECONDS, 0.5 * 2 ** min(job.attempts, 10))
        return RetryDecision(retry_at=datetime.fromtimestamp(self._now() + pause, UTC))


def queue_for_key(lane: QueueKey) -> str:
    """Who takes it: any worker, or the process that has the wire of its channel."""
    return outbox_queue(lane.channel) if lane.kind == "out" else lane.kind


def outbox_queue(channel: str) -> str:
    """What is to be sent through one channel."""
    return f"out {channel}"


def channel_by_conversation(sessions: Sessions) -> Callable[[str], Awaitable[str]]:
    """What tells a conversation's channel, "" for an unknown one."""

    async def found(conversation: str) -> str:
        row = await sessions.conversation(conversation)
        return row.place.channel if row is not None else ""

    return found


class JobDispatcher:
    """See bot.dispatch.Lanes; what is woken here may run in any process that serves its queue."""

    def __init__(self, kind: QueueKind, jobs: "JobQueue") -> None:
        self._kind = kind
        self._jobs = jobs

    def wake(self, lane: str, due: float = 0.0) -> None:
        self._jobs.begin(self._jobs.put(QueueKey(kind=self._kind, id=lane, due=due)))

    async def settled(self) -> None:
        await self._jobs.settled()

    async def close(self, patience: float) -> None:
        await self._jobs.close(patience)


class JobQueue:
    """One process's part of the lanes. url: of the database, as libpq takes it; now: unix seconds by its clock.

    stopped: told the conversation whose running turn somebody wants to end.
    """

    def __init__(self, url: str, now: Callable[[], float]) -> None:
        self._now = now
        self.app = App(connector=RetryingConnector(url, CONNECTIONS))
        self.stopped: Callable[[str], object] = lambda conversation: None
        self.place_of: Callable[[str], Awaitable[str]] | None = None
        self._steps: dict[str, RunStep] = {}
        self._places: dict[str, int] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._workers: list[Worker] = []
        self._held: Counter[int] = Counter()
        self._missed: set[int] = set()
        self._patience = 20.0
        self._closing = False
        for kind in ("turn", "urgent", "out", "facts"):
            self.app.task(name=kind, pass_context=True, retry=_EndlessRetry(now))(self._task(kind))
        self.app.task(name=LATER_QUEUE, retry=_EndlessRetry(now))(self._later)

    def create_dispatcher(self, kind: QueueKind, step: RunStep, places: int) -> Dispatcher:
        """See bot.dispatch.CreateDispatcher."""
        self._steps[kind], self._places[kind] = step, places
        return JobDispatcher(kind, self)

    async def open(self) -> None:
        """Connect; the engine's own tables are made by whoever makes the store's."""
        await self.app.open_async()

    async def enqueue(self, bare: PostgresConnection, lanes: Sequence[QueueKey]) -> None:
        """See memory.store.engine.postgres.Enqueue. It fails with the driver's error, handled by the unit of work."""
        try:
            for lane in lanes:
                await self.put(lane, bare)
        except ConnectorException as err:
            raise (err.__cause__ if isinstance(err.__cause__, psycopg.Error) else err) from err

    async def put(self, lane: QueueKey, bare: PostgresConnection | None = None) -> None:
        """Wish for one lane. bare: whose open transaction it goes into; "out" lanes without a channel are looked up."""
        if lane.kind == "out" and not lane.channel and self.place_of is not None:
            lane = QueueKey(kind="out", id=lane.id, channel=await self.place_of(lane.id), due=lane.due)
        if lane.due > self._now():
            await self._defer(
                LATER_QUEUE, {"kind": lane.kind, "lane": lane.id, "queue": queue_for_key(lane)}, lane, bare
            )
        else:
            await self._defer(lane.kind, {"lane": lane.id}, lane, bare)

    def begin(self, work: Coroutine[Any, Any, object]) -> None:
        """Do this beside; what fails is done by the next look through the lanes."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def serve(self, queues: Iterable[str], places: int) -> None:
        """Take jobs of these queues, so many at once, until `close` or `leave`."""
        names = list(queues)
        key = " ".join(names)
        if not self._serving:
            self._serving[_MISSED_JOBS_LOG] = asyncio.create_task(self._look_for_missed(), name=_MISSED_JOBS_LOG)
        if key not in self._serving:
            self._serving[key] = asyncio.create_task(self._serve(names, places), name=f"jobs {key}")

    async def leave(self, queue: str) -> None:
        """Take no more jobs of this queue."""
        if (task := self._serving.pop(queue, None)) is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def stop(self, conversation: str) -> bool:
        """End the turn of a conversation that runs anywhere; False when none runs.

        Raises:
            StoreBusy: the database is away.
        """
        manager = self.app.job_manager
        try:
            running = await manager.list_jobs_async(lock=f"turn:{conversation}", status=Status.DOING.value)
            stopped = [await manager.cancel_job_by_id_async(cast(int, job.id), abort=True) for job in running]
        except ConnectorException as err:
            raise StoreBusy("the database server does not answer") from err
        return any(stopped)

    async def revive(self) -> int:
        """Give the jobs of workers that are gone to others; how many there were."""
        stalled = list(await self.app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS))
        for job in stalled:
            await self.app.job_manager.retry_job(job, retry_at=self._at_once())
        return len(stalled)

    async def idle(self, kind: QueueKind, lanes: Sequence[str]) -> list[str]:
        """Which of these lanes have no job at all."""
        wanted = [f"{kind}:{lane}" for lane in lanes]
        query = "SELECT DISTINCT lock FROM procrastinate_jobs WHERE lock = ANY(%(wanted)s)"
        rows = await self.app.connector.execute_query_all_async(query, wanted=wanted) if wanted else []
        busy = {row["lock"] for row in rows}
        return [lane for lane in lanes if f"{kind}:{lane}" not in busy]

    async def settled(self) -> None:
        """Wait until what was begun here is done."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    async def close(self, patience: float) -> None:
        """Take nothing new, give what runs `patience` seconds; a second call does nothing."""
        self._patience, self._closing = patience, True
        serving, self._serving = list(self._serving.values()), {}
        for task in serving:
            task.cancel()
        for worker in self._workers:
            cast(Any, worker).stop()  # for one that has lost its cancellation
        if serving:
            _, late = await asyncio.wait(serving, timeout=patience + CLOSE_SECONDS)
            await cancel_and_wait(late)

    async def disconnect(self) -> None:
        """Let go of the database, after some seconds for what was begun."""
        if self._tasks:
            _, late = await asyncio.wait(list(self._tasks), timeout=CLOSE_SECONDS)
            await cancel_and_wait(late)
        await self.app.close_async()

    def _at_once(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC)

    async def _defer(self, task: str, args: dict[str, Any], lane: QueueKey, bare: PostgresConnection | None) -> None:
        later = task == LATER_QUEUE
        job = self.app.configure_task(
            task,
            lock=None if later or lane.kind == "urgent" else f"{lane.kind}:{lane.id}",
            queue="facts" if later else queue_for_key(lane),
            schedule_at=datetime.fromtimestamp(lane.due + CLOCK_TOLERANCE, UTC) if later else None,
            connection=bare,
        )
        await job.defer_async(**args)

    async def _later(self, kind: QueueKind, lane: str, queue: str) -> None:
        await self.app.configure_task(kind, lock=f"{kind}:{lane}", queue=queue).defer_async(lane=lane)

    def _task(self, kind: str) -> Callable[..., Coroutine[Any, Any, None]]:
        async def run(context: JobContext, lane: str) -> None:
            await self._run(kind, context, lane)

        return run

    async def _run(self, kind: str, context: JobContext, lane: str) -> None:
        job = cast(int, context.job.id)
        self._held[job] += 1
        try:
            await self._work(kind, context, lane)
        finally:  # its end is stored after this
            asyncio.get_running_loop().call_later(RECONNECT_SECONDS + MISSED_SECONDS, self._let_go, job)

    def _let_go(self, job: int) -> None:
        self._held -= Counter([job])

    async def _work(self, kind: str, context: JobContext, lane: str) -> None:
        work = asyncio.create_task(self._drain(kind, lane), name=f"{kind} {lane}")
        while True:
            try:
                await asyncio.shield(work)
                return
            except asyncio.CancelledError:
                if work.done():
                    raise
                if context.abort_reason() is AbortReason.USER_REQUEST:
                    self.stopped(lane)
                    continue
                await cancel_and_wait((work,))
                raise

    async def _drain(self, kind: str, lane: str) -> None:
        step = self._steps[kind]
        while await step(lane):
            pass

    async def _serve(self, queues: list[str], places: int) -> None:
        pause = 0.5
        while not self._closing:
            worker = Worker(
                self.app,
                queues=queues,
                concurrency=places,
                install_signal_handlers=False,
                delete_jobs="always",
                update_heartbeat_interval=HEARTBEAT_SECONDS,
                stalled_worker_timeout=STALLED_SECONDS,
                fetch_job_polling_interval=POLL_SECONDS,
                abort_job_polling_interval=POLL_SECONDS,
                shutdown_graceful_timeout=self._patience,
            )
            self._workers.append(worker)
            try:
                await cast(Any, worker).run()
            except (ProcrastinateException, psycopg.Error, OSError) as err:
                log.error("jobs are not taken", queues=queues, error=type(err).__name__)
                pause = min(pause * 2, MAX_RETRY_SECONDS / 6)
            finally:
                self._workers.remove(worker)
            await asyncio.sleep(pause)

    async def _look_for_missed(self) -> None:
        """Put back what the database says is done here, and is not."""
        while not self._closing:
            await asyncio.sleep(MISSED_SECONDS)
            try:
                await self._put_back_missed()
            except (ProcrastinateException, psycopg.Error, OSError) as err:
                log.info("no job was looked for", error=type(err).__name__)

    async def _put_back_missed(self) -> None:
        workers = [worker.worker_id for worker in self._workers if worker.worker_id is not None]
        rows = await self.app.connector.execute_query_all_async(_SELECT_TAKEN_JOBS, workers=workers)
        missed = {int(row["id"]) for row in rows} - self._held.keys()
        for job in missed & self._missed:
            log.warning("a job that was given here and never came is put back", job=job)
            await self.app.job_manager.retry_job_by_id_async(job, retry_at=self._at_once())
        self._missed = missed

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("a lane was not woken", error=type(err).__name__)
