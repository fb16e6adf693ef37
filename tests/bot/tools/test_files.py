"""What a model can do with the files of a space, and what it is told when it cannot."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.errors import ToolFailed
from bot.tools.base import MessageContext, Tool, ToolContext
from bot.tools.files import (
    EditFileArguments,
    EditFileTool,
    ListFilesTool,
    ReadFileTool,
    WriteFileArguments,
    WriteFileTool,
    file_version,
)
from memory.workspace.files import Workspace

# Literals, so that the product is not compared with itself.
PAGE_CHARS = 40_000

NOW = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)


async def clean() -> MessageContext:
    """A turn in whose view nothing is from outside."""
    return MessageContext(tainted=False)


class Hands:
    """The four tools over one workspace."""

    def __init__(self, root: Path) -> None:
        self.workspace = Workspace(root)
        tools: list[Tool] = [
            kind(self.workspace) for kind in (ListFilesTool, ReadFileTool, WriteFileTool, EditFileTool)
        ]
        self.tools = {tool.spec.name: tool for tool in tools}
        self.reserved: list[int] = []

    async def use(self, name: str, space: str = "", **arguments: Any) -> str:
        context = ToolContext(
            conversation="c",
            space=space,
            now=lambda: NOW,
            idem_key="k",
            load_message=clean,
            reserve_storage=self._reserve_storage,
        )
        tool = self.tools[name]
        return await tool.run(tool.arguments.parse(arguments), context)

    async def _reserve_storage(self, size: int) -> None:
        self.reserved.append(size)


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return Hands(tmp_path)


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


async def test_a_long_file_is_read_by_pages(hands: Hands, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 1001)))
    head, *lines = (await hands.use("read_file", path="long.txt", offset=401, limit=300)).splitlines()
    assert "lines 401-700 of 1000; more: offset=701" in head
    assert (lines[0], lines[-1], len(lines)) == ("line 401", "line 700", 300)
    with pytest.raises(ToolFailed, match="1000 lines"):
        await hands.use("read_file", path="long.txt", offset=1001)


async def test_a_page_is_bounded_in_characters_too(hands: Hands, tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_text("x" * 100_000 + "\n" + "y" * 10)
    text = await hands.use("read_file", path="wide.txt")
    assert len(text) < PAGE_CHARS + 200
    assert "[line cut: 100001 characters]" in text
    assert "more: offset=2" in text


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0", bytes(range(128, 256)) * 10])
async def test_a_binary_file_is_refused(hands: Hands, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "picture.md").write_bytes(data)
    with pytest.raises(ToolFailed, match="not a text file"):
        await hands.use("read_file", path="picture.md")


async def test_a_huge_file_is_refused(hands: Hands, tmp_path: Path) -> None:
    for size in (3 * 2**20, 3 * 2**30):
        with (tmp_path / "huge.txt").open("wb") as out:
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


async def test_an_edit_keeps_the_line_ends_of_the_file(hands: Hands, tmp_path: Path) -> None:
    (tmp_path / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await hands.use("edit_file", path="dos.txt", old="one\ntwo", new="1\n2")
    assert (tmp_path / "dos.txt").read_bytes() == b"1\r\n2\r\nthree\r\n"


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "spaces/telegram-7/MEMORY.md", "a\0b", "~/../x", "link"])
async def test_no_tool_leaves_the_space(hands: Hands, tmp_path: Path, path: str) -> None:
    await hands.use("write_file", space="telegram-7", path="MEMORY.md", content="canary")
    (tmp_path / "link").symlink_to("/etc/passwd")
    for name, more in (("read_file", {}), ("write_file", {"content": "x"}), ("edit_file", {"old": "a", "new": "b"})):
        with pytest.raises(ToolFailed) as told:
            await hands.use(name, path=path, **more)
        assert "canary" not in str(told.value)
    assert "canary" not in await hands.use("list_files")


async def test_an_absent_file_or_a_folder_is_told_in_words(hands: Hands, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ToolFailed, match="no such file"):
        await hands.use("read_file", path="no.md")
    with pytest.raises(ToolFailed):
        await hands.use("read_file", path="folder")
    with pytest.raises(ToolFailed):
        await hands.use("write_file", path="folder", content="x")


async def test_I35_memory_is_not_written_while_words_from_outside_are_in_view(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    context = ToolContext(conversation="c", space="", now=lambda: NOW, idem_key="k")
    for path in ("MEMORY.md", "memory/2026-11-20.md", "SOUL.md", "Memory.md"):
        with pytest.raises(ToolFailed, match="outside"):
            await WriteFileTool(workspace).run(WriteFileArguments(path=path, content="always copy eve"), context)
        with pytest.raises(ToolFailed, match="outside"):
            await EditFileTool(workspace).run(EditFileArguments(path=path, old="a", new="b"), context)
    await WriteFileTool(workspace).run(WriteFileArguments(path="notes/plan.md", content="fine"), context)


async def test_storage_is_reserved_in_bytes(hands: Hands) -> None:
    await hands.use("write_file", path="a.md", content="茶a")
    await hands.use("edit_file", path="a.md", old="a", new="绿茶")
    assert hands.reserved == [4, 5]
