"""What a crash of the server has undone is not taken for done."""

import psycopg
import pytest

from memory.store.engine.database import Tx
from memory.store.errors import StoreError
from memory.store.postgres.open import open_postgres
from tests.walk.cluster import cluster

OTHERS = 20  # transactions after the restart: one of them has the number of that which was undone

pytestmark = pytest.mark.postgres


async def test_a_unit_that_a_crash_undid_failed_though_its_number_is_anothers_by_now() -> None:
    with cluster() as server:
        store = await open_postgres(server.url, lease_seconds=600)

        async def unit(_: Tx) -> str:
            server.restart("immediate")
            with psycopg.connect(server.url, autocommit=True) as other:
                for _number in range(OTHERS):
                    other.execute("SELECT pg_current_xact_id()")
            return "done"

        with pytest.raises(StoreError):
            await store.database.write(unit)
        await store.close()
