"""Statements of one transaction on PostgreSQL, of which those whose result nobody needs wait for the next one."""

from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from itertools import islice
from typing import Any, cast

from memory.postgres.wire import PostgresConnection, Result, Statement, exchange
from memory.store.engine.database import Driver, Row
from memory.store.errors import WrongState

MAX_WAITING = 64  # statements that wait: more are sent without one that needs its result


class PostgresDriver:
    """The Driver of one transaction: one round trip for a statement and all that wait for it.

    Each round trip ends with a Sync, after which the server ends the session if the process has stopped.
    """

    def __init__(
        self,
        connection: PostgresConnection,
        *begin: str,
        max_waiting: int = MAX_WAITING,
        on_begun: Callable[[Row], None] | None = None,
    ) -> None:
        """Begin with the first statement that is sent.

        Args:
            begin: statements that begin the transaction; none where one is open, or none is needed.
            max_waiting: statements that wait; 0 where others send COMMIT over the connection.
            on_begun: called with the row of the last of them, after the round trip that began the transaction.
        """
        self._connection = connection
        self._begin, self._on_begun = begin, on_begun
        self._max_waiting = max_waiting
        self._waiting: list[Statement] = []

    async def change(self, sql: str, parameters: list[Any]) -> int:
        [result] = await self._send((sql, parameters))
        return result.count

    async def change_later(self, sql: str, parameters: Sequence[Any]) -> None:
        self._waiting.append((sql, parameters))
        if len(self._waiting) > self._max_waiting:
            await self.flush()

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        [result] = await self._send((sql, parameters))
        return cast(list[Row], result.rows())

    async def run_together(self, works: Sequence[Callable[[Driver], Coroutine[Any, Any, Any]]]) -> list[Any]:
        """Run works up to their next statement, send these in one round trip, and so on until all have ended."""
        return await _run_joined(works, self._waiting, self._send)

    async def flush(self) -> None:
        """Send what waits."""
        if self._begin or self._waiting:
            await self._send()

    async def commit(self) -> None:
        """Send what waits, then commit. COMMIT is sent after `on_begun` was called; nothing is sent for nothing."""
        if self._begin:
            await self.flush()
        if not self._begin:
            await self._send(("COMMIT", ()))

    async def _send(self, *last: Statement) -> list[Result]:
        """Send all that waits and these statements; return the results of these."""
        begin, self._begin = self._begin, ()
        waiting = [*((sql, ()) for sql in begin), *self._waiting]
        self._waiting.clear()
        results = await exchange(self._connection, [*waiting, *last])
        if begin and self._on_begun is not None:
            [row] = results[len(begin) - 1].rows()
            self._on_begun(row)
        return results[len(waiting) :]


class _Asked:
    """Statements of one of several works; awaited, they are handed to `_run_joined`, which resumes with the results."""

    __slots__ = ("statements",)

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = statements

    def __await__(self) -> Generator["_Asked", Sequence[Result], Sequence[Result]]:
        return (yield self)


async def _ask(*statements: Statement) -> Sequence[Result]:
    return await _Asked(statements)


async def _run_joined(
    works: Sequence[Callable[[Driver], Coroutine[Any, Any, Any]]],
    waiting: list[Statement],
    send: Callable[..., Awaitable[Sequence[Result]]],
) -> list[Any]:
    """Run works up to their next statements, send these together, and so on until all have ended.

    Args:
        waiting: statements that go with the next round trip; it may grow here.
        send: sends statements, and returns the result of each.
    """
    running = [work(_JoiningDriver(waiting)) for work in works]
    results: list[Any] = [None] * len(running)
    given: dict[int, Sequence[Result] | None] = dict.fromkeys(range(len(running)))
    try:
        while given:
            asked: dict[int, Sequence[Statement]] = {}
            for place, came in given.items():
                try:
                    asked[place] = running[place].send(came).statements
                except StopIteration as end:
                    results[place] = end.value
            together = [statement for statements in asked.values() for statement in statements]
            answers = iter(await send(*together) if together else ())
            given = {place: list(islice(answers, len(statements))) for place, statements in asked.items()}
    finally:
        for work in running:
            work.close()
    return results


class _JoiningDriver:
    """The Driver of one of several works whose statements go in shared round trips."""

    def __init__(self, waiting: list[Statement]) -> None:
        """waiting: statements that go with the next round trip; it may grow here."""
        self._waiting = waiting

    async def change(self, sql: str, parameters: list[Any]) -> int:
        [result] = await _ask((sql, parameters))
        return result.count

    async def change_later(self, sql: str, parameters: list[Any]) -> None:
        self._waiting.append((sql, parameters))

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        [result] = await _ask((sql, parameters))
        return cast(list[Row], result.rows())

    async def flush(self) -> None:
        raise WrongState("works that run together pass no failpoint")

    async def run_together(self, works: Sequence[Callable[[Driver], Coroutine[Any, Any, Any]]]) -> list[Any]:
        return await _run_joined(works, self._waiting, _ask)


class SingleQueryDriver(PostgresDriver):
    """The Driver of a single query outside of any transaction: one round trip instead of three."""

    _used = False

    async def change(self, sql: str, parameters: list[Any]) -> int:
        raise WrongState("a unit marked as a single query changes nothing")

    async def change_later(self, sql: str, parameters: Sequence[Any]) -> None:
        raise WrongState("a unit marked as a single query changes nothing")

    async def run_together(self, works: Sequence[Callable[[Driver], Coroutine[Any, Any, Any]]]) -> list[Any]:
        raise WrongState("a unit marked as a single query runs several, which need a snapshot")

    async def fetch(self, sql: str, parameters: list[Any]) -> list[Row]:
        if self._used:
            raise WrongState("a unit marked as a single query ran a second one, which needs a snapshot")
        self._used = True
        return await super().fetch(sql, parameters)
