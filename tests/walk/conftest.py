"""Where the processes of a walk have their record: in a server of this test process's own, where
one can be started.
"""

from collections.abc import Iterator

import pytest

from tests.postgres import database, needs_postgres
from tests.walk.cluster import cluster, why_not


@pytest.fixture(scope="session")
def roomy() -> Iterator[str]:
    """The address of a server that takes the connections of many processes, "" for the one that is
    there.
    """
    if why_not():
        needs_postgres()
        yield ""
    else:
        with cluster() as server:
            yield server.url


@pytest.fixture
def db(roomy: str) -> Iterator[str]:
    """The address of a new database."""
    with database(roomy) as url:
        yield url
