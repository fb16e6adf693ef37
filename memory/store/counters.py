"""The conversation's own counters: the places of its messages, turns and transcript lines, given out once each."""

from sqlalchemy import bindparam, select, update

from memory.store.engine import Row, Tx
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
_TAKE_NOW = _TAKE.values(updated=bindparam("now"))
_TAKEN, _TAKEN_NOW = _TAKE.returning(conversation), _TAKE_NOW.returning(conversation)
_READ = select(conversation).where(conversation.c.id == bindparam("row"))


async def take(tx: Tx, id: str, *, seqs: int = 0, turns: int = 0, lines: int = 0, touched: bool = False) -> Row:
    """Take numbers; returns the conversation's row with the counters past what was taken, held until the commit.

    touched: something went in or out here now.

    Raises:
        LookupError: there is no such conversation.
    """
    values = {"row": id, "seqs": seqs, "turns": turns, "lines": lines} | ({"now": tx.now} if touched else {})
    if not tx.compiler.returns:
        await tx.run(_TAKE_NOW if touched else _TAKE, **values)
        return await read_conversation(tx, id)
    row = await tx.one(_TAKEN_NOW if touched else _TAKEN, **values)
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
