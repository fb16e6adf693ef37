"""What a unit of work asks the server: in how few round trips, in which order, and what becomes of its errors."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import TypeVar

import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import bindparam, delete, func, insert, select

from memory.postgres.database import PostgresDatabase, connected
from memory.postgres.driver import MAX_WAITING
from memory.postgres.open import open_postgres
from memory.postgres.wire import MAX_PREPARED, PREPARED_FROM, exchange
from memory.store.conversations.delivery import Delivered
from memory.store.conversations.turns import FinishedTurn
from memory.store.engine.database import Tx
from memory.store.errors import WrongState
from memory.store.longterm.views import ViewBatch
from memory.store.people.rows import GrantRow, GrantsKey
from memory.store.people.spending import SpendingPart, SpendingQuery
from memory.store.rows import NewInboxRow, OutboxRow, SendOutcome
from memory.store.schema.tables import duty
from memory.store.store import Store
from tests.contracts.store_views_suite import SOUL, shown, suffix
from tests.contracts.store_words import SPENT, arrival, parts, reply, words
from tests.memory.postgres.conftest import PostgresRecord
from tests.walk.wire import CHUNK, Wire

pytestmark = pytest.mark.postgres
T = TypeVar("T")
_ADD, _CLEAR, _REMOVE = insert(duty), delete(duty), delete(duty).where(duty.c.name == bindparam("gone"))
_HOW_MANY = select(func.count().label("count")).select_from(duty)
READY = ord("Z")  # the server's message at the end of each round trip
TURNS_BEFORE = 6  # after which every statement is prepared
PARTS: frozenset[SpendingPart] = frozenset({"tokens", "whole"})


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
    """Accepted, claimed, answered and sent are 37 statements in 12 round trips.

    What nobody asks about waits, and what needs nothing of each other goes together.
    """
    free = 100
    for number in range(TURNS_BEFORE + 1):
        counted = number == TURNS_BEFORE
        [stored] = await wire.of(store.delivery.accept([arrival(f"k{number}")]), 3 if counted else free)
        turn = await wire.of(store.delivery.claim(stored.id, words(), "u1"), 2 if counted else free)
        own = suffix(turn.conversation, f"{number}")
        views = ViewBatch(views=(shown(turn, (1, 1), own, 0.0),), texts=(SOUL, own))
        finish = store.delivery.finish_and_look(turn, "done", reply(), parts("yes"), [SPENT], views=views)
        assert await wire.of(finish, 2 if counted else free) == FinishedTurn(stored=True, has_next=False)
        part = await wire.of(store.delivery.take_next_part(turn.conversation, lambda row: True), 2 if counted else free)
        assert part.row is not None
        assert part.is_marked
        sent = store.delivery.settle_sent_and_look(part.row.id, SendOutcome(state="sent"))
        settled, has_next = await wire.of(sent, 2 if counted else free)
        assert (settled.state, has_next) == ("sent", False)
    assert wire.trips > 4 * TURNS_BEFORE  # they were counted at all


async def test_the_reads_that_set_up_a_turn_are_few_round_trips(store: Store, wire: CountingWire) -> None:
    """The row with what decides about it, the scope of a search, and the session with the budget: one each, or two."""
    free = 100
    spending = SpendingQuery(
        who="u1", minute=0.0, asked=0.0, day=0.0, most=(1, 1), wants=frozenset({"tokens", "whole"})
    )
    [stored] = await store.delivery.accept([arrival("k")])
    for number in range(TURNS_BEFORE + 1):
        counted = number == TURNS_BEFORE
        async with store.database.shared_reads():
            work = await wire.of(store.delivery.next_work(stored.conversation, store.now()), 1 if counted else free)
            assert work is not None
            assert (work.row.id, work.conversation.id) == (stored.id, stored.conversation)
            await wire.of(store.recall.scope("", stored.conversation, automatic=True), 2 if counted else free)
            loading = store.sessions.load_with_spending(stored.conversation, spending)
            session, spent = await wire.of(loading, 1 if counted else free)
            assert (session.conversation, spent.running) == (stored.conversation, 0)


async def test_a_message_is_decided_about_and_stored_in_three_round_trips(store: Store, wire: CountingWire) -> None:
    sender = GrantsKey(channel="web", account="a", person="u1")
    for number in range(TURNS_BEFORE + 1):
        row = arrival(f"k{number}")
        delivered = Delivered(place=row.place, key=row.key, sender=sender)

        def admit(grants: Sequence[Sequence[GrantRow]], row: NewInboxRow = row) -> Sequence[NewInboxRow]:
            assert grants == [[]]
            return [row]

        accepting = store.delivery.accept_by_grants([delivered], admit)
        [stored] = await wire.of(accepting, 3 if number == TURNS_BEFORE else 100)
        assert stored.new
        [again] = await store.delivery.accept_by_grants([delivered], admit)
        assert (again.id, again.new) == (stored.id, False)


async def test_a_task_reads_what_it_wrote_though_its_snapshot_ends_behind_it(store: Store, wire: CountingWire) -> None:
    db = database(store)

    async def how_many(tx: Tx) -> int:
        return await tx.count(_HOW_MANY)

    async def add(tx: Tx) -> None:
        await tx.send(_ADD, name="one", lease=tx.lease)

    async with db.shared_reads():
        assert await db.read(how_many) == 0
        early = asyncio.ensure_future(db.read(how_many))  # begun before the write, in the snapshot from before
        await asyncio.sleep(0)
        await db.write(add)
        assert await db.read(how_many) == 1
        assert await early == 0


async def test_a_write_needs_no_second_connection_beside_its_snapshot(fresh: str) -> None:
    opened = await open_postgres(fresh, connections=1)
    try:
        db = database(opened)
        async with db.shared_reads(), asyncio.timeout(5):
            for number in range(3):
                assert await db.read(lambda tx: tx.count(_HOW_MANY)) == number
                await db.write(lambda tx, name=f"{number}": tx.send(_ADD, name=name, lease=tx.lease))  # type: ignore[misc]
    finally:
        await opened.close()


async def test_what_needs_nothing_of_each_other_is_one_round_trip(store: Store, wire: CountingWire) -> None:
    async def two(tx: Tx) -> list[int]:
        return [await tx.count(_HOW_MANY), await tx.count(_HOW_MANY)]

    async def unit(tx: Tx) -> tuple[int, list[int], int]:
        await tx.send(_ADD, name="one", lease=tx.lease)
        return await tx.together(
            lambda tx: tx.run(_REMOVE, gone="one"), two, lambda tx: tx.run(_ADD, name="two", lease=tx.lease)
        )

    for _ in range(TURNS_BEFORE):
        await database(store).write(lambda tx: tx.run(_CLEAR))
        await database(store).write(unit)
    await database(store).write(lambda tx: tx.run(_CLEAR))
    assert await wire.of(database(store).write(unit), 3) == (1, [0, 1], 1)  # two of `two`, and the commit


async def test_works_that_run_together_within_others_share_their_round_trips(store: Store, wire: CountingWire) -> None:
    async def pair(tx: Tx) -> tuple[int, int]:
        return await tx.together(lambda tx: tx.count(_HOW_MANY), lambda tx: tx.count(_HOW_MANY))

    async def nothing(tx: Tx) -> str:
        return "nothing"

    async def unit(tx: Tx) -> tuple[tuple[int, int], tuple[tuple[int, int], str], int]:
        return await tx.together(pair, lambda tx: tx.together(pair, nothing), lambda tx: tx.count(_HOW_MANY))

    for _ in range(TURNS_BEFORE):
        await database(store).write(unit)
    assert await wire.of(database(store).write(unit), 2) == ((0, 0), ((0, 0), "nothing"), 0)  # and the commit


async def test_an_error_of_one_ends_what_runs_together_with_it(store: Store) -> None:
    async def unit(tx: Tx) -> None:
        await tx.together(
            lambda tx: tx.run(_ADD, name="one", lease=tx.lease), lambda tx: tx.run(_ADD, name="one", lease=tx.lease)
        )

    async def refused(tx: Tx) -> None:
        await tx.together(lambda tx: tx.run(_ADD, name="one", lease=tx.lease), refuse)

    async def refuse(tx: Tx) -> None:
        await tx.count(_HOW_MANY)
        raise LookupError("not here")

    with pytest.raises(WrongState, match="duplicate key"):
        await database(store).write(unit)
    with pytest.raises(LookupError, match="not here"):
        await database(store).write(refused)
    assert await database(store).read(lambda tx: tx.count(_HOW_MANY)) == 0


async def test_long_answers_come_while_long_questions_are_still_sent(store: Store) -> None:
    """More than the sockets hold in both directions: who only sends would wait for ever."""
    texts = [f"{number} % {'x' * 300_000}" for number in range(40)]
    async with database(store).pool.connection() as connection, asyncio.timeout(30):
        results = await exchange(connection, [("SELECT %s::text AS text, '100%%s' AS part", [text]) for text in texts])
    assert [result.rows() for result in results] == [[{"text": text, "part": "100%s"}] for text in texts]


async def test_a_part_that_another_process_marks_at_the_same_time_is_not_marked_twice(record: PostgresRecord) -> None:
    """Nobody asks how many rows the mark changed: the snapshot in which the part was free ends with an error."""
    one, other = await record.open(), await record.open(beside=True)
    [stored] = await one.delivery.accept([arrival("k")])
    turn = await one.delivery.claim(stored.id, words(), "u1")
    await one.delivery.finish(turn, "done", reply(), parts("yes"), [SPENT])
    asked: list[str] = []

    def is_ready(row: OutboxRow) -> bool:
        asked.append(row.id)
        with psycopg.connect(record.url, autocommit=True) as held:
            held.execute("UPDATE outbox SET state = 'sending', lease_epoch = %s", [record.database(other).lease])
        return True

    part = await one.delivery.take_next_part(turn.conversation, is_ready)
    assert (part.row, part.is_marked) == (None, False)
    assert len(asked) == 1
    with pytest.raises(WrongState, match="not ours"):
        await one.delivery.settle_sent_and_look(asked[0], SendOutcome(state="sent"))
    settled, _ = await other.delivery.settle_sent_and_look(asked[0], SendOutcome(state="sent"))
    assert settled.state == "sent"


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


async def test_what_is_prepared_outlives_a_unit_that_is_rolled_back(fresh: str) -> None:
    """Where psycopg prepares too, it removes all that is prepared over a connection after a ROLLBACK."""
    opened = await open_postgres(fresh, connections=1)

    async def refused(tx: Tx) -> None:
        await tx.count(_HOW_MANY)
        raise LookupError("not here")

    try:
        db = database(opened)
        for _ in range(TURNS_BEFORE):
            async with db.pool.connection() as connection:
                await connection.execute("SELECT 1")
            assert await db.read(lambda tx: tx.count(_HOW_MANY)) == 0
        with pytest.raises(LookupError):
            await db.write(refused)
        assert await db.read(lambda tx: tx.count(_HOW_MANY)) == 0
    finally:
        await opened.close()


async def test_a_connection_over_which_psycopg_prepares_is_refused(fresh: str) -> None:
    async with await psycopg.AsyncConnection.connect(fresh) as connection:
        with pytest.raises(ValueError, match="prepare_threshold"):
            await exchange(connection, [("SELECT 1", [])])


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


async def test_a_connection_prepares_so_many_statements_and_runs_the_others_as_they_are(fresh: str) -> None:
    async with connected(fresh) as connection:
        for number in range(MAX_PREPARED + 1):
            for _ in range(PREPARED_FROM + 1):
                [result] = await exchange(connection, [(f"SELECT %s::int + {number} AS sum", [1])])
                assert result.rows() == [{"sum": 1 + number}]
        [prepared] = await exchange(connection, [("SELECT count(*) AS count FROM pg_prepared_statements", [])])
        assert prepared.rows() == [{"count": MAX_PREPARED}]


async def test_a_statement_that_always_fails_is_not_prepared_for_ever(fresh: str) -> None:
    async with connected(fresh) as connection:
        for _ in range(MAX_PREPARED + PREPARED_FROM + 1):
            with pytest.raises(errors.DivisionByZero):
                await exchange(connection, [("SELECT 1 / %s::int", [0])])
        [prepared] = await exchange(connection, [("SELECT count(*) AS count FROM pg_prepared_statements", [])])
        assert prepared.rows()[0]["count"] <= MAX_PREPARED
