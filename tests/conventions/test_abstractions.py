"""Class names and Protocols: one name for one thing, and no Protocol that only one class
implements.
"""

import ast
from collections import Counter, defaultdict
from functools import cache

from tests.conventions.sources import classes, product

# Protocols with one implementation: remove names, never add one.
SINGLE = {
    "Backend",
}


def test_a_class_name_stands_for_one_thing() -> None:
    names = Counter(node.name for source in product() for node in classes(source.tree))
    assert [name for name, count in names.items() if count > 1] == []


def test_a_protocol_has_two_implementations() -> None:
    protocols = {node.name: _members(node.name) for node in _all() if _is_protocol(node)}
    classes_members = [_members(node.name) for node in _all() if not _is_protocol(node)]
    single = {
        name
        for name, members in protocols.items()
        if members and sum(members <= others for others in classes_members) < 2
    }
    assert sorted(single - SINGLE) == []


@cache
def _all() -> tuple[ast.ClassDef, ...]:
    return tuple(node for source in product() for node in classes(source.tree))


@cache
def _by_name() -> dict[str, list[ast.ClassDef]]:
    named = defaultdict(list)
    for node in _all():
        named[node.name].append(node)
    return named


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(_base_name(base) == "Protocol" for base in node.bases)


def _base_name(base: ast.expr) -> str:
    return ast.unparse(base).split("[")[0].split(".")[-1]


def _members(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """Methods and attributes of a class and its bases.

    Dunder methods are no sign: every function has `__call__`.
    """
    found: set[str] = set()
    for node in _by_name().get(name, ()) if name not in seen else ():
        for part in ast.walk(node):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(part.name)
            elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                found |= {part.attr} if ast.unparse(part.value) == "self" else set()
        for part in node.body:
            targets = (
                [part.target] if isinstance(part, ast.AnnAssign) else getattr(part, "targets", [])
            )
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
        for base in node.bases:
            found |= _members(_base_name(base), seen | {name})
    return {member for member in found if not member.startswith("__")}
