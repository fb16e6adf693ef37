"""On SQLite: one process at a time has a duty, and an expired lease cannot be renewed."""

import sqlite3
from contextlib import closing

from tests.memory.store.conftest import SqliteRecord

ANOTHER = 999


def outside(record: SqliteRecord, *statements: str) -> None:
    """Change the file as another process would."""
    with closing(sqlite3.connect(record.path, isolation_level=None)) as held:
        for statement in statements:
            held.execute(statement)


async def test_I11_a_duty_that_a_living_process_has_is_taken_by_nobody_else(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    outside(
        record,
        f"INSERT INTO process (lease, name, until, told) VALUES ({ANOTHER}, 'other', 1e18, '')",
        f"INSERT INTO duty (name, lease) VALUES ('clock', {ANOTHER})",
    )
    assert not await store.leases.take("clock")
    assert await store.leases.take("care"), "another duty is free"
    assert await store.leases.take("care"), "who has it has it"
    await store.leases.release("clock")
    assert not await store.leases.take("clock"), "nobody lets go of what another has"
    outside(record, f"UPDATE process SET until = 0 WHERE lease = {ANOTHER}")
    assert await store.leases.take("clock")


async def test_I11_a_lease_that_is_over_is_not_renewed_though_nobody_has_looked_yet(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    assert await store.leases.renew(60.0, "well")
    left = "until - (julianday('now') - 2440587.5) * 86400.0"
    with closing(sqlite3.connect(record.path)) as held:
        [(seconds,)] = held.execute(f"SELECT {left} FROM process")
    assert 0 < seconds <= 60.001
    outside(record, "UPDATE process SET until = 1")
    assert not await store.leases.renew(60.0, "late")
    with closing(sqlite3.connect(record.path)) as held:
        assert held.execute("SELECT until, told FROM process").fetchall() == [(1.0, "well")]
