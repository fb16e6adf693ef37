"""What every order of writers keeps: of many in one space each writes or is told, and nothing of
anybody's is lost.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory.workspace import daily_log
from memory.workspace.atomic_write import FileConflict
from memory.workspace.files import SpaceFiles, Workspace
from memory.workspace.safe_path import TEMPORARY
from memory.workspace.write_locks import LockLost, SpaceWriter, WriteLocks
from tests.contracts.writing import Other

LINES = 6
Spawn = Callable[..., Other]


@dataclass(frozen=True, slots=True)
class Unsure:
    """Writers of whom none is sure."""

    real: WriteLocks

    @contextmanager
    def alone(self, space: str, folder: int) -> Iterator[SpaceWriter]:
        with self.real.alone(space, folder) as writer:
            yield _Unsure(writer.mark)


@dataclass(frozen=True, slots=True)
class _Unsure:
    mark: str

    def check_still_held(self) -> None:
        raise LockLost("nobody knows")


class WritersSuite:
    """Fixtures: `writers`; `spawn`, which starts another process (see tests.contracts.writing) on
    `root`.
    """

    @pytest.fixture
    def files(self, writers: WriteLocks, root: Path) -> SpaceFiles:
        return Workspace(root, writers).space("")

    def test_of_many_threads_each_writes_or_is_told(self, files: SpaceFiles) -> None:
        files.write("n", "0", None)
        told = []

        def add() -> None:
            for _ in range(10):
                read = files.read("n")
                try:
                    files.write("n", str(int(read.text) + 1), read.sha256)
                except FileConflict:
                    told.append(1)

        threads = [threading.Thread(target=add) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert int(files.read("n").text) + len(told) == 30

    def test_I23_two_processes_in_the_same_files_lose_nothing(
        self, files: SpaceFiles, spawn: Spawn
    ) -> None:
        files.write("MEMORY.md", "# Memory\n", None)
        others = [spawn("talk", str(number), str(LINES)) for number in range(2)]
        assert [other.end() for other in others] == [0, 0]
        held = files.read("memory/2026-11-20.md").text
        folds = [row.fold for row in daily_log.iter_rows(held) if row.mark == "undone"]
        assert sorted(folds) == sorted(
            f"f{other}-{number}" for other in range(2) for number in range(LINES)
        )
        lines = files.read("MEMORY.md").text.splitlines()[1:]
        assert sorted(lines) == sorted(
            f"- {other}-{number}" for other in range(2) for number in range(LINES)
        )
        assert unfinished(files) == []

    def test_one_who_is_not_sure_leaves_the_file_as_it_was(
        self, files: SpaceFiles, writers: WriteLocks
    ) -> None:
        made = files.write("a.md", "old", None)
        with pytest.raises(LockLost):
            Workspace(files.root, Unsure(writers)).space("").write("a.md", "new", made.sha256)
        assert files.read("a.md").text == "old"
        assert unfinished(files) == []
        assert files.write("a.md", "newer", made.sha256).text == "newer"

    @pytest.mark.kill
    def test_I22_the_turn_of_a_killed_process_is_over_at_once(
        self, files: SpaceFiles, spawn: Spawn
    ) -> None:
        made = files.write("a.md", "old", None)
        other = spawn("edit", "a.md", fp="file.synced:kill9")
        assert other.end() == -signal.SIGKILL
        assert unfinished(files) != []
        assert files.write("a.md", "new", made.sha256).text == "new"
        assert unfinished(files) == []

    def test_spaces_do_not_wait_for_each_other(self, writers: WriteLocks, root: Path) -> None:
        workspace = Workspace(root, writers)
        folder = os.open(workspace.space("u7").root, os.O_RDONLY)
        with writers.alone("u7", folder):
            assert workspace.space("u8").write("a.md", "new", None).text == "new"
        os.close(folder)


def unfinished(files: SpaceFiles) -> list[str]:
    """What was begun to be written and is still there."""
    return [path.name for path in files.root.rglob(f"*{TEMPORARY}")]
