"""How much there is in the store: what the metrics tell, what is under way apart from what is counted in all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import bindparam, func, select

from memory.store.conversations.folds import OPEN
from memory.store.conversations.usage import sum_usage
from memory.store.engine.database import Statement, Tx
from memory.store.rows import Usage
from memory.store.schema.columns import is_one_of
from memory.store.schema.tables import REVISIONS, conversation, fold, inbox, outbox, stamp, turn

# How much there is in a record, as values.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """What is under way, and what the open database tells of itself: cheap, for every look."""

    #: Whether the tables are still those of this program, which another process may have brought further.
    schema_at_head: bool
    folds_open: int
    #: Rows new or running.
    inbox_depth: int
    #: When the oldest of those that are due came, unix seconds, 0.0 for none.
    inbox_oldest: float
    #: Rows pending, sending or of unknown fate.
    outbox_depth: int
    #: By reason.
    prefix_breaks: Mapping[str, int] = field(default_factory=dict)
    #: How often another process held the database for too long; both since this opening.
    busy: int = 0
    #: On the disk.
    db_bytes: int = 0
    #: On the disk.
    wal_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTotals:
    """What the store counts in all; reads whole tables."""

    #: Ended ones, by state.
    turns: Mapping[str, int]
    #: By method and state.
    folds: Mapping[tuple[str, str], int]
    #: Those that people see.
    conversations: int
    #: Sums per model and purpose.
    usage: Sequence[Usage]


_SELECT_SIZE = select(func.pg_database_size(func.current_database()).label("held"))
_SELECT_VERSION = select(stamp.c.version_num)
_EPOCH_START = datetime.fromtimestamp(0, UTC)
_COUNT_FOLDS = (
    select(fold.c.method, fold.c.state, func.count().label("held"))
    .where(is_one_of(fold.c.state, "folded", "undone", "stale"))
    .group_by(fold.c.method, fold.c.state)
    .order_by(fold.c.method, fold.c.state)
)
_COUNT_TURNS = (
    select(turn.c.state, func.count().label("held"))
    .where(is_one_of(turn.c.state, "done", "cancelled", "failed", "interrupted"))
    .group_by(turn.c.state)
    .order_by(turn.c.state)
)
_COUNT_CONVERSATIONS = (
    select(func.count().label("held")).select_from(conversation).where(conversation.c.listed.is_(True))
)
_COUNT_OPEN_FOLDS = select(func.count().label("held")).select_from(fold).where(is_one_of(fold.c.state, *OPEN))
_COUNT_INBOX = select(func.count().label("held")).select_from(inbox).where(is_one_of(inbox.c.state, "new", "running"))
_COUNT_OUTBOX = (
    select(func.count().label("held"))
    .select_from(outbox)
    .where(is_one_of(outbox.c.state, "pending", "sending", "unknown"))
)
_SELECT_OLDEST = select(func.min(inbox.c.received).label("held")).where(
    is_one_of(inbox.c.state, "new", "running"), inbox.c.not_before <= bindparam("now")
)


async def load_stats(tx: Tx) -> StoreStats:
    """What is under way; see Store.figures. All of it is found by the indexes of open rows."""
    oldest = await tx.one(_SELECT_OLDEST, now=tx.now)
    found = await tx.one(_SELECT_VERSION)
    return StoreStats(
        schema_at_head=found is not None and found["version_num"] == REVISIONS[-1],
        folds_open=await _first_value(tx, _COUNT_OPEN_FOLDS),
        inbox_depth=await _first_value(tx, _COUNT_INBOX),
        inbox_oldest=float((oldest["held"] if oldest else 0.0) or 0.0),
        outbox_depth=await _first_value(tx, _COUNT_OUTBOX),
    )


async def load_totals(tx: Tx) -> StoreTotals:
    """See Store.totals."""
    return StoreTotals(
        turns={row["state"]: int(row["held"]) for row in await tx.all(_COUNT_TURNS)},
        folds={(row["method"], row["state"]): int(row["held"]) for row in await tx.all(_COUNT_FOLDS)},
        conversations=await _first_value(tx, _COUNT_CONVERSATIONS),
        usage=await sum_usage(tx, _EPOCH_START),
    )


async def size_on_server(tx: Tx) -> int:
    """Bytes of the database, where a server keeps it."""
    return await _first_value(tx, _SELECT_SIZE)


def file_size(path: Path) -> int:
    """Bytes of a file, 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


async def _first_value(tx: Tx, statement: Statement) -> int:
    row = await tx.one(statement)
    return int(row["held"]) if row else 0
