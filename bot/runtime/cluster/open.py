"""Opens a record in PostgreSQL for one command: read as it stands, or as one more process with a lease of its own."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Sequence
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
from bot.runtime.http import WebPage, open_with_channels
from bot.runtime.store_access import OpenedStore
from bot.runtime.wiring import BotDependencies
from bot.telemetry.opentelemetry import create_telemetry
from memory.recall.postgres_spaces import PostgresSharedIndexes
from memory.store.audit import Act, note_all
from memory.store.engine.leases import Leases
from memory.store.engine.postgres import SCHEMA_LOCK_KEY, PostgresDatabase, connected, create_pool, driver_url
from memory.store.engine.postgres_locks import PostgresWriteLocks
from memory.store.engine.postgres_locks import exclusive_access as alone_on
from memory.store.open_postgres import LEASE_SECONDS, PostgresOptions, open_postgres
from memory.store.store import SqlStore

# Opens one process of a bot whose record is in PostgreSQL.

# For leases and duties alone: a process with more to do than it has connections is busy, and not dead.
PULSE_CONNECTIONS = 1
_HAS_QUEUE_TABLES = "SELECT to_regclass('procrastinate_jobs') IS NOT NULL AS found"


async def open_cluster_bot(home: HomeFolder, file: ConfigFile, role: str, page: WebPage | None) -> ClusterBot:
    """Open the record and this process's part of the work on it.

    Raises:
        StoreError: the database cannot be used.
    """
    house = await build_cluster_bot(home, file, role)
    await open_with_channels(house, file, page)
    return house


async def build_cluster_bot(home: HomeFolder, file: ConfigFile, role: str) -> ClusterBot:
    """The same, but for its channels: nothing is heard or worked on before the house is opened.

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
    """The tables of the lanes' engine, made by whoever comes first."""
    async with database.pool.connection() as bare, bare.transaction():
        await bare.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        row = await (await bare.execute(_HAS_QUEUE_TABLES)).fetchone()
        if row is None or not row["found"]:
            await bare.execute(cast(psycopg.sql.SQL, SchemaManager.get_schema()))


COMMAND_CONNECTIONS = 3
COMMAND_ROLE = "command"


@asynccontextmanager
async def open_for_command(url: str, *, writable: bool, alone: bool) -> AsyncIterator[OpenedStore]:
    """See bot.runtime.store_access.opened.

    Raises:
        StoreBusy: alone, and another process is at work on the record.
        StoreError: it cannot be opened.
    """
    async with connected(url):  # a pool would wait for a server that is not there
        pass
    name = f"{socket.gethostname()}:{os.getpid()}:{COMMAND_ROLE}"
    store = await open_postgres(PostgresOptions(url=url, name=name, connections=COMMAND_CONNECTIONS), writable=writable)
    async with AsyncExitStack() as held:
        held.push_async_callback(store.close)
        indexes = PostgresSharedIndexes(url)
        held.push_async_callback(asyncio.to_thread, indexes.close)
        if not writable:
            yield OpenedStore(store=store, indexes=indexes)
            return
        jobs = await _join_cluster(store, url, held)
        if alone:
            await held.enter_async_context(alone_on(cast(PostgresDatabase, store.database), url))
        yield OpenedStore(store=store, indexes=indexes, stop=jobs.stop)


async def note_beside(url: str, acts: Sequence[Act]) -> None:
    """Add these acts to the audit's chain in one transaction, as one more process with a lease of its own.

    Raises:
        StoreError: they could not be stored.
    """
    name = f"{socket.gethostname()}:{os.getpid()}:{COMMAND_ROLE}"
    store = await open_postgres(PostgresOptions(url=url, name=name, connections=1))
    try:
        await store.database.write(note_all, acts)
    finally:
        await store.close()


async def _join_cluster(store: SqlStore, url: str, held: AsyncExitStack) -> JobQueue:
    """What this command puts into lanes is worked on by whoever runs; its lease is renewed for as long as it takes."""
    database = cast(PostgresDatabase, store.database)
    await create_queue_tables(database)
    jobs = JobQueue(driver_url(url), store.now)
    await jobs.open()
    held.push_async_callback(jobs.disconnect)
    jobs.place_of = channel_by_conversation(store.sessions)
    database.enqueue = jobs.enqueue
    alive = Membership(Leases(database.with_pool(database.pool)), lambda: {"role": COMMAND_ROLE}, LEASE_SECONDS)
    alive.open()
    held.push_async_callback(alive.close)
    return jobs
