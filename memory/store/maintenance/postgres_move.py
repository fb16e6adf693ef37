"""A PostgreSQL record as a side of a copy, read and filled by COPY within one open transaction."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import Boolean, Column, Double, Integer, String, Table, Text

from memory.failpoints import hit_async
from memory.store.audit import append_act
from memory.store.engine.database import StatementCompiler, Tx
from memory.store.engine.postgres import (
    SCHEMA_LOCK_KEY,
    SELECT_ALIVE,
    PostgresConnection,
    PostgresDriver,
    connected,
    refuse_alive,
    to_store_error,
)
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
from memory.store.schema.postgres import SCHEMA as INDEX
from memory.store.schema.postgres import check_revision, create_dialect, create_tables, read_revision
from memory.store.schema.tables import NOW_SQL, audit_head, duty, inbox, instance, process

_POSTGRES_TYPES = ((Boolean, "bool"), (Integer, "int4"), (Double, "float8"), (Text, "text"), (String, "varchar"))
_MIN_TOO_LARGE = 2**31
_COPY_OUT = sql.SQL("COPY (SELECT {columns} FROM {table} ORDER BY {keys}) TO STDOUT (FORMAT BINARY)")
_COPY_IN = sql.SQL("COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)")


class PostgresCopySide:
    """See memory.store.maintenance.copy.Writer."""

    def __init__(self, bare: PostgresConnection) -> None:
        self._bare = bare

    async def rows(self, table: Table) -> AsyncGenerator[RowValues, None]:
        wanted = _COPY_OUT.format(
            columns=_column_names(table.columns),
            table=sql.Identifier(table.name),
            keys=_column_names(table.primary_key.columns),
        )
        made = value_normalizer(table)
        try:
            async with self._bare.cursor().copy(wanted) as out:
                out.set_types(_column_types(table))
                async for row in out.rows():
                    yield made(row)
        except psycopg.Error as err:
            raise to_store_error(err) from err

    async def lease(self) -> int:
        try:
            row = await (await self._bare.execute(f"SELECT lease_epoch FROM {instance.name}")).fetchone()  # noqa: S608
        except psycopg.Error as err:
            raise to_store_error(err) from err
        return int(row["lease_epoch"]) if row else 0

    async def put(self, table: Table, rows: AsyncIterator[RowValues]) -> None:
        wanted = _COPY_IN.format(columns=_column_names(table.columns), table=sql.Identifier(table.name))
        fits = _value_checker(table)
        try:
            async with self._bare.cursor().copy(wanted) as into:
                into.set_types(_column_types(table))
                async for row in rows:
                    fits(row)
                    await into.write_row(row)
        except psycopg.Error as err:
            raise StoreError(f"{table.name} cannot be filled: {to_store_error(err)}") from err

    def tx(self, now: float) -> Tx:
        return Tx(driver=PostgresDriver(self._bare), compiler=StatementCompiler(create_dialect()), lease=0, now=now)


def _value_checker(table: Table) -> Callable[[RowValues], None]:
    """What refuses, with its column's name, a value that PostgreSQL has no place for."""
    names = [column.name for column in table.columns]

    def check(row: RowValues) -> None:
        for name, value in zip(names, row, strict=True):
            if isinstance(value, str) and "\0" in value:
                raise StoreError(f"{table.name}.{name} holds a NUL character, which PostgreSQL cannot keep")
            if isinstance(value, int) and not -_MIN_TOO_LARGE <= value < _MIN_TOO_LARGE:
                raise StoreError(f"{table.name}.{name} holds {value}, which is more than PostgreSQL's column takes")

    return check


def _column_types(table: Table) -> list[str]:
    return [next(name for kind, name in _POSTGRES_TYPES if isinstance(column.type, kind)) for column in table.columns]


def _column_names(columns: "object") -> sql.Composed:
    held: list[Column[object]] = list(columns)  # type: ignore[call-overload]
    return sql.SQL(", ").join(sql.Identifier(column.name) for column in held)


# A whole record into PostgreSQL, and out of it: one transaction each, so that a kill leaves all of it or nothing.

