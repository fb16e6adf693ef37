"""What an earlier life left undone: found and put in order at start, in short steps that may be repeated."""

from dataclasses import replace

from sqlalchemy import false as no
from sqlalchemy import func, select, true, update

from memory.failpoint import afp
from memory.store.acts import rearm
from memory.store.calls import count_unknown, settle_void_calls
from memory.store.columns import among, word
from memory.store.database import Database
from memory.store.deaths import count_deaths
from memory.store.engine import Tx
from memory.store.folding import take_over
from memory.store.lease_tables import void
from memory.store.outbox import settle_void
from memory.store.records import ALBUM_SECONDS, Recovered, TurnRow
from memory.store.rows import turn_row
from memory.store.tables import inbox, turn
from memory.store.turns import OPEN_TURNS

_GIVE_BACK = (
    update(inbox)
    .where(inbox.c.state == word("running"), inbox.c.turn_id == word(""), void(inbox.c.lease_epoch))
    .values(state=word("new"))
)
_OUT_OF_HURRY = update(inbox).where(inbox.c.state == word("new"), inbox.c.urgent == true()).values(urgent=no())
_NOBODYS = OPEN_TURNS.where(void(turn.c.lease_epoch))
_WAITING = select(func.count().label("found")).where(among(inbox.c.state, "new", "running"))


async def recover(database: Database, now: float, *, alone: bool) -> Recovered:
    """R4 and R6 to R9, of rows whose holders are gone; see Delivery.recover.

    Args:
        now: unix seconds.
    """
    await afp("recover.r4")
    await database.write(settle_void_calls)
    await afp("recover.r6")
    turns = await database.write(_free_turns)
    if alone:
        await database.write(_take_waiting, now + ALBUM_SECONDS)
    await afp("recover.r7")
    folds = await database.write(take_over)
    await afp("recover.r8")
    sends = await database.write(_settle_sends, now)
    await afp("recover.r9")
    unknown = await database.read(count_unknown)
    waiting = await database.read(_count_waiting)
    return Recovered(
        turns=tuple(turns), folds=tuple(folds), calls_unknown=unknown, sends_unknown=sends, inbox_waiting=waiting
    )


async def _free_turns(tx: Tx) -> list[TurnRow]:
    """The open turns that no living process has; each is taken over when its lane comes to it."""
    await count_deaths(tx)
    await tx.run(_GIVE_BACK)
    return [turn_row(row) for row in await tx.all(_NOBODYS)]


async def _take_waiting(tx: Tx, due: float) -> None:
    await tx.run(_OUT_OF_HURRY)  # whoever was to handle it beside the lane is gone: its lane does
    await rearm(tx, due)


async def _settle_sends(tx: Tx, now: float) -> int:
    return await settle_void(replace(tx, now=now))


async def _count_waiting(tx: Tx) -> int:
    row = await tx.one(_WAITING)
    return int(row["found"]) if row else 0
