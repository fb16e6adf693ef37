"""Queue keys, compiled statements, transactions, and repositories whose methods are units of
work.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Protocol, Self, TypeVar, overload

from sqlalchemy import ClauseElement, Insert, Select, Table, Update, insert
from sqlalchemy.engine import Dialect

from memory.failpoints import hit_async

# Received messages, commands that overtake them, parts to send, and finished turns to extract facts
# from.
QueueKind = Literal["turn", "urgent", "out", "facts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueKey:
    """One queue that has work.

    A transaction that adds work names the queue, and its commit notifies the worker.
    """

    kind: QueueKind
    #: A conversation; of "urgent" an inbox row, of "facts" a space.
    id: str
    #: The channel that sends, of "out" only.
    channel: str = ""
    #: Unix seconds before which there is nothing to do, 0.0 for at once.
    due: float = 0.0


T = TypeVar("T")
P = ParamSpec("P")
Row = Mapping[str, Any]
Work = TypeVar("Work", bound=Callable[..., Any])
_LIGHT_UNITS: set[Callable[..., Any]] = set()
_SOFT_UNITS: set[Callable[..., Any]] = set()
MIN_SQLITE_WITH_RETURNING = (3, 35)  # older ones, some still in use, have no UPDATE … RETURNING


@dataclass(frozen=True, slots=True, eq=False)
class InsertIfAbsent:
    """An INSERT that changes nothing where a row has one of the new row's unique keys."""

    table: Table


Statement = ClauseElement | InsertIfAbsent


@dataclass(frozen=True, slots=True, eq=False)
class UpdateReturning:
    """UPDATE … RETURNING of one row, or UPDATE and then SELECT where the database has no
    RETURNING.
    """

    update: Update
    returning: ClauseElement
    #: Selects the same columns of the row that has the id `:id`.
    select_after: Select[Any]


