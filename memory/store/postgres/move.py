"""Moves a database into PostgreSQL and out of it, each in one transaction, so that a kill leaves
all or nothing.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import Boolean, Column, Double, Integer, String, Table, Text

from memory.failpoints import hit_async
from memory.store.audit import append_act
from memory.store.engine.database import Tx
from memory.store.errors import StoreError
from memory.store.maintenance.copy import (
    TABLES,
    CopyTarget,
    RowValues,
    SqliteCopySide,
    TableComparison,
    TableDigest,
    combine_digests,
    copy_tables,
    create_copy,
    digest_table,
    digests_to_json,
    open_for_copy,
    value_normalizer,
)
from memory.store.postgres.connection import (
    SCHEMA_LOCK_KEY,
    SELECT_ALIVE,
    PostgresConnection,
    connected,
    refuse_alive,
    to_store_error,
)
from memory.store.postgres.driver import PostgresDriver
from memory.store.postgres.schema import SCHEMA as INDEX
from memory.store.postgres.schema import (
    check_revision,
    create_tables,
    postgres_compiler,
    read_revision,
)
from memory.store.schema.tables import NOW_SQL, audit_head, duty, inbox, instance, process

_POSTGRES_TYPES = (
    (Boolean, "bool"),
    (Integer, "int4"),
    (Double, "float8"),
    (Text, "text"),
    (String, "varchar"),
)
_INTEGER_END = 2**31  # PostgreSQL's integers are smaller than this
_COPY_OUT = sql.SQL(
    "COPY (SELECT {columns} FROM {table} ORDER BY {keys}) TO STDOUT (FORMAT BINARY)"
)
_COPY_IN = sql.SQL("COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)")


class PostgresCopySide:
    """A PostgreSQL database as the source or target of a copy, by COPY within the open
    transaction.
    """

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def rows(self, table: Table) -> AsyncGenerator[RowValues, None]:
        statement = _COPY_OUT.format(
            columns=_column_names(table.columns),
            table=sql.Identifier(table.name),
            keys=_column_names(table.primary_key.columns),
        )
        normalize = value_normalizer(table)
        try:
            async with self._connection.cursor().copy(statement) as copy:
                copy.set_types(_column_types(table))
                async for row in copy.rows():
                    yield normalize(row)
        except psycopg.Error as err:
            raise to_store_error(err) from err

    async def lease(self) -> int:
        try:
            row = await (
                await self._connection.execute(f"SELECT lease_epoch FROM {instance.name}")  # noqa: S608
            ).fetchone()  # noqa: RUF100, S608
        except psycopg.Error as err:
            raise to_store_error(err) from err
        return int(row["lease_epoch"]) if row else 0

    async def put(self, table: Table, rows: AsyncIterator[RowValues]) -> None:
        statement = _COPY_IN.format(
            columns=_column_names(table.columns), table=sql.Identifier(table.name)
        )
        try:
            async with self._connection.cursor().copy(statement) as copy:
                copy.set_types(_column_types(table))
                async for row in rows:
                    _check_values(table, row)
                    await copy.write_row(row)
        except psycopg.Error as err:
            raise StoreError(f"{table.name} cannot be filled: {to_store_error(err)}") from err

    def tx(self, now: float) -> Tx:
        driver = PostgresDriver(self._connection)
        return Tx(driver=driver, compiler=postgres_compiler(), lease=0, now=now)


def _check_values(table: Table, row: RowValues) -> None:
    """Refuse values that PostgreSQL cannot store, naming the column."""
    for column, value in zip(table.columns, row, strict=True):
        if isinstance(value, str) and "\0" in value:
            raise StoreError(
                f"{table.name}.{column.name} holds a NUL character, which PostgreSQL cannot store"
            )
        if isinstance(value, int) and not -_INTEGER_END <= value < _INTEGER_END:
            raise StoreError(
                f"{table.name}.{column.name} holds {value}, too large for PostgreSQL's column"
            )


def _column_types(table: Table) -> list[str]:
    return [
        next(name for kind, name in _POSTGRES_TYPES if isinstance(column.type, kind))
        for column in table.columns
    ]


def _column_names(columns: Iterable[Column[Any]]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(column.name) for column in columns)


MOVED_ACTION = "moved here"  # name of the void lease that stands for the source's last process
IN, OUT = "sqlite to postgresql", "postgresql to sqlite"
ACTOR = "command line"
_SELECT_NOW = f"SELECT {NOW_SQL} AS now"
_SETTINGS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
_SELECT_MARK = f"SELECT told FROM {process.name} WHERE name = %s"  # noqa: S608  our own name
_DELETE_AUDIT_HEAD = f"DELETE FROM {audit_head.name}"  # noqa: S608
_DELETE_LEASES = f"DELETE FROM {process.name}; DELETE FROM {duty.name}"  # noqa: S608
_SET_LEASE = f"UPDATE {instance.name} SET lease_epoch = %s, clean = true"  # noqa: S608
_INSERT_LEASE = f"INSERT INTO {process.name} (lease, name, until, told) VALUES (%s, %s, 0, %s)"  # noqa: S608
_TRUNCATE = f"TRUNCATE {', '.join(table.name for table in TABLES)}"
_TRUNCATE_JOBS = """
DO $$ BEGIN IF to_regclass('procrastinate_jobs') IS NOT NULL THEN
EXECUTE 'TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE'; END IF; END $$
"""
_DROP_INDEX = f"DROP SCHEMA IF EXISTS {INDEX} CASCADE"
# a comment, as rows change or are truncated
_SET_MARK = sql.SQL(f"COMMENT ON TABLE {instance.name} IS {{}}")
_SELECT_TABLE_MARK = f"SELECT obj_description(to_regclass('{instance.name}')) AS mark"
_CLEAR_URGENT = f"UPDATE {inbox.name} SET urgent = false WHERE state = 'new' AND urgent"  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveReport:
    """The outcome of a copy."""

    tables: tuple[TableComparison, ...]
    #: An earlier run did it, and no process has opened the database since.
    before: bool = False

    @property
    def equal(self) -> bool:
        return all(table.equal for table in self.tables)

    @property
    def whole(self) -> TableDigest:
        """The digest of all that was copied."""
        return combine_digests([table.source for table in self.tables])


async def move_in(path: Path, url: str) -> MoveReport:
    """Copy a SQLite database into a PostgreSQL database without tables, or with empty ones.

    The file is not changed, and the caller ensures that no process has it open. The move becomes
    the next act of the audit chain. If the two sides differ, everything is rolled back.

    Raises:
        StoreError: nothing was changed; the text says why.
    """
    with open_for_copy(path) as source:
        async with _open_for_change(url) as connection:
            refuse_alive(await _load_alive(connection))
            if earlier := await _earlier_move(connection, source):
                return earlier
            await _refuse_if_not_empty(connection)
            moved = MoveReport(tables=await _copy_into(connection, source))
            await _append_move_act(connection, PostgresCopySide(connection), IN, moved)
            await hit_async("move.copied")
            if not moved.equal:
                raise psycopg.Rollback
        if moved.equal:
            await hit_async("move.committed")
    return moved


async def move_out(url: str, path: Path) -> MoveReport:
    """Copy a database that no process has open into a new SQLite file, with the move in its audit
    chain.

    Raises:
        StoreError: the text says why; there is no file.
    """
    async with _snapshot(url, alone=True) as connection:
        return await _write_copy(connection, path, OUT)


async def copy_out(url: str, path: Path) -> MoveReport:
    """Copy a database into a new SQLite file as of one moment, without blocking its processes or
    adding an act.

    Raises:
        StoreError: as for `move_out`.
    """
    async with _snapshot(url, alone=False) as connection:
        return await _write_copy(connection, path)


async def replace_store(path: Path, url: str, mark: str) -> None:
    """Replace a database's rows by those of a SQLite file; the search index and pending jobs are
    deleted.

    Args:
        mark: identifies this call for `was_replaced`.

    Raises:
        StoreBusy: a process has the database open.
        StoreError: it failed; after a lost connection only `was_replaced` knows.
    """
    with open_for_copy(path) as source:
        async with _open_for_change(url) as connection:
            refuse_alive(await _load_alive(connection))
            await connection.execute(_TRUNCATE)
            await connection.execute(_TRUNCATE_JOBS, prepare=False)
            await connection.execute(_DROP_INDEX)
            copied = await _copy_into(connection, source)
            if wrong := [table.source.table for table in copied if not table.equal]:
                raise StoreError(
                    f"the database does not hold what was put into it ({', '.join(wrong)})"
                )
            await connection.execute(_SET_MARK.format(sql.Literal(mark)))
            await hit_async("restore.loaded")


async def was_replaced(url: str, mark: str) -> bool:
    """Whether the newest committed `replace_store` had this mark; waits for one in progress.

    Raises:
        StoreError: the server cannot be reached.
    """
    async with connected(url) as connection, connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        row = await (await connection.execute(_SELECT_TABLE_MARK)).fetchone()
        return row is not None and row["mark"] == mark


async def refuse_if_in_use(url: str) -> None:
    """Raise an error if a process has the database open; it may also have no tables.

    Raises:
        StoreBusy: a process has it open.
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as connection, connection.transaction():
        if await read_revision(connection) is not None:
            await check_revision(connection)
            refuse_alive(await _load_alive(connection))


