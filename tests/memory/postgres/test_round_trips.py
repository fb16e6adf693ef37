"""What a unit of work asks the server: in how few round trips, in which order, and what becomes of its errors."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import bindparam, delete, func, insert, select

from memory.store.engine.database import Tx
from memory.store.engine.postgres import PostgresDatabase
from memory.store.engine.postgres_driver import MAX_WAITING
from memory.store.errors import WrongState
from memory.store.open_postgres import open_postgres
from memory.store.rows import SendOutcome
from memory.store.schema.tables import duty
from memory.store.store import Store
from tests.contracts.store_words import SPENT, arrival, parts, reply, words
from tests.memory.postgres.conftest import PostgresRecord
from tests.walk.wire import CHUNK, Wire

pytestmark = pytest.mark.postgres
T = TypeVar("T")
_ADD, _CLEAR, _REMOVE = insert(duty), delete(duty), delete(duty).where(duty.c.name == bindparam("gone"))
_HOW_MANY = select(func.count().label("count")).select_from(duty)
READY = ord("Z")  # the server's message at the end of each round trip
TURNS_BEFORE = 6  # after which every statement is prepared


class CountingWire(Wire):
    """A wire that counts the round trips of all its connections."""

    trips = 0

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flows: asyncio.Event) -> None:  # type: ignore[override]
        if flows is not self._back:
            await super()._pump(reader, writer, flows)
            return
        begun = b""
        while data := await reader.read(CHUNK):
            await flows.wait()
            begun = self._count(begun + data)
            writer.write(data)
        writer.close()

    def _count(self, data: bytes) -> bytes:
        """Count the messages that are whole: a kind, and a length that includes itself; returns the rest."""
        at = 0
        while len(data) >= at + 5 and len(data) > (end := at + int.from_bytes(data[at + 1 : at + 5], "big")):
            self.trips += data[at] == READY
            at = end + 1
        return data[at:]

    async def of(self, work: Awaitable[T], most: int) -> T:
        """Await work that asks at most so often; returns its result."""
        before = self.trips
        result = await work
        assert self.trips - before <= most
        return result


@pytest.fixture
async def wire(fresh: str) -> AsyncIterator[CountingWire]:
    async with CountingWire(int(str(conninfo_to_dict(fresh)["port"]))) as held:
        yield held


@pytest.fixture
async def store(fresh: str, wire: CountingWire) -> AsyncIterator[Store]:
    through = re.sub(r":\d+/", f":{wire.port}/", fresh)
    opened = await open_postgres(f"{through}?sslmode=disable&gssencmode=disable", connections=2)
    yield opened
    await opened.close()


def database(store: Store) -> PostgresDatabase:
    assert isinstance(store.database, PostgresDatabase)
    return store.database


async def test_a_turn_asks_the_server_less_often_than_it_has_statements(store: Store, wire: CountingWire) -> None:
    """Accepted, claimed, answered and sent are 31 statements in 17 round trips: what nobody asks about waits."""
    free = 100
    for number in range(TURNS_BEFORE + 1):
        counted = number == TURNS_BEFORE
        [stored] = await wire.of(store.delivery.accept([arrival(f"k{number}")]), 5 if counted else free)
        turn = await wire.of(store.delivery.claim(stored.id, words(), "u1"), 3 if counted else free)
        finish = store.delivery.finish(turn, "done", reply(), parts("yes"), [SPENT])
        assert await wire.of(finish, 3 if counted else free)
        row = await store.delivery.next_outbox_row(turn.conversation)
        assert row is not None
        assert await wire.of(store.delivery.mark_sending(row.id), 3 if counted else free)
        await wire.of(store.delivery.settle_sent(row.id, SendOutcome(state="sent")), 3 if counted else free)
    assert wire.trips > 4 * TURNS_BEFORE  # they were counted at all


async def test_a_statement_sees_what_waited_before_it(store: Store) -> None:
    async def unit(tx: Tx) -> list[int]:
        await tx.send(_CLEAR)
        await tx.send(_ADD, name="one", lease=tx.lease)
        first = await tx.count(_HOW_MANY)
        await tx.send(_ADD, name="two", lease=tx.lease)
        changed = await tx.run(_CLEAR)
        await tx.send(_ADD, name="three", lease=tx.lease)
        return [first, changed]

    assert await database(store).write(unit) == [1, 2]
    assert await database(store).read(lambda tx: tx.count(_HOW_MANY)) == 1


@pytest.mark.parametrize("count", [1, MAX_WAITING, MAX_WAITING + 1, 2 * MAX_WAITING + 3])
async def test_however_many_wait_all_are_stored(store: Store, wire: CountingWire, count: int) -> None:
    async def unit(tx: Tx) -> None:
        for number in range(count):
            await tx.send(_ADD, name=f"{number} {'x' * 50_000}", lease=tx.lease)

    for number in range(TURNS_BEFORE + 1):
        await database(store).write(lambda tx: tx.run(_CLEAR))
        await wire.of(database(store).write(unit), 2 + count // MAX_WAITING if number == TURNS_BEFORE else 100)
    assert await database(store).read(lambda tx: tx.count(_HOW_MANY)) == count


@pytest.mark.parametrize("asks", [False, True])
async def test_an_error_of_one_that_waited_ends_the_unit_which_stores_nothing(store: Store, asks: bool) -> None:
    tries: list[int] = []

    async def unit(tx: Tx) -> None:
        tries.append(len(tries))
        await tx.send(_ADD, name="one", lease=tx.lease)
        await tx.send(_ADD, name="one", lease=tx.lease)
        if asks:
            await tx.count(_HOW_MANY)
            tries.append(-1)

    with pytest.raises(WrongState, match="duplicate key"):
        await database(store).write(unit)
    assert len(tries) > 1  # as any conflict it was tried once more
    assert -1 not in tries
    assert await database(store).read(lambda tx: tx.count(_HOW_MANY)) == 0


async def test_after_errors_the_statements_that_followed_them_are_prepared_again(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    async def unit(tx: Tx, *names: str) -> int:
        for name in names:
            await tx.send(_ADD, name=name, lease=tx.lease)
        await tx.send(_REMOVE, gone="two")
        return await tx.count(_HOW_MANY)

    for _ in range(TURNS_BEFORE):
        with pytest.raises(WrongState):
            await database(store).write(unit, "one", "one")
        assert await database(store).write(unit) == 0
    for _ in range(TURNS_BEFORE):
        with pytest.raises(WrongState):
            await database(store).write(unit, "one", "one")
    assert await database(store).write(unit, "one", "two") == 1
    assert caplog.messages == []


async def test_two_that_disturb_each_other_are_run_one_after_the_other(record: PostgresRecord) -> None:
    """The isolation that a unit begins with holds though its BEGIN is sent with the first statement."""
    one, other = await record.open(), await record.open(beside=True)
    both = asyncio.Barrier(2)
    tries: list[int] = []

    async def unit(tx: Tx) -> None:
        tries.append(await tx.count(_HOW_MANY))
        if len(tries) <= 2:
            await both.wait()
        await tx.send(_ADD, name=f"{await tx.count(_HOW_MANY)}", lease=tx.lease)

    await asyncio.gather(record.database(one).write(unit), record.database(other).write(unit))
    assert sorted(tries) == [0, 0, 1]


async def test_a_cancelled_read_ends_in_its_time_though_the_server_says_nothing(
    store: Store, wire: CountingWire
) -> None:
    async def unit(tx: Tx) -> int:
        return await tx.count(_HOW_MANY)

    assert await database(store).read(unit) == 0
    wire.deafen()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await database(store).read(unit)
    wire.mend()
    assert await database(store).read(unit) == 0


async def test_nothing_is_sent_for_a_unit_that_asks_nothing(store: Store, wire: CountingWire) -> None:
    async def unit(tx: Tx) -> str:
        return "decided"

    assert await wire.of(database(store).write(unit), 0) == "decided"
    assert await wire.of(database(store).read(unit), 0) == "decided"