MOVED_ACTION = "moved here"  # the name of the opening that stands for whoever had the store last, wherever that was
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
_SET_MARK = sql.SQL(f"COMMENT ON TABLE {instance.name} IS {{}}")  # of the tables, and so no row that anybody changes
_SELECT_TABLE_MARK = f"SELECT obj_description(to_regclass('{instance.name}')) AS mark"
_CLEAR_URGENT = f"UPDATE {inbox.name} SET urgent = false WHERE state = 'new' AND urgent"  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveReport:
    """A record that was copied, table by table."""

    tables: tuple[TableComparison, ...]
    #: An earlier run had done it, and nobody has opened it since.
    before: bool = False

    @property
    def equal(self) -> bool:
        return all(table.equal for table in self.tables)

    @property
    def whole(self) -> TableDigest:
        """What was copied, as one."""
        return combine_digests([table.source for table in self.tables])


async def move_in(path: Path, url: str) -> MoveReport:
    """Copy a SQLite record into a database that holds none, or only empty tables. The file is not changed.

    Whoever calls makes sure that nobody has the file open. Where the two sides differ in the end nothing stands; where
    they do not, the move is the next act of the chain there.

    Raises:
        StoreError: it was not done, and why; nothing was changed.
    """
    with open_for_copy(path) as source:
        async with open_for_change(url) as bare:
            refuse_alive(await load_alive(bare))
            if earlier := await _earlier_move(bare, source):
                return earlier
            await _refuse_if_not_empty(bare)
            moved = MoveReport(tables=await _copy_into(bare, source))
            await _append_move_act(bare, PostgresCopySide(bare), IN, moved)
            await hit_async("move.copied")
            if not moved.equal:
                raise psycopg.Rollback
        if moved.equal:
            await hit_async("move.committed")
    return moved


async def move_out(url: str, path: Path) -> MoveReport:
    """Copy a record that no process has open into a new SQLite file, which is not yet in use; its chain has the move.

    Raises:
        StoreError: as above; there is no file then.
    """
    async with _snapshot(url, alone=True) as bare:
        return await _written_copy(bare, path, OUT)


async def copy_out(url: str, path: Path) -> MoveReport:
    """The same of one moment of a record that processes work on; none of them waits, and no act is added.

    Raises:
        StoreError: as above.
    """
    async with _snapshot(url, alone=False) as bare:
        return await _written_copy(bare, path)


async def replace_store(path: Path, url: str, mark: str) -> None:
    """Put a SQLite record in the place of the one that a database holds, recall's index and waiting jobs with it.

    Args:
        mark: what `replaced` is asked with; no other call has it.

    Raises:
        StoreBusy: a process is at work on it.
        StoreError: it was not done, or, where the connection broke, nobody knows but `replaced`.
    """
    with open_for_copy(path) as source:
        async with open_for_change(url) as bare:
            refuse_alive(await load_alive(bare))
            await bare.execute(_TRUNCATE)
            await bare.execute(_TRUNCATE_JOBS, prepare=False)
            await bare.execute(_DROP_INDEX)
            copied = await _copy_into(bare, source)
            if wrong := [table.source.table for table in copied if not table.equal]:
                raise StoreError(f"the database does not hold what was put into it ({', '.join(wrong)})")
            await bare.execute(_SET_MARK.format(sql.Literal(mark)))
            await hit_async("restore.loaded")


async def was_replaced(url: str, mark: str) -> bool:
    """Whether `replace` with that mark was the newest one, and is in the store; waits for one that still goes on.

    Raises:
        StoreError: the server cannot be asked.
    """
    async with connected(url) as bare, bare.transaction():
        await bare.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        row = await (await bare.execute(_SELECT_TABLE_MARK)).fetchone()
        return row is not None and row["mark"] == mark


async def refuse_if_in_use(url: str) -> None:
    """Go on only where nobody is at work on the store now, or where there is none.

    Raises:
        StoreBusy: somebody is.
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as bare, bare.transaction():
        if await read_revision(bare) is not None:
            await check_revision(bare)
            refuse_alive(await load_alive(bare))


async def has_tables(url: str) -> bool:
    """Whether the database has a record of this version.

    Raises:
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as bare:
        if await read_revision(bare) is None:
            return False
        await check_revision(bare)
        return True


