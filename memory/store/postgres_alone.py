"""Alone on a record in PostgreSQL: who starts meanwhile waits, and who came although is not written beside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from sqlalchemy import select

from memory.store.engine import Tx, glance
from memory.store.errors import StoreBusy, StoreCorrupt
from memory.store.leases import Leases
from memory.store.postgres import PostgresDatabase
from memory.store.postgres_moving import connected, refuse
from memory.store.postgres_schema import ALONE
from memory.store.tables import instance

_NEWEST = select(instance.c.lease_epoch)
_HELD = _NEWEST.with_for_update(read=True)


@asynccontextmanager
async def alone(database: PostgresDatabase, url: str) -> AsyncIterator[None]:
    """Nobody else has the record open.

    A lock keeps others from starting, and is gone with the connection that has it, whoever is in the middle of what. So
    each write asks first for the row that every opening has to change: it is refused if somebody has changed it since,
    and nobody can until the write is committed.

    Raises:
        StoreBusy: another process is at work on it; in what is written within, one has come since.
        StoreError: the server cannot be used.
    """
    async with connected(url) as bare:
        await bare.execute("SELECT pg_advisory_lock(%s)", [ALONE])
        newest = await database.read(_newest)  # before the look at who is there, so that nobody comes between
        mine = f"#{database.lease}"
        refuse([who.rpartition("#")[0] for who in await Leases(database).alive() if not who.endswith(mine)])
        database.sure = partial(_still, newest)
        try:
            yield
        finally:
            database.sure = None


@glance
async def _newest(tx: Tx) -> int:
    """The number of the newest opening."""
    row = await tx.one(_NEWEST)
    if row is None:
        raise StoreCorrupt("the instance row is missing")
    return int(row["lease_epoch"])


async def _still(newest: int, tx: Tx) -> None:
    row = await tx.one(_HELD)
    if row is None or row["lease_epoch"] != newest:
        raise StoreBusy(
            "another process has opened the record meanwhile, for the connection that kept others out broke; nothing "
            "more was changed: stop every mnema run on it, and say it again"
        )
