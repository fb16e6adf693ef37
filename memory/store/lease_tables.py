"""The tables about who is alive: processes that have the record open, and the duties that one of them has at a time."""

from sqlalchemy import Column, ColumnElement, Double, Integer, PrimaryKeyConstraint, Table, exists
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from memory.store.clock import NOW
from memory.store.columns import moment, record, text, whole

FOREVER = 1e18
"""As `until` of a process that no other can outlive: SQLite's only writer."""

process = Table(
    "process",
    record,
    Column("lease", Integer, primary_key=True, autoincrement=False, nullable=False),
    text("name"),
    moment("until"),
    text("told"),
)
"""Openings of the record for writing. until: by the database's clock; told: what it says of itself, JSON."""

duty = Table("duty", record, text("name"), whole("lease"), PrimaryKeyConstraint("name"))
"""What one process does for all: hear a channel's account, dream, write a file. Free once its holder is void."""


class database_clock(FunctionElement[float]):
    """Unix seconds by the database's own clock, the same for every process."""

    type = Double()
    inherit_cache = True


@compiles(database_clock)
def _of_sqlite(element: database_clock, compiler: SQLCompiler, **options: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_clock, "postgresql")
def _of_postgresql(element: database_clock, compiler: SQLCompiler, **options: object) -> str:
    return f"({NOW})"


def void(lease: Column[int]) -> ColumnElement[bool]:
    """Whether the holder of a row is gone: its process is not known any more, or did not renew its lease in time."""
    return ~exists().where(process.c.lease == lease, process.c.until > database_clock())
