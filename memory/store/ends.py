"""How far each conversation of a space goes, for whoever keeps an index of what was said."""

from sqlalchemy import bindparam, select

from memory.store.engine import Tx, glance
from memory.store.tables import conversation

_ENDS = select(conversation.c.id, conversation.c.next_seq).where(
    conversation.c.space == bindparam("space"), conversation.c.next_seq > 1
)


@glance
async def ends(tx: Tx, space: str) -> dict[str, int]:
    """The next seq of every conversation that has messages."""
    return {row["id"]: row["next_seq"] for row in await tx.all(_ENDS, space=space)}
