"""The architecture pages name modules, functions and tables that exist."""

import ast
import re

import pytest

from memory.store.schema import memory_tables, tables
from tests.conventions.sources import ROOT

PAGES = ["docs/architecture.md", "docs/architecture.zh-CN.md", "CONTRIBUTING.md"]
REFERENCE = re.compile(r"`((?:bot|channels|memory|tests|scripts)/[\w./]+\.py)(?::(\w+))?`")
TABLE_ROW = re.compile(r"^\| (`\w+`.*) \|.*\| `memory/store/schema/", re.MULTILINE)


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def names_in(path: str) -> set[str]:
    """Every class, function, method and assigned name of a module."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    names = {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
    targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    return names | {target.id for target in targets if isinstance(target, ast.Name)}


@pytest.mark.parametrize("page", PAGES)
def test_every_module_and_name_exists(page: str) -> None:
    references = REFERENCE.findall(read(page))
    assert references
    assert not [path for path, _ in references if not (ROOT / path).is_file()]
    assert not [(path, name) for path, name in references if name and name not in names_in(path)]


@pytest.mark.parametrize("page", PAGES[:2])
def test_every_table_is_listed(page: str) -> None:
    listed = {name for row in TABLE_ROW.findall(read(page)) for name in re.findall(r"`(\w+)`", row)}
    assert listed == {*tables.inbox.metadata.tables, *memory_tables.memory.metadata.tables} - {
        "alembic_version",
        "probe",
    }


def test_both_languages_name_the_same() -> None:
    english, chinese = (REFERENCE.findall(read(page)) for page in PAGES[:2])
    assert english == chinese
