"""Duties and leases of two openings of one PostgreSQL database."""

import psycopg
import pytest

from memory.store.errors import WrongState
from tests.contracts.store_words import begin, parts, reply
from tests.memory.postgres.conftest import PostgresRecord

pytestmark = pytest.mark.postgres


async def test_I11_a_duty_is_one_process_s_until_it_lets_go_or_its_lease_is_over(
    record: PostgresRecord,
) -> None:
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


async def test_duties_of_a_prefix_are_held_by_the_living_whoever_asks(
    record: PostgresRecord,
) -> None:
    one, other = await record.open(), await record.open(beside=True)
    for leases, names in (
        (one.leases, ("approval 1", "clock")),
        (other.leases, ("approval 2", "approvals")),
    ):
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
        [(until, told)] = held.execute(
            "SELECT until, told FROM process WHERE lease = %s", [lease]
        ).fetchall()
    assert (until, told) == (0, "well")


async def test_I11_a_turn_is_taken_over_from_the_dead_and_from_nobody_else(
    record: PostgresRecord,
) -> None:
    one, other = await record.open(), await record.open(beside=True)
    turn = await begin(one)
    with pytest.raises(WrongState, match="another process works on"):
        await other.delivery.take_over(turn.id)
    assert await one.delivery.take_over(turn.id)
    await record.kill(one)
    held = await other.delivery.take_over(turn.id)
    assert held is not None
    assert held.attempts == 1
    with pytest.raises(WrongState):
        await one.delivery.finish(turn, "done", reply("ours"), parts("ours"))
    assert await other.delivery.finish(held, "done", reply("theirs"), parts("theirs"))
