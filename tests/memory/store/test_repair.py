"""A damaged database is replaced by what can be had of it: a snapshot, and all that is readable and
newer.
"""

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.store.conversations.lifecycle import delete_conversation
from memory.store.errors import StoreCorrupt
from memory.store.longterm.rows import ForgetTargets, ForgettingRow
from memory.store.maintenance.repair import NOTE_CHANNEL, NOTE_NAME, RepairReport, load_report
from memory.store.open import open_store
from memory.store.people.rows import GrantRow
from memory.store.rows import Party, from_unix
from memory.store.schema.tables import metadata
from memory.store.store import Store
from tests.by_night import first_by_day
from tests.contracts.store_words import SPENT, arrival, begin, call, numbers, parts, reply, talk
from tests.killed import exit_code
from tests.memory.store.conftest import SqliteRecord

HOUR = 3_600.0
RECORD = ("message", "turn", "conversation")  # without one of these a conversation is not whole
TABLES = [
    *RECORD,
    "inbox",
    "outbox",
    "audit",
    "usage",
    "access_grant",
    "forgetting",
    "channel_note",
]
TABLES += sorted(metadata.tables.keys() - {*TABLES})


def garble(path: Path, name: str) -> None:
    """Overwrite the root page of a table or an index."""
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [(size,)] = opened.execute("PRAGMA page_size")
        [(root,)] = opened.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,))
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\x5a" * size)


