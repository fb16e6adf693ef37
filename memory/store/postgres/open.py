"""Opens the store in PostgreSQL: creates tables, takes a lease, makes the pool of connections."""

from collections.abc import Callable

from psycopg_pool import PoolTimeout
from sqlalchemy import select, update

from memory.store.engine import leases
from memory.store.engine.database import DatabaseClock, Tx
from memory.store.errors import StoreCorrupt, StoreError
from memory.store.postgres.connection import (
    SCHEMA_LOCK_KEY,
    PostgresConnection,
    connected,
    create_pool,
    driver_url,
    to_store_error,
)
from memory.store.postgres.database import PostgresDatabase
from memory.store.postgres.driver import PostgresDriver
from memory.store.postgres.schema import check_revision, postgres_compiler, prepare_tables
from memory.store.schema.tables import NOW_SQL, instance
from memory.store.store import Store

_TAKE_LEASE = update(instance).values(lease_epoch=instance.c.lease_epoch + 1)
_LEASE = select(instance.c.lease_epoch)
_SELECT_NOW = f"SELECT {NOW_SQL} AS now"
MAX_CONNECTIONS = 12  # per process
LEASE_SECONDS = 5.0  # after which a process that does not renew its lease counts as dead


async def open_postgres(
    url: str,
    *,
    writable: bool = True,
    name: str = "",
    connections: int = MAX_CONNECTIONS,
    clock: Callable[[], float] | None = None,
    lease_seconds: float = LEASE_SECONDS,
) -> Store:
    """Open the store and create its tables where there are none.

    Any number of processes may have it open.

    Args:
        name: of this process, for people.
        connections: limit of open connections.
        clock: unix seconds, None for the database's clock.

    Raises:
        SchemaNewer, SchemaOlder, SchemaTooOld: it has the tables of another version.
        StoreError: the server cannot be reached, or, for reading, there are no tables.
    """
    compiler = postgres_compiler()
    pool = create_pool(driver_url(url), connections)
    try:
        await pool.open(wait=True, timeout=5.0)
        # Over a connection of its own: what waits for a lock there sees what is committed by then.
        async with connected(url) as connection:
            if writable:
                await prepare_tables(connection)
            else:
                await check_revision(connection)
            clock = clock or await _read_clock(connection)
            tx = Tx(driver=PostgresDriver(connection), compiler=compiler, lease=0, now=clock())
            lease = await _take_lease(connection, tx, name, lease_seconds) if writable else 0
    except PoolTimeout as err:
        await pool.close()
        raise StoreError(f"the PostgreSQL server cannot be used: {to_store_error(err)}") from err
    except StoreError:
        await pool.close()
        raise
    return Store(PostgresDatabase(pool, compiler, lease, clock), None, writable=writable)


async def _read_clock(connection: PostgresConnection) -> DatabaseClock:
    clock = DatabaseClock()
    sent_at = clock.sent_at()
    row = await (await connection.execute(_SELECT_NOW)).fetchone()
    if row is not None:
        clock.set_server_time(row["now"], sent_at)
    return clock


async def _take_lease(connection: PostgresConnection, tx: Tx, name: str, seconds: float) -> int:
    async with connection.transaction():
        # Waits for a command that has the store for itself.
        await connection.execute("SELECT pg_advisory_xact_lock_shared(%s)", [SCHEMA_LOCK_KEY])
        await tx.execute(_TAKE_LEASE)
        taken = (await tx.execute(_LEASE)).first()
        if taken is None:
            raise StoreCorrupt("the instance row is missing")
        lease = int(taken["lease_epoch"])
        await leases.add_lease(tx, lease, name, seconds)
    return lease
