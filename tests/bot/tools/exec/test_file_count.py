"""How the number of files is found where the file system tells it, and where it does not."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.tools.exec.runner import FileCount

MOST = 10


def make(folder: Path, count: int, name: str = "f") -> None:
    for number in range(count):
        (folder / f"{name}{number}").touch()


class System:
    """A file system with so many free inodes, in all; 0 in all: it counts none."""

    def __init__(self, free: int, total: int = 1_000_000) -> None:
        self.free, self.total = free, total

    def __call__(self, folder: Path) -> os.statvfs_result:
        return SimpleNamespace(f_ffree=self.free, f_files=self.total)  # type: ignore[return-value]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path, MOST + 1, "old")
    for path in tmp_path.iterdir():
        os.utime(path)
    return tmp_path


def counted(folder: Path, system: System, clock: list[float]) -> FileCount:
    return FileCount([folder], MOST, clock=lambda: clock[0], read_system=system)


def later_than(folder: Path) -> list[float]:
    """A clock after all that is there was made."""
    return [max(path.stat().st_ctime for path in folder.iterdir()) + 0.2]


def test_what_others_use_up_ends_no_command(folder: Path) -> None:
    clock, system = later_than(folder), System(100_000)
    count = counted(folder, system, clock)
    system.free -= 50_000
    assert not count.is_exceeded(0)


def test_as_many_as_were_made_in_its_folders_do(folder: Path) -> None:
    system = System(100_000)
    count = counted(folder, system, [0.0])  # all that is there was made since
    assert not count.is_exceeded(0), "the file system has lost none"
    system.free -= MOST + 1
    assert count.is_exceeded(0)


def test_a_folder_that_cannot_be_counted_counts_as_too_many(folder: Path) -> None:
    clock, system = later_than(folder), System(100_000)
    name, deep = "x" * 200, os.open(folder, os.O_RDONLY)
    for _ in range(30):  # its path is longer than any call takes
        os.mkdir(name, dir_fd=deep)
        below = os.open(name, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    count = counted(folder, system, clock)
    system.free -= MOST + 1
    assert count.is_exceeded(0)


def test_where_the_file_system_counts_no_files_they_are_looked_at_from_time_to_time(
    folder: Path,
) -> None:
    clock = [0.0]
    count = counted(folder, System(0, total=0), clock)
    assert not count.is_exceeded(0), "not each time"
    clock[0] += 10
    assert count.is_exceeded(0)
