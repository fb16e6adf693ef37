"""The write locks of one machine pass the suite."""

from pathlib import Path

import pytest

from memory.workspace.write_locks import LOCAL_WRITE_LOCKS, WriteLocks
from tests.contracts.writers_suite import Spawn, WritersSuite
from tests.contracts.writing import Other, spawned


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def writers() -> WriteLocks:
    return LOCAL_WRITE_LOCKS


@pytest.fixture
def spawn(root: Path) -> Spawn:
    def spawned_here(*words: str, fp: str = "") -> Other:
        return spawned(root, "", 0, *words, fp=fp)

    return spawned_here


class TestOnOneMachine(WritersSuite): ...
