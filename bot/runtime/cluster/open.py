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
from bot.config.home import Home
from bot.runtime.cluster.bot import Role, Shared, SharedHouse
from bot.runtime.cluster.jobs import Jobs, channel_of
from bot.runtime.cluster.membership import Alive
from bot.runtime.http import Page, open_with
from bot.runtime.store_access import Opened
from bot.runtime.wiring import Ground
from bot.telemetry.opentelemetry import signals_of
from memory.recall.postgres_spaces import PostgresShared
from memory.store.audit import Act, note_all
from memory.store.engine.leases import Leases
from memory.store.engine.postgres import SCHEMA_LOCK_KEY, PostgresDatabase, connected, plain_url, pool_of
from memory.store.engine.postgres_locks import PostgresWriters
from memory.store.engine.postgres_locks import alone as alone_on
from memory.store.open_postgres import LEASE_SECONDS, Wanted, open_postgres
from memory.store.store import SqlStore

# Opens one process of a bot whose record is in PostgreSQL.

PULSE_CONNECTIONS = 1
"""For leases and duties alone: a process with more to do than it has connections is busy, and not dead."""
_ENGINE = "SELECT to_regclass('procrastinate_jobs') IS NOT NULL AS found"


async def open_shared(home: Home, file: ConfigFile, role: str, page: Page | None) -> SharedHouse:
    """Open the record and this process's part of the work on it.

    Raises:
        StoreError: the database cannot be used.
    """
    house = await build_shared(home, file, role)
    await open_with(house, file, page)
    return house


async def build_shared(home: Home, file: ConfigFile, role: str) -> SharedHouse:
    """The same, but for its channels: nothing is heard or worked on before the house is opened.

    Raises:
        StoreError: the database cannot be used.
    """
    url = file.current.database_url
    name = f"{socket.gethostname()}:{os.getpid()}:{role}"
    store = await open_postgres(Wanted(url=url, name=name))
    database = cast(PostgresDatabase, store.database)
    await make_engine(database)
    jobs = Jobs(plain_url(url), store.now)
    await jobs.open()
    database.enqueue = jobs.enqueue
    indexes = PostgresShared(url)
    writers = PostgresWriters(url, database.lease)
    writers.open()
    pulse = database.apart(pool_of(plain_url(url), PULSE_CONNECTIONS))
    await pulse.pool.open()
    shared = Shared(
        jobs=jobs,
        pulse=pulse,
        leases=Leases(pulse),
        database=database,
        indexes=indexes,
        writers=writers,
        url=plain_url(url),
        lease_seconds=LEASE_SECONDS,
    )
    ground = Ground(
        home=home,
        file=file,
        store=store,
        clock=lambda: datetime.fromtimestamp(store.now(), UTC),
        signals=signals_of(file.current),
        lanes_of=jobs.lanes_of,
        indexes=indexes,
        writers=writers,
    )
    return SharedHouse(ground, shared, cast(Role, role))


async def make_engine(database: PostgresDatabase) -> None:
    """The tables of the lanes' engine, made by whoever comes first."""
    async with database.pool.connection() as bare, bare.transaction():
        await bare.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        row = await (await bare.execute(_ENGINE)).fetchone()
        if row is None or not row["found"]:
            await bare.execute(cast(psycopg.sql.SQL, SchemaManager.get_schema()))


CONNECTIONS = 3
ROLE = "command"


@asynccontextmanager
async def open_beside(url: str, *, writable: bool, alone: bool) -> AsyncIterator[Opened]:
    """See bot.runtime.store_access.opened.

    Raises:
        StoreBusy: alone, and another process is at work on the record.
        StoreError: it cannot be opened.
    """
    async with connected(url):  # a pool would wait for a server that is not there
        pass
    name = f"{socket.gethostname()}:{os.getpid()}:{ROLE}"
    store = await open_postgres(Wanted(url=url, name=name, connections=CONNECTIONS), writable=writable)
    async with AsyncExitStack() as held:
        held.push_async_callback(store.close)
        indexes = PostgresShared(url)
        held.push_async_callback(asyncio.to_thread, indexes.close)
        if not writable:
            yield Opened(store=store, indexes=indexes)
            return
        jobs = await _joined(store, url, held)
        if alone:
            await held.enter_async_context(alone_on(cast(PostgresDatabase, store.database), url))
        yield Opened(store=store, indexes=indexes, stop=jobs.stop)


async def note_beside(url: str, acts: Sequence[Act]) -> None:
    """Add these acts to the audit's chain in one transaction, as one more process with a lease of its own.

    Raises:
        StoreError: they could not be stored.
    """
    name = f"{socket.gethostname()}:{os.getpid()}:{ROLE}"
    store = await open_postgres(Wanted(url=url, name=name, connections=1))
    try:
        await store.database.write(note_all, acts)
    finally:
        await store.close()


async def _joined(store: SqlStore, url: str, held: AsyncExitStack) -> Jobs:
    """What this command puts into lanes is worked on by whoever runs; its lease is renewed for as long as it takes."""
    database = cast(PostgresDatabase, store.database)
    await make_engine(database)
    jobs = Jobs(plain_url(url), store.now)
    await jobs.open()
    held.push_async_callback(jobs.disconnect)
    jobs.place_of = channel_of(store.sessions)
    database.enqueue = jobs.enqueue
    alive = Alive(Leases(database.apart(database.pool)), lambda: {"role": ROLE}, LEASE_SECONDS)
    alive.open()
    held.push_async_callback(alive.close)
    return jobs
