"""Connections to a PostgreSQL server, and its errors as those of the store."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import IsolationLevel, errors
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, WrongState
from memory.store.schema.tables import process

PostgresConnection = psycopg.AsyncConnection[dict[str, Any]]
CONNECT_SECONDS = 10.0  # to get a connection of a pool
# Parameters of libpq by which a connection notices within seconds that its network drops all
# packets.
KEEPALIVE: Mapping[str, Any] = {
    "keepalives_idle": 3,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 7_000,
}
# then the server ends the transaction: a stopped process must not keep its row locks
IDLE_TRANSACTION_SECONDS = 5.0
MAX_PREPARED = 400  # statements of a connection that psycopg prepares; the store has some 300
SCHEMA_LOCK_KEY = 7_306_500_117  # advisory lock of the process that creates or changes tables
SELECT_ALIVE = (
    f"SELECT name FROM {process.name} WHERE until > extract(epoch from clock_timestamp()) ORDER BY "  # noqa: S608
    "lease"
)  # noqa: RUF100, S608
_SHUTDOWN_SQLSTATES = ("57P01", "57P02", "57P03")
_ERROR_KINDS: tuple[tuple[tuple[type[BaseException], ...], type[StoreError]], ...] = (
    ((errors.DiskFull, errors.OutOfMemory), StoreFull),
    ((errors.DataCorrupted, errors.IndexCorrupted), StoreCorrupt),
    ((errors.SerializationFailure, errors.DeadlockDetected), StoreBusy),
    ((errors.IntegrityError, errors.RaiseException), WrongState),
    ((psycopg.OperationalError, PoolTimeout), StoreBusy),
)


def is_connection_lost(err: BaseException) -> bool:
    """Return whether an open connection was lost; a pool's timeout is none."""
    if not isinstance(err, psycopg.OperationalError) or isinstance(err, PoolTimeout):
        return False
    return (
        err.sqlstate is None or err.sqlstate.startswith("08") or err.sqlstate in _SHUTDOWN_SQLSTATES
    )


def to_store_error(err: BaseException) -> StoreError:
    """Return the StoreError for an error of the driver or the pool."""
    kind = next((kind for kinds, kind in _ERROR_KINDS if isinstance(err, kinds)), StoreError)
    text = str(err).strip().splitlines()[0] if str(err).strip() else type(err).__name__
    if kind is StoreBusy and isinstance(err, PoolTimeout):
        text = "the database server does not answer"
    return kind(text)


def create_pool(url: str, max_connections: int) -> AsyncConnectionPool[PostgresConnection]:
    """Create a pool for units of work; the caller opens it.

    Each transaction of its connections sees one snapshot.
    """
    return AsyncConnectionPool(
        url,
        connection_class=psycopg.AsyncConnection[dict[str, Any]],
        kwargs={"row_factory": dict_row},
        min_size=1,
        max_size=max_connections,
        timeout=CONNECT_SECONDS,
        open=False,
        configure=_configure,
    )


async def _configure(connection: psycopg.AsyncConnection[Any]) -> None:
    await set_idle_timeout(connection)
    await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
    connection.prepared_max = MAX_PREPARED


async def set_idle_timeout(connection: psycopg.AsyncConnection[Any]) -> None:
    """Let the server end transactions of this connection whose process has stopped."""
    await connection.execute(
        f"SET idle_in_transaction_session_timeout = {int(IDLE_TRANSACTION_SECONDS * 1000)}"
    )
    await connection.commit()


def driver_url(url: str) -> str:
    """Return a configured URL without the name of the driver, as libpq takes it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}://{rest}"


def refuse_alive(names: Sequence[str]) -> None:
    """Refuse to continue while processes use the database.

    Raises:
        StoreBusy: `names` has a living process.
    """
    if names:
        raise StoreBusy(
            f"{len(names)} at work on that database ({', '.join(names)}); stop every mnema run on "
            "it first"
        )


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[PostgresConnection]:
    """Yield a connection outside any transaction; each statement of its transactions sees what is
    committed then.

    Raises:
        StoreError: the server cannot be used.
    """
    try:
        async with await psycopg.AsyncConnection[dict[str, Any]].connect(
            driver_url(url), autocommit=True, row_factory=dict_row, connect_timeout=5
        ) as connection:
            yield connection
    except psycopg.Error as err:
        raise StoreError(f"the PostgreSQL server cannot be used: {to_store_error(err)}") from err