def query(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as opened:
        return opened.execute(sql, values).fetchall()


async def _snapshot_then_newer(record: SqliteRecord) -> tuple[Store, str]:
    """Two conversations with a snapshot behind their third turns, and two turns more in the first;
    still open.
    """
    store = await record.open()
    home = await talk(store, "1", "2", "3")
    await talk(store, "other", chat="c2")
    assert await store.take_due_snapshot()
    record.now += 600
    await talk(store, "4", "5")
    return store, home


async def _repaired(record: SqliteRecord) -> tuple[Store, RepairReport]:
    store = await record.open()
    assert store.repaired is not None
    assert (
        load_report((await store.notes.load(NOTE_CHANNEL, NOTE_NAME))[NOTE_NAME]) == store.repaired
    )
    assert await store.folds.check_ledger() == []
    return store, store.repaired


async def _are_known(store: Store, *keys: str) -> bool:
    """A platform delivers these again: they are not taken for new ones."""
    return not any(
        [(await store.delivery.accept([arrival(key, f"question {key}")]))[0].new for key in keys]
    )


@pytest.mark.parametrize("table", first_by_day(9, TABLES))
async def test_I27_a_garbled_table_costs_no_more_than_it_held_and_no_message_is_answered_twice(
    record: SqliteRecord, table: str
) -> None:
    store, home = await _snapshot_then_newer(record)
    await store.database.close()
    garble(record.path, table)
    store, report = await _repaired(record)
    is_whole = table not in RECORD
    assert numbers(await store.sessions.load(home)) == ([1, 2, 3, 4, 5] if is_whole else [1, 2, 3])
    assert (report.source, report.newer > 0) == ("snapshot", True)
    assert bool(report.left) is not is_whole
    assert (report.messages == 4) is is_whole
    assert report.keys_only == 0
    said = [line.text for line in await store.sessions.lines(home) if line.role == "user"]
    assert said == [f"question {number}" for number in range(1, 6)]
    assert await _are_known(store, "1", "2", "3", "4", "5")
    assert await store.delivery.waiting() == []
    assert len(list(record.path.parent.glob("mnema.db.corrupt.*"))) == 1


INDEXES = [f"sqlite_autoindex_{name}" for name in ("inbox_2", "message_1", "inbox_1", "message_2")]


@pytest.mark.parametrize("index", first_by_day(2, INDEXES))
async def test_I27_a_garbled_index_costs_nothing(record: SqliteRecord, index: str) -> None:
    store, home = await _snapshot_then_newer(record)
    await store.database.close()
    garble(record.path, index)
    store, report = await _repaired(record)
    assert numbers(await store.sessions.load(home)) == [1, 2, 3, 4, 5]
    assert (report.messages, report.left, report.keys_only) == (4, (), 0)
    assert await _are_known(store, "1", "2", "3", "4", "5")


@pytest.mark.parametrize("table", ["usage", "message"])
async def test_what_had_no_end_is_work_again_and_what_was_answered_is_not(
    record: SqliteRecord, table: str
) -> None:
    store = await record.open()
    answered = await begin(store, "early")
    assert await store.take_due_snapshot()  # it is running there
    record.now += 600
    assert await store.delivery.finish(answered, "done", reply(), [])
    running = await begin(store, "late")
    await store.database.close()
    garble(record.path, table)
    store, _ = await _repaired(record)
    recovered = await store.delivery.recover()
    assert answered.id not in [turn.id for turn in recovered.turns]
    row = await store.delivery.next_inbox_row(running.conversation, store.now())
    assert row is not None
    assert (row.id, row.state) == (running.inbox_id, "running" if table == "usage" else "new")
    assert not (await store.delivery.accept([arrival("early")]))[0].new


async def test_I14_an_unsafe_call_that_may_have_been_started_since_is_unknown(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    turn = await begin(store)
    planned = await store.sessions.add_step(
        turn, reply(), [call("a", "unsafe"), call("b", "pure")], SPENT
    )
    assert await store.take_due_snapshot()
    await store.sessions.start_calls(planned)
    await store.database.close()
    garble(record.path, "message")
    store, _ = await _repaired(record)
    await store.delivery.recover()
    states = query(record.path, "SELECT call_id, state FROM tool_call ORDER BY call_id")
    assert states == [("a", "unknown"), ("b", "planned")]


@pytest.mark.parametrize("table", ["access_grant", "audit", "usage"])
async def test_S38_a_right_that_was_revoked_since_the_snapshot_stays_revoked(
    record: SqliteRecord, table: str
) -> None:
    store = await record.open()
    for id in ("ann", "bob"):
        party = Party(channel="telegram", account="", subject="user", id=id)
        grant = GrantRow(
            party=party, role="admin", group="", name=id, by="owner", at=from_unix(record.now)
        )
        await store.access.grant(grant)
    assert await store.take_due_snapshot()
    record.now += 5
    await store.access.revoke("telegram", "ann", "owner")
    await store.database.close()
    garble(record.path, table)
    store, report = await _repaired(record)
    assert query(record.path, "SELECT subject_id FROM access_grant") == [("bob",)]
    assert report.rights_known


async def test_what_cannot_be_read_of_rights_and_forgettings_is_told(record: SqliteRecord) -> None:
    store, _ = await _snapshot_then_newer(record)
    await store.database.close()
    for table in ("access_grant", "audit"):
        garble(record.path, table)
    _, report = await _repaired(record)
    assert not report.rights_known


@pytest.mark.parametrize("table", ["message", "usage"])
async def test_I44_what_was_forgotten_since_the_snapshot_does_not_come_back(
    record: SqliteRecord, table: str
) -> None:
    store = await record.open()
    turn = await begin(store, "1", text="my house is in zanzibar")
    assert await store.delivery.finish(
        turn, "done", reply("zanzibar, then"), parts("zanzibar, then")
    )
    mine, other = turn.conversation, await talk(store, "about zanzibar", chat="c2", space="bob")
    request = ForgettingRow(
        id="f1",
        space="",
        conversation=mine,
        asked_by="web:u1",
        state="asked",
        code_sha256="c",
        targets="",
        receipt="",
        expires=from_unix(record.now + 600),
        at=from_unix(record.now),
    )
    await store.forgettings.add(request)
    assert await store.take_due_snapshot()
    record.now += 5
    await store.forgettings.confirm(
        request, ForgetTargets(query="zanzibar", row="", items=()), lambda _: ("", "done")
    )
    await store.database.close()
    garble(record.path, table)
    store, report = await _repaired(record)
    await store.database.close()
    with closing(sqlite3.connect(record.path)) as opened:
        dump = [line for line in opened.iterdump() if "zanzibar" in line]
    assert dump
    assert [line for line in dump if "about zanzibar" not in line] == []
    assert mine not in str(dump)
    assert other in str(dump)
    assert len(report.left) == (2 if table == "message" else 0)


async def test_a_conversation_that_was_deleted_since_the_snapshot_does_not_come_back(
    record: SqliteRecord,
) -> None:
    store, home = await _snapshot_then_newer(record)
    await store.database.write(delete_conversation, home)
    await store.database.close()
    garble(record.path, "usage")
    store, _ = await _repaired(record)
    assert await store.sessions.conversation(home) is None


async def test_a_conversation_that_began_since_the_snapshot_is_taken_over(
    record: SqliteRecord,
) -> None:
    store, _ = await _snapshot_then_newer(record)
    new = await talk(store, "new", chat="c3")
    await store.database.close()
    garble(record.path, "usage")
    store, report = await _repaired(record)
    assert numbers(await store.sessions.load(new)) == [1]
    assert report.newer == 2


async def test_without_a_snapshot_all_that_is_readable_is_taken_over(record: SqliteRecord) -> None:
    store = await record.open()
    home = await talk(store, "1", "2", "3")
    await store.database.close()
    garble(record.path, "usage")
    store, report = await _repaired(record)
    assert (report.source, report.messages) == ("nothing", 6)
    assert numbers(await store.sessions.load(home)) == [1, 2, 3]
    assert await _are_known(store, "1", "2", "3")


@pytest.mark.parametrize(
    "point", first_by_day(1, ["repair.moved", "repair.built", "repair.log_moved"])
)
async def test_I27_a_kill_during_a_repair_leaves_it_to_the_next_start(
    record: SqliteRecord, point: str
) -> None:
    store, home = await _snapshot_then_newer(record)
    await store.database.close()
    garble(record.path, "usage")
    assert await exit_code(opened, record.path, failpoint=f"{point}:kill9") == -signal.SIGKILL
    store = await record.open()
    assert NOTE_NAME in await store.notes.load(NOTE_CHANNEL, NOTE_NAME)
    assert numbers(await store.sessions.load(home)) == [1, 2, 3, 4, 5]
    names = {
        path.name.partition(".corrupt.")[0]
        for path in record.path.parent.iterdir()
        if path.is_file()
    }
    assert names <= {"mnema.db", "mnema.db-wal", "mnema.db-shm"}


async def opened(path: Path) -> None:
    await open_store(path, clock=lambda: 1_795_000_600.0)


# The write-ahead log


async def _killed(path: Path, turns: int) -> bytes:
    """Store turns in a process that is killed, and return its log."""
    assert await exit_code(talking, path, turns) == -signal.SIGKILL
    return path.with_name(f"{path.name}-wal").read_bytes()


async def talking(path: Path, turns: int) -> None:
    store = await open_store(path, clock=lambda: 1_795_000_000.0)
    await talk(store, *map(str, range(turns)))
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("place", [0.6, 0.9])
async def test_I27_a_log_that_sqlite_cuts_short_is_noticed_and_what_is_behind_is_taken_over(
    record: SqliteRecord, place: float
) -> None:
    log = bytearray(await _killed(record.path, 8))
    log[int(len(log) * place)] ^= 0xFF
    log_file = record.path.with_name("mnema.db-wal")
    log_file.write_bytes(log)
    store, report = await _repaired(record)
    assert report.source == "log"
    [conversation] = await store.sessions.conversations()
    assert await _are_known(store, *map(str, range(8)))
    assert numbers(await store.sessions.load(conversation.id)) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert record.path.with_name(f"{report.aside}-wal").read_bytes() == log


async def test_a_log_that_ends_in_mid_commit_is_no_damage(record: SqliteRecord) -> None:
    log = await _killed(record.path, 3)
    record.path.with_name("mnema.db-wal").write_bytes(log[: len(log) - 2_000])
    assert (await record.open()).repaired is None


# Snapshots


async def test_I27_snapshots_are_taken_by_the_hour_and_two_of_hours_and_of_days_are_kept(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    for hour in range(75):
        await talk(store, str(hour))
        assert await store.take_due_snapshot()
        assert not await store.take_due_snapshot()
        record.now += HOUR
    taken = sorted(path.stem for path in (record.path.parent / "snapshots").iterdir())
    assert [name[-16:-3] for name in taken] == [
        "20261119T2306",
        "20261120T2306",
        "20261121T1206",
        "20261121T1306",
    ]


async def test_no_snapshot_is_taken_while_nothing_changes(record: SqliteRecord) -> None:
    store = await record.open()
    await talk(store, "1")
    assert await store.take_due_snapshot()
    record.now += 2 * HOUR
    assert await store.ready()
    assert not await store.take_due_snapshot()
    await talk(store, "2")
    assert await store.take_due_snapshot()


async def test_a_right_that_is_taken_away_makes_a_snapshot_due_at_once(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    await talk(store, "1")
    assert await store.take_due_snapshot()
    record.now += 60
    await talk(store, "2")
    assert not await store.take_due_snapshot()
    await store.access.revoke("telegram", "ann", "owner")
    assert await store.take_due_snapshot()


async def test_a_snapshot_that_fails_its_check_replaces_nothing(record: SqliteRecord) -> None:
    store, _ = await _snapshot_then_newer(record)
    before = {path: path.read_bytes() for path in (record.path.parent / "snapshots").iterdir()}
    record.now += 2 * HOUR
    garble(record.path, "heartbeat")
    with pytest.raises(StoreCorrupt):
        await store.take_due_snapshot()
    assert {
        path: path.read_bytes() for path in (record.path.parent / "snapshots").iterdir()
    } == before
    assert store.database.is_damaged
