"""The import graph that the structure checks use finds cycles of every kind."""

import ast

from tests.conventions.sources import cycles, targets, with_parents

KNOWN = {"bot", "bot.a", "bot.b", "bot.c"}


def test_deferred_imports_and_names_for_importlib_are_imports() -> None:
    code = """
import bot.a
def later():
    from bot import b
    return import_module("bot.c:Name"), "bot.d"
"""
    assert set(targets(ast.parse(code), KNOWN)) == {"bot.a", "bot.b", "bot.c"}


def test_a_cycle_through_a_parent_package_is_found() -> None:
    graph = {
        "bot": frozenset({"bot.a"}),
        "bot.a": frozenset({"bot.b"}),
        "bot.b": frozenset[str](),
        "memory": frozenset[str](),
    }
    assert cycles(with_parents(graph)) == [frozenset({"bot", "bot.a"})]
    assert cycles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
