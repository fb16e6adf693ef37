"""What makes an empty database ours: the statements for every backend, and the rows that are there from the start."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import insert
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from memory.store import access_tables, lease_tables, memory_tables, spending_tables  # noqa: F401  tables of the record
from memory.store.columns import record
from memory.store.engine import Compiler
from memory.store.tables import REVISIONS, audit_head, instance, stamp

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
    "postgresql": (
        "CREATE FUNCTION message_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) THEN "
        "RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END IF; "
        "RAISE EXCEPTION 'messages are never %', CASE TG_OP WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END; END $$",
        "CREATE TRIGGER message_kept BEFORE UPDATE OR DELETE ON message "
        "FOR EACH ROW EXECUTE FUNCTION message_is_kept()",
    ),
}
"""Per dialect, what keeps messages insert-only."""
_FIRST_ROWS = (
    (insert(stamp), {"version_num": HEAD}),
    (insert(instance), {"id": 1, "clean": True}),
    (insert(audit_head), {"id": 1}),
)


def creation(dialect: Dialect) -> list[str]:
    """The statements that make an empty database ready, in order."""
    made = [str(CreateTable(table).compile(dialect=dialect)) for table in record.sorted_tables]
    indexes = [
        index for table in record.sorted_tables for index in sorted(table.indexes, key=lambda one: str(one.name))
    ]
    return [*made, *(str(CreateIndex(index).compile(dialect=dialect)) for index in indexes), *GUARDS[dialect.name]]


def first_rows(dialect: Dialect) -> Iterator[tuple[str, list[Any]]]:
    """Which tables these are, and what every record has one of: statements with their parameters."""
    compiler = Compiler(dialect)
    for row, values in _FIRST_ROWS:
        ready = compiler(row)
        yield ready.sql, ready.parameters(values)
