"""Which version of the tables a database has, and how it gets this one's."""

import asyncio
from pathlib import Path

from sqlalchemy import insert
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from memory.failpoint import afp
from memory.store import access_tables, memory_tables  # noqa: F401  their tables are part of the record
from memory.store.columns import record
from memory.store.connection import Connection
from memory.store.engine import Compiler
from memory.store.errors import SchemaNewer, StoreError
from memory.store.snapshots import copy_database
from memory.store.tables import REVISIONS, instance, stamp

HEAD = REVISIONS[-1]
GUARDS = {
    "sqlite": (
        "CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message "
        "WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) "
        "BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END",
        "CREATE TRIGGER message_kept BEFORE DELETE ON message "
        "WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) "
        "BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END",
    ),
}
"""Per dialect, the triggers that keep messages insert-only."""


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
    compiler = Compiler(dialect)
    connection.do("BEGIN IMMEDIATE")
    if await version(connection) is None:
        for statement in _creation(dialect):
            connection.do(statement)
        for row, values in ((insert(stamp), {"version_num": HEAD}), (insert(instance), {"id": 1, "clean": True})):
            ready = compiler(row)
            await connection.change(ready.sql, ready.parameters(values))
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


def _creation(dialect: Dialect) -> list[str]:
    """The statements that make an empty database ready, in order."""
    made = [str(CreateTable(table).compile(dialect=dialect)) for table in record.sorted_tables]
    indexes = [
        index for table in record.sorted_tables for index in sorted(table.indexes, key=lambda one: str(one.name))
    ]
    return [*made, *(str(CreateIndex(index).compile(dialect=dialect)) for index in indexes), *GUARDS[dialect.name]]
