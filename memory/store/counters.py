"""The conversation's own counters: the places of its messages, turns and transcript lines, given out once each."""

from sqlalchemy import bindparam, select, update

from memory.store.engine import Row, Tx, told
from memory.store.tables import conversation

_TAKE = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(
        next_seq=conversation.c.next_seq + bindparam("seqs"),
        next_turn=conversation.c.next_turn + bindparam("turns"),
        next_line=conversation.c.next_line + bindparam("lines"),
    )
)
_READ = select(conversation).where(conversation.c.id == bindparam("row"))
_TAKEN = told(_TAKE, conversation, look=_READ)
_TAKEN_NOW = told(_TAKE.values(updated=bindparam("now")), conversation, look=_READ)


async def take(tx: Tx, id: str, *, seqs: int = 0, turns: int = 0, lines: int = 0, touched: bool = False) -> Row:
    """Take numbers; returns the conversation's row with the counters past what was taken, held until the commit.

    touched: something went in or out here now.

    Raises:
        LookupError: there is no such conversation.
    """
    values = {"row": id, "seqs": seqs, "turns": turns, "lines": lines} | ({"now": tx.now} if touched else {})
    row = await tx.told(_TAKEN_NOW if touched else _TAKEN, **values)
    if row is None:
        raise LookupError(f"there is no conversation {id}")
    return row


async def read_conversation(tx: Tx, id: str) -> Row:
    """The conversation's bare row.

    Raises:
        LookupError: there is no such conversation.
    """
    row = await tx.one(_READ, row=id)
    if row is None:
        raise LookupError(f"there is no conversation {id}")
    return row
