"""What a command made or changed is labelled, and nothing else, also where several run at once."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.tools.workspace.command_labels import MAX_LABELLED, CommandLabels
from memory.store.longterm.file_labels import FileLabels, PathLabels
from memory.store.open import open_store


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
        during = await labels.load("")
        (space / "files" / "new").mkdir()
        (space / "files" / "new" / "a.txt").write_text("a")
        (space / "files" / "kept" / "b.txt").write_text("b")
        (space / "work" / "mine.txt").write_text("mane")
        os.utime(space / "work" / "mine.txt", (1, 1))
    assert during == PathLabels(names=frozenset({"files/", "work/"}))
    assert not during.has_outside_name("files")
    assert during.has_outside_name("files/mine.txt")
    found = await labels.load("")
    assert found.names == {"files/new", "files/kept/b.txt"}
    assert found.contents == {"work/mine.txt"}


async def test_a_command_that_ends_first_leaves_the_label_of_the_other(tmp_path: Path, labels: FileLabels) -> None:
    commands = CommandLabels(tmp_path / "space", labels)
    async with commands.labelling(["files"]):
        async with commands.labelling(["files", "work"]):
            (tmp_path / "space" / "files" / "a.txt").write_text("a")
        assert (await labels.load("")).names == {"files/", "files/a.txt"}
    assert (await labels.load("")).names == {"files/a.txt"}


async def test_a_label_that_was_there_before_stays(tmp_path: Path, labels: FileLabels) -> None:
    await labels.label_names("", ["files/"])
    async with CommandLabels(tmp_path / "space", labels).labelling(["files", "work"]):
        pass
    assert await labels.load("") == PathLabels(names=frozenset({"files/"}))


async def test_where_a_command_changed_too_much_its_folders_stay_labelled(tmp_path: Path, labels: FileLabels) -> None:
    async with CommandLabels(tmp_path / "space", labels).labelling(["files"]):
        for number in range(MAX_LABELLED + 1):
            (tmp_path / "space" / "files" / f"{number}.txt").touch()
    assert (await labels.load("")).names == {"files/"}


async def test_a_name_is_labelled_though_its_content_was_before(labels: FileLabels) -> None:
    await labels.label_contents("", ["a.md", "b.md"])
    await labels.label_names("", ["a.md"])
    await labels.label_contents("", ["a.md"])
    assert await labels.load("") == PathLabels(names=frozenset({"a.md"}), contents=frozenset({"b.md"}))
    assert await labels.load("other") == PathLabels()
