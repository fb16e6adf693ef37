"""How the lanes' engine reaches the database: it waits for one that is away, for it gives up what it does otherwise."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, LiteralString, TypeVar

import psycopg
import structlog
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from psycopg_pool import AsyncConnectionPool

from memory.store.postgres import unabandoned
from memory.store.postgres_errors import gone

log = structlog.get_logger(__name__)
T = TypeVar("T")
PATIENCE = 10.0
"""Seconds for which one question is asked again; a process whose lease is over ends sooner."""
PAUSE = 0.2


class PatientConnector(PsycopgConnector):
    """Asks once more when the connection is lost, so that a job that is done is not taken for one that still runs.

    A question may be asked twice that way: a job put in twice finds nothing to do the second time, and one that was
    handed over in an answer that never came is found by `Jobs`. Each of its questions is one statement, which needs
    neither a transaction around it nor a look at the connection before it: one round trip instead of four.
    """

    def __init__(self, url: str, most: int) -> None:
        """url: of the server, as libpq takes it; most: connections at once."""
        super().__init__(
            pool_factory=_unchecked, conninfo=url, min_size=1, max_size=most, timeout=PATIENCE, configure=_alone
        )

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        await _patiently(lambda: super(PatientConnector, self).execute_query_async(query, **arguments))

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        return await _patiently(lambda: super(PatientConnector, self).execute_query_one_async(query, **arguments))

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        return await _patiently(lambda: super(PatientConnector, self).execute_query_all_async(query, **arguments))

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """For ever: an engine whose ear is gone ends its jobs, and takes none while they end."""
        names = list(channels)
        while True:
            try:
                await super().listen_notify(on_notification, names)
            except ConnectorException as err:
                log.info("jobs are looked for, not listened for", error=type(err.__cause__).__name__)
            await asyncio.sleep(PAUSE)


def _unchecked(**wanted: Any) -> AsyncConnectionPool[Any]:
    return AsyncConnectionPool(**{**wanted, "check": None})


async def _alone(bare: psycopg.AsyncConnection[Any]) -> None:
    """A job's mark need not be on the disk before the next thing is done: the record is what counts.

    Where the server crashes within a moment of it, a job that was taken is taken again, and finds what it would have
    found; one that was done is given back by `Jobs`.
    """
    await unabandoned(bare)
    await bare.set_autocommit(True)
    await bare.execute("SET synchronous_commit = off")


async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return await ask()
        except ConnectorException as err:
            if err.__cause__ is None or not gone(err.__cause__) or time.monotonic() > until:
                raise
        await asyncio.sleep(PAUSE)
