"""Which test modules look at a part of the program in this process alone: `pytest --quick` (make
quick) leaves out all others, and takes a minute on two cores.

A module is left out when it, a conftest beside or above it, or a helper that either imports starts
processes, a browser, a PostgreSQL, an emulator or a whole bot. No list of them has to be kept: the
imports at the top of the modules say it; what a function imports for itself, a helper's choice at
night, does not count. The few others that take long are listed.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent
# Helpers and libraries that start something outside this process, or a server or a bot inside it,
# and what the measurements rest on.
HEAVY = (
    "tests.benchmarks",
    "tests.bot.inside",
    "tests.browser",
    "tests.emulators",
    "tests.postgres",
    "tests.soak",
    "tests.walk",
)
HEAVY_LIBRARIES = {"multiprocessing", "playwright", "psycopg", "subprocess"}
# Need no process, but take more than two seconds of CPU: they measure time or memory, derive keys,
# or try thousands of texts or rows.
SLOW = {
    "tests.bot.console.operations.test_backup_encryption",
    "tests.bot.runtime.test_bounds",
    "tests.bot.tools.workspace.test_search",
    "tests.channels.test_attacks_tls",
    "tests.channels.toolkit.test_tables",
    "tests.conventions.test_patterns",
    "tests.growth",
    "tests.memory.context.policies.test_policies",
    "tests.memory.context.test_system_prompt",
    "tests.memory.longterm.test_large_files",
    "tests.memory.recall.test_streaming",
    "tests.memory.recall.test_vectors",
    "tests.memory.store.test_repair",
    "tests.memory.text.test_sized_cache",
    "tests.weighing",
}


def is_quick(file: Path) -> bool:
    """Whether a test module needs no process, no emulator and no whole bot, and not long."""
    conftests = [
        folder / "conftest.py"
        for folder in file.parents
        if folder != TESTS and folder.is_relative_to(TESTS)
    ]
    modules = [_module(path) for path in (file, *conftests) if path.is_file()]
    return not any(module in SLOW or module.startswith(HEAVY) for module in _reached(modules))


def _reached(modules: list[str]) -> set[str]:
    """These modules and everything of `tests` that they import, directly or through others."""
    found, waiting = set[str](), modules
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imports(name)
    return found


@cache
def _imports(module: str) -> frozenset[str]:
    """What a test module imports of `tests`; a heavy library counts as a heavy package."""
    path = TESTS.parent / f"{module.replace('.', '/')}.py"
    if not path.is_file():
        return frozenset()
    names = set()
    for node in _top(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    heavy = (
        {"tests.walk"} if {name.split(".")[0] for name in names} & HEAVY_LIBRARIES else set[str]()
    )
    return frozenset(heavy | {name for name in names if name.startswith("tests.")})


def _top(node: ast.AST) -> Iterator[ast.AST]:
    """All that runs when a module is imported: functions are named, their bodies are not
    entered.
    """
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for child in ast.iter_child_nodes(node):
            yield from _top(child)


def _module(path: Path) -> str:
    return path.relative_to(TESTS.parent).with_suffix("").as_posix().replace("/", ".")
