"""Every regular expression of the product, with what it is used for, and texts that are hard for
one.
"""

import ast
import importlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

import regex  # type: ignore[import-untyped]

from memory.text.patterns import LazyPattern
from tests.conventions.sources import Source, nodes, product

parser: Any = importlib.import_module("re._parser")
KINDS = (re.Pattern, type(regex.compile("")))
CALLS = frozenset(
    {"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"}
)
USES: dict[str, Callable[[Any, str], object]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "findall": lambda pattern, text: pattern.findall(text),
}
# of a pattern's own texts, taken evenly from all of them
MOST_OWN = 40 if "MNEMA_NIGHT" in os.environ else 8
ALL = frozenset({"findall", "fullmatch"})  # what may be done with a pattern that is handed on
UNITS = (
    *(
        "x",
        "A",
        "0",
        "a0",
        "Aa",
        "中",
        "一",
        "点",
        "零",
        "《",
        "「",
        "“",
        '"',
        "'",
        "`",
        "*",
        "**",
        "_",
        "~",
        "<",
        ">",
    ),
    *(
        "[",
        "(",
        "{",
        "\n",
        " ",
        "\t",
        "\r",
        "\n\n",
        "\n ",
        "\n\t",
        "-",
        "- ",
        "- a\n",
        "# ",
        "#",
        "1. ",
        "> ",
        "/",
        "a/",
    ),
    *(
        ".",
        ". ",
        "a.",
        "a-",
        "a@",
        "@",
        "://",
        ":",
        "=",
        "a=;",
        ";-",
        "(-",
        "!",
        "?",
        "? ",
        "。",
        "，",
        "\\",
        "2024-",
        "ab ",
    ),
)


@dataclass(frozen=True)
class Used:
    """A pattern, where it stands, and how it is called."""

    where: str
    pattern: Any
    uses: frozenset[str]


@dataclass
class Found:
    """All patterns that can be had, and calls whose pattern is only known when they run, as
    "file:function".
    """

    patterns: list[Used] = field(default_factory=list)
    at_runtime: set[str] = field(default_factory=set)


@cache
def every_pattern() -> Found:
    """Those of modules and classes, by their objects; those in calls, by their source."""
    found, seen = Found(), set[tuple[object, frozenset[str]]]()
    modules = {
        source: importlib.import_module(_module(source))
        for source in product()
        if _is_importable(source)
    }
    for source, module in modules.items():
        own = [(name, value) for name, value in vars(module).items() if not name.startswith("__")]
        for name, value in own:
            for pattern in _held(value, set()):
                used = Used(f"{source.name}:{name}", pattern, _uses_of(name, source))
                if (pattern, used.uses) not in seen:
                    seen.add((pattern, used.uses))
                    found.patterns.append(used)
        _add_calls(found, source, vars(module))
    return found


