"""Opens a store in PostgreSQL: for one process of a bot, or for one command."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import cast

import psycopg
from procrastinate.schema import SchemaManager

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.runtime.cluster.bot import ClusterBot, ClusterServices, ProcessRole
from bot.runtime.cluster.jobs import JobQueue, channel_by_conversation
from bot.runtime.cluster.membership import Membership
from bot.runtime.wiring import BotDependencies
from bot.telemetry.recorder import create_telemetry
from memory.recall.postgres_spaces import PostgresSharedIndexes
from memory.store.audit import Act, note_all
from memory.store.engine.leases import Leases
from memory.store.engine.postgres import SCHEMA_LOCK_KEY, PostgresDatabase, connected, create_pool, driver_url
from memory.store.engine.postgres_locks import PostgresWriteLocks
from memory.store.engine.postgres_locks import exclusive_access as alone_on
from memory.store.open_postgres import LEASE_SECONDS, PostgresOptions, open_postgres
from memory.store.store import Store

PULSE_CONNECTIONS = 1  # for leases only: a process that has used up its other connections is busy, not dead
COMMAND_CONNECTIONS = 3
COMMAND_ROLE = "command"
_HAS_QUEUE_TABLES = "SELECT to_regclass('procrastinate_jobs') IS NOT NULL AS found"


async def build_cluster_bot(home: HomeFolder, file: ConfigFile, role: str) -> ClusterBot:
    """Build a bot on the shared store; it receives and processes nothing before it is opened.

    Raises:
        StoreError: the database cannot be used.
    """
    url = file.current.database_url
    name = f"{socket.gethostname()}:{os.getpid()}:{role}"
    store = await open_postgres(PostgresOptions(url=url, name=name))
    database = cast(PostgresDatabase, store.database)
    await create_queue_tables(database)
    jobs = JobQueue(driver_url(url), store.now)
    await jobs.open()
    database.enqueue = jobs.enqueue
    indexes = PostgresSharedIndexes(url)
    writers = PostgresWriteLocks(url, database.lease)
    writers.open()
    pulse = database.with_pool(create_pool(driver_url(url), PULSE_CONNECTIONS))
    await pulse.pool.open()
    shared = ClusterServices(
        jobs=jobs,
        pulse=pulse,
        leases=Leases(pulse),
        database=database,
        indexes=indexes,
        writers=writers,
        url=driver_url(url),
        lease_seconds=LEASE_SECONDS,
    )
    ground = BotDependencies(
        home=home,
        file=file,
        store=store,
        clock=lambda: datetime.fromtimestamp(store.now(), UTC),
        telemetry=create_telemetry(file.current),
        create_dispatcher=jobs.create_dispatcher,
        indexes=indexes,
        writers=writers,
    )
    return ClusterBot(ground, shared, cast(ProcessRole, role))


async def create_queue_tables(database: PostgresDatabase) -> None:
    """Create the tables of the job queue, unless another process has."""
    async with database.pool.connection() as bare, bare.transaction():
        await bare.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        row = await (await bare.execute(_HAS_QUEUE_TABLES)).fetchone()
        if row is None or not row["found"]:
            await bare.execute(cast(psycopg.sql.SQL, SchemaManager.get_schema()))


StopTurn = Callable[[str], Awaitable[object]]


@asynccontextmanager
async def open_for_command(
    url: str, *, writable: bool, alone: bool
) -> AsyncIterator[tuple[Store, PostgresSharedIndexes, StopTurn | None]]:
    """Open the store for one command; if `writable`, as one more process with its own lease.

    Yields the store, its indexes and, if `writable`, a function that stops a turn in whatever process runs it.

    Raises:
        StoreBusy: `alone`, and another process uses the store.
        StoreError: it cannot be opened.
    """
    async with connected(url):  # a pool would wait for a server that is not there
        pass
    name = f"{socket.gethostname()}:{os.getpid()}:{COMMAND_ROLE}"
    store = await open_postgres(PostgresOptions(url=url, name=name, connections=COMMAND_CONNECTIONS), writable=writable)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        indexes = PostgresSharedIndexes(url)
        stack.push_async_callback(asyncio.to_thread, indexes.close)
        if not writable:
            yield store, indexes, None
            return
        jobs = await _join_cluster(store, url, stack)
        if alone:
            await stack.enter_async_context(alone_on(cast(PostgresDatabase, store.database), url))
        yield store, indexes, jobs.stop


async def note_beside(url: str, acts: Sequence[Act]) -> None:
    """Append acts to the audit chain in one transaction, as one more process with its own lease.

    Raises:
        StoreError: they could not be stored.
    """
    name = f"{socket.gethostname()}:{os.getpid()}:{COMMAND_ROLE}"
    store = await open_postgres(PostgresOptions(url=url, name=name, connections=1))
    try:
        await store.database.write(note_all, acts)
    finally:
        await store.close()


async def _join_cluster(store: Store, url: str, stack: AsyncExitStack) -> JobQueue:
    """Renew this command's lease while it runs; jobs that it queues are processed by the running workers."""
    database = cast(PostgresDatabase, store.database)
    await create_queue_tables(database)
    jobs = JobQueue(driver_url(url), store.now)
    await jobs.open()
    stack.push_async_callback(jobs.disconnect)
    jobs.place_of = channel_by_conversation(store.sessions)
    database.enqueue = jobs.enqueue
    alive = Membership(Leases(database.with_pool(database.pool)), lambda: {"role": COMMAND_ROLE}, LEASE_SECONDS)
    alive.open()
    stack.push_async_callback(alive.close)
    return jobs
