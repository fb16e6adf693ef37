"""Reads and inserts rows of folds."""

from sqlalchemy import bindparam, select

from memory.ids import new_id
from memory.store.engine.database import Row, Tx, insert_into
from memory.store.errors import WrongState
from memory.store.linked_spaces import load_linked_space
from memory.store.rows import (
    FOLD_TRANSITIONS,
    FoldPlan,
    FoldRow,
    column_values,
    columns_of,
    from_row,
)
from memory.store.schema.tables import fold, is_one_of

OPEN = tuple(FOLD_TRANSITIONS)  # the states of a fold that has not ended
IS_OPEN = is_one_of(fold.c.state, *OPEN)
SELECT_FOLD = select(*columns_of(FoldRow, fold))
_SELECT_ONE = SELECT_FOLD.where(fold.c.id == bindparam("id"))


async def load_fold(tx: Tx, id: str) -> FoldRow | None:
    """Load one fold, None for an unknown id."""
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    return from_row(FoldRow, row) if row else None


async def load_existing_fold(tx: Tx, id: str) -> FoldRow:
    """Load a fold.

    Raises:
        WrongState: there is none with this id.
    """
    found = await load_fold(tx, id)
    if found is None:
        raise WrongState(f"there is no fold {id}")
    return found


async def load_live_from(tx: Tx, conversation_row: Row) -> int:
    """Load the first seq in the view: behind the fold head, or where the view begins."""
    head = await load_fold(tx, conversation_row["fold_head"])
    return head.to_seq + 1 if head else int(conversation_row["view_from"])


async def insert_fold(tx: Tx, conversation_row: Row, plan: FoldPlan) -> FoldRow:
    """Insert a planned fold; other folds are not looked at."""
    before = None if plan.log_only else await load_fold(tx, plan.prev_fold)
    id = new_id(tx.now)
    columns = column_values(plan, fold) | {
        "seen_seq": plan.seen_seq or conversation_row["next_seq"],
        "at": plan.at or tx.now,
        "summary_only": int(plan.summary_only),
    }
    await tx.execute(
        insert_into(fold),
        **columns,
        id=id,
        space=await load_linked_space(tx, conversation_row["space"]),
        channel=conversation_row["channel"],
        turns_covered=plan.to_turn - plan.from_turn + 1 + (before.turns_covered if before else 0),
        state="planned",
        method="model",
        lease_epoch=tx.lease,
    )
    return await load_existing_fold(tx, id)
