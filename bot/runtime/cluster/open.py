"""Opens a store in PostgreSQL: for one process of a bot, or for one command."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import psycopg
from procrastinate.schema import SchemaManager

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.cluster.bot import ClusterBot, ClusterConnections
from bot.runtime.cluster.jobs import JobQueue
from bot.runtime.cluster.membership import Membership
from bot.runtime.process_role import ProcessRole
from bot.telemetry.recorder import create_telemetry
from memory.store.engine.database import Tx
from memory.store.engine.leases import Leases
from memory.store.postgres.connection import SCHEMA_LOCK_KEY, connected, create_pool, driver_url
from memory.store.postgres.database import PostgresDatabase
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.store.postgres.locks import PostgresWriteLocks, exclusive_access
from memory.store.postgres.open import LEASE_SECONDS, open_postgres
from memory.store.store import Store

LEASE_CONNECTIONS = 1
COMMAND_CONNECTIONS = 3
COMMAND_ROLE = "command"
_HAS_QUEUE_TABLES = "SELECT to_regclass('procrastinate_jobs') IS NOT NULL AS tables"
StopTurn = Callable[[str], Awaitable[object]]
Answer = TypeVar("Answer")


async def build_cluster_bot(
    home: HomeFolder, file: ConfigFile, role: ProcessRole, lease_seconds: float = LEASE_SECONDS
) -> ClusterBot:
    """Build a bot on the shared store; it receives and processes nothing before it is opened.

    Args:
        lease_seconds: without a renewal for so long, other processes take its work over and this
            one ends.

    Raises:
        StoreError: the database cannot be used.
    """
    url = file.current.database_url
    store = await open_postgres(url, name=_process_name(role), lease_seconds=lease_seconds)
    database = cast(PostgresDatabase, store.database)
    jobs = await _open_jobs(store, database, url)
    indexes = PostgresSharedIndexes(url)
    writers = PostgresWriteLocks(url, database.lease)
    writers.open()
    lease_database = database.with_pool(create_pool(driver_url(url), LEASE_CONNECTIONS))
    await lease_database.pool.open()
    connections = ClusterConnections(
        url=driver_url(url),
        database=database,
        jobs=jobs,
        lease_database=lease_database,
        indexes=indexes,
        writers=writers,
        lease_seconds=lease_seconds,
    )
    dependencies = BotDependencies(
        home=home,
        file=file,
        store=store,
        clock=lambda: datetime.fromtimestamp(store.now(), UTC),
        telemetry=create_telemetry(file.current),
        create_dispatcher=jobs.create_dispatcher,
        indexes=indexes,
        writers=writers,
    )
    return ClusterBot(dependencies, connections, role)


def _process_name(role: str) -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{role}"


async def _open_jobs(store: Store, database: PostgresDatabase, url: str) -> JobQueue:
    """Connect to the job queue, and add jobs in the store's transactions from now on."""
    await _create_queue_tables(url)
    jobs = JobQueue(driver_url(url), store.now, store.sessions)
    await jobs.open()
    database.enqueue = jobs.enqueue
    return jobs


async def _create_queue_tables(url: str) -> None:
    """Create the tables of the job queue, unless another process has."""
    async with connected(url) as connection, connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        found = await (await connection.execute(_HAS_QUEUE_TABLES)).fetchone() or {}
        if not found.get("tables"):
            await connection.execute(cast(psycopg.sql.SQL, SchemaManager.get_schema()))


@asynccontextmanager
async def open_for_command(
    url: str, *, writable: bool, alone: bool
) -> AsyncIterator[tuple[Store, PostgresSharedIndexes, StopTurn | None]]:
    """Open the store for one command; if `writable`, as one more process with its own lease.

    Yields the store, its indexes and, if `writable`, a function that stops a turn in whichever
    process runs it.

    Raises:
        StoreBusy: `alone`, and another process uses the store.
        StoreError: it cannot be opened.
    """
    async with connected(url):  # a pool would wait for a server that is not there
        pass
    store = await open_postgres(
        url, name=_process_name(COMMAND_ROLE), connections=COMMAND_CONNECTIONS, writable=writable
    )
    database = cast(PostgresDatabase, store.database)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        indexes = PostgresSharedIndexes(url)
        stack.push_async_callback(asyncio.to_thread, indexes.close)
        if not writable:
            yield store, indexes, None
            return
        # added jobs are processed by the running workers
        jobs = await _open_jobs(store, database, url)
        stack.push_async_callback(jobs.disconnect)
        membership = Membership(
            Leases(database.with_pool(database.pool)), lambda: {"role": COMMAND_ROLE}, LEASE_SECONDS
        )
        membership.open()
        stack.push_async_callback(membership.close)
        if alone:
            await stack.enter_async_context(exclusive_access(database, url))
        yield store, indexes, jobs.stop


async def write_beside(url: str, work: Callable[[Tx], Coroutine[Any, Any, Answer]]) -> Answer:
    """Run one transaction, as one more process with its own lease.

    Raises:
        StoreError: nothing was stored.
    """
    store = await open_postgres(url, name=_process_name(COMMAND_ROLE), connections=1)
    try:
        return await store.database.write(work)
    finally:
        await store.close()
