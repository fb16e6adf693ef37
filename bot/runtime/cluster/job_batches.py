"""Takes and ends Procrastinate's jobs in batches, for one worker that serves several queues, each with its places."""

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import psycopg
import structlog
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager, NotificationCallback, get_channel_for_queues
from psycopg import errors, sql

from bot.runtime.cluster.connector import RetryingConnector
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
POLL_SECONDS = 5.0  # between two polls for jobs and aborts whose notification was lost
MAX_BATCH = 64  # jobs of one queue that are taken at once
END_SECONDS = 0.25  # that a job which has ended waits for others to end, or for a job of its own making to be taken
LISTEN_CHECK_SECONDS = 30.0  # between two checks whether the connection that listens is alive
RELISTEN_SECONDS = 0.2
EXCHANGE_FUNCTION = "mnema_exchange_jobs_v1"
# Ends jobs, then takes others, as procrastinate_fetch_job_v2 does: of each lock only the first waiting job, and none
# while another one runs. A row without an id says in `due` when the next scheduled job is due. It is a function so that
# both are one statement: the lock of a job that ends here is free for the next one, and no lock outlives a round trip.
CREATE_EXCHANGE_FUNCTION = f"""
CREATE OR REPLACE FUNCTION {EXCHANGE_FUNCTION}(ended bigint[], queues varchar[], places int[], worker bigint)
RETURNS TABLE (id bigint, status procrastinate_job_status, task_name varchar, priority int, lock text,
    queueing_lock text, args jsonb, scheduled_at timestamptz, queue_name varchar, attempts int, worker_id bigint,
    due float8)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    IF cardinality(ended) > 0 THEN
        DELETE FROM procrastinate_jobs WHERE id = ANY(ended)
            AND (status = 'todo' OR (status = 'doing' AND worker_id IS NOT DISTINCT FROM worker));
    END IF;
    IF cardinality(queues) = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH wanted AS (
        SELECT * FROM unnest(queues, places) AS wanted (queue, most)
    ), candidate AS (
        SELECT found.id FROM wanted CROSS JOIN LATERAL (
            SELECT jobs.id FROM procrastinate_jobs AS jobs
            WHERE jobs.queue_name = wanted.queue AND jobs.status = 'todo'
                AND (jobs.scheduled_at IS NULL OR jobs.scheduled_at <= now())
                AND NOT EXISTS (
                    SELECT 1 FROM procrastinate_jobs AS other
                    WHERE jobs.lock IS NOT NULL AND other.lock = jobs.lock
                        AND (other.status = 'doing' OR (other.status = 'todo' AND (
                            other.priority > jobs.priority
                            OR (other.priority = jobs.priority AND other.id < jobs.id)))))
            ORDER BY jobs.priority DESC, jobs.id LIMIT wanted.most
            FOR UPDATE OF jobs SKIP LOCKED
        ) AS found
    ), taken AS (
        UPDATE procrastinate_jobs AS jobs SET status = 'doing', worker_id = worker
        FROM candidate WHERE jobs.id = candidate.id
        RETURNING jobs.*
    )
    SELECT taken.id, taken.status, taken.task_name, taken.priority, taken.lock, taken.queueing_lock, taken.args,
        taken.scheduled_at, taken.queue_name, taken.attempts, taken.worker_id, NULL::float8
    FROM taken ORDER BY taken.priority DESC, taken.id;
    RETURN QUERY
    SELECT NULL::bigint, NULL::procrastinate_job_status, NULL::varchar, NULL::int, NULL::text, NULL::text, NULL::jsonb,
        NULL::timestamptz, NULL::varchar, NULL::int, NULL::bigint,
        extract(epoch FROM min(jobs.scheduled_at) - clock_timestamp())::float8
    FROM procrastinate_jobs AS jobs
    WHERE jobs.status = 'todo' AND jobs.scheduled_at > now() AND jobs.queue_name = ANY(queues);
END;
$$"""  # noqa: S608
_EXCHANGE = (
    f"SELECT * FROM {EXCHANGE_FUNCTION}"  # noqa: S608
    "(%s::bigint[], %s::varchar[], %s::int[], %s::bigint)"
)

# Unlike procrastinate_retry_job_v2 it counts no attempt: the job has not failed, and the pause after a failure grows
# with them. A job that was to be aborted is put back, too: it was stopped with its process.
_REVIVE = """
WITH revived AS (
    UPDATE procrastinate_jobs AS jobs SET status = 'todo', abort_requested = false
    WHERE status = 'doing' AND NOT EXISTS (
        SELECT 1 FROM procrastinate_workers AS workers
        WHERE workers.id = jobs.worker_id AND workers.last_heartbeat >= now() - make_interval(secs => %(seconds)s))
    RETURNING queue_name
)
SELECT pg_notify('procrastinate_queue_v1#' || queue_name, '{"type": "job_inserted", "job_id": 0}') FROM revived"""
_SELECT_ASSIGNED = "SELECT id FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = %(worker)s"
_NOTIFY = """
SELECT pg_notify('procrastinate_queue_v1#' || queue_name, '{"type": "job_inserted", "job_id": 0}')
FROM procrastinate_jobs WHERE id = %(job)s"""


