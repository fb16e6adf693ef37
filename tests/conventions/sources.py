"""The Python files of this repository, each read and parsed once, and the imports between them."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "channels", "memory")


@dataclass(frozen=True)
class Source:
    """One Python file."""

    #: Path from the root of the repository, with slashes.
    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Parsed on first use."""
        return ast.parse(self.text)

    @property
    def package(self) -> str:
        """Top-level package."""
        return self.name.split("/")[0]

    @property
    def module(self) -> str:
        """Dotted name, as in an import."""
        return self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def is_package(self) -> bool:
        return self.name.endswith("/__init__.py")

    @property
    def lines(self) -> int:
        return self.text.count("\n")


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Return every Python file under these folders."""
    found = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    # packages of the page may hold Python
    paths = (path for path in found if "node_modules" not in path.parts)
    return tuple(_read(path) for path in paths)


def find_source(name: str) -> Source:
    """Return the Python file of this name, which is its path from the root."""
    return _read(ROOT / name)


@cache
def _read(path: Path) -> Source:
    return Source(name=path.relative_to(ROOT).as_posix(), text=path.read_text("utf-8"))


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return every node of a tree, which is walked once: many tests look at all files."""
    return tuple(ast.walk(tree))


def product() -> tuple[Source, ...]:
    """Return every Python file that is installed."""
    return sources(*PACKAGES)


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and full name of every imported module, deferred imports included."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function and method."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """Yield every class of a module's top level."""
    return (node for node in tree.body if isinstance(node, ast.ClassDef))


@cache
def import_graph() -> Mapping[str, frozenset[str]]:
    """Map each product module to the product modules it imports at the top, inside functions or
    through importlib.
    """
    known = {source.module for source in product()}
    return {
        source.module: frozenset(targets(source.tree, known)) - {source.module}
        for source in product()
    }


# for importlib and entry points
_IN_STRING = re.compile(rf"((?:{'|'.join(PACKAGES)})(?:\.\w+)+)(?::\w+)?")


def targets(tree: ast.AST, known: set[str]) -> Iterator[str]:
    """Yield each known module that a file names in an import, or in a string as importlib and entry
    points do.
    """
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield from {name if name in known else node.module} & known
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & known
        elif isinstance(node, ast.Constant) and (named := _IN_STRING.fullmatch(str(node.value))):
            yield from {named[1]} & known


def with_parents(graph: Mapping[str, frozenset[str]]) -> dict[str, set[str]]:
    """Add what an import runs besides its target: the `__init__` of each package above it."""
    whole = {}
    for module, imports in graph.items():
        parents = {
            ".".join(parts[:end])
            for parts in (name.split(".") for name in imports)
            for end in range(1, len(parts))
        }
        whole[module] = {*imports, *(parents & graph.keys())} - {module}
    return whole


def cycles(graph: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """Return each group of modules that import one another, directly or through others."""
    reachable = {module: _reachable(graph, module) for module in graph}
    groups = {
        frozenset(other for other in reached if module in reachable[other])
        for module, reached in reachable.items()
    }
    return sorted((group for group in groups if group), key=sorted)


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
