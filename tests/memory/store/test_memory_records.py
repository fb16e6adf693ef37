"""SQLite passes the memory suite, and each change is in the audit chain."""

from sqlalchemy import select

from memory.store import audit
from memory.store.engine.database import Tx
from memory.store.schema.tables import audit as acts
from tests.contracts.store_memory_suite import MemoryRecordSuite, change, line
from tests.memory.store.conftest import SqliteRecord


class TestMemoryRecords(MemoryRecordSuite): ...


async def test_a_change_is_an_act_in_the_chain_without_its_words(record: SqliteRecord) -> None:
    store = await record.open()
    for _ in range(2):
        await store.memories.put("bob", change("", "1"), [line("Tea")])

    async def read(tx: Tx) -> tuple[int, list[str]]:
        rows = (await tx.execute(select(acts))).all()
        return await audit.find_broken_seq(tx), [
            f"{row['action']} {row['subject']} {row['result']}" for row in rows
        ]

    assert await store.database.read(read) == (0, ["memory.extract bob +1 -0"])
