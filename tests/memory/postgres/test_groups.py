"""Light units that wait for a commit share the next transaction, and each has its own result or error."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import insert, text, update

from memory.postgres.database import MAX_GROUP_COMMIT, PostgresDatabase
from memory.store.engine.database import Tx, light, locks_first
from memory.store.errors import StoreError
from memory.store.schema.tables import duty
from tests.by_night import by_night
from tests.memory.postgres.conftest import PostgresRecord
from tests.walk.harness import until

pytestmark = pytest.mark.postgres
_ADD = insert(duty)
_TAKE = update(duty).where(duty.c.name == "locked").values(lease=7)
_NUMBER = text("SELECT pg_current_xact_id()::text AS xid")
_COMMIT_TAKES_LOCK = """
CREATE FUNCTION take_lock() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END$$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON duty DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION take_lock()"""
# Longer than units that share a transaction wait for a lock.
_LONG_WAITING = """SELECT 1 FROM pg_stat_activity JOIN pg_locks USING (pid)
WHERE datname = current_database() AND NOT granted AND waitstart < clock_timestamp() - interval '0.1 s'"""
Unit = Callable[..., Coroutine[Any, Any, str]]


@light
async def add(tx: Tx, name: str) -> str:
    """Add a row; return the number of the transaction."""
    if name == "refused":
        await tx.run(_ADD, name="half", lease=tx.lease)
        raise ValueError(name)
    if name == "locked":
        await tx.run(_TAKE)
    else:
        await tx.run(_ADD, name=name, lease=tx.lease)
    [row] = await tx.all(_NUMBER)
    return str(row["xid"])


@locks_first
@light
async def add_locking(tx: Tx, name: str) -> str:
    return await add(tx, name)


@light
async def wait_for(tx: Tx, begun: asyncio.Event, gate: asyncio.Event) -> None:
    begun.set()
    await gate.wait()


@asynccontextmanager
async def busy(database: PostgresDatabase) -> AsyncIterator[asyncio.Event]:
    """A transaction of light units is open until the event is set."""
    begun, gate = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(database.write(wait_for, begun, gate))
    await begun.wait()
    try:
        yield gate
    finally:
        gate.set()
        await asyncio.wait({first})


def names(record: PostgresRecord) -> set[str]:
    with psycopg.connect(record.url) as held:
        return {name for (name,) in held.execute("SELECT name FROM duty")}


@pytest.mark.parametrize("count", [MAX_GROUP_COMMIT, MAX_GROUP_COMMIT + 1])
async def test_units_that_wait_are_committed_together(record: PostgresRecord, count: int) -> None:
    database = record.database(await record.open())
    async with busy(database):
        waiting = asyncio.gather(*(database.write(add, f"n{at}") for at in range(count)))
    groups = Counter(await waiting)
    assert sorted(groups.values(), reverse=True) == [MAX_GROUP_COMMIT, 1][: len(groups)]
    assert sum(groups.values()) == count
    assert names(record) >= {f"n{at}" for at in range(count)}


async def test_a_unit_alone_waits_for_nobody(record: PostgresRecord) -> None:
    database = record.database(await record.open())
    assert await database.write(add, "one") != await database.write(add, "two")


@pytest.mark.parametrize("unit", [add, add_locking])
async def test_an_error_is_only_its_units(record: PostgresRecord, unit: Unit) -> None:
    database = record.database(await record.open())
    await database.write(add, "known")
    async with busy(database):
        asked = ("a", "refused", "b", "known", "c")
        waiting = asyncio.gather(*(database.write(unit, name) for name in asked), return_exceptions=True)
    found = await waiting
    assert [type(one) for one in found[:3]] == [str, ValueError, str]
    assert isinstance(found[3], StoreError)
    assert names(record) >= {"a", "b", "c"}
    assert "half" not in names(record)


async def test_a_unit_that_waits_for_a_lock_holds_up_no_other(record: PostgresRecord) -> None:
    database = record.database(await record.open())
    await database.write(add, "others")
    with psycopg.connect(record.url) as other:
        other.execute("INSERT INTO duty (name, lease) VALUES ('locked', 1)")
        other.commit()
        other.execute("UPDATE duty SET lease = 2 WHERE name = 'locked'")
        async with busy(database):
            locked = asyncio.create_task(database.write(add_locking, "locked"))
            others = asyncio.gather(*(database.write(add_locking, f"n{at}") for at in range(3)))
        await others
        assert not locked.done()
        other.commit()
        await locked
    with psycopg.connect(record.url) as held:
        assert held.execute("SELECT lease FROM duty WHERE name = 'locked'").fetchone() == (7,)


async def test_units_that_share_a_transaction_wait_together_where_their_commit_has_to(record: PostgresRecord) -> None:
    """As for the lock of NOTIFY, which another process holds while its own commit reaches the disk."""
    database = record.database(await record.open())
    with psycopg.connect(record.url, autocommit=True) as other:
        other.execute(_COMMIT_TAKES_LOCK)
        other.execute("SELECT pg_advisory_lock(7)")
        async with busy(database):
            waiting = asyncio.gather(*(database.write(add, f"n{at}") for at in range(3)))
        await until(lambda: other.execute(_LONG_WAITING).fetchone(), "the commit waits")
        other.execute("SELECT pg_advisory_unlock(7)")
        assert len(set(await waiting)) == 1


@by_night
async def test_what_waits_when_the_store_is_closed_gets_an_error(record: PostgresRecord) -> None:
    database = record.database(await record.open())
    gate, begun = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(database.write(wait_for, begun, gate))
    await begun.wait()
    await database.close()
    with pytest.raises(StoreError, match="closed"):
        await first
