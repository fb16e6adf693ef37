"""Statements over one PostgreSQL connection: all that are sent together go in one write, over libpq's pipeline mode.

psycopg's own pipeline writes each statement by itself, and spends 100 µs on each in Python; this takes a third of that.
"""

import asyncio
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg import abc, pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result

PostgresConnection = psycopg.AsyncConnection[dict[str, Any]]
_Key = tuple[bytes, tuple[int, ...]]  # a query and the types of its parameters
Statement = tuple[str, Sequence[Any]]  # as SQL whose parameters are %s, and their values
PREPARED_FROM = 3  # uses of a statement over a connection
MAX_PREPARED = 300  # statements of a connection; the server keeps a plan of each
_PLACE_OR_PERCENT = re.compile("%([s%])")
_FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)


class Result:
    """The result of one statement."""

    __slots__ = ("_result", "_wire")

    def __init__(self, wire: "_Wire", result: pq.abc.PGresult) -> None:
        self._wire = wire
        self._result = result

    @property
    def count(self) -> int:
        """How many rows were changed."""
        return self._result.command_tuples or 0

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        return self._wire.rows(self._result)


@dataclass(slots=True)
class _Wire:
    """What is kept for one connection."""

    transformer: abc.Transformer
    uses: dict[_Key, int] = field(default_factory=dict)
    #: Names of prepared statements.
    names: dict[_Key, bytes] = field(default_factory=dict)
    prepared: int = 0

    def queue(self, pgconn: pq.abc.PGconn, sql: str, values: Sequence[Any], new: list[_Key]) -> int:
        """Queue one statement; return how many results it has. new: gets what is prepared now."""
        query = _to_wire(sql)
        params = self.transformer.dump_sequence(values, [PyFormat.AUTO] * len(values))
        types, formats = self.transformer.types or (), self.transformer.formats
        key = (query, types)
        if (name := self.names.get(key)) is not None:
            pgconn.send_query_prepared(name, params, param_formats=formats)
            return 1
        self.uses[key] = uses = self.uses.get(key, 0) + 1
        if uses < PREPARED_FROM or self.prepared >= MAX_PREPARED:
            pgconn.send_query_params(query, params, param_types=types, param_formats=formats)
            return 1
        self.prepared += 1
        name = self.names[key] = b"mnema_%d" % self.prepared
        new.append(key)
        pgconn.send_prepare(name, query, param_types=types)
        pgconn.send_query_prepared(name, params, param_formats=formats)
        return 2

    def rows(self, result: pq.abc.PGresult) -> list[dict[str, Any]]:
        names = [(result.fname(column) or b"").decode() for column in range(result.nfields)]
        self.transformer.set_pgresult(result)
        return self.transformer.load_rows(0, result.ntuples, lambda values: dict(zip(names, values, strict=True)))


_wires: WeakKeyDictionary[psycopg.AsyncConnection[Any], _Wire] = WeakKeyDictionary()


async def exchange(connection: psycopg.AsyncConnection[Any], statements: Sequence[Statement]) -> list[Result]:
    """Run statements in one round trip; return the result of each.

    It ends with a Sync, so outside a transaction all of them are one. A cancellation closes the connection: what the
    server still sends is nobody's.

    psycopg must prepare nothing over the connection: after a ROLLBACK or a DROP it sends DEALLOCATE ALL, which removes
    what is prepared here too, and each statement fails from then on.

    Raises:
        psycopg.Error: of the first statement that failed; those after it were not run.
    """
    wire = _wires.get(connection)
    if wire is None:
        if connection.prepare_threshold is not None:
            raise ValueError("psycopg prepares statements over this connection: set its prepare_threshold to None")
        wire = _wires[connection] = _Wire(Transformer())  # one that knew its connection would keep it alive
    new: list[_Key] = []
    async with connection.lock:
        pgconn = connection.pgconn
        pgconn.enter_pipeline_mode()
        try:
            counts = [wire.queue(pgconn, sql, values, new) for sql, values in statements]
            pgconn.pipeline_sync()
            received = await _communicate(pgconn)
            pgconn.exit_pipeline_mode()
        except BaseException:
            await connection.close()
            raise
    for result in received:
        if result.status in _FAILED:
            for key in new:  # one that followed the error was not prepared
                del wire.names[key]
            raise error_from_result(result, encoding="utf-8")
    results, at = [], -1
    for count in counts:
        at += count
        results.append(Result(wire, received[at]))
    return results


async def _communicate(pgconn: pq.abc.PGconn) -> list[pq.abc.PGresult]:
    """Send what is queued, and receive all results up to the Sync, or to the end of a connection that told why."""
    received: list[pq.abc.PGresult] = []
    try:
        while pgconn.flush():
            await _ready(pgconn.socket, writing=True)
            pgconn.consume_input()
        while True:
            while pgconn.is_busy():
                await _ready(pgconn.socket)
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is None:
                if pgconn.status == pq.ConnStatus.BAD:
                    raise psycopg.OperationalError("the connection is lost")
            elif result.status == pq.ExecStatus.PIPELINE_SYNC:
                return received
            else:
                received.append(result)
    except psycopg.OperationalError:
        for result in received:
            if result.status in _FAILED:
                raise error_from_result(result, encoding="utf-8") from None
        raise


async def _ready(socket: int, *, writing: bool = False) -> None:
    """Wait until a socket can be read, or written where that is asked for too."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def resolve() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(socket, resolve)
    if writing:
        loop.add_writer(socket, resolve)
    try:
        await ready
    finally:
        loop.remove_reader(socket)
        if writing:
            loop.remove_writer(socket)


@cache
def _to_wire(sql: str) -> bytes:
    """Number the parameters of a statement, as PostgreSQL wants them."""
    numbers = itertools.count(1)
    return _PLACE_OR_PERCENT.sub(lambda found: f"${next(numbers)}" if found[1] == "s" else "%", sql).encode()
