"""The ledger check finds every planted breach, and none in a sound database."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from memory.store.conversations.outbox import next_state
from memory.store.errors import WrongState
from memory.store.rows import OutboxRow, SendOutcome
from tests.cases import every_case
from tests.contracts.store_words import folded, place, talk
from tests.memory.store.conftest import SqliteRecord

BREACHES = {
    "a live message is covered": (
        "INSERT INTO coverage SELECT id, 'folded', (SELECT fold_head FROM conversation) FROM "
        "message WHERE seq = 9"
    ),
    "covered by no fold": (
        "DELETE FROM coverage WHERE message_id = (SELECT id FROM message WHERE seq = 2)"
    ),
    "not on the chain": (
        "UPDATE coverage SET fold_id = 'other' WHERE message_id = (SELECT id FROM message WHERE "
        "seq = 2)"
    ),
    "of another range": (
        "UPDATE coverage SET fold_id = (SELECT fold_head FROM conversation) "
        "WHERE message_id = (SELECT id FROM message WHERE seq = 2)"
    ),
    "does not begin where": "UPDATE fold SET from_seq = from_seq + 1 WHERE prev_fold != ''",
    "is not folded": "UPDATE fold SET state = 'stale' WHERE prev_fold = ''",
    "builds on one that is missing": "UPDATE fold SET prev_fold = 'other' WHERE prev_fold != ''",
    "is no fold of this conversation": "UPDATE conversation SET fold_head = 'other'",
    "no log entry": "UPDATE fold SET log_ref = '' WHERE prev_fold = ''",
    "begins behind its end": "UPDATE conversation SET view_from = next_seq + 1, fold_head = ''",
}


@pytest.mark.parametrize("what", BREACHES)
async def test_I36_a_planted_breach_is_found(record: SqliteRecord, what: str) -> None:
    store = await record.open()
    home = await talk(store, "1", "2", "3", "4", "5")
    await folded(store, home, 2)
    await folded(store, home, 1)
    assert await store.folds.check_ledger() == []
    with closing(sqlite3.connect(record.path, isolation_level=None)) as outside:
        outside.execute(BREACHES[what])
    faults = await store.folds.check_ledger(home)
    assert any(what in fault.what for fault in faults)
    assert {fault.conversation for fault in faults} == {home}
    assert await store.folds.check_ledger("another") == []


def _row(**fields: object) -> OutboxRow:
    given: dict[str, object] = {
        **dict.fromkeys(
            ("id", "conversation", "source", "client_key", "text", "reply_to", "reply_to_key"), ""
        ),
        **dict.fromkeys(("part_no", "attempts", "repeats", "line"), 0),
        "platform_id": "",
        "payload": "",
        "error": "",
        "place": place(),
        "parts": 1,
        "kind": "final",
        "state": "sending",
        "plain": False,
        "key_expires": 0.0,
        "not_before": 0.0,
        "created": datetime.now(UTC),
    }
    return OutboxRow(**{**given, **fields})  # type: ignore[arg-type]


@every_case(
    ("fields", "fate", "fenced", "state", "repeats"),
    [
        ({}, "sent", False, "sent", 0),
        ({}, "sent", True, "sent", 0),
        ({}, "failed", True, "failed", 0),
        ({}, "pending", False, "pending", 0),
        ({}, "pending", True, "dropped", 0),
        ({"key_expires": 200.0}, "unknown", False, "pending", 0),
        ({"key_expires": 200.0, "kind": "notice"}, "unknown", False, "pending", 0),
        ({"key_expires": 200.0}, "unknown", True, "dropped", 0),
        ({"key_expires": 50.0}, "unknown", False, "pending", 1),
        ({}, "unknown", False, "pending", 1),
        ({"kind": "media"}, "unknown", False, "pending", 1),
        ({"kind": "notice"}, "unknown", False, "pending", 1),
        ({"kind": "progress"}, "unknown", False, "dropped", 0),
        ({"repeats": 1}, "unknown", False, "dropped", 1),
        ({"repeats": 1}, "pending", False, "pending", 1),
    ],
)
def test_I05_the_diagram_of_a_send(
    fields: dict[str, object], fate: str, fenced: bool, state: str, repeats: int
) -> None:
    after = next_state(_row(**fields), SendOutcome(state=fate), 100.0, fenced=fenced)  # type: ignore[arg-type]
    assert (after.state, after.repeats) == (state, repeats)


@pytest.mark.parametrize("fate", ["sending", "dropped"])
def test_a_fate_that_is_not_drawn_is_refused(fate: str) -> None:
    with pytest.raises(WrongState):
        next_state(_row(), SendOutcome(state=fate), 100.0, fenced=False)  # type: ignore[arg-type]
