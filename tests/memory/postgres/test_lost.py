"""After the server has closed connections, the next unit of work uses another one."""

import asyncio

import psycopg
import pytest
from sqlalchemy import insert

from memory.store.engine.database import Tx
from memory.store.errors import StoreBusy
from memory.store.postgres.driver import PostgresDriver
from memory.store.schema.tables import duty
from tests.contracts.store_words import talk
from tests.memory.postgres.conftest import PostgresRecord

pytestmark = pytest.mark.postgres
_ADD = insert(duty)
_OTHERS = "datname = current_database() AND pid <> pg_backend_pid()"
_END = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {_OTHERS}"


def end_all(record: PostgresRecord) -> int:
    """End all sessions; return how many there were."""
    with psycopg.connect(record.url, autocommit=True) as held:
        return len(held.execute(_END).fetchall())


@pytest.mark.parametrize("asks", ["reads", "glances", "writes"])
async def test_after_a_restart_of_the_server_the_next_question_is_answered(
    record: PostgresRecord, asks: str
) -> None:
    store = await record.open()
    id = await talk(store, "1")
    together = asyncio.Barrier(4)  # each over a connection of its own

    async def look(tx: Tx) -> None:
        await together.wait()

    await asyncio.gather(*(record.database(store).read(look) for _ in range(4)))
    assert end_all(record) > 3
    if asks == "reads":
        assert (await store.sessions.load(id)).conversation == id
    elif asks == "glances":
        assert not await store.leases.has_expired()
    else:
        await store.note("config.reload", "", "in force", "")


async def test_a_unit_whose_session_ends_in_the_middle_has_written_nothing(
    record: PostgresRecord,
) -> None:
    store = await record.open()
    tries: list[int] = []

    async def unit(tx: Tx) -> None:
        tries.append((await tx.execute(_ADD, name="one", lease=tx.lease)).rowcount)
        await asyncio.to_thread(end_all, record)
        await tx.execute(_ADD, name="two", lease=tx.lease)

    with pytest.raises(StoreBusy):
        await record.database(store).write(unit)
    assert tries == [1]
    assert await store.leases.take("one")


async def test_the_server_ends_a_transaction_whose_process_has_stopped(
    record: PostgresRecord,
) -> None:
    """It counts from the last message that it has received, unless that only asks for what is there
    already.
    """
    store = await record.open()
    async with record.database(store).pool.connection() as held:
        await held.execute("SET idle_in_transaction_session_timeout = '0.1 s'")
        await held.commit()
        driver = PostgresDriver(held)
        for number in (1, 2):  # with BEGIN, and without
            assert (await driver.run("SELECT %s::int AS number", [number])).all() == [
                {"number": number}
            ]
        with pytest.raises(psycopg.OperationalError):
            async for _ in held.notifies(timeout=30):
                pass
