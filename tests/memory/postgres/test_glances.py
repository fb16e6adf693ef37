"""Units of work on PostgreSQL: one job per inbox row, and two that change the same rows."""

import asyncio
from collections.abc import Sequence

import psycopg
import pytest
from sqlalchemy import func, insert, select, text

from memory.store.conversations.messages import take_numbers
from memory.store.engine.database import QueueKey, StatementCompiler, Tx
from memory.store.postgres.connection import PostgresConnection
from memory.store.postgres.schema import create_dialect
from memory.store.schema.tables import duty, metadata
from tests.contracts.store_words import SPENT, arrival, begin, call, reply
from tests.memory.postgres.conftest import PostgresRecord

pytestmark = pytest.mark.postgres
_ADD, _SLEEP = insert(duty), text("SELECT pg_sleep(2)")
_HOW_MANY = select(func.count().label("count")).select_from(duty)


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


async def test_two_that_disturb_each_other_are_run_one_after_the_other(
    record: PostgresRecord,
) -> None:
    one, other = await record.open(), await record.open(beside=True)
    both = asyncio.Barrier(2)
    tries: list[int] = []

    async def unit(tx: Tx) -> None:
        tries.append((await tx.execute(_HOW_MANY)).count())
        if len(tries) <= 2:
            await both.wait()
        await tx.execute(_ADD, name=f"{(await tx.execute(_HOW_MANY)).count()}", lease=tx.lease)

    await asyncio.gather(record.database(one).write(unit), record.database(other).write(unit))
    assert sorted(tries) == [0, 0, 1]


async def test_a_cancelled_read_ends_in_its_time_though_the_server_does_not_answer(
    record: PostgresRecord,
) -> None:
    store = await record.open()

    async def unit(tx: Tx) -> None:
        await tx.execute(_SLEEP)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await store.database.read(unit)


async def test_numbers_are_taken_alike_where_a_change_cannot_tell_what_it_changed(
    record: PostgresRecord,
) -> None:
    store = await record.open()
    (row,) = await store.delivery.accept([arrival("k1")])
    plain = StatementCompiler(create_dialect())
    plain.has_returning = False

    async def both(tx: Tx) -> list[int]:
        old = Tx(driver=tx.driver, compiler=plain, lease=tx.lease, now=tx.now)
        return [
            (await take_numbers(one, row.conversation, seqs=1))["next_seq"]
            for one in (tx, old, tx, old)
        ]

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
