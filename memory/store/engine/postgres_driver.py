"""Statements of one transaction on PostgreSQL, of which those whose result nobody needs wait for the next one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import psycopg
from psycopg.abc import PQGen
from psycopg.generators import send

from memory.store.engine.database import Row
from memory.store.errors import WrongState

PostgresConnection = psycopg.AsyncConnection[dict[str, Any]]
Cursor = psycopg.AsyncCursor[dict[str, Any]]
Parameters = Sequence[Any] | Mapping[str, Any] | None
MAX_WAITING = 64  # statements that wait: more are sent without one that needs its result


class PostgresDriver:
    """The Driver of one transaction: one round trip for a statement and all that wait for it.

    Each round trip ends with a Sync, after which the server ends the session if the process has stopped.
    """

    def __init__(
        self,
        connection: PostgresConnection,
        *begin: str,
        max_waiting: int = MAX_WAITING,
        on_begun: Callable[[dict[str, Any] | None], None] | None = None,
    ) -> None:
        """Begin with the first statement that is sent.

        Args:
            begin: statements that begin the transaction; none where one is open, or none is needed.
            max_waiting: statements that wait; 0 where others send COMMIT over the connection.
            on_begun: called with the row of the last of them, after the round trip that began the transaction.
        """
        self._connection = connection
        self._begin, self._on_begun = begin, on_begun
        self._max_waiting = max_waiting
        self._waiting: list[tuple[str, Parameters]] = []

    async def change(self, sql: str, parameters: list[Any]) -> int:
        return (await self._send((sql, parameters))).rowcount

    async def change_later(self, sql: str, parameters: Parameters) -> None:
        self._waiting.append((sql, parameters))
        if len(self._waiting) > self._max_waiting:
            await self.flush()

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        return cast(list[Row], await (await self._send((sql, parameters))).fetchall())

    async def flush(self) -> None:
        """Send what waits."""
        if self._waiting:
            await self._send(self._waiting.pop())

    async def commit(self) -> None:
        """Send what waits, then commit. COMMIT is sent after `on_begun` was called; nothing is sent for nothing."""
        if self._begin:
            await self.flush()
        if not self._begin:
            await self._send(("COMMIT", None))

    async def _send(self, last: tuple[str, Parameters]) -> Cursor:
        """Send all that waits and this statement; return its result."""
        begin, self._begin = self._begin, ()
        waiting, self._waiting = self._waiting, []
        if not begin and not waiting:
            return await self._connection.execute(*last)
        begun: Cursor | None = None
        async with _pipeline(self._connection):
            for sql in begin:
                begun = await self._connection.execute(sql)
            for statement in waiting:
                await self._connection.execute(*statement)
            cursor = await self._connection.execute(*last)
        if begun is not None and self._on_begun is not None:
            self._on_begun(await begun.fetchone())
        return cursor


class SingleQueryDriver(PostgresDriver):
    """The Driver of a single query outside of any transaction: one round trip instead of three."""

    _used = False

    async def change(self, sql: str, parameters: list[Any]) -> int:
        raise WrongState("a unit marked as a single query changes nothing")

    async def change_later(self, sql: str, parameters: Parameters) -> None:
        raise WrongState("a unit marked as a single query changes nothing")

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        if self._used:
            raise WrongState("a unit marked as a single query ran a second one, which needs a snapshot")
        self._used = True
        return await super().fetch(sql, parameters)


class _Pipeline(psycopg.AsyncPipeline):
    """A pipeline that sends nothing after its Sync.

    The driver's asks the server to flush, too: that says nothing new, but ends the server's count of idle seconds.
    """

    def _fetch_gen(self, *, flush: bool) -> PQGen[None]:
        if flush:
            yield from send(self.pgconn)
        yield from super()._fetch_gen(flush=False)


@asynccontextmanager
async def _pipeline(connection: PostgresConnection) -> AsyncIterator[None]:
    """Send the block's statements in one round trip; the first error of them is raised at its end.

    A cancellation closes the connection: the driver would wait for the server, and raise an error of its own instead.
    """
    first: psycopg.Error | None = None
    connection._pipeline = _Pipeline(connection)  # the driver would make its own
    try:
        async with connection.pipeline():
            try:
                yield
            except asyncio.CancelledError:
                await connection.close()
                raise
            except psycopg.Error as err:  # at the end, the driver would log that the others were not run
                first = err
    except psycopg.Error as err:
        if isinstance(err.__context__, asyncio.CancelledError):
            await connection.close()
            raise err.__context__ from None
        first = first or err
    if first is not None:
        raise first
