"""Statements compiled once per dialect, and the transaction that runs them on a bare driver."""

import errno
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from sqlalchemy import ClauseElement, Select, Table, Update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect

from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, WrongState

# The lanes that rows of the store wait in: whoever puts a row in rings the lane's bell in the same transaction.

# What comes in, what overtakes it, what goes out, and finished turns that are to be read for lasting facts.
QueueKind = Literal["turn", "urgent", "out", "facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueKey:
    """One lane in which something is to be done."""

    kind: QueueKind
    #: A conversation; of "urgent" an inbox row, of "facts" a space.
    id: str
    #: Whose wire an "out" lane needs.
    channel: str = ""
    #: Unix seconds before which there is nothing to do, 0.0 for at once.
    due: float = 0.0


Row = Mapping[str, Any]
Asks = TypeVar("Asks", bound=Callable[..., Any])
_SINGLE_QUERIES: set[Callable[..., Any]] = set()
MIN_SQLITE_WITH_RETURNING = (3, 35)  # the first SQLite whose UPDATE knows RETURNING; some that are still in use do not
_DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_INSERT_OF_DIALECT: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_ERROR_OF_SQLITE_CODE: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_LOCKED: StoreBusy,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_IOERR: StoreFull,
    sqlite3.SQLITE_CORRUPT: StoreCorrupt,
    sqlite3.SQLITE_NOTADB: StoreCorrupt,
    sqlite3.SQLITE_CONSTRAINT: WrongState,
}


@dataclass(frozen=True, slots=True, eq=False)
class InsertIfAbsent:
    """An insert that leaves alone what is there already under one of the table's keys."""

    table: Table


Statement = ClauseElement | InsertIfAbsent


@dataclass(frozen=True, slots=True, eq=False)
class UpdateReturning:
    """A change of one row that tells what became of it: in one statement, or in two where a database cannot.

    look: asks the same columns of the row named by `row`.
    """

    bare: Update
    returning: ClauseElement
    select_after: Select[Any]


