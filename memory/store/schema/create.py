"""What makes an empty database ours: the statements for every backend, and the rows that are there from the start."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import insert
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from memory.failpoints import hit_async
from memory.store.engine.database import StatementCompiler
from memory.store.engine.sqlite import SqliteConnection, copy_database
from memory.store.errors import SchemaNewer, StoreError
from memory.store.schema import memory_tables as access_tables  # noqa: F401  tables of the store
from memory.store.schema.columns import metadata
from memory.store.schema.tables import REVISIONS, audit_head, instance, stamp

HEAD = REVISIONS[-1]
# Per dialect, what keeps messages insert-only.
GUARDS = {
    "sqlite": (
        "CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message "
        "WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) "
        "BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END",
        "CREATE TRIGGER message_kept BEFORE DELETE ON message "
        "WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) "
        "BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION message_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) THEN "
        "RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END IF; "
        "RAISE EXCEPTION 'messages are never %', CASE TG_OP WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END; END $$",
        "CREATE TRIGGER message_kept BEFORE UPDATE OR DELETE ON message "
        "FOR EACH ROW EXECUTE FUNCTION message_is_kept()",
    ),
}
_INITIAL_ROWS = (
    (insert(stamp), {"version_num": HEAD}),
    (insert(instance), {"id": 1, "clean": True}),
    (insert(audit_head), {"id": 1}),
)


def creation_statements(dialect: Dialect) -> list[str]:
    """The statements that make an empty database ready, in order."""
    made = [str(CreateTable(table).compile(dialect=dialect)) for table in metadata.sorted_tables]
    indexes = [
        index for table in metadata.sorted_tables for index in sorted(table.indexes, key=lambda one: str(one.name))
    ]
    return [*made, *(str(CreateIndex(index).compile(dialect=dialect)) for index in indexes), *GUARDS[dialect.name]]


def initial_rows(dialect: Dialect) -> Iterator[tuple[str, list[Any]]]:
    """Which tables these are, and what every record has one of: statements with their parameters."""
    compiler = StatementCompiler(dialect)
    for row, values in _INITIAL_ROWS:
        ready = compiler(row)
        yield ready.sql, ready.parameters(values)


# Which version of the tables a database has, and how it gets this one's.


async def read_revision(connection: SqliteConnection) -> str | None:
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


async def create_tables(connection: SqliteConnection, dialect: Dialect) -> None:
    """All tables at once, and one row that says which they are; nothing when somebody else was first."""
    connection.do("BEGIN IMMEDIATE")
    if await read_revision(connection) is None:
        for statement in creation_statements(dialect):
            connection.do(statement)
        for sql, values in initial_rows(dialect):
            await connection.change(sql, values)
    connection.do("COMMIT")


async def upgrade_file(path: Path, found: str) -> None:
    """Bring older tables to this version; a copy of the file as it was is kept beside it."""
    await asyncio.to_thread(copy_database, path, path.with_name(f"{path.name}.before-{HEAD}-from-{found or 'nothing'}"))
    await hit_async("mig.backed_up")
    await asyncio.to_thread(_upgrade, path)
    await hit_async("mig.done")


def _upgrade(path: Path) -> None:
    from memory.store.schema.migrations.upgrade import upgrade

    upgrade(path)
