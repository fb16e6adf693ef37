"""A patch changes all its files or none, whatever fails or dies in between; each write keeps what
was there.
"""

import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.errors import ToolFailed
from bot.tools.base import ToolContext
from bot.tools.workspace.changes import FileChange
from bot.tools.workspace.files import file_version
from memory.failpoints import arm
from memory.store.automation.file_versions import NewFileVersion
from tests.bot.tools.file_hands import AT, NOW, FileHands, file_hands
from tests.killed import exit_code

# Literals, so that the product is not compared with itself.
MOST_VERSIONS = 20
DAYS = timedelta(days=30)

PATCH = """\
--- a/a.md
+++ b/a.md
@@ -1,2 +1,2 @@
 one
-two
+TWO
--- /dev/null
+++ b/made/new.md
@@ -0,0 +1 @@
+new
--- a/b.md
+++ b/b.md
@@ -1 +1 @@
-three
+THREE
"""


@pytest.fixture
async def hands(tmp_path: Path) -> AsyncIterator[FileHands]:
    async with file_hands(tmp_path) as held:
        put_old(held.root)
        yield held
    arm({})


def put_old(root: Path) -> None:
    root.mkdir()
    (root / "a.md").write_text("one\ntwo\n")
    (root / "b.md").write_text("three\n")


def is_old(root: Path) -> bool:
    new = (root / "made" / "new.md").exists()
    return (
        not new
        and (root / "a.md").read_text() == "one\ntwo\n"
        and (root / "b.md").read_text() == "three\n"
    )


def is_new(root: Path) -> bool:
    made = (root / "made" / "new.md").read_text() == "new\n"
    return (
        made
        and (root / "a.md").read_text() == "one\nTWO\n"
        and (root / "b.md").read_text() == "THREE\n"
    )


async def test_a_patch_changes_and_makes_files(hands: FileHands) -> None:
    told = await hands.use("patch_files", patch=PATCH)
    assert is_new(hands.root)
    assert [line.split()[0] for line in told.splitlines()] == ["a.md", "made/new.md", "b.md"]
    assert hands.tools["patch_files"].spec.effect == "unsafe"
    assert await hands.store.file_versions.load_pending(AT + 1e6) == []


async def test_what_does_not_fit_is_told_of_every_file_and_nothing_is_written(
    hands: FileHands,
) -> None:
    (hands.root / "a.md").write_text("other\n")
    (hands.root / "b.md").unlink()
    before = (hands.root / "a.md").read_bytes()
    with pytest.raises(ToolFailed) as told:
        await hands.use("patch_files", patch=PATCH)
    assert "a.md, hunk 1" in str(told.value)
    assert "b.md: there is no such file" in str(told.value)
    assert (hands.root / "a.md").read_bytes() == before
    assert not (hands.root / "made").exists()


async def test_a_file_that_is_there_is_not_made_and_a_binary_one_not_changed(
    hands: FileHands,
) -> None:
    (hands.root / "made").mkdir()
    (hands.root / "made" / "new.md").write_text("mine")
    (hands.root / "b.md").write_bytes(b"three\n\xff\xfe")
    with pytest.raises(ToolFailed, match=r"(?s)new\.md exists.*b\.md is not UTF-8"):
        await hands.use("patch_files", patch=PATCH)


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "spaces/telegram-7/a.md", "link.md", "pipe.md", "a\u202eb.md"]
)
async def test_no_patch_leaves_the_space(hands: FileHands, path: str, tmp_path: Path) -> None:
    (hands.root / "link.md").symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / "elsewhere.md").write_text("three\n")
    os.mkfifo(hands.root / "pipe.md")
    for text in (
        PATCH.replace("a/b.md", f"a/{path}").replace("b/b.md", f"b/{path}"),
        PATCH.replace("made/new.md", path),
    ):
        with pytest.raises(ToolFailed):
            await hands.use("patch_files", patch=text)
        with pytest.raises(ToolFailed):
            await hands.use("file_history", path=path)
        with pytest.raises(ToolFailed):
            await hands.use("restore_file", path=path, version="0" * 12)
    assert is_old(hands.root)
    assert (tmp_path / "elsewhere.md").read_text() == "three\n"


@pytest.mark.parametrize(
    "point", ["file.tmp_written@4:eio", "file.tmp_written@5:enospc", "file.replaced@4:eio"]
)
async def test_a_patch_that_fails_half_way_leaves_all_old(hands: FileHands, point: str) -> None:
    arm({"MNEMA_TEST": "1", "MNEMA_FP": point})
    with pytest.raises((ToolFailed, OSError)):
        await hands.use("patch_files", patch=PATCH)
    assert is_old(hands.root)
    assert await hands.store.file_versions.load_pending(AT + 1e6) == []


async def test_a_file_that_changes_meanwhile_stops_the_patch(hands: FileHands) -> None:
    changes = [
        FileChange(path="a.md", data=b"x", former=b"one\ntwo\n"),
        FileChange(path="b.md", data=b"y", former=b"not this"),
    ]
    with pytest.raises(ToolFailed, match="changed in the meantime"):
        await hands.changes.write(
            ToolContext(conversation="c", space="", now=lambda: NOW, idem_key="k"), changes
        )
    assert is_old(hands.root)


