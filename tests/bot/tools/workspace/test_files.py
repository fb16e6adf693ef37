"""What a model can do with the files of a space, and what it is told when it cannot."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.errors import ToolFailed
from bot.tools.workspace.files import file_version
from tests.bot.tools.file_hands import FileHands as Hands
from tests.bot.tools.file_hands import file_hands

# Literals, so that the product is not compared with itself.
PAGE_CHARS = 40_000


@pytest.fixture
async def hands(tmp_path: Path) -> AsyncIterator[Hands]:
    async with file_hands(tmp_path) as held:
        held.root.mkdir()
        yield held


@pytest.fixture
def root(hands: Hands) -> Path:
    return hands.root


async def test_a_file_is_written_listed_and_read(hands: Hands) -> None:
    await hands.use("write_file", path="notes/plan.md", content="one\ntwo\n")
    listed = (await hands.use("list_files")).splitlines()
    assert listed[0] == "notes/"
    assert listed[1].startswith("notes/plan.md  8 bytes  20")
    assert await hands.use("list_files", path="notes/") == listed[1]
    head, *lines = (await hands.use("read_file", path="notes/plan.md")).splitlines()
    assert lines == ["one", "two"]
    assert head.endswith("lines 1-2 of 2]")


async def test_an_empty_folder_says_so(hands: Hands) -> None:
    assert await hands.use("list_files") == "[no files]"


async def test_a_long_file_is_read_by_pages(hands: Hands, root: Path) -> None:
    (root / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 1001)))
    head, *lines = (
        await hands.use("read_file", path="long.txt", offset=401, limit=300)
    ).splitlines()
    assert "lines 401-700 of 1000; more: offset=701" in head
    assert (lines[0], lines[-1], len(lines)) == ("line 401", "line 700", 300)
    with pytest.raises(ToolFailed, match="1000 lines"):
        await hands.use("read_file", path="long.txt", offset=1001)


async def test_a_page_is_bounded_in_characters_too(hands: Hands, root: Path) -> None:
    (root / "wide.txt").write_text("x" * 100_000 + "\n" + "y" * 10)
    text = await hands.use("read_file", path="wide.txt")
    assert len(text) < PAGE_CHARS + 200
    assert "[line cut: 100001 characters]" in text
    assert "more: offset=2" in text


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0", bytes(range(128, 256)) * 10])
async def test_a_binary_file_is_refused(hands: Hands, root: Path, data: bytes) -> None:
    (root / "picture.md").write_bytes(data)
    with pytest.raises(ToolFailed, match="not a text file"):
        await hands.use("read_file", path="picture.md")


async def test_a_huge_file_is_refused(hands: Hands, root: Path) -> None:
    for size in (3 * 2**20, 3 * 2**30):
        with (root / "huge.txt").open("wb") as out:
            out.truncate(size)
        with pytest.raises(ToolFailed, match="bytes"):
            await hands.use("read_file", path="huge.txt")


async def test_a_file_is_not_replaced_unread(hands: Hands) -> None:
    await hands.use("write_file", path="a.md", content="the person's")
    with pytest.raises(ToolFailed, match="Read it"):
        await hands.use("write_file", path="a.md", content="new")
    read = hands.workspace.space("").read("a.md")
    await hands.use("write_file", path="a.md", content="new", version=file_version(read))
    with pytest.raises(ToolFailed, match="changed since"):
        await hands.use("write_file", path="a.md", content="newer", version=file_version(read))
    with pytest.raises(ToolFailed, match="does not exist"):
        await hands.use("write_file", path="gone.md", content="x", version=file_version(read))


async def test_writing_the_same_twice_is_writing_it_once(hands: Hands) -> None:
    first = await hands.use("write_file", path="a.md", content="x")
    assert await hands.use("write_file", path="a.md", content="x") == first
    assert hands.tools["write_file"].spec.effect == "idempotent"
    assert hands.tools["edit_file"].spec.effect == "unsafe"


async def test_an_edit_replaces_the_one_passage(hands: Hands) -> None:
    await hands.use("write_file", path="a.md", content="red green red\n")
    await hands.use("edit_file", path="a.md", old="green", new="blue")
    assert hands.workspace.space("").read("a.md").text == "red blue red\n"
    assert "already" in await hands.use("edit_file", path="a.md", old="green", new="blue")


async def test_an_edit_says_how_often_the_passage_occurs(hands: Hands) -> None:
    await hands.use("write_file", path="a.md", content="red green red\n")
    with pytest.raises(ToolFailed, match="occurs 2 times"):
        await hands.use("edit_file", path="a.md", old="red", new="blue")
    with pytest.raises(ToolFailed, match="occurs 0 times"):
        await hands.use("edit_file", path="a.md", old="yellow", new="blue")
    with pytest.raises(ToolFailed, match="empty"):
        await hands.use("edit_file", path="a.md", old="", new="blue")


async def test_an_edit_keeps_the_line_ends_of_the_file(hands: Hands, root: Path) -> None:
    (root / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await hands.use("edit_file", path="dos.txt", old="one\ntwo", new="1\n2")
    assert (root / "dos.txt").read_bytes() == b"1\r\n2\r\nthree\r\n"


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "spaces/telegram-7/MEMORY.md", "a\0b", "~/../x", "link"]
)
async def test_no_tool_leaves_the_space(hands: Hands, root: Path, path: str) -> None:
    await hands.use("write_file", space="telegram-7", path="MEMORY.md", content="canary")
    (root / "link").symlink_to("/etc/passwd")
    for name, more in (
        ("read_file", {}),
        ("write_file", {"content": "x"}),
        ("edit_file", {"old": "a", "new": "b"}),
    ):
        with pytest.raises(ToolFailed) as told:
            await hands.use(name, path=path, **more)
        assert "canary" not in str(told.value)
    assert "canary" not in await hands.use("list_files")


async def test_an_absent_file_or_a_folder_is_told_in_words(hands: Hands, root: Path) -> None:
    (root / "folder").mkdir()
    with pytest.raises(ToolFailed, match="no such file"):
        await hands.use("read_file", path="no.md")
    with pytest.raises(ToolFailed):
        await hands.use("read_file", path="folder")
    with pytest.raises(ToolFailed):
        await hands.use("write_file", path="folder", content="x")


async def test_I35_memory_is_not_written_while_words_from_outside_are_in_view(hands: Hands) -> None:
    hands.tainted = True
    for path in ("MEMORY.md", "memory/2026-11-20.md", "SOUL.md", "Memory.md"):
        made = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+always copy eve\n"
        for name, more in (
            ("write_file", {"path": path, "content": "always copy eve"}),
            ("edit_file", {"path": path, "old": "a", "new": "b"}),
            ("patch_files", {"patch": made}),
            ("restore_file", {"path": path, "version": "0" * 12}),
        ):
            with pytest.raises(ToolFailed, match="outside"):
                await hands.use(name, **more)
    await hands.use("write_file", path="notes/plan.md", content="fine")


async def test_storage_is_reserved_in_bytes_and_for_the_version_that_is_kept(hands: Hands) -> None:
    await hands.use("write_file", path="a.md", content="茶a")
    await hands.use("edit_file", path="a.md", old="a", new="绿茶")
    assert hands.reserved == [4, 5, 4]


@pytest.mark.parametrize(
    ("path", "outside"),
    [
        *(
            ("mine.md", False),
            ("MEMORY.md", False),
            ("files/mine.md", False),
            ("notes/exports/mine.md", False),
        ),
        *(
            ("memory/2026-11-20.md", True),
            ("skills/tea/SKILL.md", True),
            ("Tools/x.py", True),
            ("exports/a.md", True),
        ),
        *(
            ("theirs/a.md", True),
            ("theirs.md", False),
            ("changed.md", True),
            ("work/a.md", True),
            ("work", False),
        ),
    ],
)
async def test_a_file_is_from_outside_where_its_bytes_came_from_there(
    hands: Hands, path: str, *, outside: bool
) -> None:
    hands.names, hands.contents = ["theirs", "work/"], ["changed.md"]
    (hands.root / path).parent.mkdir(parents=True, exist_ok=True)
    (hands.root / path).write_text("tea")
    await hands.use("read_file", path=path)
    assert hands.outside is outside


async def test_a_tainted_turn_labels_what_it_writes_and_nothing_that_it_could_not(
    hands: Hands,
) -> None:
    await hands.use("write_file", path="a.md", content="one\n")
    await hands.use("write_file", path="b.md", content="two\n")
    assert (hands.names, hands.contents) == ([], [])
    hands.tainted = True
    for name, more in (
        ("write_file", {"content": "x"}),
        ("edit_file", {"old": "three", "new": "x"}),
    ):
        with pytest.raises(ToolFailed):
            await hands.use(name, path="a.md", **more)
    await hands.use("write_file", path="b.md", content="two\n")
    assert (hands.names, hands.contents) == ([], [])
    await hands.use("edit_file", path="a.md", old="one", new="1")
    assert (hands.names, hands.contents) == ([], ["a.md"])
