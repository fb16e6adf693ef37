"""The Delivery door: each method is one unit of work."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import false as no
from sqlalchemy import func, select, true, update

from memory.failpoints import afp
from memory.store.conversations import inbox, outbox, turns
from memory.store.conversations import inbox as acts
from memory.store.conversations import turns as deaths
from memory.store.conversations.folds import take_over
from memory.store.conversations.inbox import rearm
from memory.store.conversations.messages import count_unknown, settle_void_calls
from memory.store.conversations.outbox import settle_void
from memory.store.conversations.turns import OPEN_TURNS, count_deaths
from memory.store.engine.database import Database, Tx
from memory.store.rows import (
    ALBUM_SECONDS,
    Arrival,
    Draft,
    Fate,
    InboxRow,
    Keep,
    OutboxRow,
    Outgoing,
    Recovered,
    Stored,
    TurnRow,
    TurnState,
    Usage,
    turn_row,
)
from memory.store.schema.columns import among, word
from memory.store.schema.tables import inbox as inbox_table
from memory.store.schema.tables import turn, void

# What an earlier life left undone: found and put in order at start, in short steps that may be repeated.

_GIVE_BACK = (
    update(inbox_table)
    .where(inbox_table.c.state == word("running"), inbox_table.c.turn_id == word(""), void(inbox_table.c.lease_epoch))
    .values(state=word("new"))
)
_OUT_OF_HURRY = (
    update(inbox_table).where(inbox_table.c.state == word("new"), inbox_table.c.urgent == true()).values(urgent=no())
)
_NOBODYS = OPEN_TURNS.where(void(turn.c.lease_epoch))
_WAITING = select(func.count().label("found")).where(among(inbox_table.c.state, "new", "running"))


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


class SqlDelivery:
    """See memory.store.store.Delivery."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, arrivals: Sequence[Arrival], keep: Keep | None = None) -> list[Stored]:
        stored = await self._database.write(inbox.accept, arrivals, keep)
        await afp("recv.committed")
        return stored

    async def waiting(self) -> list[str]:
        return await self._database.read(inbox.waiting)

    async def next_in(self, conversation: str, now: float) -> InboxRow | None:
        return await self._database.read(inbox.next_in, conversation, now)

    async def inbox(self, id: str) -> InboxRow | None:
        return await self._database.read(inbox.read_inbox, id)

    async def companions(self, row: InboxRow) -> list[InboxRow]:
        return await self._database.read(acts.companions, row)

    async def claim(
        self,
        inbox_id: str,
        user: Draft,
        actor: str,
        also: Sequence[InboxRow] = (),
        *,
        body: str = "",
        who: str = "",
    ) -> TurnRow:
        claiming = turns.Claiming(user=user, actor=actor, body=body, also=tuple(also), who=who)
        claimed = await self._database.write(turns.claim, inbox_id, claiming)
        await afp("claim.committed")
        return claimed

    async def take_over(self, turn_id: str) -> TurnRow | None:
        return await self._database.write(turns.take_over, turn_id)

    async def mark_opened(self, inbox_id: str) -> None:
        await self._database.write(deaths.mark_opened, inbox_id)

    async def deaths_of_others(self, inbox_id: str, since: float) -> int:
        return await self._database.read(deaths.deaths_of_others, inbox_id, since)

    async def begin(self, inbox_id: str) -> bool:
        return await self._database.write(inbox.begin, inbox_id)

    async def settle(self, inbox_id: str, out: Sequence[Outgoing], *, dead: bool = False) -> None:
        await self._database.write(turns.settle, inbox_id, out, dead=dead)

    async def finish(
        self,
        turn: TurnRow,
        state: TurnState,
        final: Draft | None,
        out: Sequence[Outgoing],
        usage: Sequence[Usage] = (),
        *,
        remember: bool = False,
    ) -> bool:
        ending = turns.Ending(state=state, final=final, out=out, usage=usage, remember=remember)
        finished = await self._database.write(turns.finish, turn, ending)
        await afp("finish.committed")
        if remember:
            await afp("extract.queued")
        return finished

    async def notify(self, conversation: str, source: str, out: Sequence[Outgoing]) -> None:
        await self._database.write(outbox.notify, conversation, source, out)

    async def unsent(self) -> list[str]:
        return await self._database.read(outbox.unsent)

    async def move(self, arrival: Arrival) -> None:
        await self._database.write(acts.move, arrival)

    async def owes(self, conversation: str) -> bool:
        return await self._database.read(outbox.owes, conversation)

    async def next_out(self, conversation: str) -> OutboxRow | None:
        return await self._database.read(outbox.next_out, conversation)

    async def sending(self, id: str) -> OutboxRow | None:
        row = await self._database.write(outbox.sending, id)
        await afp("outbox.claimed")
        return row

    async def stayed(self, id: str, fate: Fate) -> OutboxRow | None:
        return await self._database.write(outbox.stayed, id, fate)

    async def sent(self, id: str, fate: Fate) -> OutboxRow:
        row = await self._database.write(outbox.sent, id, fate)
        await afp("outbox.marked")
        return row

    async def recover(self, now: float, *, alone: bool = True) -> Recovered:
        return await recover(self._database, now, alone=alone)
