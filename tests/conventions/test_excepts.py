"""Where every exception may be caught: at the edge of isolated work, and nowhere as a tuple of all
builtin errors.
"""

import ast
import tomllib

from tests.conventions.sources import ROOT, nodes, product

BROAD = {"Exception", "BaseException"}
BUILTIN = {
    "ArithmeticError",
    "AttributeError",
    "LookupError",
    "OSError",
    "RuntimeError",
    "TypeError",
    "ValueError",
}
MAX_BUILTIN = 4  # in one tuple; more of them are `except Exception` in disguise
# Such tuples that are left: remove lines, never add one.
DISGUISED = {"bot/gateway/attachment_worker.py"}


def test_every_exception_is_caught_only_where_work_is_isolated() -> None:
    """The list is ruff's; it names no module that does not need it."""
    ignores = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"][
        "per-file-ignores"
    ]
    broad = {
        source.name
        for source in product()
        for node in nodes(source.tree)
        if isinstance(node, ast.ExceptHandler)
        and _names(node.type) & BROAD
        and not _re_raises(node)
    }
    assert broad == {name for name, rules in ignores.items() if "BLE001" in rules}


def test_a_caught_exception_of_any_type_is_logged_with_its_traceback() -> None:
    silent = [
        f"{source.name}:{node.lineno}"
        for source in product()
        for node in nodes(source.tree)
        if isinstance(node, ast.ExceptHandler)
        and _names(node.type) & BROAD
        and not _re_raises(node)
        if not _records(node)
    ]
    assert not silent


def test_no_exception_of_any_type_is_suppressed() -> None:
    """`suppress(Exception)` catches it as well, and logs nothing."""
    silent = [
        f"{source.name}:{node.lineno}"
        for source in product()
        for node in nodes(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "suppress"
        if any(_names(argument) & BROAD for argument in node.args)
    ]
    assert not silent


def test_no_tuple_lists_all_builtin_errors() -> None:
    tuples = [
        (s.name, node) for s in product() for node in nodes(s.tree) if isinstance(node, ast.Tuple)
    ]
    disguised = {
        name
        for name, node in tuples
        if len({ast.unparse(item) for item in node.elts} & BUILTIN) > MAX_BUILTIN
    }
    assert sorted(disguised - DISGUISED) == []


def test_no_handler_is_bare() -> None:
    handlers = [
        (s.name, n) for s in product() for n in nodes(s.tree) if isinstance(n, ast.ExceptHandler)
    ]
    assert not [f"{name}:{node.lineno}" for name, node in handlers if node.type is None]


def test_an_error_raised_for_another_names_it() -> None:
    silent = [
        f"{source.name}:{inner.lineno}"
        for source in product()
        for handler in nodes(source.tree)
        if isinstance(handler, ast.ExceptHandler)
        for inner in ast.walk(handler)
        if isinstance(inner, ast.Raise) and isinstance(inner.exc, ast.Call) and inner.cause is None
    ]
    assert not silent


def _re_raises(handler: ast.ExceptHandler) -> bool:
    """Cleans up and raises what it caught: nothing is lost."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _records(handler: ast.ExceptHandler) -> bool:
    """Logs or prints a traceback, or passes the exception to a function that does."""
    calls = [node for part in handler.body for node in ast.walk(part) if isinstance(node, ast.Call)]
    passed = {ast.unparse(arg) for call in calls for arg in call.args}
    return (
        any(keyword.arg == "exc_info" for call in calls for keyword in call.keywords)
        or any(ast.unparse(call.func).endswith(".exception") for call in calls)
        or (handler.name is not None and handler.name in passed)
    )


def _names(node: ast.expr | None) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node else set()