class JobBatches(JobManager):
    """The job manager of one process: it has one worker, which runs jobs of all queues in `serve`.

    One transaction ends the jobs that have finished meanwhile and takes as many as there are places. While it is on
    its way, further jobs finish and further notifications arrive: the next transaction is for all of them. So under
    load one transaction serves many jobs, and an idle worker asks once in POLL_SECONDS.
    """

    def __init__(self, connector: RetryingConnector, url: str) -> None:
        """url: of the database, as libpq takes it."""
        super().__init__(connector)
        self._connector = connector
        self._url = url
        self._places: dict[str, int] = {}
        self._queues: dict[int, str] = {}
        self._taken: deque[Job] = deque()
        self._ended: list[int] = []
        self._ending: list[int] = []  # in the exchange that is under way
        self._worker_id: int | None = None
        #: Something may be waiting that the last transaction did not see.
        self._has_news = True
        self._asked = -POLL_SECONDS
        self._exchanging = asyncio.Lock()
        self._queues_changed = asyncio.Event()
        self._due: asyncio.TimerHandle | None = None
        #: Makes the worker fetch; None before it listens.
        self._call: NotificationCallback | None = None
        self._calls: set[asyncio.Future[None]] = set()
        self._is_closing = False

    def serve(self, queue: str, places: int) -> None:
        """Take jobs of a queue from now on, so many at once."""
        self._places[queue] = places
        self._queues_changed.set()
        self._wake()

    def stop_taking(self) -> None:
        """Take no more jobs; those that run are still ended."""
        self._is_closing = True
        if self._due is not None:
            self._due.cancel()

    async def take_unstarted(self) -> list[Job]:
        """Return the jobs that were taken and that no worker has started; the caller puts them back."""
        async with self._exchanging:  # none is on its way
            left = list(self._taken)
            self._taken.clear()
        return left

    async def find_missed(self) -> set[int]:
        """Return the jobs that the database says run here, and that never arrived: a response was lost."""
        async with self._exchanging:  # none is on its way
            rows = await self.connector.execute_query_all_async(_SELECT_ASSIGNED, worker=self._worker_id)
            return {int(row["id"]) for row in rows} - self._queues.keys()

    async def revive(self, seconds: float) -> int:
        """Put back the jobs whose worker is gone, or sent no heartbeat for so many seconds; return how many."""
        return len(await self.connector.execute_query_all_async(_REVIVE, seconds=seconds))

    async def update_heartbeat(self, worker_id: int) -> None:
        """Do nothing: the heartbeat is part of the transaction that renews the lease of this process."""

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Return a job that was taken; take more where there may be some."""
        if worker_id != self._worker_id:  # a new worker after an error; what the former one had is put back as stalled
            self._worker_id = worker_id
            self._taken.clear()
            self._queues.clear()
        if time.monotonic() - self._asked >= POLL_SECONDS:
            self._has_news = True
        while not self._taken and (self._has_news or self._exchanging.locked()) and not self._is_closing:
            await self._exchange()
        return self._taken.popleft() if self._taken else None

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End a job together with those that end meanwhile, and take others in their place.

        A job that ends has often made another, whose notification is on its way: one transaction is for both. Nobody
        waits for the end itself, unless there are more jobs than places.
        """
        if not delete_job or job.id is None:
            await super().finish_job(job, status, delete_job)
            return
        self._ended.append(job.id)
        if not self._has_news and not self._is_closing:
            await asyncio.sleep(END_SECONDS)
        while job.id in self._ended or job.id in self._ending:
            await self._exchange()
        if self._taken or self._has_news:
            self._wake(has_news=False)

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a job back; where it does not run any more by the database, add it again: its work is not done.

        That a job was taken need not be on the disk when the server crashes. Then it waits again, and another process
        may have taken it since and found nothing to do.
        """
        try:
            await super().retry_job(job, retry_at, priority, queue, lock)
        except ConnectorException as err:
            if job.id is None or not isinstance(err.__cause__, errors.RaiseException):
                raise
            log.info("a job that was put back by a crash is added again", job=job.id)
            self._queues.pop(job.id, None)
            await self.defer_job_async(job.evolve(id=None, scheduled_at=retry_at, status="todo"))
            self._wake()

    async def retry_job_by_id_async(
        self,
        job_id: int,
        retry_at: datetime,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a job back; see JobManager, which notifies nobody of it. Every worker learns when it is due."""
        await super().retry_job_by_id_async(job_id, retry_at, priority, queue, lock)
        self._queues.pop(job_id, None)
        await self.connector.execute_query_async(_NOTIFY, job=job_id)

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Listen for jobs of the queues in `serve`, forever: a worker whose listener ends stops its jobs."""
        self._call = on_notification
        while True:
            self._queues_changed.clear()
            listener = asyncio.create_task(self._listen(on_notification), name="notifications of jobs")
            changed = asyncio.create_task(self._queues_changed.wait(), name="queues of jobs")
            try:
                await asyncio.wait((listener, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                await cancel_and_wait((listener, changed))
            if not listener.cancelled() and (err := listener.exception()) is not None:
                if not isinstance(err, psycopg.Error | OSError):
                    raise err
                log.info("jobs are polled for, not listened for", error=type(err).__name__)
                await asyncio.sleep(RELISTEN_SECONDS)

    async def _listen(self, on_notification: NotificationCallback) -> None:
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
            for channel in get_channel_for_queues(list(self._places)):
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            self._wake()  # for what came before
            while True:
                async for notice in connection.notifies(timeout=LISTEN_CHECK_SECONDS):
                    self._has_news = True
                    self._exchange_soon()  # the worker takes what comes of it, and needs some time until it asks
                    await on_notification(channel=notice.channel, notification=json.loads(notice.payload))
                await connection.execute("SELECT 1")

    def _exchange_soon(self) -> None:
        if self._worker_id is not None and not self._exchanging.locked():
            task = asyncio.create_task(self._exchange(), name="exchange of jobs")
            self._calls.add(task)
            task.add_done_callback(self._on_exchanged)

    def _on_exchanged(self, task: asyncio.Future[None]) -> None:
        self._calls.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:  # the worker asks itself
            log.info("jobs not taken at once", error=type(err).__name__)
        if self._taken:
            self._wake(has_news=False)

    async def _exchange(self) -> None:
        """End what has finished and take what there is place for, in one transaction."""
        async with self._exchanging:
            if not self._ended and (self._taken or not self._has_news):
                return  # another caller has done it meanwhile
            ended, self._ended = self._ended, []
            free = {} if self._is_closing or self._worker_id is None else self._free_places(ended)
            self._has_news = False
            if not ended and not free:
                return  # each job that ends takes others in its place
            self._asked, worker = time.monotonic(), self._worker_id
            self._ending = ended
            try:
                rows = await self._run(ended, free)
            except BaseException:
                self._ended, self._has_news = [*ended, *self._ended], True
                raise
            finally:
                self._ending = []
            for job_id in ended:
                self._queues.pop(job_id, None)
            # One that runs here is taken again where the server crashed before the disk had that it was taken.
            is_new = worker == self._worker_id
            rows_of_jobs = [row for row in rows if row["id"] is not None and row["id"] not in self._queues]
            taken = [Job.from_row(row) for row in rows_of_jobs if is_new]
            self._taken.extend(taken)
            self._queues.update({job.id: job.queue for job in taken if job.id is not None})
            counts = Counter(job.queue for job in taken)
            if any(counts[queue] == places for queue, places in free.items()):
                self._has_news = True  # there may be more of them
            for row in rows:
                if row["due"] is not None:
                    self._wake_in(row["due"])

    def _free_places(self, ended: list[int]) -> Mapping[str, int]:
        used = Counter(queue for job_id, queue in self._queues.items() if job_id not in ended)
        free = {queue: min(places - used[queue], MAX_BATCH) for queue, places in self._places.items()}
        return {queue: places for queue, places in free.items() if places > 0}

    async def _run(self, ended: list[int], free: Mapping[str, int]) -> list[dict[str, Any]]:
        return await self._connector.exchange(_EXCHANGE, [ended, list(free), list(free.values()), self._worker_id])

    def _wake_in(self, seconds: float) -> None:
        """Make the worker fetch in so many seconds, or earlier."""
        loop = asyncio.get_running_loop()
        at = loop.time() + max(0.0, seconds)
        is_set = self._due is not None and not self._due.cancelled()
        if self._is_closing or (is_set and self._due is not None and loop.time() < self._due.when() <= at):
            return
        if self._due is not None:
            self._due.cancel()
        self._due = loop.call_at(at, self._wake)

    def _wake(self, *, has_news: bool = True) -> None:
        """Make the worker fetch."""
        self._has_news = self._has_news or has_news
        if self._call is None or self._is_closing:
            return
        call = self._call(channel="", notification={"type": "job_inserted", "job_id": 0})
        task: asyncio.Future[None] = asyncio.ensure_future(call)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
