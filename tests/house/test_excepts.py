"""`except Exception` stands only where work is isolated: worker, turn, tool, gateway, live view, command line."""

import ast

from tests.house.sources import product

MAY_CATCH_ALL = (
    "bot/agent/approvals.py",
    "bot/agent/tool_calls.py",
    "bot/agent/turn.py",
    "bot/cli/main.py",
    "bot/dispatch.py",
    "bot/gateway/gateway.py",
    "channels/web/channel.py",
)
BROAD = {"Exception", "BaseException"}


def test_everything_is_caught_in_named_places_only() -> None:
    broad = [
        f"{source.name}:{node.lineno}"
        for source in product()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler) and _names(node.type) & BROAD and not _passes_on(node)
        if not source.name.startswith(MAY_CATCH_ALL)
    ]
    assert not broad


def test_nothing_is_caught_without_a_name() -> None:
    handlers = [(s.name, n) for s in product() for n in ast.walk(s.tree) if isinstance(n, ast.ExceptHandler)]
    assert not [f"{name}:{node.lineno}" for name, node in handlers if node.type is None]


def test_an_error_raised_for_another_names_it() -> None:
    silent = [
        f"{source.name}:{inner.lineno}"
        for source in product()
        for handler in ast.walk(source.tree)
        if isinstance(handler, ast.ExceptHandler)
        for inner in ast.walk(handler)
        if isinstance(inner, ast.Raise) and isinstance(inner.exc, ast.Call) and inner.cause is None
    ]
    assert not silent


def _passes_on(handler: ast.ExceptHandler) -> bool:
    """Cleans up and raises what it caught: nothing is swallowed."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _names(node: ast.expr | None) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node else set()
