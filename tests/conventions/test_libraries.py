"""Libraries are used by their public names and left as they are: what runs is what is installed."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from tests.cases import every_case
from tests.conventions.sources import PACKAGES, Source, classes, nodes, product

# Private names that are documented, so that there is no other way.
DOCUMENTED = {"_exit", "_asdict", "_fields", "_make", "_replace", "_thread", "__future__"}
# The one import that is not plain, and the process that gives a plug-in a name.
WRITES_MODULES = {"bot/models/providers/anthropic_sdk.py", "bot/tools/plugins/worker.py"}
PARTIAL_IMPORT = "bot/models/providers/anthropic_sdk.py"
OF_PROCESS = ("sys.modules", "sys.path", "os.environ")  # the first has a test of its own
# To be removed: delete lines, never add one.
PRIVATE_NAMES = {
    # closes the pipes of a server that a grandchild holds open
    ("bot/tools/mcp/stdio.py", "_transport"),
    # one hop to aiosqlite's thread for a unit of work
    ("memory/store/engine/sqlite_connection.py", "_execute"),
}
# A descriptor reads the object that it belongs to.
OF_OWN_OBJECTS = {("memory/store/engine/database.py", "_database")}
# Pillow's setting; ours is lower
ASSIGNED = {("bot/gateway/attachment_worker.py", "Image.MAX_IMAGE_PIXELS")}
LOOK_UPS = frozenset(
    (
        *("import_module", "find_spec", "__import__", "getattr", "getattr_static", "hasattr"),
        *("setattr", "delattr", "attrgetter", "methodcaller"),
        *("__getattribute__", "__setattr__", "__delattr__"),
    )
)
SETTERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
MUTATORS = frozenset(
    (
        *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove"),
        *("setdefault", "update", "__setitem__", "__delitem__"),
    )
)
# What Python finds modules with.
IMPORT_STATE = {"sys.modules", "sys.meta_path", "sys.path_hooks", "sys.path_importer_cache"}


def test_no_private_name_of_a_library_is_used() -> None:
    found = {
        (source.name, name)
        for source in product()
        if source.name != PARTIAL_IMPORT
        for name in private_names(source)
    }
    assert found == PRIVATE_NAMES | OF_OWN_OBJECTS


def test_nothing_is_assigned_to_a_library() -> None:
    assert {
        (source.name, target)
        for source in product()
        if source.name != PARTIAL_IMPORT
        for target in assigned(source.tree)
    } == ASSIGNED


def test_loaded_modules_and_import_hooks_are_left_alone() -> None:
    assert {
        source.name for source in product() if any(changes_imports(source.tree))
    } == WRITES_MODULES


@every_case(
    "code",
    [
        "import lib\nlib._state",
        "import lib\nlib.part._state",
        "import lib._private",
        "from lib._private import name",
        "from lib import _name as name",
        "def run(given): given.client._pool",
        "class Own:\n    def run(self): self.client._pool.close()",
        "import lib\nclass Own(lib.Base):\n    def run(self): return self._pool",
        # another class of this module, and other modules, have such a name
        "class Own:\n    def __init__(self, other): self._row = other._row",
        "class Own:\n    def run(self): return self._database",
        "getattr(given, '_pool', None)",
        "getattr(given, f'_{name}')",
        "getattr(given, '_' + name)",
        "hasattr(given, '_pool')",
        "from operator import attrgetter\nattrgetter('pool._size')(given)",
        "vars(given)['_pool']",
        "given.__dict__['_pool']",
        "given.__dict__.get('_pool')",
        "import importlib\nimportlib.import_module('lib._private')",
        "__import__('lib._private')",
    ],
)
def test_a_private_name_is_found(code: str) -> None:
    assert list(private_names(Source(name="attempt.py", text=code)))


@every_case(
    "code",
    [
        "class Own:\n    def __init__(self): self._pool = 1\n    def run(self): return self._pool",
        "class Own:\n    def _made(): pass\n    @classmethod\n    def make(cls): cls._made()",
        "from memory.store.engine.database import Repository\n"
        "class Own(Repository):\n    def run(self): return self._database",
        "given._replace(a=1)",
        "getattr(given, 'pool')",
    ],
)
def test_an_own_private_name_is_allowed(code: str) -> None:
    assert list(private_names(Source(name="attempt.py", text=code))) == []


@every_case(
    "code",
    [
        "import lib\nlib.name = 1",
        "import lib\nlib.name += 1",
        "import lib\ndel lib.name",
        "import lib\nlib.Class.method = own",
        "from lib import Class\nClass.method = own",
        "import lib.part as part\npart.table['a'] = 1",
        "import lib\nlib.table.update(a=1)",
        "import lib\nlib.handlers.append(own)",
        "import lib\nsetattr(lib, name, own)",
        "import lib, builtins\nbuiltins.setattr(lib.Class, 'method', own)",
        "import lib\ntype.__setattr__(lib.Class, 'method', own)",
        "import lib\nvars(lib)['name'] = own",
        "import lib\nvars(lib).update(name=own)",
        "import lib\nlib.__dict__['name'] = own",
        "import lib\nalias = lib.Class\nalias.method = own",
        "import importlib\nmodule = importlib.import_module('lib')\nmodule.name = own",
        "import sys\nmodule = sys.modules['lib']\nmodule.name = own",
        "import sys\nsys.modules['lib'].name = own",
        "def run():\n    import lib\n    lib.name = own",
        "import lib\nfor lib.name in own: pass",
        "from unittest import mock\nmock.patch('lib.name', own)",
        "import unittest.mock",
    ],
)
def test_an_assignment_to_a_library_is_found(code: str) -> None:
    assert list(assigned(ast.parse(code)))


@every_case(
    "code",
    [
        "import lib\nmade = lib.Class()\nmade.name = 1",
        "import os\nos.environ['A'] = 'b'",
        "import lib\nlib.pool().append(1)",
        "from memory import store\nstore.name = 1",
    ],
)
def test_an_own_object_may_change(code: str) -> None:
    assert list(assigned(ast.parse(code))) == []


@every_case(
    "code",
    [
        "import sys\nsys.modules['lib'] = own",
        "import sys\ndel sys.modules['lib']",
        "import sys\nsys.modules.pop('lib')",
        "import sys\nsys.modules.__setitem__('lib', own)",
        "import sys\nsys.modules |= {'lib': own}",
        "import sys\nmodules = sys.modules\nmodules['lib'] = own",
        "from sys import modules\nmodules['lib'] = own",
        "import sys as system\nsystem.modules['lib'] = own",
        "import sys\nsys.meta_path.insert(0, own)",
        "import sys\nsys.meta_path = [own]",
        "import sys\nsys.path_hooks.append(own)",
        "import sys\nchange(sys.modules)",
    ],
)
def test_a_change_of_what_is_imported_is_found(code: str) -> None:
    assert list(changes_imports(ast.parse(code)))


@every_case(
    "code",
    [
        "import sys\n'lib' in sys.modules",
        "import sys\n'lib' not in sys.modules",
        "import sys\nsys.modules['lib']",
        "import sys\nsys.modules.get('lib')",
    ],
)
def test_loaded_modules_may_be_looked_up(code: str) -> None:
    assert list(changes_imports(ast.parse(code))) == []


def private_names(source: Source) -> Iterator[str]:
    """Yield each private name that a module uses and no class of ours gives to the object."""
    allowed = _own_attributes(source)
    for node in nodes(source.tree):
        if isinstance(node, ast.Attribute):
            names = [] if id(node) in allowed else [node.attr]
        elif isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
        elif isinstance(node, ast.ImportFrom):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Call | ast.Subscript):
            names = [part for text in _looked_up(node) for part in text.split(".")]
        else:
            names = []
        yield from filter(_is_private, names)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in {*DOCUMENTED, "_"}


def _own_attributes(source: Source) -> set[int]:
    """Return the ids of the attributes of `self`, `cls` or `super()` that the class itself, or a
    class of ours among its bases, defines.
    """
    found = set()
    for owner in (node for node in nodes(source.tree) if isinstance(node, ast.ClassDef)):
        own = _defined(owner) | _inherited(owner, {one.name: one for one in classes(source.tree)})
        found |= {
            id(node)
            for node in ast.walk(owner)
            if isinstance(node, ast.Attribute)
            and ast.unparse(node.value) in ("self", "cls", "super()")
            and node.attr in own
        }
    return found


def _inherited(owner: ast.ClassDef, here: Mapping[str, ast.ClassDef]) -> set[str]:
    """Return the names that the classes of ours among the bases of a class define."""
    found: set[str] = set()
    for base in owner.bases:
        name = ast.unparse(base).split("[")[0].split(".")[-1]
        parent = here.get(name) or _classes_by_name().get(name)
        if parent is not None and parent is not owner:
            found |= _defined(parent) | _inherited(parent, here)
    return found


@cache
def _classes_by_name() -> Mapping[str, ast.ClassDef]:
    """Return the classes of the product, each of which has a name of its own."""
    return {node.name: node for source in product() for node in classes(source.tree)}


@cache
def _defined(owner: ast.ClassDef) -> frozenset[str]:
    """Return the names that a class defines in its body, or sets on `self` and `cls`."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = {node.name for node in owner.body if isinstance(node, functions)}
    fields = {
        node.id
        for statement in owner.body
        if not isinstance(statement, functions)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    attributes = {
        node.attr
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) in ("self", "cls")
    }
    return frozenset(body | fields | attributes)


