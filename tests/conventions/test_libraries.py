"""Libraries are used by their public names and left as they are: what runs is what is installed."""

import ast
from collections.abc import Iterator

from tests.conventions.sources import PACKAGES, Source, nodes, product

# Private names that are documented, so that there is no other way.
DOCUMENTED = {"_exit", "_asdict", "_fields", "_make", "_replace", "_thread", "__future__"}
# The one import that is not plain, and the process that gives a plug-in a name.
WRITES_MODULES = {"bot/models/providers/anthropic_sdk.py", "bot/tools/plugins/worker.py"}
PARTIAL_IMPORT = "bot/models/providers/anthropic_sdk.py"
OF_PROCESS = ("sys.modules[", "sys.path[", "os.environ[")  # the first has a test of its own
# To be removed: delete lines, never add one.
PRIVATE_NAMES = {
    # closes the pipes of a server that a grandchild holds open
    ("bot/tools/mcp/stdio.py", "_transport"),
    # one hop to aiosqlite's thread for a unit of work
    ("memory/store/engine/sqlite_connection.py", "_execute"),
}
# Pillow's setting; ours is lower
ASSIGNED = {("bot/gateway/attachment_worker.py", "Image.MAX_IMAGE_PIXELS")}


def test_no_private_name_of_a_library_is_used() -> None:
    own = {name for source in product() for name in _defined(source.tree)}
    found = {
        (source.name, name)
        for source in product()
        if source.name != PARTIAL_IMPORT
        for name in _private_names(source, own)
    }
    assert found == PRIVATE_NAMES


def test_nothing_is_assigned_to_a_library() -> None:
    assert {
        (source.name, target) for source in product() for target in _assigned(source.tree)
    } == ASSIGNED


def test_loaded_modules_and_import_hooks_are_left_alone() -> None:
    assert {
        source.name for source in product() if any(_changes_imports(source.tree))
    } == WRITES_MODULES


def _is_private(name: str) -> bool:
    return (
        name.startswith("_")
        and not name.startswith("__")
        and name != "_"
        and name not in DOCUMENTED
    )


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yield every name that a module of ours defines, at any level, or assigns to an object."""
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _private_names(source: Source, own: set[str]) -> Iterator[str]:
    for node in nodes(source.tree):
        if isinstance(node, ast.Attribute):
            names = [node.attr] if node.attr not in own else []
        elif isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
        elif isinstance(node, ast.ImportFrom):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Call):
            names = [
                part for text in _looked_up(node) for part in text.split(".") if part not in own
            ]
        else:
            names = []
        yield from filter(_is_private, names)


def _looked_up(call: ast.Call) -> Iterator[str]:
    """Yield the texts by which a call looks for a module or an attribute."""
    if ast.unparse(call.func).split(".")[-1] in (
        "import_module",
        "getattr",
        "setattr",
        "delattr",
        "find_spec",
    ):
        for argument in call.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value


def _assigned(tree: ast.Module) -> Iterator[str]:
    """Yield each attribute of an imported library that a module of ours sets or deletes."""
    libraries = set(_imported_names(tree))
    for node in nodes(tree):
        if isinstance(node, ast.Attribute | ast.Subscript):
            changed = node if isinstance(node.ctx, ast.Store | ast.Del) else None
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
            changed = node.args[0]
        else:
            changed = None
        if (
            changed is not None
            and _root(changed) in libraries
            and not ast.unparse(node).startswith(OF_PROCESS)
        ):
            yield ast.unparse(node)


def _imported_names(tree: ast.Module) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (
                alias.asname or alias.name.split(".")[0]
                for alias in node.names
                if _is_foreign(alias.name)
            )
        elif isinstance(node, ast.ImportFrom) and _is_foreign(node.module or ""):
            yield from (alias.asname or alias.name for alias in node.names)


def _is_foreign(module: str) -> bool:
    return module.split(".")[0] not in PACKAGES


def _root(node: ast.expr) -> str:
    """Return the first name of `a.b[c].d`, or of `vars(a)["b"]`."""
    while True:
        if isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "vars" and node.args:
            node = node.args[0]
        else:
            return node.id if isinstance(node, ast.Name) else ""


def _changes_imports(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what changes `sys.modules`, or how Python finds modules."""
    lists = {"sys.modules", "sys.meta_path", "sys.path_hooks", "sys.path_importer_cache"}
    for node in nodes(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            if ast.unparse(node.value) in lists:
                yield node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changes = node.func.attr in (
                "pop",
                "update",
                "setdefault",
                "insert",
                "append",
                "clear",
                "extend",
            )
            if changes and ast.unparse(node.func.value) in lists:
                yield node