def hard_texts(pattern: Any) -> Iterator[str]:
    """Units to be repeated: what is common, the pattern's own words, and beginnings of what it
    looks for.
    """
    yield from UNITS
    tree = (
        parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        if isinstance(pattern, re.Pattern)
        else ()
    )
    own: set[str] = set()
    for sample in _samples(tree):
        own.update(_beginnings(sample))
    own.update(_words(tree))
    texts = sorted(text for text in own if 0 < len(text) <= 200)
    yield from texts[:: max(1, -(-len(texts) // MOST_OWN))]


def _module(source: Source) -> str:
    return source.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _is_importable(source: Source) -> bool:
    """Migrations and __main__ run when they are imported; their patterns are found in their
    source.
    """
    return "/migrations/" not in source.name and not source.name.endswith("__main__.py")


def _held(value: object, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, LazyPattern):
        value = value.compiled()
    if isinstance(value, KINDS):
        yield value
        return
    if id(value) in seen or len(seen) > 20_000:
        return
    seen.add(id(value))
    if isinstance(value, dict):
        yield from (pattern for each in list(value.values()) for pattern in _held(each, seen))
    elif isinstance(value, list | tuple | set | frozenset):
        yield from (pattern for each in list(value) for pattern in _held(each, seen))
    elif isinstance(value, type) and value.__module__.split(".")[0] in (
        "bot",
        "channels",
        "memory",
    ):
        yield from (pattern for each in list(vars(value).values()) for pattern in _held(each, seen))
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (
            pattern
            for each in fields(value)
            for pattern in _held(getattr(value, each.name, None), seen)
        )


def _uses_of(name: str, source: Source) -> frozenset[str]:
    """The methods by which a module's constant is called; all of them where it is handed on."""
    asked = _mentions((source,) if name.startswith("_") else product())
    methods, is_handed_on = asked.get(name, (frozenset(), True))
    return ALL if is_handed_on or not methods <= CALLS | {"pattern", "flags"} else _kinds(methods)


@cache
def _mentions(sources: tuple[Source, ...]) -> dict[str, tuple[frozenset[str], bool]]:
    """For each name: the attributes that are asked of it in these files, and whether it is also
    used in another way.
    """
    methods: dict[str, set[str]] = {}
    called: Counter[str] = Counter()
    loads: Counter[str] = Counter()
    for node in (node for source in sources for node in nodes(source.tree)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            methods.setdefault(node.value.id, set()).add(node.attr)
            called[node.value.id] += 1
        if isinstance(node, ast.Attribute):
            loads[node.attr] += 1
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loads[node.id] += 1
    return {name: (frozenset(held), loads[name] != called[name]) for name, held in methods.items()}


def _kinds(methods: Iterable[str]) -> frozenset[str]:
    return frozenset(
        method if method in USES else "findall"
        for method in methods
        if method not in ("pattern", "flags")
    )


def _add_calls(found: Found, source: Source, known: dict[str, Any]) -> None:
    for function in nodes(source.tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for call in (
            node for node in ast.walk(function) if isinstance(node, ast.Call) and node.args
        ):
            if not _is_of_re(call.func):
                continue
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            try:
                given: Any = eval(
                    compile(ast.Expression(call.args[0]), "pattern", "eval"), dict(known)
                )
            except NameError:
                found.at_runtime.add(f"{source.name}:{function.name}")
                continue
            flags = next(
                (_flags(key.value, known) for key in call.keywords if key.arg == "flags"), 0
            )
            library = regex if ast.unparse(call.func).startswith("regex.") else re
            given = given.compiled() if isinstance(given, LazyPattern) else given
            pattern = given if isinstance(given, KINDS) else library.compile(given, flags)
            uses = ALL if method == "compile" else _kinds([method])
            found.patterns.append(Used(f"{source.name}:{call.lineno}", pattern, uses))


def _flags(node: ast.expr, known: dict[str, Any]) -> int:
    return int(eval(compile(ast.Expression(node), "flags", "eval"), dict(known)))


def _is_of_re(func: ast.expr) -> bool:
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id in ("re", "regex")
        and func.attr in CALLS
    )


def _words(tree: Any) -> Iterator[str]:
    """Its runs of literal characters, as they are and with a space."""
    run = ""
    for op, value in tree:
        if op is parser.LITERAL:
            run += chr(value)
            continue
        if run:
            yield from (run, f"{run} ")
            run = ""
        for inner in _inside(op, value):
            yield from _words(inner)
    if run:
        yield from (run, f"{run} ")


def _inside(op: Any, value: Any) -> list[Any]:
    if op is parser.SUBPATTERN:
        return [value[3]]
    if op in (parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT):
        return [value[2]]
    if op is parser.BRANCH:
        return list(value[1])
    if op in (parser.ASSERT, parser.ASSERT_NOT):
        return [value[1]]
    return [value] if op is parser.ATOMIC_GROUP else []


def _samples(tree: Any) -> list[list[str]]:
    """Texts that the pattern may be taken with, each as its pieces; one for each alternative, few
    of many.
    """
    samples: list[list[str]] = [[]]
    for op, value in tree:
        grown = [[*sample, *piece] for sample in samples for piece in _pieces(op, value)]
        samples = grown[:24] if grown else samples
    return samples


def _pieces(op: Any, value: Any) -> list[list[str]]:
    if op is parser.LITERAL:
        return [[chr(value)]]
    if op is parser.ANY or op is parser.NOT_LITERAL:
        return [["x"]]
    if op is parser.IN:
        return [[_member(value)]]
    if op in (parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT):
        low, high, inner = value
        times = max(low, min(high, 1))
        return [sample * times for sample in _samples(inner)]
    if op is parser.BRANCH:
        return [sample for inner in value[1] for sample in _samples(inner)[:4]]
    if op is parser.ASSERT and value[0] > 0:
        return _samples(value[1])
    if op in (parser.SUBPATTERN, parser.ATOMIC_GROUP):
        return _samples(value[3] if op is parser.SUBPATTERN else value)
    return [[]]


def _member(members: Any) -> str:
    for sign in "xA0 中-_./:@\"'":
        if _is_member(sign, members):
            return sign
    return next((chr(value) for op, value in members if op is parser.LITERAL), "x")


def _is_member(sign: str, members: Any) -> bool:
    negated = bool(members) and members[0][0] is parser.NEGATE
    checks = {
        parser.CATEGORY_DIGIT: str.isdigit,
        parser.CATEGORY_SPACE: str.isspace,
        parser.CATEGORY_WORD: lambda one: one.isalnum() or one == "_",
        parser.CATEGORY_NOT_DIGIT: lambda one: not one.isdigit(),
        parser.CATEGORY_NOT_SPACE: lambda one: not one.isspace(),
        parser.CATEGORY_NOT_WORD: lambda one: not (one.isalnum() or one == "_"),
    }
    inside = any(
        (op is parser.LITERAL and value == ord(sign))
        or (op is parser.RANGE and value[0] <= ord(sign) <= value[1])
        or (op is parser.CATEGORY and checks[value](sign))
        for op, value in members
    )
    return inside != negated


def _beginnings(sample: list[str]) -> Iterator[str]:
    """The whole of it and its beginnings, from the second piece on; of a long one a few."""
    step = max(1, len(sample) // 8)
    for end in range(1, len(sample) + 1, step):
        yield "".join(sample[:end])
    yield "".join(sample)