def update_returning(change: Update, *columns: Any, select_after: Select[Any]) -> UpdateReturning:
    """That change, telling these columns."""
    return UpdateReturning(change, change.returning(*columns), select_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledStatement:
    """A compiled statement."""

    sql: str
    #: Of its parameters by position.
    names: tuple[str, ...]
    #: Values of those that nobody passes.
    fixed: Mapping[str, Any]

    def parameters(self, values: Mapping[str, Any]) -> list[Any]:
        """The values by position.

        Raises:
            KeyError: a parameter without a value.
            TypeError: a value without a parameter.
        """
        if stray := values.keys() - set(self.names):
            raise TypeError(f"not in this statement: {', '.join(sorted(stray))}")
        return [values[name] if name in values else self.fixed[name] for name in self.names]


class StatementCompiler:
    """Compiles each statement once for one dialect. returns: whether a change may tell what became of its rows."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.returns = dialect.name != "sqlite" or sqlite3.sqlite_version_info >= MIN_SQLITE_WITH_RETURNING
        self._ready: dict[Statement, CompiledStatement] = {}

    def __call__(self, statement: Statement) -> CompiledStatement:
        ready = self._ready.get(statement)
        if ready is None:
            ready = self._ready[statement] = self._compile(statement)
        return ready

    def _compile(self, statement: Statement) -> CompiledStatement:
        if isinstance(statement, InsertIfAbsent):
            inner: ClauseElement = _INSERT_OF_DIALECT[self.dialect.name](statement.table).on_conflict_do_nothing()
        else:
            inner = statement
        compiled: Any = inner.compile(dialect=self.dialect)
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        return CompiledStatement(
            sql=compiled.string, names=tuple(compiled.positiontup), fixed=_column_defaults(inner) | fixed
        )


def _column_defaults(statement: ClauseElement) -> dict[str, Any]:
    table = getattr(statement, "table", None) if getattr(statement, "is_insert", False) else None
    columns = table.columns if isinstance(table, Table) else ()
    return {column.key: column.default.arg for column in columns if column.default is not None}


class Driver(Protocol):
    """A connection of a bare async driver, as far as a transaction needs it."""

    async def change(self, sql: str, parameters: list[Any]) -> int:
        """Run it; return how many rows it touched."""
        ...

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        """Run it; return its rows."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tx:
    """One open transaction."""

    driver: Driver
    compiler: StatementCompiler
    #: Ours, what the rows we hold are marked with.
    lease: int
    #: Unix seconds when it began. rung: lanes in which there is something to do once it is committed, in order.
    now: float
    notified: dict[QueueKey, None] = field(default_factory=dict)
    #: Why prefixes change with it, a reason for each change.
    breaks: list[str] = field(default_factory=list)

    def notify(self, lane: QueueKey) -> None:
        """Something was put into this lane."""
        self.notified[lane] = None

    async def run(self, statement: Statement, **values: Any) -> int:
        """Change rows; return how many."""
        ready = self.compiler(statement)
        return await self.driver.change(ready.sql, ready.parameters(values))

    async def told(self, change: UpdateReturning, **values: Any) -> Row | None:
        """Change one row; returns what is told of it then, None where none was changed."""
        if self.compiler.returns:
            return await self.one(change.returning, **values)
        if not await self.run(change.bare, **values):
            return None
        return await self.one(change.select_after, row=values["row"])

    async def all(self, statement: Statement, **values: Any) -> list[Row]:
        """All rows of a query."""
        ready = self.compiler(statement)
        return await self.driver.fetch(ready.sql, ready.parameters(values))

    async def one(self, statement: Statement, **values: Any) -> Row | None:
        """The first row of a query, None when there is none."""
        rows = await self.all(statement, **values)
        return rows[0] if rows else None


def single_query(work: Asks) -> Asks:
    """Marks a unit of work that asks one question and changes nothing: its answer needs no snapshot around it."""
    _SINGLE_QUERIES.add(work)
    return work


def is_single_query(work: Callable[..., Any]) -> bool:
    """Whether it was marked so."""
    return work in _SINGLE_QUERIES


def to_store_error(err: BaseException) -> BaseException:
    """What a database's or disk's error is called in this house; any other error is returned as it is."""
    if isinstance(err, sqlite3.Error):
        code = getattr(err, "sqlite_errorcode", 0) & 0xFF
        kind = _ERROR_OF_SQLITE_CODE.get(code, StoreCorrupt if "image is malformed" in str(err) else StoreError)
        return kind(str(err))
    if isinstance(err, OSError):
        return (StoreFull if err.errno in _DISK_FULL_ERRNOS else StoreError)(str(err))
    return err


# The database's clock as one process knows it: what all that share a record go by, whatever their own clocks say.


class DatabaseClock:
    """Unix seconds by the clock of the database.

    Between two answers it goes on by the machine's monotonic clock, so that nobody who sets the machine's time sets
    this. What the database said lies between the question and its answer: the clock is moved no further than it must be
    for that to be true, and a slow answer moves it by nothing. ticks: seconds that never go back.
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._ahead: float | None = None

    def __call__(self) -> float:
        """The time; by the machine's own clock as long as nothing was heard."""
        return time.time() if self._ahead is None else self._ticks() + self._ahead

    def sent_at(self) -> float:
        """To be noted just before the database is asked for its time."""
        return self._ticks()

    def set_server_time(self, theirs: float, sent_at: float) -> None:
        """Take the database's answer, now that it has come. asked: see there."""
        least, most = theirs - self._ticks(), theirs - sent_at
        self._ahead = (least + most) / 2 if self._ahead is None else min(max(self._ahead, least), most)


# The seam between the store's doors and a backend: units of work, each in a transaction of its own.

T = TypeVar("T")
P = ParamSpec("P")
UnitOfWork = Callable[[Tx], Coroutine[Any, Any, T]]
OnCommit = Callable[[Sequence[QueueKey]], None]  # told, after a commit, in which lanes there is something to do now


class Database(Protocol):
    """Runs units of work: functions whose first argument is the transaction, which may be run more than once."""

    #: This opening's number, what the rows it holds are marked with.
    lease: int
    #: Unix seconds, where several processes have the store by the clock of the database. suspect: the database was
    #: found damaged while in use. bell: where the engine of the lanes is not itself in the database.
    clock: Callable[[], float]
    is_damaged: bool
    on_commit: OnCommit
    #: Changes of prefixes that were committed here, by reason.
    breaks: Counter[str]
    #: How often a unit was given up because others were in its way.
    busy: int

    async def read(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run queries on one snapshot of what is committed."""
        ...

    async def write(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a unit of work; returns after the commit that holds it. A cancelled caller's unit is still done.

        Raises:
            StoreError: nothing of this unit is in the store.
        """
        ...

    async def compact(self) -> bool:
        """Leave no byte of what was deleted where this program can reach; False when somebody was in the way."""
        ...

    async def close(self) -> None:
        """Finish what waits, then let go of the database."""
        ...


def ignore_commit(lanes: Sequence[QueueKey]) -> None:
    """The bell of a record whose lanes nobody runs here."""
