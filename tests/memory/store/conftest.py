"""One database file per test, which may be opened several times."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.store.open import open_store
from memory.store.store import Store


class SqliteRecord:
    """One database file and all stores opened on it, whose clock is `now` (unix seconds)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 1_795_000_000.0
        self.opened: list[Store] = []

    async def open(
        self, *, writable: bool = True, busy_timeout: float = 5.0, soft_seconds: float = 0.05
    ) -> Store:
        store = await open_store(
            self.path,
            writable=writable,
            busy_timeout=busy_timeout,
            soft_seconds=soft_seconds,
            clock=lambda: self.now,
        )
        self.opened.append(store)
        return store


@pytest.fixture
async def record(tmp_path: Path) -> AsyncIterator[SqliteRecord]:
    held = SqliteRecord(tmp_path / "data" / "mnema.db")
    yield held
    for store in held.opened:
        await store.close()
