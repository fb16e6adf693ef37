"""I1 and I22 at a power cut: what is synced, and in which order, before a write is reported as
done.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from channels.web.auth import load_token
from memory.store.engine.sqlite_connection import copy_database
from memory.workspace.atomic_write import write_atomic
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

NAMED = ("replace", "rename", "link")


class Disk:
    """The system calls in order: ("sync", inode) and ("name", path)."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str, int | str]] = []
        sync = os.fsync

        def fsync(fd: int) -> None:
            self.asked.append(("sync", os.fstat(fd).st_ino))
            sync(fd)

        patch.setattr(os, "fsync", fsync)
        for name in NAMED:
            patch.setattr(os, name, self._naming(getattr(os, name)))

    def _naming(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def named(source: Any, target: Any, **where: Any) -> Any:
            self.asked.append(("name", Path(os.fsdecode(target)).name))
            return real(source, target, **where)

        return named


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def inode(path: Path) -> int:
    return path.stat().st_ino


def test_I22_a_file_is_on_the_disk_before_it_has_its_name_and_the_name_before_anybody_is_told(
    disk: Disk, tmp_path: Path
) -> None:
    write_atomic(tmp_path / "config.json", b"{}")
    file = inode(tmp_path / "config.json")
    assert disk.asked == [("sync", file), ("name", "config.json"), ("sync", inode(tmp_path))]


def test_I22_a_note_and_its_new_folders_are_on_the_disk(disk: Disk, tmp_path: Path) -> None:
    Workspace(tmp_path / "workspace").space("").write("a/b/n.md", "words", None)
    root = tmp_path / "workspace"
    file, below = inode(root / "a" / "b" / "n.md"), inode(root / "a" / "b")
    assert disk.asked == [
        ("sync", inode(root)),
        ("sync", inode(root / "a")),
        ("sync", file),
        ("name", "n.md"),
        ("sync", below),
    ]


def test_I01_a_blob_is_on_the_disk_with_its_folder(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    name = Blobs(tmp_path / "data" / "blobs").put(b"picture")
    folder = tmp_path / "data" / "blobs"
    file = inode(folder / name)
    assert disk.asked == [
        ("sync", inode(tmp_path / "data")),
        ("sync", file),
        ("name", name),
        ("sync", inode(folder)),
    ]


def test_I01_a_blob_that_is_there_already_may_have_been_cut_off_before_its_folder_was_synced(
    disk: Disk, tmp_path: Path
) -> None:
    blobs = Blobs(tmp_path)
    blobs.put(b"picture")
    disk.asked.clear()
    blobs.put(b"picture")
    assert disk.asked == [("sync", inode(tmp_path))]


def test_I01_a_snapshot_is_on_the_disk_before_it_has_its_name(disk: Disk, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "m.db")) as held:
        held.execute("CREATE TABLE kept (x)")
    copy_database(tmp_path / "m.db", tmp_path / "copy.db")
    file = inode(tmp_path / "copy.db")
    assert disk.asked == [("sync", file), ("name", "copy.db"), ("sync", inode(tmp_path))]


def test_I22_the_web_token_is_on_the_disk_before_it_has_its_name(
    disk: Disk, tmp_path: Path
) -> None:
    load_token(tmp_path / "web_token")
    assert disk.asked == [("sync", inode(tmp_path / "web_token")), ("name", "web_token")]
