"""Creates and upgrades the tables in PostgreSQL; processes that start at the same time wait for the
first.
"""

import asyncio
from functools import cache

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects.postgresql import psycopg as dialects
from sqlalchemy.dialects.postgresql.base import PGTypeCompiler
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlalchemy.types import Text

from memory.failpoints import hit_async
from memory.store.engine.database import StatementCompiler
from memory.store.errors import SchemaOlder, StoreError
from memory.store.postgres.connection import (
    SCHEMA_LOCK_KEY,
    SELECT_ALIVE,
    PostgresConnection,
    connected,
    driver_url,
    refuse_alive,
    to_store_error,
)
from memory.store.schema.create import (
    HEAD,
    check_revision_is_known,
    creation_statements,
    initial_rows,
)
from memory.store.schema.migrations.upgrade import run_revisions
from memory.store.schema.tables import metadata, process, stamp

SCHEMA = "mnema_index"  # schema of the recall index
MIGRATE = "stop every mnema run on it and run mnema migrate"
_SELECT_VERSION = f"SELECT version_num FROM {stamp.name}"  # noqa: S608  our own name
_SELECT_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
)


class _CodePointOrderCompiler(PGTypeCompiler):
    """Collates texts by code points, as SQLite does."""

    def visit_TEXT(self, type_: Text, **options: object) -> str:
        return 'TEXT COLLATE "C"'


def create_dialect() -> dialects.PGDialect_psycopg:
    """Return the dialect of our statements and tables."""
    dialect = dialects.dialect(paramstyle="format")  # type: ignore[no-untyped-call]
    _set_code_point_order(dialect)
    return dialect


@cache
def postgres_compiler() -> StatementCompiler:
    """Return the compiler of all PostgreSQL databases of this process."""
    return StatementCompiler(create_dialect())


def _set_code_point_order(dialect: Dialect) -> None:
    dialect.type_compiler_instance = _CodePointOrderCompiler(dialect)


async def prepare_tables(connection: PostgresConnection) -> None:
    """Create the tables where there are none, and check the revision of others.

    Raises:
        SchemaNewer, SchemaTooOld: this version can neither open nor upgrade them.
        SchemaOlder: they are of an older version; mnema migrate upgrades them.
        StoreError: they are another program's.
    """
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        found = await read_revision(connection)
        if found is None:
            await create_tables(connection)
    if found is not None and found != HEAD:
        raise SchemaOlder(f"the database has the tables of {found}; {MIGRATE}")


async def check_revision(connection: PostgresConnection) -> None:
    """Check that the tables are of this version.

    Raises:
        SchemaNewer, SchemaOlder, SchemaTooOld: they are of another one.
        StoreError: there are none, or they are another program's.
    """
    found = await read_revision(connection)
    if found is None:
        raise StoreError("the database has no tables yet; the first mnema run makes them")
    if found != HEAD:
        raise SchemaOlder(f"the database has the tables of {found}; {MIGRATE}")


async def read_revision(connection: PostgresConnection) -> str | None:
    """Return the revision of the tables, None where there are none.

    Raises:
        SchemaNewer, SchemaTooOld: this version can neither open nor upgrade them.
        StoreError: they are another program's.
    """
    names = {
        row["table_name"] for row in await (await connection.execute(_SELECT_TABLES)).fetchall()
    }
    if stamp.name not in names:
        if names & set(metadata.tables):
            raise StoreError("the database holds tables of another program with our names")
        return None
    row = await (await connection.execute(_SELECT_VERSION)).fetchone()
    found = str(row["version_num"]) if row else ""
    check_revision_is_known(found)
    return found


async def create_tables(connection: PostgresConnection) -> None:
    """Create all tables in the open transaction of a connection that holds the lock
    SCHEMA_LOCK_KEY.
    """
    dialect = postgres_compiler().dialect
    for statement in creation_statements(dialect):
        await connection.execute(statement)
    for sql, values in initial_rows(dialect):
        await connection.execute(sql, values)


_LOCK_EXCLUSIVELY = (
    "SET LOCAL statement_timeout = 0",
    f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK_KEY})",
    f"LOCK TABLE {process.name} IN SHARE ROW EXCLUSIVE MODE",
)


async def upgrade_tables(url: str) -> str | None:
    """Upgrade the tables to this version, all revisions in one transaction.

    Returns:
        The revision before the upgrade, None where there are no tables.

    Raises:
        StoreBusy: a process uses them.
        SchemaNewer, SchemaTooOld: this version can neither open nor upgrade them.
        StoreError: the server cannot be used, or the tables are another program's.
    """
    async with connected(url) as connection:
        found = await read_revision(connection)
    if found is None or found == HEAD:
        return found
    try:
        await asyncio.to_thread(_upgrade, driver_url(url))
    except (psycopg.Error, SQLAlchemyError) as err:
        cause = err.__cause__ if isinstance(err.__cause__, psycopg.Error) else err
        raise StoreError(
            f"the tables of {found} could not be brought up: {to_store_error(cause)}"
        ) from err
    await hit_async("mig.done")
    return found


def create_engine_for_revisions(url: str) -> Engine:
    """Make an engine whose statements create the tables as `create_tables` does."""
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(url, connect_timeout=5),
        poolclass=NullPool,
    )
    _set_code_point_order(engine.dialect)
    return engine


def _upgrade(url: str) -> None:
    engine = create_engine_for_revisions(url)
    event.listen(engine, "begin", _lock_exclusively)
    with engine.begin() as connection:
        refuse_alive([row[0] for row in connection.exec_driver_sql(SELECT_ALIVE)])
        run_revisions(connection)
    engine.dispose()


def _lock_exclusively(connection: Connection) -> None:
    for statement in _LOCK_EXCLUSIVELY:
        connection.exec_driver_sql(statement)
