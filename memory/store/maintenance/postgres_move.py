"""A PostgreSQL record as a side of a copy, read and filled by COPY within one open transaction."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import Boolean, Column, Double, Integer, String, Table, Text

from memory.failpoints import afp
from memory.store.audit import note
from memory.store.engine.database import Compiler, Tx
from memory.store.engine.postgres import ALIVE, SCHEMA_LOCK_KEY, Bare, Driver, connected, named, refuse
from memory.store.errors import StoreError
from memory.store.maintenance.copy import (
    TABLES,
    Copied,
    SqliteSide,
    Tally,
    Values,
    Writer,
    copy,
    making,
    plain,
    reading,
    tally,
    told,
    whole,
)
from memory.store.schema.postgres import SCHEMA as INDEX
from memory.store.schema.postgres import create, dialect, must_be_ours, version
from memory.store.schema.tables import NOW, audit_head, duty, inbox, instance, process

_TYPES = ((Boolean, "bool"), (Integer, "int4"), (Double, "float8"), (Text, "text"), (String, "varchar"))
_MOST = 2**31
_OUT = sql.SQL("COPY (SELECT {columns} FROM {table} ORDER BY {keys}) TO STDOUT (FORMAT BINARY)")
_IN = sql.SQL("COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)")


class PostgresSide:
    """See memory.store.maintenance.copy.Writer."""

    def __init__(self, bare: Bare) -> None:
        self._bare = bare

    async def rows(self, table: Table) -> AsyncGenerator[Values, None]:
        wanted = _OUT.format(
            columns=_names(table.columns), table=sql.Identifier(table.name), keys=_names(table.primary_key.columns)
        )
        made = plain(table)
        try:
            async with self._bare.cursor().copy(wanted) as out:
                out.set_types(_types(table))
                async for row in out.rows():
                    yield made(row)
        except psycopg.Error as err:
            raise named(err) from err

    async def lease(self) -> int:
        try:
            row = await (await self._bare.execute(f"SELECT lease_epoch FROM {instance.name}")).fetchone()  # noqa: S608
        except psycopg.Error as err:
            raise named(err) from err
        return int(row["lease_epoch"]) if row else 0

    async def put(self, table: Table, rows: AsyncIterator[Values]) -> None:
        wanted = _IN.format(columns=_names(table.columns), table=sql.Identifier(table.name))
        fits = _fitting(table)
        try:
            async with self._bare.cursor().copy(wanted) as into:
                into.set_types(_types(table))
                async for row in rows:
                    fits(row)
                    await into.write_row(row)
        except psycopg.Error as err:
            raise StoreError(f"{table.name} cannot be filled: {named(err)}") from err

    def tx(self, now: float) -> Tx:
        return Tx(driver=Driver(self._bare), compiler=Compiler(dialect()), lease=0, now=now)


def _fitting(table: Table) -> Callable[[Values], None]:
    """What refuses, with its column's name, a value that PostgreSQL has no place for."""
    names = [column.name for column in table.columns]

    def check(row: Values) -> None:
        for name, value in zip(names, row, strict=True):
            if isinstance(value, str) and "\0" in value:
                raise StoreError(f"{table.name}.{name} holds a NUL character, which PostgreSQL cannot keep")
            if isinstance(value, int) and not -_MOST <= value < _MOST:
                raise StoreError(f"{table.name}.{name} holds {value}, which is more than PostgreSQL's column takes")

    return check


def _types(table: Table) -> list[str]:
    return [next(name for kind, name in _TYPES if isinstance(column.type, kind)) for column in table.columns]


def _names(columns: "object") -> sql.Composed:
    held: list[Column[object]] = list(columns)  # type: ignore[call-overload]
    return sql.SQL(", ").join(sql.Identifier(column.name) for column in held)


# A whole record into PostgreSQL, and out of it: one transaction each, so that a kill leaves all of it or nothing.

