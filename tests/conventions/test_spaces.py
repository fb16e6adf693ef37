"""Every query of a table that holds people's words filters by space, conversation or id."""

import ast
import importlib
from collections.abc import Iterator

from sqlalchemy import (
    BindParameter,
    BooleanClauseList,
    ColumnElement,
    CompoundSelect,
    Grouping,
    Select,
)
from sqlalchemy.sql.elements import BinaryExpression
from sqlalchemy.sql.operators import eq, in_op, or_
from sqlalchemy.sql.visitors import iterate

from memory.store.schema.create import HEAD
from memory.store.schema.tables import metadata
from tests.cases import every_case
from tests.conventions.sources import imported, nodes, product

# Tables that hold what people said, or what was derived from it.
PERSONAL = (
    *("message", "memory", "memory_change", "fold", "extraction", "dream", "forgetting"),
    *("file_label", "file_version"),
)
BY = {"space", "conversation"}
# Queries without such a filter, and why each exists. None of them returns text to a prompt or a
# person.
WHOLE = {
    "memory.store.conversations.folds.steps._SELECT_OPEN": (
        "recovery: every fold that an earlier process left unfinished"
    ),
    "memory.store.conversations.folds.steps._SELECT_OURS": (
        "recovery: the same, after this process took them over"
    ),
    "memory.store.conversations.folds.steps._SELECT_OUR_AWAITING": (
        "recovery: those that still await texts of a model"
    ),
    "memory.store.longterm.forgetting._SELECT_OPEN": (
        "recovery: confirmed requests that are unfinished"
    ),
    "memory.store.longterm.dreams._SELECT_OPEN": (
        "recovery: nightly runs that an earlier process left unfinished"
    ),
    "memory.store.longterm.erasure._SELECT_NAMING_BLOB": (
        "whether a message refers to a blob; ids only"
    ),
    "memory.store.automation.file_versions._SELECT_PENDING": (
        "recovery: patches that an earlier process left unfinished"
    ),
    "memory.store.automation.file_versions._SELECT_IDS": (
        "whether another version has the same content; ids only"
    ),
    "memory.store.conversations.folds.day_logs._SELECT_ALL_OPEN_LOGS": (
        "folds that go on from their rows, whoever they belong to"
    ),
    "memory.store.conversations.folds.ledger": "the check of the whole ledger; returns ids only",
    "memory.store.maintenance.stats": "counts for the metrics, no rows",
    "memory.store.restore._COUNT_MESSAGES": "number of rows in a backup, no rows",
    "memory.store.maintenance.replaced_rights._COUNT_FORGOTTEN": (
        "number of rows that a backup restores, no rows"
    ),
    "memory.store.longterm.extractions._SELECT_SPACES": "queue worker: spaces that have work",
    "memory.store.longterm.extractions._COUNT_BY_STATE": "counts for the metrics, no rows",
    "memory.store.longterm.outcomes._SELECT_FOLDS": "how the newest summaries were made; no texts",
    "memory.store.longterm.outcomes._SELECT_EXTRACTIONS": (
        "how the newest looks for facts ended; no texts"
    ),
}
STORE = "memory.store."


def modules() -> list[str]:
    names = [source.name.removesuffix(".py").replace("/", ".") for source in product()]
    return [name for name in names if name.startswith(STORE) and ".migrations." not in name]


def statements(module: str) -> Iterator[tuple[str, Select[tuple[object, ...]]]]:
    """Every query that a module runs, by its full name; the parts of a union separately."""
    run = _run(module)
    for name, value in vars(importlib.import_module(module)).items():
        if name not in run:
            continue
        for one in value if isinstance(value, tuple | list) else (value,):
            for part in one.selects if isinstance(one, CompoundSelect) else (one,):
                if isinstance(part, Select):
                    yield f"{module}.{name}", part


def _run(module: str) -> set[str]:
    """The names of a module that are more than the beginning of other queries
    (`_FOLD.where(…)`).
    """
    [tree] = [
        source.tree for source in product() if source.name == f"{module.replace('.', '/')}.py"
    ]
    beginnings = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Attribute)}
    loaded = [
        node
        for node in nodes(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    ]
    return {node.id for node in loaded if id(node) not in beginnings}


def bounded(condition: ColumnElement[bool] | None) -> bool:
    """Whether a condition holds only for rows of one space, one conversation or one id that the
    caller names.
    """
    if isinstance(condition, Grouping):
        return bounded(condition.element)
    if isinstance(condition, BooleanClauseList):
        every = condition.operator is or_
        return (all if every else any)(bounded(part) for part in condition.clauses)
    if not isinstance(condition, BinaryExpression) or condition.operator not in (eq, in_op):
        return False
    column, value = condition.left, condition.right
    names = {getattr(one, "name", "") for one in iterate(column)}  # within `home(…)` too
    named = not names.isdisjoint(BY) or _is_own_id(column)
    return named and (condition.operator is in_op or isinstance(value, BindParameter))


def _is_own_id(column: ColumnElement[object]) -> bool:
    return bool(getattr(column, "primary_key", False))


def excepted(name: str) -> bool:
    return name in WHOLE or name.rsplit(".", 1)[0] in WHOLE


def open_to_all(module: str) -> list[str]:
    """The queries of a module that read personal tables and name neither space, conversation nor
    id.
    """
    return [
        name
        for name, query in statements(module)
        if _personal(query) and not bounded(query.whereclause)
    ]


def _personal(query: Select[tuple[object, ...]]) -> bool:
    """Whether it reads a personal table, under another name or in a join too."""
    named = {
        getattr(element, "name", "")
        for source in query.get_final_froms()
        for element in iterate(source)
    }
    return not named.isdisjoint(PERSONAL)


@every_case("module", modules())
def test_a_query_of_peoples_words_names_whose(module: str) -> None:
    assert not [name for name in open_to_all(module) if not excepted(name)]


def test_every_exception_is_still_needed() -> None:
    found = [name for module in modules() for name in open_to_all(module)]
    assert not [name for name in WHOLE if not any(one.startswith(name) for one in found)]


def test_the_tables_named_here_are_tables_of_the_record() -> None:
    assert HEAD
    assert set(PERSONAL) <= set(metadata.tables)


def test_queries_are_made_where_this_test_sees_them() -> None:
    """A module makes its queries once, as it is loaded: one that a unit of work makes would not be
    looked at here.
    """
    hidden = [
        f"{source.name}:{call.lineno}"
        for source in product()
        if "sqlalchemy" in {name.split(".")[0] for _, name in imported(source.tree)}
        and "migrations" not in source.name
        for function in nodes(source.tree)
        if isinstance(function, ast.AsyncFunctionDef)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("select", "exists")
    ]
    assert not hidden
