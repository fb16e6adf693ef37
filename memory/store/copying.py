"""One record copied into another, table by table, and the proof that both hold the same rows."""

import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy import Boolean, Double, Integer, Table

from memory.store import access_tables, lease_tables, memory_tables, spending_tables  # noqa: F401  tables of the record
from memory.store.columns import record
from memory.store.engine import Tx
from memory.store.errors import StoreError
from memory.store.lease_tables import duty, process
from memory.store.tables import instance, probe, stamp

Values = tuple[str | int | float | bool, ...]
"""One row, its values in the order of the table's columns."""
ITS_OWN = (instance, stamp, process, duty, probe)
"""Tables about who has a record open and which version it has: each record has its own."""
TABLES: tuple[Table, ...] = tuple(table for table in record.sorted_tables if table not in ITS_OWN)
"""What is copied, what others refer to first."""


class Reader(Protocol):
    """A record that is read as it stood at one moment."""

    def rows(self, table: Table) -> AsyncGenerator[Values, None]:
        """Every row in the order of the primary key, never all of them at once; whoever asks closes it."""
        ...

    async def lease(self) -> int:
        """The number of its newest opening."""
        ...


class Writer(Reader, Protocol):
    """A record that is being made; whoever made the writer says whether it stands."""

    async def put(self, table: Table, rows: AsyncIterator[Values]) -> None:
        """Add all of these rows."""
        ...

    def tx(self, now: float) -> Tx:
        """The transaction in which it is made, as units of work take it. now: unix seconds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What a table holds. sha256: over every value of every row, in hex."""

    table: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """One table on both sides, each read for itself."""

    source: Tally
    target: Tally

    @property
    def equal(self) -> bool:
        return self.source == self.target


@dataclass(slots=True)
class _Count:
    """Rows on their way, counted and hashed as they pass."""

    table: Table
    rows: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    async def passing(self, rows: AsyncIterator[Values]) -> AsyncGenerator[Values, None]:
        async for row in rows:
            self.rows += 1
            self.digest.update(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())
            self.digest.update(b"\n")
            yield row

    @property
    def tally(self) -> Tally:
        return Tally(table=self.table.name, rows=self.rows, sha256=self.digest.hexdigest())


async def tally(held: Reader, table: Table) -> Tally:
    """What a table of a record holds."""
    count = _Count(table)
    async with aclosing(held.rows(table)) as rows, aclosing(count.passing(rows)) as passing:
        async for _ in passing:
            pass
    return count.tally


async def copy(source: Reader, target: Writer) -> tuple[Copied, ...]:
    """Copy every table into a record whose tables are empty, then read it back.

    Raises:
        StoreError: a row cannot be read, or not be held there.
    """
    counted = []
    for table in TABLES:
        count = _Count(table)
        async with aclosing(source.rows(table)) as rows, aclosing(count.passing(rows)) as passing:
            await target.put(table, passing)
        counted.append(count.tally)
    return tuple(
        [Copied(source=held, target=await tally(target, table)) for table, held in zip(TABLES, counted, strict=True)]
    )


def plain(table: Table) -> Callable[[Sequence[Any]], Values]:
    """What makes the same values of a row, whichever database it was read from.

    It raises StoreError for a value that no column of ours holds.
    """
    kinds = [_kind(column.type) for column in table.columns]
    names = [column.name for column in table.columns]

    def made(row: Sequence[Any]) -> Values:
        values = []
        for name, kind, value in zip(names, kinds, row, strict=True):
            if type(value) is kind:
                values.append(value)
            elif type(value) is int and (kind is float or (kind is bool and value in (0, 1))):
                values.append(kind(value))
            else:
                raise StoreError(f"{table.name}.{name} holds a {type(value).__name__} where {kind.__name__} belongs")
        return tuple(values)

    return made


def _kind(type_: object) -> type[str] | type[int] | type[float] | type[bool]:
    if isinstance(type_, Boolean):
        return bool
    if isinstance(type_, Integer):
        return int
    return float if isinstance(type_, Double) else str


def whole(tallies: Sequence[Tally]) -> Tally:
    """One of all tables: their rows, and a SHA-256 over a line `table rows sha256` for each, in their order."""
    lines = "".join(f"{one.table} {one.rows} {one.sha256}\n" for one in tallies)
    return Tally(table="all", rows=sum(one.rows for one in tallies), sha256=hashlib.sha256(lines.encode()).hexdigest())


def told(tallies: Sequence[Tally]) -> Mapping[str, Sequence[str | int]]:
    """As JSON: table -> (rows, sha256)."""
    return {one.table: [one.rows, one.sha256] for one in tallies}
