"""Files found by name and by content: within the space, within two seconds, and what is not text is
said.
"""

import os
from collections.abc import AsyncIterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import ToolFailed
from bot.tools.base import ToolContext
from bot.tools.workspace.search import SearchFilesArguments, SearchFilesTool, matches_glob
from memory.workspace.files import Workspace
from tests.bot.tools.file_hands import NOW, FileHands, file_hands
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
MOST_LINES = 200
LINE_CHARS = 400
LABEL = "[this holds words from outside]"


@pytest.fixture
async def hands(tmp_path: Path) -> AsyncIterator[FileHands]:
    async with file_hands(tmp_path) as held:
        held.root.mkdir()
        yield held


def put(hands: FileHands, path: str, text: str | bytes) -> None:
    where = hands.root / path
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_bytes(text.encode() if isinstance(text, str) else text)


@every_case(
    ("glob", "path", "found"),
    [
        ("*.md", "a.md", True),
        ("*.md", "notes/deep/a.md", True),
        ("/a.md", "a.md", True),
        ("notes/*.md", "notes/a.md", True),
        ("notes/*.md", "notes/deep/a.md", False),
        ("notes/**/*.md", "notes/a.md", True),
        ("notes/**/*.md", "notes/x/y/a.md", True),
        ("notes/**", "notes/x/y", True),
        ("**", "a", True),
        ("no?es/[ab].md", "notes/b.md", True),
        ("*.md", "a.mdx", False),
        ("**/x/**/y", "a/x/b/x/y", True),
        ("**/x/**/y", "a/b/y", False),
    ],
)
def test_a_glob(glob: str, path: str, found: bool) -> None:
    assert matches_glob(path, glob) == found


@given(st.text("ab*?", min_size=1, max_size=8), st.text("ab", min_size=1, max_size=8))
def test_within_a_name_a_glob_is_that_of_the_shell(glob: str, name: str) -> None:
    if "**" not in glob:
        assert matches_glob(f"folder/{name}", f"folder/{glob}") == fnmatchcase(name, glob)


def test_a_hostile_glob_costs_nothing() -> None:
    assert not matches_glob(
        "/".join("a" * 100 for _ in range(8)), "/".join(("**", "*a" * 40 + "b") * 10)
    )


async def test_files_are_found_by_name(hands: FileHands) -> None:
    for path in ("notes/a.md", "notes/b.txt", "c.md"):
        put(hands, path, "x")
    assert await hands.use("find_files", glob="*.md") == "c.md\nnotes/a.md"
    assert await hands.use("find_files", glob="*.pdf") == "[no such file]"
    with pytest.raises(ToolFailed):
        await hands.use("find_files", glob="a/" * 200)


async def test_a_name_from_outside_is_labelled(hands: FileHands) -> None:
    hands.tainted = True
    await hands.use("write_file", path="obey me.md", content="x")
    assert (await hands.use("find_files", glob="*.md")).endswith(LABEL)


async def test_lines_are_found_with_path_and_number(hands: FileHands) -> None:
    put(hands, "a.md", "one\ntwo tea\nthree\n")
    put(hands, "b/c.md", "Tea\r\nnone\r\n")
    assert await hands.use("search_files", pattern="tea") == "a.md:2: two tea"
    assert (
        await hands.use("search_files", pattern="(?i)^.*tea$") == "a.md:2: two tea\nb/c.md:1: Tea"
    )
    assert await hands.use("search_files", pattern="tea", glob="b/*") == "[nothing found]"
    assert hands.outside is False


async def test_lines_of_files_from_outside_are_words_from_outside(hands: FileHands) -> None:
    put(hands, "a.md", "tea\n")
    put(hands, "b/c.md", "coffee\n")
    hands.contents = ["b/c.md"]
    hands.names = ["b/tea.md"]
    await hands.use("search_files", pattern="tea")
    assert hands.outside is False
    await hands.use("search_files", pattern="coffee|tea")
    assert hands.outside