MOVED = "moved here"
"""The name of the opening that stands for whoever had the record last, wherever that was."""
IN, OUT = "sqlite to postgresql", "postgresql to sqlite"
BY = "command line"
_CLOCK = f"SELECT {NOW} AS now"
_SETTINGS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
_MARK = f"SELECT told FROM {process.name} WHERE name = %s"  # noqa: S608  our own name
_NOTHING_YET = f"DELETE FROM {audit_head.name}"  # noqa: S608
_NOBODY = f"DELETE FROM {process.name}; DELETE FROM {duty.name}"  # noqa: S608
_LEASE = f"UPDATE {instance.name} SET lease_epoch = %s, clean = true"  # noqa: S608
_JOIN = f"INSERT INTO {process.name} (lease, name, until, told) VALUES (%s, %s, 0, %s)"  # noqa: S608
_EMPTY = f"TRUNCATE {', '.join(table.name for table in TABLES)}"
_NO_JOBS = """
DO $$ BEGIN IF to_regclass('procrastinate_jobs') IS NOT NULL THEN
EXECUTE 'TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE'; END IF; END $$
"""
_NO_INDEX = f"DROP SCHEMA IF EXISTS {INDEX} CASCADE"
_LEAVE_MARK = sql.SQL(f"COMMENT ON TABLE {instance.name} IS {{}}")  # of the tables, and so no row that anybody changes
_MARKED = f"SELECT obj_description(to_regclass('{instance.name}')) AS mark"
_OUT_OF_HURRY = f"UPDATE {inbox.name} SET urgent = false WHERE state = 'new' AND urgent"  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A record that was copied, table by table. before: an earlier run had done it, and nobody has opened it since."""

    tables: tuple[Copied, ...]
    before: bool = False

    @property
    def equal(self) -> bool:
        return all(table.equal for table in self.tables)

    @property
    def whole(self) -> Tally:
        """What was copied, as one."""
        return whole([table.source for table in self.tables])


async def move_in(path: Path, url: str) -> Moved:
    """Copy a SQLite record into a database that holds none, or only empty tables. The file is not changed.

    Whoever calls makes sure that nobody has the file open. Where the two sides differ in the end nothing stands; where
    they do not, the move is the next act of the chain there.

    Raises:
        StoreError: it was not done, and why; nothing was changed.
    """
    with reading(path) as source:
        async with changing(url) as bare:
            refuse(await alive(bare))
            if earlier := await _moved_before(bare, source):
                return earlier
            await _refuse_rows(bare)
            moved = Moved(tables=await _fill(bare, source))
            await _note(bare, PostgresSide(bare), IN, moved)
            await afp("move.copied")
            if not moved.equal:
                raise psycopg.Rollback
        if moved.equal:
            await afp("move.committed")
    return moved


async def move_out(url: str, path: Path) -> Moved:
    """Copy a record that no process has open into a new SQLite file, which is not yet in use; its chain has the move.

    Raises:
        StoreError: as above; there is no file then.
    """
    async with _snapshot(url, alone=True) as bare:
        return await _written(bare, path, OUT)


async def copy_out(url: str, path: Path) -> Moved:
    """The same of one moment of a record that processes work on; none of them waits, and no act is added.

    Raises:
        StoreError: as above.
    """
    async with _snapshot(url, alone=False) as bare:
        return await _written(bare, path)


async def replace(path: Path, url: str, mark: str) -> None:
    """Put a SQLite record in the place of the one that a database holds, recall's index and waiting jobs with it.

    Args:
        mark: what `replaced` is asked with; no other call has it.

    Raises:
        StoreBusy: a process is at work on it.
        StoreError: it was not done, or, where the connection broke, nobody knows but `replaced`.
    """
    with reading(path) as source:
        async with changing(url) as bare:
            refuse(await alive(bare))
            await bare.execute(_EMPTY)
            await bare.execute(_NO_JOBS, prepare=False)
            await bare.execute(_NO_INDEX)
            copied = await _fill(bare, source)
            if wrong := [table.source.table for table in copied if not table.equal]:
                raise StoreError(f"the database does not hold what was put into it ({', '.join(wrong)})")
            await bare.execute(_LEAVE_MARK.format(sql.Literal(mark)))
            await afp("restore.loaded")


async def replaced(url: str, mark: str) -> bool:
    """Whether `replace` with that mark was the newest one, and is in the record; waits for one that still goes on.

    Raises:
        StoreError: the server cannot be asked.
    """
    async with connected(url) as bare, bare.transaction():
        await bare.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        row = await (await bare.execute(_MARKED)).fetchone()
        return row is not None and row["mark"] == mark


async def refuse_at_work(url: str) -> None:
    """Go on only where nobody is at work on the record now, or where there is none.

    Raises:
        StoreBusy: somebody is.
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as bare, bare.transaction():
        if await version(bare) is not None:
            await must_be_ours(bare)
            refuse(await alive(bare))


