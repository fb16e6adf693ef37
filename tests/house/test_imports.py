"""Three rooms on two floors: who may import whom, and what must be declared."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

from tests.house.sources import ROOMS, ROOT, Source, imported, product

MAY_IMPORT = {"channels": {"channels"}, "memory": {"memory"}, "bot": {"bot", "channels", "memory"}}
HEAVY = {"anthropic", "lark_oapi", "mcp", "openai", "opentelemetry", "procrastinate", "psycopg", "telegram", "tiktoken"}


def test_nothing_imports_a_floor_above() -> None:
    stray = [
        f"{source.name}:{line} imports {name}"
        for source in product()
        for line, name in imported(source.tree)
        if name.split(".")[0] in set(ROOMS) - MAY_IMPORT[source.room]
    ]
    assert not stray


def test_imports_are_absolute_and_not_only_for_the_type_checker() -> None:
    relative = [f"{s.name}:{line}" for s in product() for line, name in imported(s.tree) if name.startswith(".")]
    assert not relative
    assert not [source.name for source in product() if "TYPE_CHECKING" in source.text]


def test_nothing_imports_in_a_circle() -> None:
    graph = {_module(source): _top_of_ours(source) for source in product()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for below in sorted(graph.get(name, set())):
                visit(below, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_heavy_sdks_are_imported_where_the_wire_is_opened() -> None:
    eager = [
        f"{source.name}:{node.lineno}"
        for source in product()
        if not SCALED.match(source.name)
        for node in source.tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for _, name in imported(node)
        if name.split(".")[0] in HEAVY
    ]
    assert not eager


# Modules that are imported only where the extra `scale` is wanted.
SCALED = re.compile(r"memory/(store|recall)/(\w+/)?(open_)?postgres\w*\.py|bot/runtime/cluster/\w+\.py")


def test_what_is_imported_at_the_top_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    core, scale = [
        {_normal(re.split(r"[\s\[<>=;!~]", line)[0]) for line in lines}
        for lines in (project["dependencies"], project["optional-dependencies"]["scale"])
    ]
    owners = packages_distributions()
    missing = {
        f"{source.name} imports {name}"
        for source in product()
        for node in source.tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for _, name in imported(node)
        if (top := name.split(".")[0]) not in sys.stdlib_module_names and top not in ROOMS
        if not {_normal(owner) for owner in owners.get(top, [])}
        & (core | (scale if SCALED.match(source.name) else set()))
    }
    assert not missing


def test_what_needs_the_extra_scale_is_imported_only_where_it_is_wanted() -> None:
    scaled = {_module(source) for source in product() if SCALED.match(source.name)}
    eager = {
        f"{source.name} imports {name}"
        for source in product()
        if not SCALED.match(source.name)
        for node in source.tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for _, name in imported(node)
        if any(name == module or name.startswith(f"{module}.") for module in scaled)
    }
    assert scaled
    assert not eager


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _module(source: Source) -> str:
    return source.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _top_of_ours(source: Source) -> set[str]:
    """Modules of ours that loading this one loads first; a package is not below its own modules."""
    known = {_module(other) for other in product()}
    found = set()
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (names & known) or ({node.module} & known)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & known
    return found - {_module(source)}