async def has_tables(url: str) -> bool:
    """Whether the database has this version's tables.

    Raises:
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as connection:
        if await read_revision(connection) is None:
            return False
        await check_revision(connection)
        return True


async def _copy_into(
    connection: PostgresConnection, source: SqliteCopySide
) -> tuple[TableComparison, ...]:
    """Copy everything into empty tables, in the connection's open transaction.

    The void lease inserted here lets the first process that opens the database recover unfinished
    work, as after a kill.
    """
    lease = max(await source.lease(), await PostgresCopySide(connection).lease())
    await connection.execute(_DELETE_AUDIT_HEAD)
    await connection.execute(_DELETE_LEASES)
    copied = await copy_tables(source, PostgresCopySide(connection))
    await connection.execute(_SET_LEASE, [lease])
    # urgent rows have jobs of their own, which are not copied
    await connection.execute(_CLEAR_URGENT)
    await connection.execute(
        _INSERT_LEASE,
        [
            lease,
            MOVED_ACTION,
            json.dumps({"rows": digests_to_json([one.source for one in copied])}),
        ],
    )
    return copied


async def _load_alive(connection: PostgresConnection) -> list[str]:
    """List the processes that have the database open; no other can open it during the
    transaction.
    """
    await connection.execute(f"LOCK TABLE {process.name} IN SHARE ROW EXCLUSIVE MODE")
    return [row["name"] for row in await (await connection.execute(SELECT_ALIVE)).fetchall()]


@asynccontextmanager
async def _open_for_change(url: str) -> AsyncIterator[PostgresConnection]:
    """Open a transaction that excludes other schema changes, and create missing tables.

    Raises:
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as connection, connection.transaction():
        await connection.execute(_SETTINGS, prepare=False)
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        if await read_revision(connection) is None:
            await create_tables(connection)
        await check_revision(connection)
        yield connection


