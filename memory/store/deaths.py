"""What a process had at work when it died, and what that says of each message.

A row that is at work carries the lease of its process: an inbox row from when it is opened or claimed, and its turn. A
row that waits for its lane carries none, so the death of the process says nothing about it.
"""

from sqlalchemy import ColumnElement, bindparam, func, select, update

from memory.store.columns import among, word
from memory.store.engine import Tx
from memory.store.lease_tables import void
from memory.store.tables import inbox, turn

NOBODY = 0
"""The lease of a row that no process works on."""


def _open_row() -> ColumnElement[bool]:
    return among(inbox.c.state, "new", "running")


def _open_turn() -> ColumnElement[bool]:
    return among(turn.c.state, "running", "waiting")


_AT_WORK = (
    select(inbox.c.lease_epoch.label("holder"), func.count().label("rows"))
    .where(_open_row(), inbox.c.lease_epoch != NOBODY, void(inbox.c.lease_epoch))
    .group_by(inbox.c.lease_epoch)
)
_COUNT_ROWS = (
    update(inbox)
    .where(_open_row(), inbox.c.lease_epoch == bindparam("holder"))
    .values(
        attempts=inbox.c.attempts + 1,
        deaths_alone=inbox.c.deaths_alone + bindparam("more"),
        lease_epoch=NOBODY,
    )
)
_COUNT_TURNS = (
    update(turn)
    .where(_open_turn(), turn.c.lease_epoch != NOBODY, void(turn.c.lease_epoch))
    .values(attempts=turn.c.attempts + 1, lease_epoch=NOBODY)
)
_PUT_DOWN_ROWS = update(inbox).where(_open_row(), inbox.c.lease_epoch == bindparam("mine")).values(lease_epoch=NOBODY)
_PUT_DOWN_TURNS = update(turn).where(_open_turn(), turn.c.lease_epoch == bindparam("mine")).values(lease_epoch=NOBODY)
_OPENED = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == word("new"))
    .values(lease_epoch=bindparam("mine"))
)
_OF_OTHERS = select(func.coalesce(func.sum(inbox.c.deaths_alone), 0).label("deaths")).where(
    inbox.c.id != bindparam("row"),
    inbox.c.deaths_alone > 0,
    inbox.c.state != word("dead"),
    inbox.c.received >= bindparam("since"),
)


async def count_deaths(tx: Tx) -> None:
    """Count the death of each process that is gone, once, against what it had at work; nobody holds that any more.

    One row at work at a death died alone; of several, nobody knows which one it was.
    """
    for dead in await tx.all(_AT_WORK):
        await tx.run(_COUNT_ROWS, holder=dead["holder"], more=int(dead["rows"] == 1))
    await tx.run(_COUNT_TURNS)


async def put_down(tx: Tx) -> None:
    """A clean end: what we have at work waits for the next process, and nothing has died of it."""
    await tx.run(_PUT_DOWN_ROWS, mine=tx.lease)
    await tx.run(_PUT_DOWN_TURNS, mine=tx.lease)


async def mark_opened(tx: Tx, id: str) -> None:
    """A row that is still new is at work from now on; a row that is not any more is left alone."""
    await tx.run(_OPENED, row=id, mine=tx.lease)


async def deaths_of_others(tx: Tx, id: str, since: float) -> int:
    """Deaths at which another message that came in since was alone at work; those of messages given up are explained.

    Looks at every row of the inbox: only for a message that is about to be given up.
    """
    [row] = await tx.all(_OF_OTHERS, row=id, since=since)
    return int(row["deaths"])
