"""Brings the tables in PostgreSQL to this version: all revisions in one transaction, while no process is at work."""

import asyncio
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from memory.failpoint import afp
from memory.store import migrations
from memory.store.creation import HEAD
from memory.store.errors import StoreError
from memory.store.lease_tables import process
from memory.store.open_postgres import plain_url
from memory.store.postgres_errors import named
from memory.store.postgres_moving import ALIVE, connected, refuse
from memory.store.postgres_schema import ALONE, ordered, version

_ALONE = (
    "SET LOCAL statement_timeout = 0",
    f"SELECT pg_advisory_xact_lock({ALONE})",
    f"LOCK TABLE {process.name} IN SHARE ROW EXCLUSIVE MODE",
)


async def upgrade(url: str) -> str | None:
    """Bring the tables up; a kill leaves them as they were.

    Returns:
        The revision that was found, None where there are no tables.

    Raises:
        StoreBusy: a process is at work on them.
        StoreError: the server cannot be used, or a newer version or another program has been here.
    """
    async with connected(url) as bare:
        found = await version(bare)
    if found is None or found == HEAD:
        return found
    try:
        await asyncio.to_thread(_upgrade, plain_url(url))
    except (psycopg.Error, SQLAlchemyError) as err:
        cause = err.__cause__ if isinstance(err.__cause__, psycopg.Error) else err
        raise StoreError(f"the tables of {found} could not be brought up: {named(cause)}") from err
    await afp("mig.done")
    return found


def _upgrade(url: str) -> None:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(url, connect_timeout=5), poolclass=NullPool
    )
    ordered(engine.dialect)
    event.listen(engine, "begin", _take)
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.begin() as connection:
        refuse([row[0] for row in connection.exec_driver_sql(ALIVE)])
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    engine.dispose()


def _take(connection: Connection) -> None:
    for statement in _ALONE:
        connection.exec_driver_sql(statement)