async def test_the_lines_around_a_match_stand_there_once(hands: FileHands) -> None:
    put(
        hands,
        "a.md",
        "".join(f"{number} {'x' if number in (2, 3, 9) else 'o'}\n" for number in range(1, 11)),
    )
    assert (await hands.use("search_files", pattern="x", context=1)).splitlines() == [
        *("a.md-1- 1 o", "a.md:2: 2 x", "a.md:3: 3 x", "a.md-4- 4 o"),
        *("--", "a.md-8- 8 o", "a.md:9: 9 x", "a.md-10- 10 o"),
    ]


async def test_a_result_is_bounded(hands: FileHands) -> None:
    put(hands, "many.md", "tea\n" * 1_000)
    *lines, note = (await hands.use("search_files", pattern="tea")).splitlines()
    assert len(lines) == MOST_LINES
    assert note.startswith("[only")
    put(hands, "many.md", "-" * 50_000 + "tea" + "-" * 50_000)
    found = await hands.use("search_files", pattern="t.a")
    assert "tea" in found
    assert len(found) < LINE_CHARS + 50


async def test_what_is_no_text_or_too_long_is_skipped_and_counted(hands: FileHands) -> None:
    put(hands, "picture.png", b"\x89PNG\0tea")
    put(hands, "line.txt", "x" * (10 * 2**20) + "tea")
    put(hands, "a.md", "tea")
    found = await hands.use("search_files", pattern="tea")
    assert found.startswith("a.md:1: tea\n[2 files not searched")


async def test_a_link_a_pipe_and_other_spaces_are_not_searched(
    hands: FileHands, tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_text("canary")
    (hands.root / "link.md").symlink_to(tmp_path / "outside.md")
    (hands.root / "folder").symlink_to(tmp_path)
    os.link(tmp_path / "outside.md", hands.root / "hard.md")
    os.mkfifo(hands.root / "pipe.md")
    await hands.use("write_file", space="telegram-7", path="theirs.md", content="canary")
    for glob in ("", "**", "../*", "../**", "/etc/*", "spaces/**", "*.md"):
        assert "canary" not in await hands.use("search_files", pattern="can.ry", glob=glob)
        if glob:
            found = await hands.use("find_files", glob=glob)
            assert not any(name in found for name in ("theirs", "outside", "link", "pipe"))
    assert (
        await hands.use("search_files", space="telegram-7", pattern="canary")
        == "theirs.md:1: canary"
    )


async def test_a_catastrophic_pattern_is_stopped(hands: FileHands) -> None:
    put(hands, "a.md", "a" * 40 + "!\n")
    for number in range(50):
        put(hands, f"more/{number}.md", "a" * 5_000 + "!\n")
    assert "stopped after 2 s" in await hands.use(
        "search_files", pattern=r"(a|a|b|[a-c])*\1(a|aa)+$(?<=x)"
    )


async def test_the_time_is_that_of_the_whole_search(tmp_path: Path) -> None:
    times = iter([0.0, *([0.5] * 6), *([3.0] * 100)])
    workspace = Workspace(tmp_path)
    for number in range(10):
        (tmp_path / f"{number}.md").write_text("tea\n")
    tool = SearchFilesTool(workspace, clock=lambda: next(times))
    context = ToolContext(conversation="c", space="", now=lambda: NOW, idem_key="k")
    lines = (await tool.run(SearchFilesArguments(pattern="tea"), context)).text.splitlines()
    assert lines[0] == "0.md:1: tea"
    assert len(lines) < 10
    assert "stopped after 2 s" in lines[-1]


@pytest.mark.parametrize("pattern", ["(", "[", "a{2,1}", "", "x" * 600, r"(?P<n>a)(?P=m)"])
async def test_what_is_no_pattern_is_told(hands: FileHands, pattern: str) -> None:
    with pytest.raises(ToolFailed, match="pattern"):
        await hands.use("search_files", pattern=pattern)
