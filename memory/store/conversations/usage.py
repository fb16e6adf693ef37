"""Token usage of model calls, and the calibration of each model's token counter."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, or_, select, update

from memory.ids import new_id
from memory.store.engine.database import Row, Tx, insert_into, light, soft
from memory.store.rows import TurnRow, Usage, column_values, new_binds
from memory.store.schema.tables import conversation as conversation_table
from memory.store.schema.tables import literal_text, model_factor, turn, usage

_COUNTS = ("input", "output", "cache_read", "cache_write", "estimated")
_SELECT_SUMS = (
    select(
        usage.c.model, usage.c.purpose, *(func.sum(usage.c[name]).label(name) for name in _COUNTS)
    )
    .where(
        usage.c.at >= bindparam("since"),
        or_(
            bindparam("conversation") == literal_text(""),
            usage.c.conversation == bindparam("conversation"),
        ),
    )
    .group_by(usage.c.model, usage.c.purpose)
    .order_by(usage.c.model, usage.c.purpose)
)
_SUM_OF_TURN = select(
    func.coalesce(func.sum(usage.c.input - usage.c.cache_read + usage.c.output), 0).label("count")
).where(usage.c.conversation == bindparam("conversation"), usage.c.turn_id == bindparam("turn_id"))
_SELECT_FACTOR = select(model_factor).where(model_factor.c.model == bindparam("model"))
_SET_FACTOR = (
    update(model_factor)
    .where(model_factor.c.model == bindparam("model"))
    .values(**new_binds("factor", "samples", "error_percent"))
)
_SELECT_WHO_OF_TURN = select(turn.c.who).where(turn.c.id == bindparam("id"))
_SELECT_WHO_OF_CONVERSATION = (
    select(turn.c.who)
    .join(conversation_table, conversation_table.c.id == turn.c.conversation)
    .where(
        turn.c.conversation == bindparam("conversation"),
        conversation_table.c.kind == literal_text("dm"),
    )
    .order_by(turn.c.number.desc())
    .limit(1)
)


@soft
@light
async def add_usage(
    tx: Tx,
    conversation: str,
    spent: Sequence[Usage],
    turn_id: str = "",
    turn_row: Row | None = None,
) -> None:
    """Store the usage of model calls.

    It counts against the budget of the turn's person. Without a turn that is the person of a
    private chat; in a group nobody is charged.

    Args:
        turn_row: the turn's columns with its `who`, where the caller has them already.
    """
    if not spent:
        return
    if turn_row is None and turn_id:
        turn_row = (await tx.execute(_SELECT_WHO_OF_TURN, id=turn_id)).first()
    elif turn_row is None:
        turn_row = (
            await tx.execute(_SELECT_WHO_OF_CONVERSATION, conversation=conversation)
        ).first()
    who = turn_row["who"] if turn_row else ""
    for one in spent:
        columns = column_values(one, usage)
        await tx.execute(
            insert_into(usage),
            **columns,
            id=new_id(tx.now),
            conversation=conversation,
            turn_id=turn_id,
            at=tx.now,
            who=who,
        )


async def sum_usage(tx: Tx, since: datetime, conversation: str = "") -> list[Usage]:
    """Sum the usage per model and purpose; of one conversation, or of all for ""."""
    rows = (
        await tx.execute(_SELECT_SUMS, since=since.timestamp(), conversation=conversation)
    ).all()
    return [Usage(**row) for row in rows]


async def count_turn_tokens(tx: Tx, turn_row: TurnRow) -> int:
    """Count the tokens that a turn has used, without those that came from a cache."""
    return (
        await tx.execute(_SUM_OF_TURN, conversation=turn_row.conversation, turn_id=turn_row.id)
    ).count()


@light
async def load_factor(tx: Tx, model: str) -> tuple[float, int, float]:
    """Load a model's (factor, samples, last error in per cent), (1.0, 0, 0.0) when unknown."""
    row = (await tx.execute(_SELECT_FACTOR, model=model)).first()
    return (row["factor"], row["samples"], row["error_percent"]) if row else (1.0, 0, 0.0)


@soft
@light
async def set_factors(tx: Tx, learned: Mapping[str, tuple[float, int, float]]) -> None:
    """Store (factor, samples, last error in per cent) by model."""
    for model, (factor, samples, error) in learned.items():
        if not (
            await tx.execute(
                _SET_FACTOR,
                model=model,
                new_factor=factor,
                new_samples=samples,
                new_error_percent=error,
            )
        ).rowcount:
            await tx.execute(
                insert_into(model_factor),
                model=model,
                factor=factor,
                samples=samples,
                error_percent=error,
            )
