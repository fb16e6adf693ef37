"""No setting is a promise without a keeper: each key of config.json is read outside the room that
parses it.
"""

import ast
from collections.abc import Iterator

from bot.config.keys import KEYS, LIST_ITEM
from tests.conventions.sources import Source, nodes, product

# Keys that limit nothing in this version, and why.
UNREAD: dict[str, str] = {}


# whose sections read themselves: whether a channel is on follows from its keys
CHANNELS = "bot/config/schema.py"


def names_in(source: Source) -> Iterator[tuple[str, bool]]:
    """Every name that a module's code uses, and whether it is read from a value, by `value.name` or
    by its name.
    """
    for node in nodes(source.tree):
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            yield node.attr, not own or source.name == CHANNELS
        elif isinstance(node, ast.Name):
            yield node.id, False
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.isidentifier()
        ):
            yield node.value, True
        elif isinstance(node, ast.arg | ast.alias | ast.keyword):
            yield (node.name if isinstance(node, ast.alias) else node.arg) or "", False


def nobodys() -> set[str]:
    """Keys that no module reads which knows of their section."""
    modules = []
    for source in product():
        if not source.name.startswith("bot/config/") or source.name == CHANNELS:
            names = set(names_in(source))
            modules.append(
                ({name.lower() for name, _ in names}, {name for name, read in names if read})
            )
    return {
        key.name
        for key in KEYS.values()
        # those are read with the whole they are in
        if key.form != "section" and key.path[-1] != LIST_ITEM
        if not any(
            _section(key.path) in {"", *known} and key.path[-1] in read for known, read in modules
        )
    }


def _section(path: tuple[str, ...]) -> str:
    """What a module names that reads it; "" for a channel's, which are read by that channel's own
    code.
    """
    if path[0] == "channels":
        return ""
    return next((step for step in reversed(path[:-1]) if step != LIST_ITEM), "")


def test_every_key_is_read_by_something_or_says_that_it_is_not() -> None:
    assert nobodys() == UNREAD.keys()
