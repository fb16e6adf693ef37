"""Which module may import which, and which imports must be declared as dependencies."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.conventions.sources import (
    PACKAGES,
    ROOT,
    cycles,
    import_graph,
    imported,
    product,
    with_parents,
)

MAY_IMPORT = {"channels": {"channels"}, "memory": {"memory"}, "bot": {"bot", "channels", "memory"}}
HEAVY = {
    "anthropic",
    "google",
    "mcp",
    "openai",
    "opentelemetry",
    "procrastinate",
    "psycopg",
    "telegram",
    "tiktoken",
}


# Layers from bottom to top. A module belongs to the longest prefix here and imports only its own
# layer and lower ones.
LAYERS = {
    "bot": (
        ("bot.errors", "bot.dispatch", "bot.plugins", "bot.command_names"),
        ("bot.texts", "bot.config"),
        ("bot.messages", "bot.page_questions", "bot.telemetry"),
        ("bot.models",),
        ("bot.access", "bot.memory"),
        ("bot.gateway",),
        ("bot.jobs",),
        ("bot.tools",),
        ("bot.agent",),
        ("bot.commands",),
        ("bot.runtime",),
        ("bot.console",),
        ("bot.cli", "bot.__main__"),
    ),
    "memory": (
        ("memory.failpoints", "memory.ids", "memory.tasks"),
        # the latter compares two lines by their words alone
        ("memory.text", "memory.longterm.similarity"),
        ("memory.conversation",),
        ("memory.context", "memory.redaction"),
        ("memory.workspace",),
        ("memory.store",),
        ("memory.recall", "memory.folding"),
        ("memory.store.postgres",),
        ("memory.longterm",),
        ("memory.forgetting",),
    ),
}
# goes down; it rose from 27.85 as 1,600 lines that imported little were deleted
MAX_EDGES_PER_KLOC = 28.3


def test_a_package_imports_no_package_above_it() -> None:
    upward = [
        f"{source.name}:{line} imports {name}"
        for source in product()
        for line, name in imported(source.tree)
        if name.split(".")[0] in set(PACKAGES) - MAY_IMPORT[source.package]
    ]
    assert not upward


def test_imports_are_absolute_and_not_only_for_the_type_checker() -> None:
    relative = [
        f"{s.name}:{line}"
        for s in product()
        for line, name in imported(s.tree)
        if name.startswith(".")
    ]
    assert not relative
    assert not [source.name for source in product() if "TYPE_CHECKING" in source.text]


def test_nothing_imports_in_a_cycle() -> None:
    """Deferred imports, names for importlib and the `__init__` of each parent package count too."""
    assert [sorted(group) for group in cycles(with_parents(dict(import_graph())))] == []


@pytest.mark.parametrize("package", LAYERS)
def test_every_module_has_a_layer(package: str) -> None:
    modules = [
        source.module
        for source in product()
        if source.package == package and source.module != package
    ]
    assert [module for module in modules if _layer(module) is None] == []


def test_a_layer_imports_no_layer_above_it() -> None:
    upward = {
        (module, target)
        for module, targets in import_graph().items()
        for target in targets
        if _is_up(module, target)
    }
    assert sorted(upward) == []


def _is_up(module: str, target: str) -> bool:
    importer, imported = _layer(module), _layer(target)
    return (
        importer is not None
        and imported is not None
        and module.split(".")[0] == target.split(".")[0]
        and imported > importer
    )


def _layer(module: str) -> int | None:
    """The number of a module's layer inside its package, None where layers do not count."""
    layers = enumerate(LAYERS.get(module.split(".")[0], ()))
    fitting = [
        (len(name), number)
        for number, names in layers
        for name in names
        if f"{module}.".startswith(f"{name}.")
    ]
    return max(fitting)[1] if fitting else None


def test_imports_between_modules_become_no_denser() -> None:
    edges = sum(len(targets) for targets in import_graph().values())
    assert 1_000 * edges / sum(source.lines for source in product()) <= MAX_EDGES_PER_KLOC


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
SCALED = re.compile(r"memory/store/postgres/\w+\.py|bot/runtime/cluster/\w+\.py")


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
        if (top := name.split(".")[0]) not in sys.stdlib_module_names and top not in PACKAGES
        if not {_normal(owner) for owner in owners.get(top, [])}
        & (core | (scale if SCALED.match(source.name) else set()))
    }
    assert not missing


def test_what_needs_the_extra_scale_is_imported_only_where_it_is_wanted() -> None:
    scaled = {source.module for source in product() if SCALED.match(source.name)}
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
