"""Duties and leases of two openings of one PostgreSQL database."""

import psycopg
import pytest

from tests.memory.postgres.conftest import PostgresRecord

pytestmark = pytest.mark.postgres


async def test_I11_a_duty_is_one_process_s_until_it_lets_go_or_its_lease_is_over(record: PostgresRecord) -> None:
    one, other = await record.open(), await record.open(beside=True)
    assert await one.leases.take("clock")
    assert not await other.leases.take("clock")
    await other.leases.release("clock")
    assert not await other.leases.take("clock")
    await one.leases.release("clock")
    assert await other.leases.take("clock")
    assert not await one.leases.take("clock")
    await record.kill(other)
    assert await one.leases.take("clock")


async def test_duties_of_a_prefix_are_held_by_the_living_whoever_asks(record: PostgresRecord) -> None:
    one, other = await record.open(), await record.open(beside=True)
    for leases, names in ((one.leases, ("approval 1", "clock")), (other.leases, ("approval 2", "approvals"))):
        for name in names:
            assert await leases.take(name)
    assert sorted(await one.leases.held("approval ")) == ["approval 1", "approval 2"]
    await record.kill(other)
    assert await one.leases.held("approval ") == ["approval 1"]
    await one.leases.release("approval 1")
    assert await one.leases.held("approval ") == []


async def test_I11_a_lease_that_is_over_is_not_renewed(record: PostgresRecord) -> None:
    one, other = await record.open(), await record.open(beside=True)
    assert await one.leases.renew(3600, "well")
    await record.kill(one)
    assert not await one.leases.renew(3600, "late")
    assert await other.leases.renew(3600, "well")
    with psycopg.connect(record.url) as held:
        lease = record.database(one).lease
        [(until, told)] = held.execute("SELECT until, told FROM process WHERE lease = %s", [lease]).fetchall()
    assert (until, told) == (0, "well")
