"""The house as its own tests see it: its Python files, each read and parsed once."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("bot", "channels", "memory")


@dataclass(frozen=True)
class Source:
    """One Python file. name: its path from the root, with slashes."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Parsed when it is first looked at, and then once."""
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        return self.name.split("/")[0]


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Every Python file under these folders of the house."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(_read(path) for path in paths)


@cache
def _read(path: Path) -> Source:
    return Source(name=path.relative_to(ROOT).as_posix(), text=path.read_text("utf-8"))


def product() -> tuple[Source, ...]:
    """What is installed."""
    return sources(*ROOMS)


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and full name of every module imported anywhere in it, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