async def _copy_into(bare: PostgresConnection, source: SqliteCopySide) -> tuple[TableComparison, ...]:
    """Copy everything into empty tables, in the connection's open transaction.

    What is begun and not ended is looked after by the first process that opens the store: it finds the opening that is
    left here dead, as it would after a kill.
    """
    lease = max(await source.lease(), await PostgresCopySide(bare).lease())
    await bare.execute(_DELETE_AUDIT_HEAD)
    await bare.execute(_DELETE_LEASES)
    copied = await copy_tables(source, PostgresCopySide(bare))
    await bare.execute(_SET_LEASE, [lease])
    await bare.execute(_CLEAR_URGENT)  # there is no job beside the lane for it
    await bare.execute(
        _INSERT_LEASE, [lease, MOVED_ACTION, json.dumps({"rows": digests_to_json([one.source for one in copied])})]
    )
    return copied


async def load_alive(bare: PostgresConnection) -> list[str]:
    """The names of the processes that have the store open; no other comes while the transaction lasts."""
    await bare.execute(f"LOCK TABLE {process.name} IN SHARE ROW EXCLUSIVE MODE")
    return [row["name"] for row in await (await bare.execute(SELECT_ALIVE)).fetchall()]


@asynccontextmanager
async def open_for_change(url: str) -> AsyncIterator[PostgresConnection]:
    """A connection with one transaction, while nobody else makes tables; they are made where there are none.

    Raises:
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as bare, bare.transaction():
        await bare.execute(_SETTINGS, prepare=False)
        await bare.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        if await read_revision(bare) is None:
            await create_tables(bare)
        await check_revision(bare)
        yield bare


@asynccontextmanager
async def _snapshot(url: str, *, alone: bool) -> AsyncIterator[PostgresConnection]:
    async with connected(url) as bare:
        await check_revision(bare)
        await bare.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        await bare.set_read_only(not alone)
        async with bare.transaction():
            await bare.execute(_SETTINGS, prepare=False)
            if alone:
                refuse_alive(await load_alive(bare))
            yield bare


async def _written_copy(bare: PostgresConnection, path: Path, way: str = "") -> MoveReport:
    source = PostgresCopySide(bare)
    try:
        with create_copy(path, await source.lease()) as target:
            moved = MoveReport(tables=await copy_tables(source, target))
            if way:
                await _append_move_act(bare, target, way, moved)
            return moved
    except BaseException:
        path.unlink(missing_ok=True)
        raise


async def _append_move_act(bare: PostgresConnection, target: CopyTarget, way: str, moved: MoveReport) -> None:
    """The move as an act, where it is proved: after the comparison, in the transaction that puts the rows in."""
    if not moved.equal:
        return
    row = await (await bare.execute(_SELECT_NOW)).fetchone()
    now = float(row["now"]) if row else 0.0
    await append_act(target.tx(now), "move", way, f"{moved.whole.rows:,} rows, sha256 {moved.whole.sha256}", ACTOR)


async def _earlier_move(bare: PostgresConnection, source: SqliteCopySide) -> MoveReport | None:
    """What an earlier run has moved, if it was this very record and nobody has opened it there since."""
    row = await (await bare.execute(_SELECT_MARK, [MOVED_ACTION])).fetchone()
    if row is None:
        return None
    held = [await digest_table(source, table) for table in TABLES]
    known = json.loads(row["told"])["rows"]
    there = [TableDigest(table=name, rows=known[name][0], sha256=known[name][1]) for name in digests_to_json(held)]
    moved = MoveReport(
        tables=tuple(TableComparison(source=one, target=two) for one, two in zip(held, there, strict=True)), before=True
    )
    return moved if moved.equal else None


async def _refuse_if_not_empty(bare: PostgresConnection) -> None:
    for table in TABLES:
        where = " WHERE seq > 0" if table is audit_head else ""
        if await (await bare.execute(f"SELECT 1 FROM {table.name}{where} LIMIT 1")).fetchone():  # noqa: S608
            raise StoreError(
                f"the database holds rows already (in {table.name}); give an empty one, made with createdb for one"
            )
