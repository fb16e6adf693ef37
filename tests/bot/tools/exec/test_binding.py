"""S46: which bytes an approval is bound to."""

import hashlib
from pathlib import Path

import pytest

from bot.errors import ToolFailed
from bot.tools.exec.binding import check_folder, find_inner_names, hash_files


@pytest.fixture
def space(tmp_path: Path) -> Path:
    folder = tmp_path / "space"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.sh").write_text("a")
    (folder / "sub" / "b.sh").write_text("b")
    return folder


@pytest.mark.parametrize(
    ("cwd", "argv", "named"),
    [
        ("", ["sh", "a.sh"], {"a.sh"}),
        ("", ["./a.sh"], {"a.sh"}),
        ("sub", ["sh", "b.sh", "../a.sh"], {"a.sh", "sub/b.sh"}),
        ("", ["cat", "/w/a.sh", "/w//sub/./b.sh"], {"a.sh", "sub/b.sh"}),
        ("", ["x", "--file=a.sh", "if=sub/b.sh"], {"a.sh", "sub/b.sh"}),
        (
            "",
            ["cat", "sub", "none", "/etc/passwd", "../../a.sh", "a.sh ", "", "=", "a.sh\0"],
            set(),
        ),
    ],
)
def test_every_file_of_the_space_that_a_word_names_is_hashed(
    space: Path, cwd: str, argv: list[str], named: set[str]
) -> None:
    found = hash_files(space, cwd, argv)
    assert found == {
        name: hashlib.sha256((space / name).read_bytes()).hexdigest() for name in named
    }


def test_what_a_link_leads_to_may_change_so_it_is_refused(space: Path) -> None:
    (space / "link").symlink_to("a.sh")
    (space / "folder").symlink_to("sub")
    for name in ("link", "folder/b.sh", "--file=link"):
        with pytest.raises(ToolFailed, match="link"):
            hash_files(space, "", ["cat", name])


@pytest.mark.parametrize(
    ("argv", "script", "named"),
    [
        (["sh", "-c", "sh a.sh && cat sub/b.sh>/dev/null"], "", {"a.sh", "sub/b.sh"}),
        (["python3", "-c", "open('a.sh'); open(\"sub/b.sh\", 'w')"], "", {"a.sh", "sub/b.sh"}),
        (["env", "-S", "X=a.sh sh ./sub/b.sh"], "", {"a.sh", "sub/b.sh"}),
        ([], "set -e\nwhile read x; do $x; done <a.sh;sh /w/sub/b.sh", {"a.sh", "sub/b.sh"}),
        ([], "# with blanks\ncat 'with blanks.txt'\n", {"with blanks.txt"}),
        ([], "cat a.shx xa.sh sub none /etc/passwd ../a.sh", set()),
    ],
)
def test_every_file_named_inside_a_word_or_a_script_is_found(
    space: Path, argv: list[str], script: str, named: set[str]
) -> None:
    (space / "with blanks.txt").write_text("blanks")
    assert set(find_inner_names(space, "", [*argv, script])) == named


def test_a_link_inside_a_script_is_found_and_a_word_itself_is_not(space: Path) -> None:
    (space / "link").symlink_to("a.sh")
    assert find_inner_names(space, "", ["sh", "a.sh"]) == []
    assert find_inner_names(space, "sub", ["cat b.sh ../link"]) == ["link", "sub/b.sh"]


@pytest.mark.parametrize("cwd", ["sub", "sub/", "./sub", "/w/sub"])
def test_a_folder_of_the_space_is_found(space: Path, cwd: str) -> None:
    assert check_folder(space, cwd) == "sub"
    assert check_folder(space, "") == check_folder(space, "/w") == check_folder(space, ".") == ""


@pytest.mark.parametrize(
    "cwd", ["..", "/etc", "/", "none", "a.sh", "folder", "/wx", "sub/../..", "sub\0", "s\u202eub"]
)
def test_no_other_folder_is(space: Path, cwd: str) -> None:
    (space / "folder").symlink_to("/etc")
    with pytest.raises(ToolFailed):
        check_folder(space, cwd)