def _looked_up(node: ast.Call | ast.Subscript) -> Iterator[str]:
    """Yield the texts, or their beginnings, by which a module or an attribute is looked for."""
    if isinstance(node, ast.Subscript):
        arguments = [node.slice] if _is_namespace(node.value) else []
    elif _called(node) in LOOK_UPS or (
        isinstance(node.func, ast.Attribute) and _is_namespace(node.func.value)
    ):
        arguments = node.args
    else:
        arguments = []
    for argument in arguments:
        for part in ast.walk(argument):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                # the beginning of a name that is put together
                yield part.value if part.value != "_" else "_…"


def _is_namespace(node: ast.expr) -> bool:
    """Tell whether this is `vars(x)` or `x.__dict__`."""
    if isinstance(node, ast.Call):
        return _called(node) == "vars"
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


def assigned(tree: ast.Module) -> Iterator[str]:
    """Yield each thing of an imported library that a module sets, deletes or fills."""
    libraries = set(_library_names(tree))
    for node in nodes(tree):
        changed = _changed(node)
        if (
            changed is not None
            and _root(changed) in libraries
            and not ast.unparse(changed).startswith(OF_PROCESS)
        ):
            yield ast.unparse(changed)
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            yield from (name for name in modules if name in ("mock", "unittest.mock"))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield from [ast.unparse(node)] if _is_loaded_module(node.value) else []