def update_returning(change: Update, *columns: Any, select_after: Select[Any]) -> UpdateReturning:
    """Make an UPDATE of the row with the id `:id` return these columns."""
    return UpdateReturning(change, change.returning(*columns), select_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledStatement:
    """A statement as SQL of one dialect."""

    sql: str
    #: Names of its parameters, by position.
    names: tuple[str, ...]
    #: Values of parameters that a caller may leave out.
    fixed: Mapping[str, Any]
    #: The names as a set.
    known: frozenset[str]

    def parameters(self, values: Mapping[str, Any]) -> list[Any]:
        """Order the values by position.

        Raises:
            KeyError: a parameter without a value.
            TypeError: a value without a parameter.
        """
        if not self.known.issuperset(values):
            raise TypeError(
                f"not in this statement: {', '.join(sorted(values.keys() - self.known))}"
            )
        given = {**self.fixed, **values} if self.fixed else values
        return [given[name] for name in self.names]


class StatementCompiler:
    """Compiles each statement once for one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.has_returning = (
            dialect.name != "sqlite" or sqlite3.sqlite_version_info >= MIN_SQLITE_WITH_RETURNING
        )
        self._compiled: dict[Statement, CompiledStatement] = {}

    def __call__(self, statement: Statement) -> CompiledStatement:
        compiled = self._compiled.get(statement)
        if compiled is None:
            compiled = self._compiled[statement] = self._compile(statement)
        return compiled

    def _compile(self, statement: Statement) -> CompiledStatement:
        if isinstance(statement, InsertIfAbsent):
            # by name: PostgreSQL's dialect takes 3 MB, and with SQLite it is not needed
            own = import_module(f"sqlalchemy.dialects.{self.dialect.name}")
            inner: ClauseElement = own.insert(statement.table).on_conflict_do_nothing()
        else:
            inner = statement
        compiled: Any = inner.compile(dialect=self.dialect)
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        names = tuple(compiled.positiontup)
        return CompiledStatement(
            sql=compiled.string,
            names=names,
            fixed=_column_defaults(inner) | fixed,
            known=frozenset(names),
        )


def _column_defaults(statement: ClauseElement) -> dict[str, Any]:
    table = getattr(statement, "table", None) if getattr(statement, "is_insert", False) else None
    columns = table.columns if isinstance(table, Table) else ()
    return {column.key: column.default.arg for column in columns if column.default is not None}


@cache
def insert_into(table: Table) -> Insert:
    """Return the INSERT of one row; columns that are not named get their defaults."""
    return insert(table)  # one object per table, so that it is compiled once


@dataclass(frozen=True, slots=True)
class Result:
    """What a statement has returned."""

    rows: list[Row]
    #: How many rows were changed.
    rowcount: int

    def all(self) -> list[Row]:
        """Return all rows of a query."""
        return self.rows

    def first(self) -> Row | None:
        """Return the first row of a query, None when there is none."""
        return self.rows[0] if self.rows else None

    def count(self) -> int:
        """Return the column `count` of a query with one row."""
        [row] = self.rows
        return int(row["count"])


class Driver(Protocol):
    """A connection of a database driver, as far as a transaction needs it."""

    async def run(self, sql: str, parameters: list[Any]) -> Result:
        """Run a statement."""
        ...


UnitOfWork = Callable[["Tx"], Coroutine[Any, Any, T]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tx:
    """One open transaction."""

    driver: Driver
    compiler: StatementCompiler
    #: Lease of this process, stored in the rows it works on.
    lease: int
    #: Unix seconds when it began.
    now: float
    #: Queues that have work once it is committed, in order.
    notified: dict[QueueKey, None] = field(default_factory=dict)
    #: Reasons of the prompt prefixes that change with it, one for each change.
    breaks: list[str] = field(default_factory=list)
    #: The (space, conversation) whose messages it adds or removes.
    changed: set[tuple[str, str]] = field(default_factory=set)

    def notify(self, queue: QueueKey) -> None:
        """Note that this queue has work once the transaction is committed."""
        self.notified[queue] = None

    async def execute(self, statement: Statement | UpdateReturning, **values: Any) -> Result:
        """Run a statement.

        Args:
            values: of its parameters; columns of an INSERT that are not named get their defaults.
        """
        if isinstance(statement, UpdateReturning):
            if not self.compiler.has_returning:
                changed = await self.execute(statement.update, **values)
                return (
                    await self.execute(statement.select_after, id=values["id"])
                    if changed.rowcount
                    else changed
                )
            statement = statement.returning
        compiled = self.compiler(statement)
        return await self.driver.run(compiled.sql, compiled.parameters(values))


def light(work: Work) -> Work:
    """Mark a unit of work whose every statement finds few rows by an index, however much is stored.

    SQLite runs it on the event loop's thread: it takes 10 to 300 µs there, and a hop to a thread
    and back about 100.
    """
    _LIGHT_UNITS.add(work)
    return work


def is_light(work: Callable[..., Any]) -> bool:
    """Return whether a unit of work is marked as light."""
    return work in _LIGHT_UNITS


def soft(work: Work) -> Work:
    """Mark a unit of work that a power cut within SOFT_SECONDS may undo, which recovery then does
    again.

    A killed process loses nothing of it. Every later commit that is not soft makes it durable at
    once. On a server, which may fail alone and lose what this process still believes, it is durable
    at its commit.
    """
    _SOFT_UNITS.add(work)
    return work


def is_soft(work: Callable[..., Any]) -> bool:
    """Return whether the commit of a unit of work is marked as soft."""
    return work in _SOFT_UNITS


class DatabaseClock:
    """Unix seconds by the database's clock, the same for all processes that share the store.

    Between two server times it advances by the machine's monotonic clock, so setting the machine's
    time does not move it. A server time was taken somewhere between request and response; the clock
    moves only as far as that requires, so a slow response does not move it at all.
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        """Start without a server time.

        Args:
            ticks: seconds that never go back.
        """
        self._ticks = ticks
        self._ahead: float | None = None

    def __call__(self) -> float:
        """Return the time; by the machine's clock until there is a server time."""
        return time.time() if self._ahead is None else self._ticks() + self._ahead

    def sent_at(self) -> float:
        """Return the value for `set_server_time`; call it just before the query."""
        return self._ticks()

    def set_server_time(self, server_time: float, sent_at: float) -> None:
        """Take the database's time as soon as its response is there.

        Args:
            server_time: unix seconds.
            sent_at: what `sent_at` returned before the request.
        """
        least, most = server_time - self._ticks(), server_time - sent_at
        self._ahead = (
            (least + most) / 2 if self._ahead is None else min(max(self._ahead, least), most)
        )


# called after a commit with the queues that have work now
OnCommit = Callable[[Sequence[QueueKey]], None]
ChangedConversations = Collection[tuple[str, str]]  # (space, conversation)


class Outcome:
    """The result of work, or its exception as a value: it belongs to the caller of a unit, not to
    the writer.
    """

    def __init__(self) -> None:
        self.result: Any = None
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        self.error = error if isinstance(error, Exception) else None
        return self.error is not None


class MessageChanges:
    """Reports, after the commit, the conversations whose messages were added or removed."""

    def __init__(self, *, is_complete: bool) -> None:
        #: Whether every change is reported: no other process writes.
        self.is_complete = is_complete
        self._listeners: list[Callable[[ChangedConversations], None]] = []

    def subscribe(self, listener: Callable[[ChangedConversations], None]) -> Callable[[], None]:
        """Call `listener` in the event loop from now on; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def report(self, changed: ChangedConversations) -> None:
        """Call the listeners."""
        if changed:
            for listener in self._listeners:
                listener(changed)


class Database(Protocol):
    """Runs units of work: functions whose first argument is the transaction, which may be run more
    than once.
    """

    #: Number of this opening of the database, stored in the rows that this process works on.
    lease: int
    #: Unix seconds; by the database's clock where several processes share the store.
    clock: Callable[[], float]
    #: Whether the database was found damaged while it was in use.
    is_damaged: bool
    #: Not called where the commit itself queues the work in the database.
    on_commit: OnCommit
    #: Committed changes of prompt prefixes, by reason.
    breaks: Counter[str]
    changes: MessageChanges
    #: Units that failed with StoreBusy.
    busy: int

    @property
    def changed_rows(self) -> int:
        """How many rows this process has changed in its file, those of undone transactions too; 0
        on a server.
        """
        ...

    async def read(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run queries on one snapshot of what is committed."""
        ...

    async def write(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a unit of work and return after its commit.

        It is completed even when the caller is cancelled.

        Raises:
            StoreError: nothing of this unit is stored.
        """
        ...

    async def compact(self) -> bool:
        """Remove the bytes of deleted rows from the files; False when another connection prevented
        it.
        """
        ...

    async def close(self) -> None:
        """Finish the waiting units, then close the connections."""
        ...


def ignore_commit(queues: Sequence[QueueKey]) -> None:
    """The OnCommit of a store whose queues have no worker in this process."""


class Repository:
    """Base of all repositories: one database, and methods made by `read` and `write`."""

    def __init__(self, database: Database) -> None:
        self._database = database


class UnitMethod(Generic[P, T]):
    """A unit of work as a method of a repository: same parameters without the transaction, same
    result.
    """

    def __init__(
        self,
        work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]],
        *,
        writes: bool,
        committed: str = "",
    ) -> None:
        self._work = work
        self._writes = writes
        self._committed = committed
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Repository]) -> Self: ...

    @overload
    def __get__(
        self, instance: Repository, owner: type[Repository]
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(
        self, instance: Repository | None, owner: type[Repository]
    ) -> Self | Callable[P, Coroutine[Any, Any, T]]:
        if instance is None:
            return self
        database = instance._database
        if self._committed:
            return partial(self._write_and_hit, database)
        return partial(database.write if self._writes else database.read, self._work)

    async def _write_and_hit(self, database: Database, /, *args: P.args, **kwargs: P.kwargs) -> T:
        result = await database.write(self._work, *args, **kwargs)
        await hit_async(self._committed)
        return result


def read(work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]]) -> UnitMethod[P, T]:
    """Make a method that runs `work` on one snapshot of what is committed."""
    return UnitMethod(work, writes=False)


def write(
    work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *, committed: str = ""
) -> UnitMethod[P, T]:
    """Make a method that runs `work` as one transaction and returns after the commit.

    Args:
        committed: name of the failpoint to pass after the commit, "" for none.
    """
    return UnitMethod(work, writes=True, committed=committed)
