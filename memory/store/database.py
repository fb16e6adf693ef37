"""One SQLite database in use: a writer that commits in groups, and a reader of what is committed."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import select

from memory.store.connection import Connection
from memory.store.engine import Compiler, Tx, named
from memory.store.errors import StoreBusy, StoreCorrupt, StoreError
from memory.store.tables import instance

T = TypeVar("T")
P = ParamSpec("P")
_MOST_TOGETHER = 64
_LEASE = select(instance.c.lease_epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """One caller's piece of a transaction. done: resolved after the commit, with its value or its error."""

    work: Callable[[Tx], Awaitable[Any]]
    done: asyncio.Future[Any] = field(default_factory=asyncio.Future)


class Database:
    """Runs units of work: functions whose first argument is the transaction.

    lease: this opening's number; a database that was opened for writing since then takes nothing from us any more.
    clock: unix seconds. suspect: the file was found damaged while in use.
    """

    def __init__(
        self,
        writer: Connection | None,
        reader: Connection,
        compiler: Compiler,
        lease: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.lease = lease
        self.clock = clock
        self.suspect = False
        self._reader = reader
        self._writer = writer
        self._compiler = compiler
        self._reading = asyncio.Lock()
        self._waiting: list[_Unit] = []
        self._something = asyncio.Event()
        self._closing = False
        self._serving = asyncio.create_task(self._serve(writer)) if writer else None

    async def read(self, work: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run queries on one snapshot of what is committed. A cancelled caller leaves no transaction open."""
        with self._watching():
            return await asyncio.shield(self._snapshot(partial(_call, work, args, kwargs)))

    async def write(self, work: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit of work; returns after the commit that holds it. A cancelled caller's unit is still done.

        Raises:
            StoreError: nothing of this unit is in the record.
        """
        if self._serving is None or self._closing:
            raise StoreError("this store is closed, or was opened for reading")
        unit = _Unit(work=partial(_call, work, args, kwargs))
        self._waiting.append(unit)
        self._something.set()
        with self._watching():
            result: T = await unit.done
        return result

    async def close(self) -> None:
        """Finish what waits, then let go of both connections."""
        if self._closing:
            return
        self._closing = True
        self._something.set()
        if self._serving:
            await self._serving
        async with self._reading:
            await self._reader.close()
        if self._writer:
            await self._writer.close()

    async def _snapshot(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        async with self._reading:
            await self._reader.do("BEGIN DEFERRED")
            try:
                return await work(self._tx(self._reader))
            finally:
                if self._reader.open_transaction:
                    await self._reader.do("COMMIT")

    def _tx(self, driver: Connection) -> Tx:
        return Tx(driver=driver, compiler=self._compiler, lease=self.lease, now=self.clock())

    async def _serve(self, writer: Connection) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._something.clear()
                await self._something.wait()
                continue
            batch, self._waiting = self._waiting[:_MOST_TOGETHER], self._waiting[_MOST_TOGETHER:]
            [failed] = await asyncio.gather(self._commit(writer, batch), return_exceptions=True)
            if failed is not None:
                await asyncio.gather(self._undo(writer), return_exceptions=True)
                for unit in batch:
                    _resolve(unit, failed)

    async def _commit(self, writer: Connection, batch: list[_Unit]) -> None:
        await writer.do("BEGIN IMMEDIATE")
        tx = self._tx(writer)
        held = await tx.one(_LEASE)
        if held is None or held["lease_epoch"] != self.lease:
            raise StoreBusy("another process has taken this database over")
        alone = len(batch) == 1
        outcomes = [await (unit.work(tx) if alone else self._attempt(writer, tx, unit)) for unit in batch]
        await writer.do("COMMIT")
        for unit, outcome in zip(batch, outcomes, strict=True):
            _resolve(unit, outcome)

    async def _attempt(self, writer: Connection, tx: Tx, unit: _Unit) -> Any:
        """The unit's value, or the error it ended with, in which case nothing of it is left in the transaction."""
        await writer.do("SAVEPOINT unit")
        outcome: Any = (await asyncio.gather(unit.work(tx), return_exceptions=True))[0]
        if isinstance(outcome, BaseException):
            if not writer.open_transaction:  # a full disk takes the whole transaction back by itself
                raise outcome
            await writer.do("ROLLBACK TO unit")
        await writer.do("RELEASE unit")
        return outcome

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except StoreCorrupt:
            self.suspect = True
            raise

    async def _undo(self, writer: Connection) -> None:
        if writer.open_transaction:
            await writer.do("ROLLBACK")


async def _call(work: Callable[..., Awaitable[T]], args: tuple[Any, ...], kwargs: dict[str, Any], tx: Tx) -> T:
    return await work(tx, *args, **kwargs)


def _resolve(unit: _Unit, outcome: Any) -> None:
    if unit.done.done():  # the caller was cancelled; its work stands all the same
        return
    if isinstance(outcome, BaseException):
        error = named(outcome)
        error.__cause__ = outcome if error is not outcome else outcome.__cause__
        unit.done.set_exception(error)
    else:
        unit.done.set_result(outcome)
