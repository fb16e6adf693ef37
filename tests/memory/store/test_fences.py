"""Each fence by itself: late work changes no row that a clear or another process has moved."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from memory.store.engine.database import Tx
from memory.store.errors import StaleEpoch, WrongState
from memory.store.rows import SendOutcome
from memory.store.store import Store
from tests.contracts.store_snapshot_suite import PARTS, taken
from tests.contracts.store_words import SPENT, begin, folded, logged, oldest, parts, reply, talk
from tests.memory.store.conftest import SqliteRecord

ANOTHER = 999


def outside(record: SqliteRecord, statement: str) -> None:
    """Change the file as another process would."""
    with closing(sqlite3.connect(record.path, isolation_level=None)) as held:
        held.execute(statement)


async def being_sent(store: Store) -> str:
    """Return the id of a part that is being sent."""
    turn = await begin(store)
    await store.delivery.finish(turn, "done", reply(), parts("one"))
    row = await store.delivery.next_outbox_row(turn.conversation)
    assert row
    assert await store.delivery.mark_sending(row.id)
    return row.id


async def test_I18_a_step_knows_its_epoch_whatever_else_a_clear_forgot(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    turn = await begin(store)
    outside(record, "UPDATE conversation SET epoch = epoch + 1")
    with pytest.raises(StaleEpoch):
        await store.sessions.add_step(turn, reply(), [], SPENT)


async def test_I18_the_head_knows_its_epoch_whatever_else_a_clear_forgot(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    home = await talk(store, "1", "2")
    planned = await store.folds.plan(oldest(await store.sessions.load(home), 1))
    assert planned
    entered = await logged(store, planned)
    outside(record, "UPDATE conversation SET epoch = epoch + 1")
    assert await store.folds.commit(entered, 1) is None
    assert (await store.sessions.load(home)).summary is None


async def test_I18_undoing_a_clear_revives_nothing_that_was_said_before_it(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    id = await being_sent(store)
    [home] = [row.id for row in await store.sessions.conversations()]
    await store.sessions.clear(home)
    assert await store.sessions.undo_clear(home)
    assert (await store.delivery.settle_sent(id, SendOutcome(state="pending"))).state == "dropped"


async def test_I18_what_was_taken_back_before_a_clear_holds_no_fold_back_after_it(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    home = await talk(store, "1", "2", "3")
    await folded(store, home, 1)
    assert await store.folds.undo(home)
    assert (await store.sessions.load(home)).held
    await store.sessions.clear(home)
    assert not (await store.sessions.load(home)).held


async def test_I18_a_snapshot_from_before_a_clear_is_not_kept_after_it(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    home = await talk(store, "1")
    late = taken(await store.sessions.load(home), *PARTS)
    await store.sessions.clear(home)
    await store.sessions.set_snapshot(home, late, "late")
    assert await store.sessions.snapshot(home) is None


async def test_I11_a_fold_goes_on_only_for_who_holds_it(record: SqliteRecord) -> None:
    store = await record.open()
    home = await talk(store, "1", "2")
    planned = await store.folds.plan(oldest(await store.sessions.load(home), 1))
    assert planned
    outside(record, "UPDATE fold SET lease_epoch = lease_epoch + 1")
    with pytest.raises(WrongState, match="not ours"):
        await store.folds.advance(planned, "summarised", summary="late")


async def test_I11_a_send_is_ended_only_by_who_began_it(record: SqliteRecord) -> None:
    store = await record.open()
    id = await being_sent(store)
    outside(record, "UPDATE outbox SET lease_epoch = lease_epoch + 1")
    with pytest.raises(WrongState, match="not ours"):
        await store.delivery.settle_sent(id, SendOutcome(state="sent"))


async def test_I11_only_what_nobody_holds_any_more_is_taken_over(record: SqliteRecord) -> None:
    store = await record.open()
    await begin(store)
    outside(
        record,
        f"INSERT INTO process (lease, name, until, told) VALUES ({ANOTHER}, 'other', 1e18, '')",
    )
    outside(record, f"UPDATE turn SET lease_epoch = {ANOTHER}")
    assert (await store.delivery.recover()).turns == ()
    outside(record, f"DELETE FROM process WHERE lease = {ANOTHER}")
    [held] = (await store.delivery.recover()).turns
    assert held.attempts == 1


async def test_I25_a_unit_of_work_has_the_write_lock_before_its_first_statement(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    tried = asyncio.Event()

    async def work(_: Tx) -> None:
        with (
            closing(sqlite3.connect(record.path, isolation_level=None, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("BEGIN IMMEDIATE")
        tried.set()

    await store.database.write(work)
    assert tried.is_set()
