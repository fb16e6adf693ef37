"""Opens one process of a bot whose record is in PostgreSQL."""

import os
import socket
from datetime import UTC, datetime
from typing import cast

import psycopg
from procrastinate.schema import SchemaManager

from bot.app import Page, open_with
from bot.config import ConfigFile
from bot.ground import Ground
from bot.home import Home
from bot.scale.house import Role, Shared, SharedHouse
from bot.scale.jobs import Jobs
from bot.tracing_sdk import signals_of
from memory.recall.postgres import PostgresShared
from memory.store.leases import Leases
from memory.store.open_postgres import LEASE_SECONDS, Wanted, open_postgres, plain_url
from memory.store.postgres import PostgresDatabase, pool_of
from memory.store.postgres_schema import ALONE
from memory.store.postgres_writers import PostgresWriters

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
        await bare.execute("SELECT pg_advisory_xact_lock(%s)", [ALONE])
        row = await (await bare.execute(_ENGINE)).fetchone()
        if row is None or not row["found"]:
            await bare.execute(cast(psycopg.sql.SQL, SchemaManager.get_schema()))
