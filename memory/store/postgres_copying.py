"""A PostgreSQL record as a side of a copy, read and filled by COPY within one open transaction."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable

import psycopg
from psycopg import sql
from sqlalchemy import Boolean, Column, Double, Integer, String, Table, Text

from memory.store.copying import Values, plain
from memory.store.engine import Compiler, Tx
from memory.store.errors import StoreError
from memory.store.postgres import Bare, Driver
from memory.store.postgres_errors import named
from memory.store.postgres_schema import dialect
from memory.store.tables import instance

_TYPES = ((Boolean, "bool"), (Integer, "int4"), (Double, "float8"), (Text, "text"), (String, "varchar"))
_MOST = 2**31
_OUT = sql.SQL("COPY (SELECT {columns} FROM {table} ORDER BY {keys}) TO STDOUT (FORMAT BINARY)")
_IN = sql.SQL("COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)")


class PostgresSide:
    """See memory.store.copying.Writer."""

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
