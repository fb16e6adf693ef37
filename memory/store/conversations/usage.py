"""What models cost in tokens, and how far each one's counter is off."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, insert, or_, select, update

from memory.ids import new_id
from memory.store.engine.database import Row, Tx, single_query
from memory.store.rows import Usage
from memory.store.schema.columns import literal_text
from memory.store.schema.tables import conversation as homes
from memory.store.schema.tables import model_factor, turn, usage

_COUNTS = ("input", "output", "cache_read", "cache_write", "estimated")
_INSERT = insert(usage)
_SELECT_SUMS = (
    select(usage.c.model, usage.c.purpose, *(func.sum(usage.c[name]).label(name) for name in _COUNTS))
    .where(
        usage.c.at >= bindparam("since"),
        or_(bindparam("only") == literal_text(""), usage.c.conversation == bindparam("only")),
    )
    .group_by(usage.c.model, usage.c.purpose)
    .order_by(usage.c.model, usage.c.purpose)
)
_SELECT_FACTOR = select(model_factor).where(model_factor.c.model == bindparam("name"))
_INSERT_FACTOR = insert(model_factor)
_SET_FACTOR = (
    update(model_factor)
    .where(model_factor.c.model == bindparam("name"))
    .values(factor=bindparam("to"), samples=bindparam("of"), error_percent=bindparam("off"))
)


_WHO_OF_TURN = select(turn.c.who).where(turn.c.id == bindparam("row"))
_WHO_OF_CONVERSATION = (
    select(turn.c.who)
    .join(homes, homes.c.id == turn.c.conversation)
    .where(turn.c.conversation == bindparam("row"), homes.c.kind == literal_text("dm"))
    .order_by(turn.c.number.desc())
    .limit(1)
)


async def add_usage(
    tx: Tx, conversation: str, spent: Sequence[Usage], turn_id: str = "", known: Row | None = None
) -> None:
    """Note what calls used, for a turn or for no turn. What a group's memory takes is nobody's in particular.

    known: of the turn, with its `who`, where it has been read.
    """
    if not spent:
        return
    whose = known or (
        await tx.one(_WHO_OF_TURN, row=turn_id) if turn_id else await tx.one(_WHO_OF_CONVERSATION, row=conversation)
    )
    for one in spent:
        await tx.run(
            _INSERT,
            id=new_id(tx.now),
            conversation=conversation,
            turn_id=turn_id,
            model=one.model,
            purpose=one.purpose,
            input=one.input,
            output=one.output,
            cache_read=one.cache_read,
            cache_write=one.cache_write,
            estimated=one.estimated,
            at=tx.now,
            who=whose["who"] if whose else "",
        )


async def sum_usage(tx: Tx, since: datetime, conversation: str = "") -> list[Usage]:
    """Sums per model and purpose."""
    return [Usage(**row) for row in await tx.all(_SELECT_SUMS, since=since.timestamp(), only=conversation)]


@single_query
async def load_factor(tx: Tx, model: str) -> tuple[float, int, float]:
    """(factor, samples, last error in per cent) of the counter for that model; (1.0, 0, 0.0) when unknown."""
    row = await tx.one(_SELECT_FACTOR, name=model)
    return (row["factor"], row["samples"], row["error_percent"]) if row else (1.0, 0, 0.0)


async def set_factors(tx: Tx, learned: Mapping[str, tuple[float, int, float]]) -> None:
    """What `factor` tells from now on, by model."""
    for model, (factor, samples, error) in learned.items():
        if not await tx.run(_SET_FACTOR, name=model, to=factor, of=samples, off=error):
            await tx.run(_INSERT_FACTOR, model=model, factor=factor, samples=samples, error_percent=error)