def _changed(node: ast.AST) -> ast.expr | None:
    """Return what a node changes, None for nothing: itself as a target, or the object of a call."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return node if isinstance(node.ctx, ast.Store | ast.Del) else None
    if not isinstance(node, ast.Call):
        return None
    if _called(node) in SETTERS and node.args and not isinstance(node.args[0], ast.Constant):
        return node.args[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        holder = node.func.value
        return holder if isinstance(holder, ast.Attribute) or _is_namespace(holder) else None
    return None


def _library_names(tree: ast.Module) -> Iterator[str]:
    """Yield each name of a library or a thing in it: as it was imported, and other names for it."""
    names = set(_imported_names(tree))
    yield from names
    for node in nodes(tree):
        if isinstance(node, ast.Assign) and (
            _is_loaded_module(node.value)
            or (isinstance(node.value, ast.Attribute) and _root(node.value) in names)
        ):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _is_loaded_module(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return _called(node) in ("import_module", "__import__")
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) == "sys.modules"


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
        elif isinstance(node, ast.Call) and _called(node) == "vars" and node.args:
            node = node.args[0]
        else:
            return node.id if isinstance(node, ast.Name) else ""


def changes_imports(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield each use of `sys.modules`, and of what else finds modules, that does not only look one
    up; another name for it is such a use.
    """
    looked_up = {id(use) for node in nodes(tree) for use in _looks_up(node)}
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and _is_import_state(node):
            yield from [] if id(node) in looked_up else [node]
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            yield from (alias for alias in node.names if f"sys.{alias.name}" in IMPORT_STATE)
        elif isinstance(node, ast.Import):
            yield from (alias for alias in node.names if alias.name == "sys" and alias.asname)


def _is_import_state(node: ast.expr) -> bool:
    return ast.unparse(node) in IMPORT_STATE


def _looks_up(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a node only looks something up in: `in x`, `x[y]`, `x.get(y)`."""
    if isinstance(node, ast.Compare) and all(
        isinstance(operator, ast.In | ast.NotIn) for operator in node.ops
    ):
        yield from node.comparators
    elif (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)) or (
        isinstance(node, ast.Attribute) and node.attr == "get"
    ):
        yield node.value
