"""How much there is in the record: what the metrics tell, what is under way apart from what is counted in all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import bindparam, func, select

from memory.store.conversations.folds import OPEN
from memory.store.conversations.usage import sum_usage
from memory.store.engine.database import Statement, Tx
from memory.store.rows import Usage
from memory.store.schema.columns import among
from memory.store.schema.tables import REVISIONS, conversation, fold, inbox, outbox, stamp, turn

# How much there is in a record, as values.


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is under way, and what the open database tells of itself: cheap, for every look.

    schema_at_head: whether the tables are still those of this program, which another process may have brought further.
    inbox_depth: rows new or running; inbox_oldest: when the oldest of those that are due came, unix seconds, 0.0 for
    none. outbox_depth: rows pending, sending or of unknown fate. prefix_breaks: by reason; busy: how often another
    process held the database for too long; both since this opening. db_bytes, wal_bytes: on the disk.
    """

    schema_at_head: bool
    folds_open: int
    inbox_depth: int
    inbox_oldest: float
    outbox_depth: int
    prefix_breaks: Mapping[str, int] = field(default_factory=dict)
    busy: int = 0
    db_bytes: int = 0
    wal_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the record counts in all; reads whole tables. folds: by method and state; turns: ended ones, by state.

    conversations: those that people see. usage: sums per model and purpose.
    """

    turns: Mapping[str, int]
    folds: Mapping[tuple[str, str], int]
    conversations: int
    usage: Sequence[Usage]


_ON_SERVER = select(func.pg_database_size(func.current_database()).label("held"))
_VERSION = select(stamp.c.version_num)
_EVER = datetime.fromtimestamp(0, UTC)
_FOLDS = (
    select(fold.c.method, fold.c.state, func.count().label("held"))
    .where(among(fold.c.state, "folded", "undone", "stale"))
    .group_by(fold.c.method, fold.c.state)
    .order_by(fold.c.method, fold.c.state)
)
_TURNS = (
    select(turn.c.state, func.count().label("held"))
    .where(among(turn.c.state, "done", "cancelled", "failed", "interrupted"))
    .group_by(turn.c.state)
    .order_by(turn.c.state)
)
_CONVERSATIONS = select(func.count().label("held")).select_from(conversation).where(conversation.c.listed.is_(True))
_FOLDS_OPEN = select(func.count().label("held")).select_from(fold).where(among(fold.c.state, *OPEN))
_INBOX_DEPTH = select(func.count().label("held")).select_from(inbox).where(among(inbox.c.state, "new", "running"))
_OUTBOX_DEPTH = (
    select(func.count().label("held")).select_from(outbox).where(among(outbox.c.state, "pending", "sending", "unknown"))
)
_OLDEST = select(func.min(inbox.c.received).label("held")).where(
    among(inbox.c.state, "new", "running"), inbox.c.not_before <= bindparam("now")
)


async def figures(tx: Tx) -> Figures:
    """What is under way; see Store.figures. All of it is found by the indexes of open rows."""
    oldest = await tx.one(_OLDEST, now=tx.now)
    found = await tx.one(_VERSION)
    return Figures(
        schema_at_head=found is not None and found["version_num"] == REVISIONS[-1],
        folds_open=await _one(tx, _FOLDS_OPEN),
        inbox_depth=await _one(tx, _INBOX_DEPTH),
        inbox_oldest=float((oldest["held"] if oldest else 0.0) or 0.0),
        outbox_depth=await _one(tx, _OUTBOX_DEPTH),
    )


async def totals(tx: Tx) -> Totals:
    """See Store.totals."""
    return Totals(
        turns={row["state"]: int(row["held"]) for row in await tx.all(_TURNS)},
        folds={(row["method"], row["state"]): int(row["held"]) for row in await tx.all(_FOLDS)},
        conversations=await _one(tx, _CONVERSATIONS),
        usage=await sum_usage(tx, _EVER),
    )


async def size_on_server(tx: Tx) -> int:
    """Bytes of the database, where a server keeps it."""
    return await _one(tx, _ON_SERVER)


def size_of(path: Path) -> int:
    """Bytes of a file, 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


async def _one(tx: Tx, statement: Statement) -> int:
    row = await tx.one(statement)
    return int(row["held"]) if row else 0
