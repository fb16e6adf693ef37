"""A conversation leaves with all its rows, because a person asked for it."""

from sqlalchemy import bindparam, delete, insert, select

from memory.store.access_tables import access_request, approval
from memory.store.audit import note
from memory.store.engine import Tx
from memory.store.memory_tables import extraction
from memory.store.spending_tables import limit_told
from memory.store.system import forget
from memory.store.tables import (
    clearing,
    conversation,
    coverage,
    fold,
    inbox,
    message,
    outbox,
    reduction,
    removal,
    tool_call,
    turn,
    usage,
)

_OPEN_DOOR = insert(removal)
_CLOSE_DOOR = delete(removal).where(removal.c.conversation == bindparam("row"))
_MESSAGES = select(message.c.id).where(message.c.conversation == bindparam("row"))
_TURNS = select(turn.c.id).where(turn.c.conversation == bindparam("row"))
_STEPS = (
    delete(coverage).where(coverage.c.message_id.in_(_MESSAGES)),
    delete(tool_call).where(tool_call.c.turn_id.in_(_TURNS)),
    *(
        delete(table).where(table.c.conversation == bindparam("row"))
        for table in (extraction, reduction, usage, limit_told, clearing, fold, outbox, message, turn, inbox)
    ),
    *(delete(table).where(table.c.conversation == bindparam("row")) for table in (access_request, approval)),
    delete(conversation).where(conversation.c.id == bindparam("row")),
)


async def remove(tx: Tx, id: str, by: str = "") -> None:
    """All of it in one transaction; the chain of acts keeps that it happened, and no word of it."""
    await tx.run(_OPEN_DOOR, conversation=id)
    await forget(tx, id)
    for step in _STEPS:
        await tx.run(step, row=id)
    await tx.run(_CLOSE_DOOR, row=id)
    await note(tx, "delete", id, "deleted", by)
