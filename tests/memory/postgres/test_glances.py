"""Units of work on PostgreSQL: one job per inbox row, and single queries without a transaction."""

from collections.abc import Sequence

import psycopg
import pytest
from sqlalchemy import text

from memory.postgres.schema import create_dialect
from memory.postgres.wire import PostgresConnection
from memory.store.conversations import inbox
from memory.store.conversations.messages import take_numbers
from memory.store.engine.database import QueueKey, StatementCompiler, Tx, single_query
from memory.store.errors import WrongState
from memory.store.schema.tables import metadata
from tests.contracts.store_words import SPENT, arrival, begin, call, reply
from tests.memory.postgres.conftest import PostgresRecord

pytestmark = pytest.mark.postgres


async def test_a_row_rings_once_whoever_runs_its_lane(record: PostgresRecord) -> None:
    store, wished, heard = await record.open(), list[QueueKey](), list[QueueKey]()

    async def enqueue(bare: PostgresConnection, lanes: Sequence[QueueKey]) -> None:
        wished.extend(lanes)

    store.database.on_commit = heard.extend
    await store.delivery.accept([arrival("k1")])
    assert [lane.kind for lane in heard] == ["turn"]
    record.database(store).enqueue = enqueue
    await store.delivery.accept([arrival("k2")])
    assert [lane.kind for lane in wished] == ["turn"]
    assert len(heard) == 1


async def test_a_question_needs_no_transaction_and_two_do_not_pass_for_one(record: PostgresRecord) -> None:
    store = await record.open()
    ((row, *_),) = [await store.delivery.accept([arrival("k1")])]
    assert (await store.delivery.next_inbox_row(row.conversation, record.now)) is not None

    @single_query
    async def twice(tx: Tx) -> None:
        await inbox.next_row(tx, row.conversation, record.now)
        await inbox.next_row(tx, row.conversation, record.now)

    @single_query
    async def changing(tx: Tx) -> None:
        await take_numbers(tx, row.conversation, lines=1)
        await tx.run(text("SELECT 1"))

    with pytest.raises(WrongState, match="which needs a snapshot"):
        await store.database.read(twice)
    with pytest.raises(WrongState, match="changes nothing"):
        await store.database.read(changing)


async def test_numbers_are_taken_alike_where_a_change_cannot_tell_what_it_changed(record: PostgresRecord) -> None:
    store = await record.open()
    (row,) = await store.delivery.accept([arrival("k1")])
    plain = StatementCompiler(create_dialect())
    plain.has_returning = False

    async def both(tx: Tx) -> list[int]:
        old = Tx(driver=tx.driver, compiler=plain, lease=tx.lease, now=tx.now)
        return [(await take_numbers(one, row.conversation, seqs=1))["next_seq"] for one in (tx, old, tx, old)]

    first, *others = await store.database.write(both)
    assert others == [first + 1, first + 2, first + 3]


async def test_compacting_vacuums_every_table_of_the_store(record: PostgresRecord) -> None:
    store = await record.open()
    turn = await begin(store)
    await store.sessions.add_step(turn, reply(), [call("a")], SPENT)
    await store.sessions.delete(turn.conversation)
    assert await store.database.compact()
    with psycopg.connect(record.url, autocommit=True) as held:
        asked = "SELECT relname FROM pg_stat_user_tables WHERE last_vacuum IS NOT NULL"
        vacuumed = {name for (name,) in held.execute(asked).fetchall()}
    assert set(metadata.tables) <= vacuumed
