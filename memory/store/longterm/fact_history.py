"""What became of the facts in search results: which one replaced another, and since when a line of
memory holds. Only stored links and dates count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Select, Text, bindparam, case, select

from memory.store.engine.database import Row, Tx
from memory.store.rows import from_unix
from memory.store.schema.memory_tables import memory
from memory.store.schema.tables import fold, is_one_of, literal_text, message

BATCH = 20  # ids of one query: a search has no more results
MAX_REPLACEMENTS = 10  # of one fact after the other; of a longer chain nothing is said
_NAMES = tuple(f"id{number}" for number in range(BATCH))
_IDS: list[BindParameter[str]] = [bindparam(name, type_=Text()) for name in _NAMES]
# When a person said it, else when it got its wording, else when it was noted.
_BEGAN = case(
    (memory.c.said > 0, memory.c.said),
    (memory.c.since > 0, memory.c.since),
    else_=memory.c.created,
).label("began")
_IS_REPLACED = (memory.c.space == bindparam("space")) & is_one_of(memory.c.state, "superseded")
_FACT = (memory.c.text, memory.c.quote, memory.c.superseded_by)
_SELECT_ANY_REPLACED = select(memory.c.id).where(_IS_REPLACED).limit(1)
_SELECT_OF_MESSAGES = select(memory.c.message_id, literal_text("").label("fold"), *_FACT).where(
    _IS_REPLACED, memory.c.message_id.in_(_IDS)
)
_SELECT_OF_FOLDS = (
    select(memory.c.message_id, fold.c.id.label("fold"), *_FACT)
    .select_from(fold)
    .join(
        message,
        (message.c.conversation == fold.c.conversation)
        & message.c.seq.between(fold.c.from_seq, fold.c.to_seq)
        & (message.c.origin == literal_text("person")),
    )
    .join(memory, memory.c.message_id == message.c.id)
    .where(_IS_REPLACED, fold.c.id.in_(_IDS))
)
_SELECT_HEIRS = select(
    memory.c.id, memory.c.text, memory.c.state, memory.c.superseded_by, _BEGAN
).where(memory.c.space == bindparam("space"), memory.c.id.in_(_IDS))
_SELECT_LINES = select(memory.c.id, memory.c.norm, _BEGAN).where(
    memory.c.space == bindparam("space"),
    is_one_of(memory.c.state, "live"),
    memory.c.norm.in_(_IDS),
)
_SELECT_FORMER = (
    select(memory.c.superseded_by, memory.c.text)
    .where(_IS_REPLACED, memory.c.superseded_by.in_(_IDS))
    .order_by(memory.c.valid_until)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedFact:
    """A fact that a newer one replaced."""

    #: The message that it rests on, and the fold that covers this message, if it was asked for.
    message_id: str
    fold: str
    text: str
    #: The person's words.
    quote: str
    #: The fact in force now, and since when.
    newer: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LineHistory:
    """Since when a line of MEMORY.md holds."""

    norm: str
    since: datetime
    #: The line that it replaced, "" for none.
    former: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactHistories:
    """What became of the facts of some search results."""

    replaced: tuple[ReplacedFact, ...] = ()
    lines: tuple[LineHistory, ...] = ()


async def load_fact_histories(
    tx: Tx,
    spaces: Sequence[str],
    messages: Sequence[str],
    folds: Sequence[str],
    norms: Sequence[str],
) -> FactHistories:
    """Load what became of the facts that rest on these messages, on those in these folds, and that
    stand as these lines.
    """
    replaced: list[ReplacedFact] = []
    lines: list[LineHistory] = []
    for space in spaces:
        lines += await _load_lines(tx, space, norms)
        if (await tx.execute(_SELECT_ANY_REPLACED, space=space)).first() is None:
            continue
        rows: list[Row] = []
        rows += await _load_by_ids(tx, _SELECT_OF_MESSAGES, space, messages)
        rows += await _load_by_ids(tx, _SELECT_OF_FOLDS, space, folds)
        replaced += await _with_newest(tx, space, rows)
    return FactHistories(replaced=tuple(replaced), lines=tuple(lines))


async def _load_lines(tx: Tx, space: str, norms: Sequence[str]) -> list[LineHistory]:
    rows = await _load_by_ids(tx, _SELECT_LINES, space, norms)
    replaced = await _load_by_ids(tx, _SELECT_FORMER, space, [row["id"] for row in rows])
    former = {row["superseded_by"]: row["text"] for row in replaced}  # the newest one is the last
    return [
        LineHistory(
            norm=row["norm"], since=from_unix(row["began"]), former=former.get(row["id"], "")
        )
        for row in rows
    ]


async def _with_newest(tx: Tx, space: str, rows: Sequence[Row]) -> list[ReplacedFact]:
    """Follow each fact to the newest one that replaced it; without it where that is not in force,
    because a person removed it or it was forgotten.
    """
    newest = await _load_newest(tx, space, [row["superseded_by"] for row in rows])
    return [
        _to_replaced(row, newest[row["superseded_by"]])
        for row in rows
        if row["superseded_by"] in newest
    ]


async def _load_newest(tx: Tx, space: str, successors: Sequence[str]) -> dict[str, Row]:
    """Load the live row at the end of each chain of replacements, by the chain's first id."""
    newest: dict[str, Row] = {}
    pending = {id: id for id in successors}  # the id to look at next, by the chain's first
    for _ in range(MAX_REPLACEMENTS):
        if not pending:
            break
        found = await _load_by_ids(tx, _SELECT_HEIRS, space, list(pending.values()))
        heirs = {row["id"]: row for row in found}
        following: dict[str, str] = {}
        for first, id in pending.items():
            heir = heirs.get(id)
            if heir and heir["state"] == "live":
                newest[first] = heir
            elif heir and heir["state"] == "superseded":
                following[first] = heir["superseded_by"]
        pending = following
    return newest


def _to_replaced(row: Row, heir: Row) -> ReplacedFact:
    return ReplacedFact(
        message_id=row["message_id"],
        fold=row["fold"],
        text=row["text"],
        quote=row["quote"],
        newer=heir["text"],
        since=from_unix(heir["began"]),
    )


async def _load_by_ids(tx: Tx, statement: Select[Any], space: str, ids: Sequence[str]) -> list[Row]:
    """Run a query of ids of a space for all of them, a batch at a time."""
    distinct = list(dict.fromkeys(ids))
    rows: list[Row] = []
    for start in range(0, len(distinct), BATCH):
        batch = dict(zip(_NAMES, distinct[start : start + BATCH], strict=False))
        values = dict.fromkeys(_NAMES, "") | batch
        rows += (await tx.execute(statement, space=space, **values)).all()
    return rows
