"""The connections over which jobs are taken and ended; a query whose connection was lost is run again."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, LiteralString, TypeVar

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from psycopg_pool import AsyncConnectionPool

from memory.store.engine.postgres import is_connection_lost, set_idle_timeout
from memory.store.engine.postgres_wire import exchange

T = TypeVar("T")
RECONNECT_SECONDS = 10.0  # for which a query is retried; a process whose lease expires exits sooner
RETRY_SECONDS = 0.2


class RetryingConnector(PsycopgConnector):
    """Retries queries whose connection was lost: Procrastinate would take a finished job for a running one.

    A query may run twice that way. A job added twice finds nothing to do the second time; one that was assigned in a
    lost response is put back by `JobQueue`. Each query is a single statement, so neither a transaction nor a check of
    the connection is needed: one round trip instead of four.
    """

    def __init__(self, url: str, max_connections: int) -> None:
        """url: of the server, as libpq takes it."""
        super().__init__(
            pool_factory=_create_unchecked_pool,
            conninfo=url,
            kwargs={"prepare_threshold": None, "client_encoding": "utf8"},  # see `exchange`
            min_size=1,
            max_size=max_connections,
            timeout=RECONNECT_SECONDS,
            configure=_configure_connection,
        )
        self._loss = asyncio.Event()

    async def wait_for_loss(self, seconds: float) -> None:
        """Wait until a connection was lost since the last call, at most so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._loss.wait(), seconds)
        self._loss.clear()

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        await self._retry_on_disconnect(lambda: super(RetryingConnector, self).execute_query_async(query, **arguments))

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        return await self._retry_on_disconnect(
            lambda: super(RetryingConnector, self).execute_query_one_async(query, **arguments)
        )

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        return await self._retry_on_disconnect(
            lambda: super(RetryingConnector, self).execute_query_all_async(query, **arguments)
        )

    async def exchange(self, query: str, values: Sequence[Any]) -> list[dict[str, Any]]:
        """Run one statement as often as it takes; the parameters are %s. It costs less than `execute_query_all_async`.

        Raises:
            ConnectorException: it cannot be run.
        """

        async def run() -> list[dict[str, Any]]:
            try:
                async with self.pool.connection() as connection:
                    [result] = await exchange(connection, [(query, values)])
                    return result.rows()
            except psycopg.Error as err:
                raise ConnectorException from err

        return await self._retry_on_disconnect(run)

    async def _retry_on_disconnect(self, query: Callable[[], Awaitable[T]]) -> T:
        until = time.monotonic() + RECONNECT_SECONDS
        while True:
            try:
                return await query()
            except ConnectorException as err:
                if err.__cause__ is None or not is_connection_lost(err.__cause__) or time.monotonic() > until:
                    raise
                self._loss.set()
            await asyncio.sleep(RETRY_SECONDS)


def _create_unchecked_pool(**options: Any) -> AsyncConnectionPool[Any]:
    return AsyncConnectionPool(**{**options, "check": None})


async def _configure_connection(connection: psycopg.AsyncConnection[Any]) -> None:
    """Do not wait for the disk when a job's state is stored: the store decides what was done.

    If the server crashes right after, a job that was taken is taken again and finds what it would have found; a
    finished one is put back by `JobQueue`.
    """
    await set_idle_timeout(connection)
    await connection.set_autocommit(True)
    await connection.execute("SET synchronous_commit = off")
