"""SQLite passes the access suites, and each decision is in the audit chain."""

from sqlalchemy import select

from memory.store.audit import find_broken_seq
from memory.store.engine.database import Row, Tx
from memory.store.longterm.rows import ForgetTargets
from memory.store.schema.tables import audit
from tests.contracts.store_access_suite import (
    ApprovalSuite,
    GrantSuite,
    OwnerCodeSuite,
    RequestSuite,
    asking,
    granted,
    party,
)
from tests.contracts.store_words import talk
from tests.memory.store.conftest import SqliteRecord


class TestGrants(GrantSuite): ...


class TestRequests(RequestSuite): ...


class TestOwnerCodes(OwnerCodeSuite): ...


class TestApprovals(ApprovalSuite): ...


async def _chain(tx: Tx) -> list[Row]:
    return (await tx.execute(select(audit).order_by(audit.c.seq))).all()


async def test_every_decision_is_in_the_chain(record: SqliteRecord) -> None:
    store = await record.open()
    await store.access.grant(granted("admin"))
    await store.access.revoke("web", "42", "the owner")
    await store.access.decide("wrong", "approved", "the owner")
    rows = await store.database.read(_chain)
    assert [(row["action"], row["subject"], row["actor"]) for row in rows] == [
        ("grant admin", "web/a/42", "test"),
        ("revoke", "web//42", "the owner"),
        ("pairing code wrong", "", "the owner"),
    ]
    assert await store.database.read(find_broken_seq) == 0


async def test_what_waits_for_a_yes_is_forgotten_and_deleted_with_its_conversation(
    record: SqliteRecord,
) -> None:
    store = await record.open()
    home = await talk(store, "k1")
    await store.access.ask(asking(record, home, arguments='{"content":"Call me Zanzibar."}'), [])
    await store.forgettings.erase("", ForgetTargets(query="zanzibar", row="", items=()))
    row = await store.access.approval("code", party())
    assert row
    assert "anzibar" not in row.arguments
    await store.sessions.delete(home)
    assert await store.access.approval("code", party()) is None