async def has_tables(url: str) -> bool:
    """Whether the database has a record of this version.

    Raises:
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as bare:
        if await version(bare) is None:
            return False
        await must_be_ours(bare)
        return True


async def _fill(bare: Bare, source: SqliteSide) -> tuple[Copied, ...]:
    """Copy everything into empty tables, in the connection's open transaction.

    What is begun and not ended is looked after by the first process that opens the record: it finds the opening that is
    left here dead, as it would after a kill.
    """
    lease = max(await source.lease(), await PostgresSide(bare).lease())
    await bare.execute(_NOTHING_YET)
    await bare.execute(_NOBODY)
    copied = await copy(source, PostgresSide(bare))
    await bare.execute(_LEASE, [lease])
    await bare.execute(_OUT_OF_HURRY)  # there is no job beside the lane for it
    await bare.execute(_JOIN, [lease, MOVED, json.dumps({"rows": told([one.source for one in copied])})])
    return copied


async def alive(bare: Bare) -> list[str]:
    """The names of the processes that have the record open; no other comes while the transaction lasts."""
    await bare.execute(f"LOCK TABLE {process.name} IN SHARE ROW EXCLUSIVE MODE")
    return [row["name"] for row in await (await bare.execute(ALIVE)).fetchall()]


@asynccontextmanager
async def changing(url: str) -> AsyncIterator[Bare]:
    """A connection with one transaction, while nobody else makes tables; they are made where there are none.

    Raises:
        StoreError: the server cannot be used, or has the tables of another version or program.
    """
    async with connected(url) as bare, bare.transaction():
        await bare.execute(_SETTINGS, prepare=False)
        await bare.execute("SELECT pg_advisory_xact_lock(%s)", [SCHEMA_LOCK_KEY])
        if await version(bare) is None:
            await create(bare)
        await must_be_ours(bare)
        yield bare


@asynccontextmanager
async def _snapshot(url: str, *, alone: bool) -> AsyncIterator[Bare]:
    async with connected(url) as bare:
        await must_be_ours(bare)
        await bare.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        await bare.set_read_only(not alone)
        async with bare.transaction():
            await bare.execute(_SETTINGS, prepare=False)
            if alone:
                refuse(await alive(bare))
            yield bare


async def _written(bare: Bare, path: Path, way: str = "") -> Moved:
    source = PostgresSide(bare)
    try:
        with making(path, await source.lease()) as target:
            moved = Moved(tables=await copy(source, target))
            if way:
                await _note(bare, target, way, moved)
            return moved
    except BaseException:
        path.unlink(missing_ok=True)
        raise


async def _note(bare: Bare, target: Writer, way: str, moved: Moved) -> None:
    """The move as an act, where it is proved: after the comparison, in the transaction that puts the rows in."""
    if not moved.equal:
        return
    row = await (await bare.execute(_CLOCK)).fetchone()
    now = float(row["now"]) if row else 0.0
    await note(target.tx(now), "move", way, f"{moved.whole.rows:,} rows, sha256 {moved.whole.sha256}", BY)


async def _moved_before(bare: Bare, source: SqliteSide) -> Moved | None:
    """What an earlier run has moved, if it was this very record and nobody has opened it there since."""
    row = await (await bare.execute(_MARK, [MOVED])).fetchone()
    if row is None:
        return None
    held = [await tally(source, table) for table in TABLES]
    known = json.loads(row["told"])["rows"]
    there = [Tally(table=name, rows=known[name][0], sha256=known[name][1]) for name in told(held)]
    moved = Moved(
        tables=tuple(Copied(source=one, target=two) for one, two in zip(held, there, strict=True)), before=True
    )
    return moved if moved.equal else None


async def _refuse_rows(bare: Bare) -> None:
    for table in TABLES:
        where = " WHERE seq > 0" if table is audit_head else ""
        if await (await bare.execute(f"SELECT 1 FROM {table.name}{where} LIMIT 1")).fetchone():  # noqa: S608
            raise StoreError(
                f"the database holds rows already (in {table.name}); give an empty one, made with createdb for one"
            )
