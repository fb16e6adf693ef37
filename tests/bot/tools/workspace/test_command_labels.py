"""What a command made or changed is labelled, and nothing else, also where several run at once."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.tools.workspace.command_labels import MAX_LABELLED, CommandLabels, scan_folders
from memory.store.automation.file_versions import NewFileVersion
from memory.store.longterm.file_labels import FileLabels, PathLabels
from memory.store.open import open_store

# Their labels, and those of the folders that hold them, are all that these tests set.
PATHS = ("files/new", "files/kept/b.txt", "files/a.txt", "work/mine.txt", "a.md", "b.md")
NOBODY = 65534  # a user without rights


@pytest.fixture
async def labels(tmp_path: Path) -> AsyncIterator[FileLabels]:
    store = await open_store(tmp_path / "mnema.db")
    for name in ("files", "work"):
        (tmp_path / "space" / name).mkdir(parents=True)
        (tmp_path / "space" / name / "mine.txt").write_text("mine")
    yield store.file_labels
    await store.close()


async def test_while_a_command_runs_its_folders_are_labelled_and_then_what_it_wrote(
    tmp_path: Path, labels: FileLabels
) -> None:
    space = tmp_path / "space"
    (space / "files" / "kept").mkdir()
    async with CommandLabels(space, labels).labelling(["files", "work"]):
        during = await labels.load("", PATHS)
        (space / "files" / "new").mkdir()
        (space / "files" / "new" / "a.txt").write_text("a")
        (space / "files" / "kept" / "b.txt").write_text("b")
        (space / "work" / "mine.txt").write_text("mane")
        os.utime(space / "work" / "mine.txt", (1, 1))
    assert during == PathLabels(names=frozenset({"files/", "work/"}))
    assert not during.has_outside_name("files")
    assert during.has_outside_name("files/mine.txt")
    found = await labels.load("", PATHS)
    assert found.names == {"files/new", "files/kept/b.txt"}
    assert found.contents == {"work/mine.txt"}


async def test_a_command_that_ends_first_leaves_the_label_of_the_other(
    tmp_path: Path, labels: FileLabels
) -> None:
    commands = CommandLabels(tmp_path / "space", labels)
    async with commands.labelling(["files"]):
        async with commands.labelling(["files", "work"]):
            (tmp_path / "space" / "files" / "a.txt").write_text("a")
        assert (await labels.load("", PATHS)).names == {"files/", "files/a.txt"}
    assert (await labels.load("", PATHS)).names == {"files/a.txt"}


async def test_a_label_that_was_there_before_stays(tmp_path: Path, labels: FileLabels) -> None:
    await labels.label_names("", ["files/"])
    async with CommandLabels(tmp_path / "space", labels).labelling(["files", "work"]):
        pass
    assert await labels.load("", PATHS) == PathLabels(names=frozenset({"files/"}))


async def test_where_a_command_changed_too_much_its_folders_stay_labelled(
    tmp_path: Path, labels: FileLabels
) -> None:
    async with CommandLabels(tmp_path / "space", labels).labelling(["files"]):
        for number in range(MAX_LABELLED + 1):
            (tmp_path / "space" / "files" / f"{number}.txt").touch()
    assert (await labels.load("", PATHS)).names == {"files/"}


async def test_a_name_is_labelled_though_its_content_was_before(labels: FileLabels) -> None:
    await labels.label_contents("", ["a.md", "b.md"])
    await labels.label_names("", ["a.md"])
    await labels.label_contents("", ["a.md"])
    assert await labels.load("", PATHS) == PathLabels(
        names=frozenset({"a.md"}), contents=frozenset({"b.md"})
    )
    assert await labels.load("other", PATHS) == PathLabels()


async def test_only_labels_that_count_for_the_paths_are_loaded(labels: FileLabels) -> None:
    await labels.label_names("", [f"files/{number}" for number in range(100)])
    many = [f"work/{number}" for number in range(200)]
    assert await labels.load("", [*many, "files/7/deep/a.txt", "files/99"]) == PathLabels(
        names=frozenset({"files/7", "files/99"})
    )


async def test_a_command_that_was_cancelled_before_its_start_leaves_no_label(
    tmp_path: Path, labels: FileLabels
) -> None:
    commands = CommandLabels(tmp_path / "space", labels)

    async def run() -> None:
        async with commands.labelling(["files"]):
            raise AssertionError("it was started")

    task = asyncio.create_task(run())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with commands.labelling(["files"]):
        pass
    assert await labels.load("", PATHS) == PathLabels()


def test_a_folder_that_cannot_be_read_may_hold_anything() -> None:
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder)
        space.chmod(0o755)
        (space / "files" / "closed").mkdir(parents=True)
        assert scan_folders(space, ["files"]) is not None
        (space / "files" / "closed").chmod(0)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(NOBODY)
        try:
            assert scan_folders(space, ["files"]) is None
        finally:
            if is_root:
                os.seteuid(0)


async def test_labels_of_what_is_gone_go_with_the_next_command_unless_it_may_come_back(
    tmp_path: Path,
) -> None:
    now = 1_000_000.0
    store = await open_store(tmp_path / "mnema.db", clock=lambda: now)
    labels, space = store.file_labels, tmp_path / "space"
    (space / "files").mkdir(parents=True)
    (space / "files" / "there.txt").write_text("there")
    await labels.label_names(
        "", ["files/gone.txt", "files/there.txt", "files2/gone.txt", "files/again.txt"]
    )
    await labels.label_contents("", ["files/former.txt"])
    former = NewFileVersion(path="files/former.txt", sha256="a" * 64, size=1)
    await store.file_versions.keep("", "call", [former])
    now += 90_000
    await labels.label_names("", ["files/again.txt", "files/soon.txt"])
    async with CommandLabels(space, labels).labelling(["files"]):
        pass
    paths = [f"files/{name}.txt" for name in ("gone", "there", "former", "soon", "again")]
    found = await labels.load("", [*paths, "files2/gone.txt"])
    assert found.names == {
        "files/there.txt",
        "files/again.txt",
        "files/soon.txt",
        "files2/gone.txt",
    }
    assert await labels.load_old("", ["other"]) == []
    assert await labels.load_old("", ["files2"]) == ["files2/gone.txt"]
    assert found.contents == {"files/former.txt"}
    await store.close()
