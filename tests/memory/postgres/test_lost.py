"""After the server has closed connections, the next unit of work uses another one."""

import asyncio

import psycopg
import pytest
from sqlalchemy import insert, select

from memory.postgres.driver import PostgresDriver
from memory.store.engine.database import Tx, light
from memory.store.errors import StoreBusy
from memory.store.schema.tables import duty
from tests.contracts.store_words import talk
from tests.memory.postgres.conftest import PostgresRecord

pytestmark = pytest.mark.postgres
_ADD, _ANY = insert(duty), select(duty.c.name).limit(1)
_OTHERS = "datname = current_database() AND pid <> pg_backend_pid()"
_END = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {_OTHERS}"


def end_all(record: PostgresRecord) -> int:
    """End all sessions; return how many there were."""
    with psycopg.connect(record.url, autocommit=True) as held:
        return len(held.execute(_END).fetchall())


@pytest.mark.parametrize("asks", ["reads", "glances", "writes"])
async def test_after_a_restart_of_the_server_the_next_question_is_answered(record: PostgresRecord, asks: str) -> None:
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


async def test_a_unit_whose_session_ends_in_the_middle_has_written_nothing(record: PostgresRecord) -> None:
    store = await record.open()
    tries: list[int] = []

    async def unit(tx: Tx) -> None:
        tries.append(await tx.run(_ADD, name="one", lease=tx.lease))
        await asyncio.to_thread(end_all, record)
        await tx.run(_ADD, name="two", lease=tx.lease)

    with pytest.raises(StoreBusy):
        await record.database(store).write(unit)
    assert tries == [1]
    assert await store.leases.take("one")


async def test_the_server_ends_a_transaction_whose_process_has_stopped(record: PostgresRecord) -> None:
    """It counts from the last message that it has received, unless that only asks for what is there already."""
    store = await record.open()
    async with record.database(store).pool.connection() as held:
        await held.execute("SET idle_in_transaction_session_timeout = '0.1 s'")
        driver = PostgresDriver(held, "BEGIN", "SELECT 1")
        await driver.change_later("SELECT 2", ())
        assert await driver.fetch("SELECT 3 AS three", []) == [{"three": 3}]
        with pytest.raises(psycopg.OperationalError):
            async for _ in held.notifies(timeout=30):
                pass


async def test_units_that_share_a_transaction_over_a_dead_connection_are_stored_over_another(
    record: PostgresRecord,
) -> None:
    """None of them asks for a result, so the connection is found to be dead as they are committed."""

    @light
    async def add(tx: Tx, name: str) -> None:
        await tx.send(_ADD, name=name, lease=tx.lease)

    store = await record.open()
    together = asyncio.Barrier(4)

    async def look(tx: Tx) -> None:
        await tx.one(_ANY)
        await together.wait()

    await asyncio.gather(*(record.database(store).read(look) for _ in range(4)))
    assert end_all(record) > 3
    async with asyncio.timeout(5.0):
        await asyncio.gather(*(record.database(store).write(add, f"{number}") for number in range(5)))
    with psycopg.connect(record.url) as held:
        assert held.execute("SELECT count(*) FROM duty").fetchone() == (5,)
