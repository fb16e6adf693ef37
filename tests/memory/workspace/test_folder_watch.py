"""A watched folder tells at once, and exactly, which of its entries have changed."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.workspace.folder_watch import FolderWatches, WatchedFolder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")


@pytest.fixture
def watches() -> FolderWatches:
    return FolderWatches()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory"


@pytest.fixture
def watched(watches: FolderWatches, place: Path) -> Iterator[WatchedFolder]:
    folder = watches.folder(place)
    assert folder, "the file system of the tests reports changes"
    assert folder.take() is None, "what changed before is not known"
    yield folder
    folder.close()


def test_nothing_that_changed_is_nothing(watched: WatchedFolder) -> None:
    assert watched.take() == frozenset()


def test_every_way_to_save_a_file_is_seen_before_the_next_line_runs(
    watched: WatchedFolder, place: Path
) -> None:
    file, new = place / "a.md", place / "new"
    for _ in range(300):
        file.write_text("in place")
        assert watched.take() == {"a.md"}
        with file.open("a") as opened:
            opened.write("more")
            opened.flush()
            assert watched.take() == {"a.md"}, "while the editor has it open"
        watched.take()
        new.write_text("renamed")
        new.replace(file)
        assert watched.take() == {"a.md", "new"}
        file.touch()
        assert watched.take() == {"a.md"}
        file.unlink()
        assert watched.take() == {"a.md"}


def test_a_folder_that_is_made_later_or_replaced_may_hold_anything(
    watches: FolderWatches, tmp_path: Path
) -> None:
    place = tmp_path / "later"
    folder = watches.folder(place)
    assert folder
    assert folder.take() is None
    assert folder.take() == frozenset(), "there is no folder, as before"
    place.mkdir()
    assert folder.take() is None
    (place / "a.md").touch()
    assert folder.take() == {"a.md"}
    place.rename(tmp_path / "aside")
    place.mkdir()
    assert folder.take() is None
    (tmp_path / "aside" / "b.md").touch()
    (place / "c.md").touch()
    assert folder.take() == {"c.md"}
    (place / "c.md").unlink()
    place.rmdir()
    assert folder.take() is None
    place.mkdir()
    assert folder.take() is None
    folder.close()


def test_where_the_kernel_dropped_events_anything_may_have_changed(
    watched: WatchedFolder, place: Path
) -> None:
    one, other = place / "a.md", place / "b.md"
    # two in turn, as equal events in a row are one
    for _ in range(int(QUEUE.read_text()) // 2 + 1):
        one.touch()
        other.touch()
    assert watched.take() is None
    one.touch()
    assert watched.take() == {"a.md"}


def test_folders_share_a_descriptor_that_ends_with_the_last_of_them(
    watches: FolderWatches, tmp_path: Path
) -> None:
    before = len(os.listdir("/proc/self/fd"))
    folders = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        folder = watches.folder(tmp_path / name)
        assert folder
        folder.take()
        folders.append(folder)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    (tmp_path / "other" / "a.md").touch()
    assert [folder.take() for folder in folders] == [frozenset(), {"a.md"}]
    for folder in folders:
        folder.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_link_in_place_of_the_folder_is_not_watched(
    watches: FolderWatches, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    folder = watches.folder(tmp_path / "link")
    assert folder
    with pytest.raises(OSError):
        folder.take()


def test_a_file_system_that_may_change_elsewhere_is_not_watched(watches: FolderWatches) -> None:
    assert watches.folder(Path("/proc/self")) is None