async def apply(folder: Path) -> None:
    async with file_hands(folder) as hands:
        await hands.use("patch_files", patch=PATCH)


# Two versions are stored as blobs, then three files are written.
@pytest.mark.parametrize(
    "point", ["blob.stored@2", "file.synced@3", *(f"file.dir_synced@{nth}" for nth in (3, 4, 5))]
)
async def test_after_a_kill_a_start_finds_all_old_or_all_new(tmp_path: Path, point: str) -> None:
    put_old(tmp_path / "workspace")
    assert await exit_code(apply, tmp_path, failpoint=f"{point}:kill9") == -9
    async with file_hands(tmp_path) as hands:
        await hands.changes.resume(AT + 1e6)
        assert is_old(hands.root)
        await hands.use("patch_files", patch=PATCH)
        assert is_new(hands.root)


async def test_what_somebody_wrote_after_the_kill_stays(hands: FileHands) -> None:
    former = hands.blobs.put(b"one\ntwo\n")
    pending = [
        NewFileVersion(path="a.md", sha256=former, size=8, pending="0" * 64),
        NewFileVersion(path="b.md", sha256=former, size=8, pending="1" * 64),
    ]
    await hands.store.file_versions.keep("", "dead", pending)
    (hands.root / "a.md").write_text("the person's\n")
    await hands.changes.resume(AT + 1e6)
    assert (hands.root / "a.md").read_text() == "the person's\n"
    assert (hands.root / "b.md").read_text() == "three\n"
    assert await hands.store.file_versions.load_pending(AT + 1e6) == []


async def test_a_running_patch_of_another_process_is_left_alone(hands: FileHands) -> None:
    await hands.store.file_versions.keep(
        "", "runs", [NewFileVersion(path="a.md", sha256="", size=0, pending="0" * 64)]
    )
    await hands.changes.resume(AT - 120)
    assert len(await hands.store.file_versions.load_pending(AT + 1e6)) == 1


async def test_each_write_keeps_what_was_there_and_it_comes_back(hands: FileHands) -> None:
    first = file_version(hands.workspace.space("").read("a.md"))
    await hands.use("edit_file", path="a.md", old="two", new="2")
    second = file_version(hands.workspace.space("").read("a.md"))
    await hands.use("write_file", path="a.md", content="gone", version=second)
    listed = (await hands.use("file_history", path="a.md")).splitlines()
    assert [line.split()[0] for line in listed] == [second, first]
    await hands.use("restore_file", path="a.md", version=first)
    assert hands.text("a.md") == "one\ntwo\n"
    gone = (await hands.use("file_history", path="a.md")).split()[0]
    assert "already" in await hands.use("restore_file", path="a.md", version=first)
    await hands.use("restore_file", path="a.md", version=gone)
    assert hands.text("a.md") == "gone"
    with pytest.raises(ToolFailed, match="no such version"):
        await hands.use("restore_file", path="b.md", version=first)
    assert await hands.use("file_history", path="none.md") == "[no versions kept]"


async def test_a_deleted_file_comes_back(hands: FileHands) -> None:
    await hands.use("edit_file", path="a.md", old="two", new="2")
    (hands.root / "a.md").unlink()
    version = (await hands.use("file_history", path="a.md")).split()[0]
    await hands.use("restore_file", path="a.md", version=version)
    assert hands.text("a.md") == "one\ntwo\n"


async def test_a_version_is_of_its_space(hands: FileHands) -> None:
    await hands.use("edit_file", path="a.md", old="two", new="2")
    version = (await hands.use("file_history", path="a.md")).split()[0]
    assert await hands.use("file_history", space="telegram-7", path="a.md") == "[no versions kept]"
    with pytest.raises(ToolFailed, match="no such version"):
        await hands.use("restore_file", space="telegram-7", path="a.md", version=version)


async def test_the_newest_twenty_versions_of_thirty_days_are_kept(hands: FileHands) -> None:
    for number in range(MOST_VERSIONS + 3):
        version = file_version(hands.workspace.space("").read("a.md"))
        await hands.use("write_file", path="a.md", content=f"{number}", version=version)
    rows = await hands.store.file_versions.load("", "a.md")
    assert len(rows) == MOST_VERSIONS
    assert hands.blobs.get(rows[0].sha256) == str(MOST_VERSIONS + 1).encode()
    assert await hands.store.file_versions.delete_old() == 0


async def test_old_versions_go(tmp_path: Path) -> None:
    async with file_hands(tmp_path) as hands:
        put_old(hands.root)
        await hands.use("edit_file", path="a.md", old="two", new="2")
    async with file_hands(tmp_path, AT + DAYS.total_seconds() + 60) as hands:
        assert await hands.store.file_versions.delete_old() == 1
        assert await hands.use("file_history", path="a.md") == "[no versions kept]"


async def test_a_restored_file_in_a_tainted_turn_has_a_label(hands: FileHands) -> None:
    await hands.use("edit_file", path="a.md", old="two", new="2")
    (hands.root / "a.md").unlink()
    version = (await hands.use("file_history", path="a.md")).split()[0]
    hands.tainted = True
    await hands.use("restore_file", path="a.md", version=version)
    await hands.use("patch_files", patch=PATCH)
    assert hands.names == ["a.md", "made", "made/new.md"]
