"""What SQLite tells of itself: its files' sizes, and how often another process was in its way."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.store.errors import StoreBusy
from memory.store.open import open_store


async def test_I25_another_process_that_holds_the_database_is_counted(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "m.db", busy_timeout=0.01)
    with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as outside:
        outside.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            await store.note("test", "", "", "")
        outside.execute("ROLLBACK")
    assert (await store.figures()).busy == 1
    assert (await store.figures()).wal_bytes > 0
    await store.close()
