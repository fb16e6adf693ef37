"""Whether an index is sound is seen from outside: nothing of a good one, the fault of a broken one,
space by space.
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import pytest

from memory.recall.index import IndexCheck, RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.keepers.keeper import UNSETTLED_NS
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.workspace.files import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    folder: Path
    workspace: Workspace

    def look(self) -> list[IndexCheck]:
        return FileIndexes(self.folder).check_indexes(self.workspace)

    def alter(self, statement: str, name: str = "owner.db") -> None:
        with closing(sqlite3.connect(self.folder / name, isolation_level=None)) as base:
            base.executescript(statement)


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Made]:
    """The indexes of two spaces, made long enough after their files for those to count as
    settled.
    """
    workspace = Workspace(tmp_path / "workspace")
    workspace.space("").write("MEMORY.md", "- 喜欢乌龙茶\n- likes rivers\n", None)
    workspace.space("").write("memory/2026-11-20.md", "- 09:00 Ann: hello there\n", None)
    workspace.space("telegram-42").write("MEMORY.md", "- a canary\n", None)
    store = await open_store(tmp_path / "mnema.db")
    recall = Recall(
        RecallDependencies(
            store=store, workspace=workspace, indexes=FileIndexes(tmp_path / "index"), zone=UTC
        )
    )
    settled = (tmp_path / "workspace" / "MEMORY.md").stat().st_ctime_ns + 2 * UNSETTLED_NS
    while _clock(tmp_path) < settled:
        pass
    for space in ("", "telegram-42"):
        await recall.refresh(space)
    await recall.close()
    yield Made(folder=tmp_path / "index", workspace=workspace)
    await store.close()


def _clock(folder: Path) -> int:
    """What the file system's clock shows."""
    (folder / "tick").touch()
    return (folder / "tick").stat().st_mtime_ns


def test_where_there_is_no_index_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert FileIndexes(tmp_path / "index").check_indexes(Workspace(tmp_path)) == []


async def test_sound_indexes_have_their_rows_and_no_fault(made: Made) -> None:
    assert made.look() == [IndexCheck(space="", rows=3), IndexCheck(space="telegram-42", rows=1)]


async def test_a_file_that_changed_or_went_is_no_fault(made: Made) -> None:
    root = made.workspace.root
    (root / "MEMORY.md").write_text("- something else\n")
    (root / "memory" / "2026-11-20.md").unlink()
    assert made.look()[0] == IndexCheck(space="", rows=3, behind=2)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM row WHERE words LIKE '%rivers%'; UPDATE counts SET rows = rows - 1",
        "UPDATE row SET words = 'hates rivers' WHERE words LIKE '%rivers%'",
        "UPDATE row SET line = 9 WHERE words LIKE '%rivers%'",
    ],
)
async def test_an_index_that_says_otherwise_than_its_file_is_at_fault(
    made: Made, statement: str
) -> None:
    made.alter(statement)
    mine, theirs = made.look()
    assert mine.fault == "MEMORY.md is indexed with other text than the file has"
    assert not theirs.fault


async def test_counters_that_do_not_fit_the_rows_are_a_fault(made: Made) -> None:
    made.alter("UPDATE counts SET tool_rows = 1")
    assert made.look()[0].fault == "it has 3 rows, 0 of tools, but its counters say 3 and 1"


async def test_full_text_that_does_not_fit_its_rows_is_at_fault(made: Made) -> None:
    made.alter("INSERT INTO found(found) VALUES ('delete-all')")
    assert made.look()[0].fault
    assert not made.look()[1].fault


async def test_a_file_that_is_no_index_is_at_fault_and_the_others_are_looked_at(made: Made) -> None:
    (made.folder / "owner.db").write_bytes(b"no index at all" * 1_000)
    mine, theirs = made.look()
    assert (mine.space, mine.rows, bool(mine.fault)) == ("", 0, True)
    assert theirs == IndexCheck(space="telegram-42", rows=1)
