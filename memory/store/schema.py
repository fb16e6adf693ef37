"""Which version of the tables a database has, and how it gets this one's."""

import asyncio
from pathlib import Path

from sqlalchemy.engine import Dialect

from memory.failpoint import afp
from memory.store.connection import Connection
from memory.store.creation import HEAD, creation, first_rows
from memory.store.errors import SchemaNewer, StoreError
from memory.store.snapshots import copy_database
from memory.store.tables import REVISIONS, stamp


async def version(connection: Connection) -> str | None:
    """The revision of the tables; "" for tables half-way to the first, None for an empty file.

    Raises:
        SchemaNewer: a newer version of this program has been here.
        StoreError: these tables are not ours.
    """
    names = [row["name"] for row in await connection.fetch("SELECT name FROM sqlite_master WHERE type = 'table'", [])]
    if not names:
        return None
    if stamp.name not in names:
        raise StoreError("this file is another program's database")
    found = connection.value(f"SELECT version_num FROM {stamp.name}")  # noqa: S608
    if found and found not in REVISIONS:
        raise SchemaNewer(f"the database has the tables of {found}, which is newer than this program's {HEAD}")
    return str(found or "")


async def create(connection: Connection, dialect: Dialect) -> None:
    """All tables at once, and one row that says which they are; nothing when somebody else was first."""
    connection.do("BEGIN IMMEDIATE")
    if await version(connection) is None:
        for statement in creation(dialect):
            connection.do(statement)
        for sql, values in first_rows(dialect):
            await connection.change(sql, values)
    connection.do("COMMIT")


async def migrate(path: Path, found: str) -> None:
    """Bring older tables to this version; a copy of the file as it was is kept beside it."""
    await asyncio.to_thread(copy_database, path, path.with_name(f"{path.name}.before-{HEAD}-from-{found or 'nothing'}"))
    await afp("mig.backed_up")
    await asyncio.to_thread(_upgrade, path)
    await afp("mig.done")


def _upgrade(path: Path) -> None:
    from memory.store.migrations.upgrade import upgrade

    upgrade(path)
