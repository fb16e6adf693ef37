"""Where recall's indexes are kept in these tests: in files, and in a PostgreSQL that is emptied for
each test.
"""

from collections.abc import Iterator

import psycopg
import pytest

from memory.store.postgres.index_keeper import PostgresSharedIndexes
from tests.postgres import database, needs_postgres

TABLES = ("posting", "vector", "entry", "speaker", "source", "space")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a database of this process's own."""
    needs_postgres()
    with database() as url:
        yield url


@pytest.fixture
def url(server: str) -> str:
    """The same, with no index in it."""
    with psycopg.connect(server, autocommit=True) as base:
        if base.execute("SELECT to_regclass('mnema_index.space')").fetchone() != (None,):
            base.execute(";".join(f"DELETE FROM mnema_index.{table}" for table in TABLES))
    return server


@pytest.fixture(params=["files", pytest.param("postgres", marks=pytest.mark.postgres)])
def shared(request: pytest.FixtureRequest) -> Iterator[PostgresSharedIndexes | None]:
    """None where each index is a file."""
    if request.param == "files":
        yield None
        return
    held = PostgresSharedIndexes(request.getfixturevalue("url"))
    yield held
    held.close()
