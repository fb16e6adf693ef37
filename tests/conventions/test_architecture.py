"""The architecture pages name modules, functions and tables that exist."""

import ast
import re
from functools import cache

import pytest

from memory.store.schema import memory_tables, tables
from tests.conventions.sources import ROOT, Source, find_source, nodes, product

PAGES = ["docs/architecture.md", "docs/architecture.zh-CN.md", "CONTRIBUTING.md", "tests/README.md"]
DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
REFERENCE = re.compile(r"`((?:bot|channels|memory|tests|scripts)/[\w./]+\.py)(?::(\w+))?`")
DECISION_ROW = re.compile(r"^- \[(\d{4})\]\((\1-[a-z0-9-]+\.md)\): (.+)$", re.MULTILINE)
TABLE_ROW = re.compile(r"^\| (`\w+`.*) \|.*\| `memory/store/schema/", re.MULTILINE)


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


@cache
def names_in(path: str) -> set[str]:
    """Every class, function, method and assigned name of a module."""
    statements = [node for node in nodes(find_source(path).tree) if isinstance(node, ast.stmt)]
    names = {
        node.name
        for node in statements
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    targets = [
        target for node in statements if isinstance(node, ast.Assign) for target in node.targets
    ]
    targets += [node.target for node in statements if isinstance(node, ast.AnnAssign)]
    return names | {target.id for target in targets if isinstance(target, ast.Name)}


def find_missing(references: list[tuple[str, str]]) -> list[str]:
    """Return the modules, and the names in modules, that do not exist."""
    modules = [path for path, _ in references if not (ROOT / path).is_file()]
    names = [(path, name) for path, name in references if name and path not in modules]
    return [*modules, *(f"{path}:{name}" for path, name in names if name not in names_in(path))]


@pytest.mark.parametrize("page", PAGES)
def test_every_module_and_name_exists(page: str) -> None:
    references = REFERENCE.findall(read(page))
    assert references
    assert not find_missing(references)


def test_decisions_name_what_exists() -> None:
    texts = [path.read_text("utf-8") for path in DECISIONS]
    assert (
        find_missing([reference for text in texts for reference in REFERENCE.findall(text)]) == []
    )


def test_every_decision_has_its_parts_and_is_listed_once() -> None:
    listed = DECISION_ROW.findall(read("docs/decisions/README.md"))
    assert sorted(file for _, file, _ in listed) == [path.name for path in DECISIONS]
    for number, file, title in listed:
        text = read(f"docs/decisions/{file}")
        assert text.startswith(f"# {int(number)}. {title}\n\nStatus: "), file
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings in (["Context", "Decision"], ["Context", "Decision", "Measurement"]), file


def test_the_guide_and_the_map_of_tests_stay_short() -> None:
    assert len(read("CONTRIBUTING.md").encode()) <= 12_000
    assert len(read("tests/README.md").splitlines()) <= 80


@pytest.mark.parametrize("page", PAGES[:2])
def test_every_table_is_listed(page: str) -> None:
    listed = {name for row in TABLE_ROW.findall(read(page)) for name in re.findall(r"`(\w+)`", row)}
    assert listed == {*tables.inbox.metadata.tables, *memory_tables.memory.metadata.tables} - {
        "alembic_version",
        "probe",
    }


def hides_secrets(source: Source) -> bool:
    """Return whether a module hides secrets in foreign text."""
    imports = [node for node in nodes(source.tree) if isinstance(node, ast.ImportFrom)]
    from_log = [node for node in imports if node.module == "bot.telemetry.log"]
    return any(name.name in ("redact", "LogRedactor") for node in from_log for name in node.names)


def test_every_module_that_hides_secrets_is_named() -> None:
    named = {path for path, _ in REFERENCE.findall(read(PAGES[0]))}
    assert {source.name for source in product() if hides_secrets(source)} - named == set()


def test_both_languages_name_the_same() -> None:
    english, chinese = (REFERENCE.findall(read(page)) for page in PAGES[:2])
    assert english == chinese
