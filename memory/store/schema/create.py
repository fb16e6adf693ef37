"""Creates the tables with their triggers and first rows, and upgrades those of older versions."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import insert
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from memory.failpoints import hit_async
from memory.store.engine.database import StatementCompiler
from memory.store.engine.sqlite_connection import SqliteConnection, copy_database
from memory.store.errors import SchemaTooOld, StoreError, TablesNewer
from memory.store.schema import memory_tables as access_tables  # noqa: F401  tables of the store
from memory.store.schema.tables import (
    LAST_COMMIT_WITH_REMOVED,
    REMOVED_REVISIONS,
    REVISIONS,
    audit_head,
    instance,
    metadata,
    stamp,
)

HEAD = REVISIONS[-1]
_GUARDS = {  # per dialect: triggers that make messages insert-only
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
        "RAISE EXCEPTION 'messages are never %', CASE TG_OP WHEN 'DELETE' THEN 'deleted' ELSE "
        "'changed' END; END $$",
        "CREATE TRIGGER message_kept BEFORE UPDATE OR DELETE ON message "
        "FOR EACH ROW EXECUTE FUNCTION message_is_kept()",
    ),
}
_INITIAL_ROWS = (
    (insert(stamp), {"version_num": HEAD}),
    (insert(instance), {"id": 1, "clean": True}),
    (insert(audit_head), {"id": 1}),
)


# by dialect and style of parameters: to compile takes 15 ms
_compiled: dict[tuple[str, str], list[str]] = {}


def creation_statements(dialect: Dialect) -> list[str]:
    """Return the statements that create tables, indexes and triggers, in order."""
    kind = (dialect.name, dialect.paramstyle)
    if kind not in _compiled:
        _compiled[kind] = _compile_creation(dialect)
    return _compiled[kind]


def _compile_creation(dialect: Dialect) -> list[str]:
    tables = metadata.sorted_tables
    indexes = [
        index for table in tables for index in sorted(table.indexes, key=lambda one: str(one.name))
    ]
    for index in (index for index in indexes if "where" in index.info):
        index.dialect_kwargs[f"{dialect.name}_where"] = index.info["where"]
    creates: list[CreateTable | CreateIndex] = [
        *(CreateTable(table) for table in tables),
        *(CreateIndex(index) for index in indexes),
    ]
    return [*(str(create.compile(dialect=dialect)) for create in creates), *_GUARDS[dialect.name]]


def initial_rows(dialect: Dialect) -> Iterator[tuple[str, list[Any]]]:
    """Return the statements that insert the first rows, with their parameters."""
    compiler = StatementCompiler(dialect)
    for statement, values in _INITIAL_ROWS:
        compiled = compiler(statement)
        yield compiled.sql, compiled.parameters(values)


def check_revision_is_known(found: str) -> None:
    """Check that this version can open or upgrade tables of this revision.

    Raises:
        SchemaNewer: a newer version of this program has written them.
        SchemaTooOld: an older version has written them, and this one cannot upgrade them.
    """
    if found in REMOVED_REVISIONS:
        raise SchemaTooOld(found, LAST_COMMIT_WITH_REMOVED)
    if found not in REVISIONS:
        raise TablesNewer(found, HEAD)


async def read_revision(connection: SqliteConnection) -> str | None:
    """Return the revision of the tables, "" where the first upgrade was interrupted, None for an
    empty file.

    Raises:
        TablesNewer, SchemaTooOld: this version can neither open nor upgrade the tables.
        StoreError: the tables are another program's.
    """
    tables = await connection.run("SELECT name FROM sqlite_master WHERE type = 'table'", [])
    names = [row["name"] for row in tables.all()]
    if not names:
        return None
    if stamp.name not in names:
        raise StoreError("this file is another program's database")
    found = connection.value(f"SELECT version_num FROM {stamp.name}")  # noqa: S608
    if found:
        check_revision_is_known(str(found))
    return str(found or "")


async def create_tables(connection: SqliteConnection, dialect: Dialect) -> None:
    """Create all tables in one transaction, unless another process has."""
    connection.do("BEGIN IMMEDIATE")
    if await read_revision(connection) is None:
        for statement in creation_statements(dialect):
            connection.do(statement)
        for sql, values in initial_rows(dialect):
            await connection.run(sql, values)
    connection.do("COMMIT")


async def upgrade_file(path: Path, found: str) -> None:
    """Upgrade older tables to this version; a copy of the former file stays beside it."""
    await asyncio.to_thread(
        copy_database, path, path.with_name(f"{path.name}.before-{HEAD}-from-{found or 'nothing'}")
    )
    await hit_async("mig.backed_up")
    await asyncio.to_thread(_upgrade, path)
    await hit_async("mig.done")


def _upgrade(path: Path) -> None:
    from memory.store.schema.migrations.upgrade import upgrade  # loads alembic, which is slow

    upgrade(path)
