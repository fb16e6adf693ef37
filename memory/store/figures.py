"""How much there is in the record: what the metrics tell, in one read."""

from sqlalchemy import func, select

from memory.store.columns import among
from memory.store.engine import Statement, Tx
from memory.store.folding import OPEN
from memory.store.records import Figures
from memory.store.tables import conversation, fold, inbox, outbox

_FOLDS = (
    select(fold.c.method, func.count().label("held"))
    .where(among(fold.c.state, "folded", "undone"))
    .group_by(fold.c.method)
    .order_by(fold.c.method)
)
_COUNTS: dict[str, Statement] = {
    "folds_open": select(func.count().label("held")).select_from(fold).where(among(fold.c.state, *OPEN)),
    "inbox_waiting": select(func.count().label("held"))
    .select_from(inbox)
    .where(among(inbox.c.state, "new", "running")),
    "outbox_unsent": select(func.count().label("held"))
    .select_from(outbox)
    .where(among(outbox.c.state, "pending", "sending", "unknown")),
    "conversations": select(func.count().label("held"))
    .select_from(conversation)
    .where(conversation.c.listed.is_(True)),
    "prefix_changes": select(func.coalesce(func.sum(conversation.c.prefix_generation), 0).label("held")),
}


async def figures(tx: Tx) -> Figures:
    """See Store.figures."""
    folds = {row["method"]: int(row["held"]) for row in await tx.all(_FOLDS)}
    counts = {name: await _one(tx, statement) for name, statement in _COUNTS.items()}
    return Figures(folds=folds, **counts)


async def _one(tx: Tx, statement: Statement) -> int:
    row = await tx.one(statement)
    return int(row["held"]) if row else 0
