"""One SQLite database in use: a writer that commits in groups, and a reader of what is committed."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate

import structlog
from sqlalchemy import select

from memory.store.connection import Connection
from memory.store.database import Bell, P, T, Work, silent
from memory.store.database_file import DatabaseFile
from memory.store.engine import Compiler, Tx, named
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreMoved
from memory.store.lane import Lane
from memory.store.tables import instance

log = structlog.get_logger(__name__)
_MOST_TOGETHER = 64
_LOG_SECONDS = 60.0  # between two log lines about one lasting trouble
_LEASE = select(instance.c.lease_epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """One caller's piece of a transaction. done: resolved after the commit, with its value or its error.

    rung: the lanes that it has put something into; breaks: see Tx.
    """

    work: Work[Any]
    rung: dict[Lane, None] = field(default_factory=dict)
    breaks: list[str] = field(default_factory=list)
    done: asyncio.Future[Any] = field(default_factory=asyncio.Future)


class SqliteDatabase:
    """See memory.store.database.Database; each unit runs in the connection's thread.

    A database that was opened for writing since then takes nothing from us any more, nor does one whose file is gone.
    """

    def __init__(
        self,
        writer: Connection | None,
        reader: Connection,
        compiler: Compiler,
        lease: int,
        clock: Callable[[], float] = time.time,
        file: DatabaseFile | None = None,
    ) -> None:
        self.lease = lease
        self.clock = clock
        self.suspect = False
        self.bell: Bell = silent
        self.breaks: Counter[str] = Counter()
        self.busy = 0
        self._reader = reader
        self._writer = writer
        self._compiler = compiler
        self._file = file
        self._logged = float("-inf")
        self._waiting: list[_Unit] = []
        self._something = asyncio.Event()
        self._closing = False
        self._serving = asyncio.create_task(self._serve(writer)) if writer else None

    async def read(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._closing:
            raise StoreError("this store is closed")
        with self._watching():
            return await self._reader.apart(self._snapshot(lambda tx: work(tx, *args, **kwargs)))

    async def write(
        self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._serving is None or self._closing:
            raise StoreError("this store is closed, or was opened for reading")
        unit = _Unit(work=lambda tx: work(tx, *args, **kwargs))
        self._waiting.append(unit)
        self._something.set()
        with self._watching():
            result: T = await unit.done
        return result

    async def compact(self) -> bool:
        """Bring the log into the file and give its free pages back."""
        if self._writer is None or self._closing:
            raise StoreError("this store is closed, or was opened for reading")
        with self._watching():
            return await self._writer.apart(_compact(self._writer))

    async def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        self._something.set()
        if self._serving:
            await self._serving
        await self._reader.close()
        if self._writer:
            await self._writer.close()

    async def _snapshot(self, work: Work[T]) -> T:
        self._reader.do("BEGIN DEFERRED")
        try:
            return await work(self._tx(self._reader))
        finally:
            if self._reader.open_transaction:
                self._reader.do("COMMIT")

    async def _serve(self, writer: Connection) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._something.clear()
                await self._something.wait()
                continue
            batch, self._waiting = self._waiting[:_MOST_TOGETHER], self._waiting[_MOST_TOGETHER:]
            outcomes = await writer.apart(self._settle(writer, batch))
            for unit, outcome in zip(batch, outcomes, strict=True):
                _resolve(unit, outcome)
                if not isinstance(outcome, BaseException):
                    self._committed(unit)

    def _committed(self, unit: _Unit) -> None:
        self.breaks.update(unit.breaks)
        if unit.rung:
            self.bell(tuple(unit.rung))

    async def _settle(self, writer: Connection, batch: list[_Unit]) -> list[Any]:
        """What became of each unit; when the transaction as a whole failed, its error for each of them."""
        outcome: Any = await _outcome(self._commit(writer, batch))
        if not isinstance(outcome, BaseException):
            return list(outcome)
        if writer.open_transaction:
            await _outcome(_roll_back(writer))
        return [outcome] * len(batch)

    async def _commit(self, writer: Connection, batch: list[_Unit]) -> list[Any]:
        writer.do("BEGIN IMMEDIATE")
        held = await self._tx(writer).one(_LEASE)
        if held is None or held["lease_epoch"] != self.lease:
            raise StoreBusy("another process has taken this database over")
        alone = len(batch) == 1
        outcomes = []
        for unit in batch:
            tx = replace(self._tx(writer), rung=unit.rung, breaks=unit.breaks)
            outcomes.append(await (unit.work(tx) if alone else _attempt(writer, tx, unit)))
        self._check_file()
        writer.do("COMMIT")
        return outcomes

    def _check_file(self) -> None:
        trouble = self._file.trouble() if self._file else ""
        if not trouble:
            return
        if time.monotonic() - self._logged >= _LOG_SECONDS:
            self._logged = time.monotonic()
            log.error("nothing is stored and no message confirmed", why=trouble)
        raise StoreMoved(trouble)

    def _tx(self, driver: Connection) -> Tx:
        return Tx(driver=driver, compiler=self._compiler, lease=self.lease, now=self.clock())

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except StoreCorrupt:
            self.suspect = True
            raise
        except StoreBusy:
            self.busy += 1
            raise


async def _compact(writer: Connection) -> bool:
    await writer.fetch("PRAGMA incremental_vacuum", [])
    [row] = await writer.fetch("PRAGMA wal_checkpoint(TRUNCATE)", [])
    return not row["busy"]


async def _attempt(writer: Connection, tx: Tx, unit: _Unit) -> Any:
    """The unit's value, or the error it ended with, in which case nothing of it is left in the transaction."""
    writer.do("SAVEPOINT unit")
    outcome = await _outcome(unit.work(tx))
    if isinstance(outcome, BaseException):
        if not writer.open_transaction:  # a full disk takes the whole transaction back by itself
            raise outcome
        writer.do("ROLLBACK TO unit")
    writer.do("RELEASE unit")
    return outcome


async def _roll_back(writer: Connection) -> None:
    writer.do("ROLLBACK")


async def _outcome(work: Coroutine[Any, Any, Any]) -> Any:
    """What it returns, or whatever it raises, as a value: an error belongs to the caller, not to the writer."""
    return (await asyncio.gather(work, return_exceptions=True))[0]


def _resolve(unit: _Unit, outcome: Any) -> None:
    if unit.done.done():  # the caller was cancelled; its work stands all the same
        return
    if isinstance(outcome, BaseException):
        error = named(outcome)
        error.__cause__ = outcome if error is not outcome else outcome.__cause__
        unit.done.set_exception(error)
    else:
        unit.done.set_result(outcome)
