"""One PostgreSQL database per test, which may be opened several times."""

from collections.abc import AsyncIterator

import pytest

from memory.store.postgres.database import PostgresDatabase
from memory.store.postgres.open import open_postgres
from memory.store.store import Store
from tests.postgres import fresh, made  # noqa: F401  fixtures


class PostgresRecord:
    """One database, whose clock is `now`; a new opening finds the earlier ones dead unless `beside`
    is set.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.now = 1_795_000_000.0
        self.opened: list[Store] = []

    async def open(self, *, writable: bool = True, beside: bool = False) -> Store:
        store = await open_postgres(
            self.url, writable=writable, clock=lambda: self.now, lease_seconds=3600, connections=4
        )
        if writable and not beside:
            await self.kill(*self.opened)
        self.opened.append(store)
        return store

    async def kill(self, *stores: Store) -> None:
        """Let the leases of these stores expire."""
        for store in stores:
            database = self.database(store)
            if not database.pool.closed:
                async with database.pool.connection() as bare:
                    await bare.execute(
                        "UPDATE process SET until = 0 WHERE lease = %s", [database.lease]
                    )

    @staticmethod
    def database(store: Store) -> PostgresDatabase:
        assert isinstance(store.database, PostgresDatabase)
        return store.database


@pytest.fixture
async def record(fresh: str) -> AsyncIterator[PostgresRecord]:  # noqa: F811
    held = PostgresRecord(fresh)
    yield held
    for store in held.opened:
        await store.close()
