"""Documentation: a sentence atop every module, a docstring for every public name, every command in
the README.
"""

import ast
import builtins
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.conventions.sources import ROOT, Source, nodes, product, sources

COMMANDS = (
    "init",
    "chat",
    "run",
    "channels",
    "pair",
    "owner",
    "doctor",
    "config",
    "sessions",
    "memory",
    "replay",
    "skills",
    "exec",
    "tools",
    "migrate",
    "backup",
    "restore",
    "audit",
    "people",
    "mcp",
    "login",
    "extras",
    "upgrade",
)
RAISED = re.compile(r"^\s+([A-Z][\w.]*(?:, [A-Z][\w.]*)*): ", re.MULTILINE)
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|NotImplemented" + r"Error)\b")
ONE_MACHINE = re.compile(
    r"(?<![\w.])/(?:work|root|farm|home/[a-z]+)/|pypi\."
    + r"org|files\.python"
    + r"hosted|registry\.npm"
)
TEXT = {
    ".py",
    ".md",
    ".toml",
    ".lock",
    ".json",
    ".yml",
    ".yaml",
    ".sh",
    ".txt",
    ".html",
    ".css",
    ".js",
    "",
}


def protocol_methods() -> set[str]:
    """Methods that a Protocol documents; an implementation does not repeat it."""
    classes = [node for s in product() for node in s.tree.body if isinstance(node, ast.ClassDef)]
    protocols = [
        node for node in classes if any(ast.unparse(base) == "Protocol" for base in node.bases)
    ]
    return {
        node.name
        for protocol in protocols
        for node in protocol.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@cache
def documented_elsewhere() -> set[str]:
    return {*protocol_methods(), "upgrade", "downgrade"}


def test_every_module_opens_with_one_sentence() -> None:
    """One test for all modules: a test for each would take seconds to distribute and report."""
    modules = sources("bot", "channels", "memory", "tests")
    assert len(modules) > 400
    assert [source.name for source in modules if not _has_docstring(source)] == []


def _has_docstring(source: Source) -> bool:
    if not source.text.strip() and source.name.endswith("__init__.py"):
        return True
    words = ast.get_docstring(source.tree) or ""
    return words.split("\n\n")[0].rstrip().endswith((".", ":", "。"))


def test_every_public_name_has_a_docstring() -> None:
    bare = [
        f"{source.name}:{node.lineno} {node.name}"
        for source in product()
        for node in source.tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if not node.name.startswith("_")
        and not ast.get_docstring(node)
        and node.name not in documented_elsewhere()
    ]
    assert not bare


def test_every_error_that_a_docstring_names_exists() -> None:
    known = set(dir(builtins))
    for source in product():
        known |= {node.name for node in nodes(source.tree) if isinstance(node, ast.ClassDef)}
        known |= {
            alias.name
            for node in nodes(source.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
    unknown = [
        f"{source.name} {name}"
        for source in product()
        for node in nodes(source.tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for name in _raised(ast.get_docstring(node) or "")
        if name.rpartition(".")[2] not in known
    ]
    assert unknown == []


def _raised(docstring: str) -> list[str]:
    """The names before the colons of a Raises section."""
    section = docstring.partition("Raises:")[2].partition("Source:")[0]
    return [name for line in RAISED.findall(section) for name in line.split(", ")]


@pytest.mark.parametrize("page", ["docs/commands.md", "docs/commands.zh-CN.md"])
def test_the_commands_page_shows_every_command(page: str) -> None:
    shown = (ROOT / page).read_text("utf-8")
    assert not [name for name in COMMANDS if f"| `mnema {name}" not in shown]


def test_the_commands_listed_here_are_all_commands() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "bot", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    listed = re.findall(r"^  ([a-z]+) ", shown.stdout.split("Commands:")[1], re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


def test_nothing_is_left_unfinished_or_tied_to_one_machine() -> None:
    faults = []
    for path in tracked():
        text = path.read_text("utf-8", "replace")
        name = path.relative_to(ROOT).as_posix()
        faults += [
            f"{name}: {found[0]}" for found in UNFINISHED.finditer(text) if path.suffix == ".py"
        ]
        faults += [f"{name}: {found[0]}" for found in ONE_MACHINE.finditer(text)]
    assert not faults


def tracked() -> list[Path]:
    """Files that are, or are about to be, part of the tree."""
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("this is no git checkout")
    paths = [ROOT / name for name in found.stdout.splitlines()]
    return [path for path in paths if path.is_file() and path.suffix in TEXT]
