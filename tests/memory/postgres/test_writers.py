"""Write locks in PostgreSQL pass the suite, and a process that was suspended for too long writes
nothing.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memory.store.postgres.locks import LOCK_CLASS, LockTimeouts, PostgresWriteLocks, lock_key
from memory.workspace.files import SpaceFiles, Workspace
from memory.workspace.write_locks import LockLost, WriteLocks
from tests.contracts.writers_suite import Spawn, WritersSuite, unfinished
from tests.contracts.writing import NOT_SURE, Other, spawned

pytestmark = pytest.mark.postgres
ALIVE = "INSERT INTO process (lease, name, until, told) VALUES (%s, '', 1e18, '')"
OVER = "UPDATE process SET until = 0 WHERE lease = %s"
LOCKS = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def record(fresh: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(fresh, autocommit=True) as held:
        yield held


@pytest.fixture
def writers(fresh: str, record: psycopg.Connection) -> Iterator[WriteLocks]:
    record.execute(ALIVE, [1])
    made = PostgresWriteLocks(fresh, 1, LockTimeouts(wait=10.0, idle=10.0))
    made.open()
    yield made
    made.close()


@pytest.fixture
def spawn(root: Path, fresh: str, record: psycopg.Connection) -> Spawn:
    numbers = itertools.count(2)

    def spawned_here(*words: str, fp: str = "") -> Other:
        lease = next(numbers)
        record.execute(ALIVE, [lease])
        return spawned(root, fresh, lease, *words, fp=fp)

    return spawned_here


@pytest.fixture
def files(root: Path, writers: WriteLocks) -> SpaceFiles:
    return Workspace(root, writers).space("")


class TestInPostgres(WritersSuite): ...


def end_its_session(record: psycopg.Connection) -> None:
    """End a session that is idle with a lock, as the server does after its timeout."""
    record.execute(LOCKS.replace("SELECT pid", "SELECT pg_terminate_backend(pid)"), [LOCK_CLASS])


@pytest.mark.kill
@pytest.mark.parametrize("act", ["sleep", "doze"])
def test_I11_a_process_that_slept_when_it_was_to_write_writes_nothing_when_it_wakes(
    act: str, files: SpaceFiles, spawn: Spawn, record: psycopg.Connection
) -> None:
    made = files.write("MEMORY.md", "old", None)
    other = spawn(act, "MEMORY.md")
    other.stopped()
    assert len(unfinished(files)) == 1
    end_its_session(record)
    assert files.write("MEMORY.md", "ours", made.sha256).text == "ours"
    assert unfinished(files) == []
    other.wake()
    assert other.end() == NOT_SURE
    assert files.read("MEMORY.md").text == "ours"
    assert unfinished(files) == []


@pytest.mark.kill
def test_I11_a_lease_that_is_over_writes_nothing_though_nobody_else_has_come(
    files: SpaceFiles, spawn: Spawn, record: psycopg.Connection
) -> None:
    files.write("MEMORY.md", "old", None)
    other = spawn("doze", "MEMORY.md")
    other.stopped()
    record.execute(OVER, [2])
    other.wake()
    assert other.end() == NOT_SURE
    assert files.read("MEMORY.md").text == "old"
    assert unfinished(files) == []


def test_a_session_that_sleeps_with_the_lock_is_ended_by_the_server(
    fresh: str, files: SpaceFiles
) -> None:
    files.write("a.md", "old", None)
    hasty = PostgresWriteLocks(fresh, 1, LockTimeouts(idle=0.2))
    hasty.open()
    with hasty.alone("", -1) as sleeper:
        assert files.write("a.md", "new", files.read("a.md").sha256).text == "new"
        with pytest.raises(LockLost):
            sleeper.check_still_held()
    hasty.close()


def test_who_does_not_get_the_lock_writes_nothing(
    fresh: str, root: Path, record: psycopg.Connection
) -> None:
    record.execute(ALIVE, [1])
    hasty = PostgresWriteLocks(fresh, 1, LockTimeouts(wait=0.1))
    hasty.open()
    with psycopg.connect(fresh) as held:
        held.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, lock_key("")])
        with pytest.raises(LockLost):
            Workspace(root, hasty).space("").write("a.md", "new", None)
    assert Workspace(root, hasty).space("").write("a.md", "new", None).text == "new"
    hasty.close()


def test_without_the_server_nothing_is_written(root: Path) -> None:
    nobody = PostgresWriteLocks("postgresql://nobody@127.0.0.1:1/none", 1, LockTimeouts(wait=0.3))
    nobody.open()
    with pytest.raises(LockLost):
        Workspace(root, nobody).space("").write("a.md", "new", None)
    assert list(root.iterdir()) == []
    nobody.close()
