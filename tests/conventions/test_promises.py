"""The promises of the documentation: each names tests, the tests are there, and both languages name
the same.
"""

import ast
import re
from functools import cache
from itertools import pairwise

import pytest

from tests.conventions.sources import ROOT, find_source

FIGURES = ["docs/figures.md", "docs/figures.zh-CN.md"]
ROW = re.compile(r"^\| (?P<promise>[^|]+) \| (?P<tests>`[^|]*`) \|$", re.MULTILINE)
TEST = re.compile(r"`(?:tests/)?(?P<file>[\w/]+\.py)(?:::(?P<name>test_\w+))?`")
PAGE = re.compile(r"^\| \[[^]]+\]\((?P<page>[\w./-]+)\) \| ", re.MULTILINE)


def promises(page: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each promise of a page with its tests: the file, and the name or ""."""
    text = (ROOT / page).read_text("utf-8")
    return [
        (
            row["promise"],
            [(test["file"], test["name"] or "") for test in TEST.finditer(row["tests"])],
        )
        for row in ROW.finditer(text)
    ]


@cache
def names(file: str) -> frozenset[str]:
    tree = find_source(f"tests/{file}").tree
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("page", FIGURES)
def test_every_promise_names_tests_that_are_there(page: str) -> None:
    found = promises(page)
    assert len(found) > 150
    assert [promise for promise, tests in found if not tests] == []
    named = {test for _, tests in found for test in tests}
    assert [file for file, _ in sorted(named) if not (ROOT / "tests" / file).is_file()] == []
    assert [
        f"{file}::{name}" for file, name in sorted(named) if name and name not in names(file)
    ] == []


def test_both_languages_name_the_same_tests() -> None:
    english, chinese = ([tests for _, tests in promises(page)] for page in FIGURES)
    assert english == chinese


def test_every_page_on_tools_has_its_promises() -> None:
    text = (ROOT / FIGURES[0]).read_text("utf-8")
    tables = [*((found["page"], found.end()) for found in PAGE.finditer(text)), ("", len(text))]
    counted = {
        page: len(ROW.findall(text[start:end])) for (page, start), (_, end) in pairwise(tables)
    }
    pages = {
        f"tools/{path.name}"
        for path in (ROOT / "docs" / "tools").glob("*.md")
        if ".zh-CN" not in path.name
    }
    assert {*pages, "web.md"} == {page for page, count in counted.items() if count}


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_the_tests_that_the_readme_names_are_there(page: str) -> None:
    named = re.findall(r"\[`(test_\w+)`\]\(tests/([\w/]+\.py)\)", (ROOT / page).read_text("utf-8"))
    assert named
    for name, file in named:
        assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8")
