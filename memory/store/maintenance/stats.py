"""Counts the store's rows for the metrics: cheap counts of open work, and totals of whole
tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import bindparam, func, select

from memory.store.conversations.folds.rows import OPEN
from memory.store.conversations.usage import sum_usage
from memory.store.engine.database import Statement, Tx
from memory.store.rows import Usage
from memory.store.schema.memory_tables import background_task
from memory.store.schema.tables import (
    REVISIONS,
    conversation,
    fold,
    inbox,
    is_one_of,
    outbox,
    stamp,
    turn,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """Open work and the state of the database. Cheap."""

    #: The tables have this program's version; another process may have migrated them.
    schema_at_head: bool
    folds_open: int
    #: New and running rows.
    inbox_depth: int
    #: When the oldest due row was received, unix seconds, 0.0 for none.
    inbox_oldest: float
    #: Rows that are pending, being sent, or of unknown outcome.
    outbox_depth: int
    #: Running work beside conversations, by kind.
    tasks_open: Mapping[str, int] = field(default_factory=dict)
    #: Changes of cached prompt prefixes by reason, since the store was opened.
    prefix_breaks: Mapping[str, int] = field(default_factory=dict)
    #: Transactions given up because another process held the lock, since the store was opened.
    busy: int = 0
    db_bytes: int = 0
    wal_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTotals:
    """Totals of the store; loading them reads whole tables."""

    #: Ended turns by state.
    turns: Mapping[str, int]
    #: Ended folds by method and state.
    folds: Mapping[tuple[str, str], int]
    #: Conversations that people see.
    conversations: int
    #: Sums by model and purpose.
    usage: Sequence[Usage]


_SELECT_SIZE = select(func.pg_database_size(func.current_database()).label("value"))
_SELECT_VERSION = select(stamp.c.version_num)
_EPOCH_START = datetime.fromtimestamp(0, UTC)
_COUNT_TASKS = (
    select(background_task.c.kind, func.count().label("value"))
    .where(is_one_of(background_task.c.state, "running"))
    .group_by(background_task.c.kind)
)
_COUNT_FOLDS = (
    select(fold.c.method, fold.c.state, func.count().label("value"))
    .where(is_one_of(fold.c.state, "folded", "undone", "stale"))
    .group_by(fold.c.method, fold.c.state)
    .order_by(fold.c.method, fold.c.state)
)
_COUNT_TURNS = (
    select(turn.c.state, func.count().label("value"))
    .where(is_one_of(turn.c.state, "done", "cancelled", "failed", "interrupted"))
    .group_by(turn.c.state)
    .order_by(turn.c.state)
)
_COUNT_CONVERSATIONS = (
    select(func.count().label("value"))
    .select_from(conversation)
    .where(conversation.c.listed.is_(True))
)
_COUNT_OPEN_FOLDS = (
    select(func.count().label("value")).select_from(fold).where(is_one_of(fold.c.state, *OPEN))
)
_COUNT_INBOX = (
    select(func.count().label("value"))
    .select_from(inbox)
    .where(is_one_of(inbox.c.state, "new", "running"))
)
_COUNT_OUTBOX = (
    select(func.count().label("value"))
    .select_from(outbox)
    .where(is_one_of(outbox.c.state, "pending", "sending", "unknown"))
)
_SELECT_OLDEST = select(func.min(inbox.c.received).label("value")).where(
    is_one_of(inbox.c.state, "new", "running"), inbox.c.not_before <= bindparam("now")
)


async def load_stats(tx: Tx) -> StoreStats:
    """Count open work, by the partial indexes of open rows; the other fields stay empty."""
    oldest = (await tx.execute(_SELECT_OLDEST, now=tx.now)).first()
    found = (await tx.execute(_SELECT_VERSION)).first()
    return StoreStats(
        schema_at_head=found is not None and found["version_num"] == REVISIONS[-1],
        folds_open=await _first_value(tx, _COUNT_OPEN_FOLDS),
        inbox_depth=await _first_value(tx, _COUNT_INBOX),
        inbox_oldest=float((oldest["value"] if oldest else 0.0) or 0.0),
        outbox_depth=await _first_value(tx, _COUNT_OUTBOX),
        tasks_open={
            row["kind"]: int(row["value"]) for row in (await tx.execute(_COUNT_TASKS)).all()
        },
    )


async def load_totals(tx: Tx) -> StoreTotals:
    """Sum up whole tables."""
    return StoreTotals(
        turns={row["state"]: int(row["value"]) for row in (await tx.execute(_COUNT_TURNS)).all()},
        folds={
            (row["method"], row["state"]): int(row["value"])
            for row in (await tx.execute(_COUNT_FOLDS)).all()
        },
        conversations=await _first_value(tx, _COUNT_CONVERSATIONS),
        usage=await sum_usage(tx, _EPOCH_START),
    )


async def size_on_server(tx: Tx) -> int:
    """Return the size of a PostgreSQL database in bytes."""
    return await _first_value(tx, _SELECT_SIZE)


def file_size(path: Path) -> int:
    """Return a file's size in bytes, 0 for a missing file."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


async def _first_value(tx: Tx, statement: Statement) -> int:
    row = (await tx.execute(statement)).first()
    return int(row["value"]) if row else 0
