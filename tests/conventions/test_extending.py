"""The examples of docs/extending.md work: added to a copy of the tree, their tests and the types
are checked.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.conventions.sources import ROOT

PAGES = ["docs/extending.md", "docs/extending.zh-CN.md"]
BLOCK = re.compile(r"^```(python|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("bot", "channels", "memory", "tests", "pyproject.toml")
MAX_LINES = 65  # of 100 columns


def blocks(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / page).read_text("utf-8"))


def new_files() -> dict[str, str]:
    """Path and text of each file that the page adds."""
    files = {}
    for kind, text in blocks(PAGES[0]):
        if kind == "python":
            head, code = text.split("\n", 1)
            files[head.removeprefix("# ")] = code
    return files


def changes() -> Iterator[tuple[str, str, str]]:
    """(file, old text, new text) of each hunk."""
    for kind, text in blocks(PAGES[0]):
        for file in re.split(r"^--- ", text, flags=re.MULTILINE)[1:] if kind == "diff" else ():
            path, *hunks = re.split(r"\n@@\n", file)
            for hunk in hunks:
                lines = hunk.rstrip("\n").split("\n")
                old = [line[1:] for line in lines if line[:1] != "+"]
                new = [line[1:] for line in lines if line[:1] != "-"]
                yield path, "\n".join(old), "\n".join(new)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with everything that the page adds."""
    copy = tmp_path_factory.mktemp("extended")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    for name, code in new_files().items():
        path = copy / name
        path.parent.mkdir(exist_ok=True)
        (path.parent / "__init__.py").touch()
        assert not path.exists()
        path.write_text(code, "utf-8")
    for name, old, new in changes():
        path = copy / name
        text = path.read_text("utf-8")
        assert text.count(old) == 1, f"{name} has {text.count(old)} times:\n{old}"
        path.write_text(text.replace(old, new), "utf-8")
    return copy


def run(tree: Path, *command: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@by_night
def test_the_tests_of_the_page_pass(tree: Path) -> None:
    tests = [name for name in new_files() if name.startswith("tests/")]
    assert len(tests) == 6
    run(tree, "pytest", "-q", "-p", "no:cacheprovider", *tests)


@by_night
def test_the_examples_are_typed(tree: Path) -> None:
    run(tree, "mypy", *(name for name in new_files() if not name.startswith("tests/")))


def test_the_examples_are_formatted_and_short(tree: Path) -> None:
    files = new_files()
    run(tree, "ruff", "check", "-q", *files)
    run(tree, "ruff", "format", "-q", "--check", *files)
    assert not [name for name, code in files.items() if code.count("\n") > MAX_LINES]


def test_both_languages_have_the_same_examples() -> None:
    assert blocks(PAGES[0]) == blocks(PAGES[1])