@asynccontextmanager
async def _snapshot(url: str, *, alone: bool) -> AsyncIterator[PostgresConnection]:
    async with connected(url) as connection:
        await check_revision(connection)
        await connection.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        await connection.set_read_only(not alone)
        async with connection.transaction():
            await connection.execute(_SETTINGS, prepare=False)
            if alone:
                refuse_alive(await _load_alive(connection))
            yield connection


async def _write_copy(connection: PostgresConnection, path: Path, way: str = "") -> MoveReport:
    source = PostgresCopySide(connection)
    try:
        with create_copy(path, await source.lease()) as target:
            moved = MoveReport(tables=await copy_tables(source, target))
            if way:
                await _append_move_act(connection, target, way, moved)
            return moved
    except BaseException:
        path.unlink(missing_ok=True)
        raise


async def _append_move_act(
    connection: PostgresConnection, target: CopyTarget, way: str, moved: MoveReport
) -> None:
    """Add the move to the audit chain if both sides are equal, in the transaction that inserts the
    rows.
    """
    if not moved.equal:
        return
    row = await (await connection.execute(_SELECT_NOW)).fetchone()
    now = float(row["now"]) if row else 0.0
    await append_act(
        target.tx(now),
        "move",
        way,
        f"{moved.whole.rows:,} rows, sha256 {moved.whole.sha256}",
        ACTOR,
    )


async def _earlier_move(
    connection: PostgresConnection, source: SqliteCopySide
) -> MoveReport | None:
    """Return an earlier run's report if it moved this same database and no process has opened it
    there since.
    """
    row = await (await connection.execute(_SELECT_MARK, [MOVED_ACTION])).fetchone()
    if row is None:
        return None
    known = json.loads(row["told"])["rows"]
    tables = []
    for table in TABLES:
        rows, sha256 = known[table.name]
        moved = TableDigest(table=table.name, rows=rows, sha256=sha256)
        tables.append(TableComparison(source=await digest_table(source, table), target=moved))
    report = MoveReport(tables=tuple(tables), before=True)
    return report if report.equal else None


async def _refuse_if_not_empty(connection: PostgresConnection) -> None:
    for table in TABLES:
        where = " WHERE seq > 0" if table is audit_head else ""
        if await (
            await connection.execute(f"SELECT 1 FROM {table.name}{where} LIMIT 1")  # noqa: S608
        ).fetchone():  # noqa: RUF100, S608
            raise StoreError(
                f"the database holds rows already (in {table.name}); use an empty one, for example "
                "made with createdb"
            )
