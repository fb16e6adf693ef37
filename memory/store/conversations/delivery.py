"""The Delivery door: each method is one unit of work."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import false as no
from sqlalchemy import func, select, true, update

from memory.failpoints import hit_async
from memory.store.conversations import inbox, outbox, turns
from memory.store.conversations import inbox as acts
from memory.store.conversations import turns as deaths
from memory.store.conversations.folds import take_over
from memory.store.conversations.inbox import delay_all_albums
from memory.store.conversations.messages import count_unknown, settle_orphaned_calls
from memory.store.conversations.outbox import settle_orphaned
from memory.store.conversations.turns import OPEN_TURNS, count_deaths
from memory.store.engine.database import Database, Tx
from memory.store.rows import (
    ALBUM_SECONDS,
    AcceptedRow,
    InboxRow,
    NewInboxRow,
    NewMessage,
    NewOutboxRow,
    NoteChanges,
    OutboxRow,
    RecoveryReport,
    SendOutcome,
    TurnRow,
    TurnState,
    Usage,
    to_turn_row,
)
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.tables import inbox as inbox_table
from memory.store.schema.tables import is_lease_void, turn

# What an earlier life left undone: found and put in order at start, in short steps that may be repeated.

_REQUEUE = (
    update(inbox_table)
    .where(
        inbox_table.c.state == literal_text("running"),
        inbox_table.c.turn_id == literal_text(""),
        is_lease_void(inbox_table.c.lease_epoch),
    )
    .values(state=literal_text("new"))
)
_CLEAR_URGENT = (
    update(inbox_table)
    .where(inbox_table.c.state == literal_text("new"), inbox_table.c.urgent == true())
    .values(urgent=no())
)
_ORPHANED_TURNS = OPEN_TURNS.where(is_lease_void(turn.c.lease_epoch))
_COUNT_WAITING = select(func.count().label("found")).where(is_one_of(inbox_table.c.state, "new", "running"))


async def recover(database: Database, now: float, *, alone: bool) -> RecoveryReport:
    """R4 and R6 to R9, of rows whose holders are gone; see Delivery.recover.

    Args:
        now: unix seconds.
    """
    await hit_async("recover.r4")
    await database.write(settle_orphaned_calls)
    await hit_async("recover.r6")
    turns = await database.write(_load_orphaned_turns)
    if alone:
        await database.write(_requeue_waiting, now + ALBUM_SECONDS)
    await hit_async("recover.r7")
    folds = await database.write(take_over)
    await hit_async("recover.r8")
    sends = await database.write(_settle_sends, now)
    await hit_async("recover.r9")
    unknown = await database.read(count_unknown)
    waiting = await database.read(_count_waiting)
    return RecoveryReport(
        turns=tuple(turns), folds=tuple(folds), calls_unknown=unknown, sends_unknown=sends, inbox_waiting=waiting
    )


async def _load_orphaned_turns(tx: Tx) -> list[TurnRow]:
    """The open turns that no living process has; each is taken over when its lane comes to it."""
    await count_deaths(tx)
    await tx.run(_REQUEUE)
    return [to_turn_row(row) for row in await tx.all(_ORPHANED_TURNS)]


async def _requeue_waiting(tx: Tx, due: float) -> None:
    await tx.run(_CLEAR_URGENT)  # whoever was to handle it beside the lane is gone: its lane does
    await delay_all_albums(tx, due)


async def _settle_sends(tx: Tx, now: float) -> int:
    return await settle_orphaned(replace(tx, now=now))


async def _count_waiting(tx: Tx) -> int:
    row = await tx.one(_COUNT_WAITING)
    return int(row["found"]) if row else 0


class SqlDelivery:
    """See memory.store.store.Delivery."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, arrivals: Sequence[NewInboxRow], keep: NoteChanges | None = None) -> list[AcceptedRow]:
        stored = await self._database.write(inbox.accept, arrivals, keep)
        await hit_async("recv.committed")
        return stored

    async def waiting(self) -> list[str]:
        return await self._database.read(inbox.load_waiting)

    async def next_inbox_row(self, conversation: str, now: float) -> InboxRow | None:
        return await self._database.read(inbox.next_row, conversation, now)

    async def inbox(self, id: str) -> InboxRow | None:
        return await self._database.read(inbox.load_row, id)

    async def load_batched_rows(self, row: InboxRow) -> list[InboxRow]:
        return await self._database.read(acts.load_batched_rows, row)

    async def claim(
        self,
        inbox_id: str,
        user: NewMessage,
        actor: str,
        also: Sequence[InboxRow] = (),
        *,
        body: str = "",
        who: str = "",
    ) -> TurnRow:
        claiming = turns.ClaimRequest(user=user, actor=actor, body=body, also=tuple(also), who=who)
        claimed = await self._database.write(turns.claim_turn, inbox_id, claiming)
        await hit_async("claim.committed")
        return claimed

    async def take_over(self, turn_id: str) -> TurnRow | None:
        return await self._database.write(turns.take_over_turn, turn_id)

    async def mark_opened(self, inbox_id: str) -> None:
        await self._database.write(deaths.mark_opened, inbox_id)

    async def deaths_of_others(self, inbox_id: str, since: float) -> int:
        return await self._database.read(deaths.deaths_of_others, inbox_id, since)

    async def begin(self, inbox_id: str) -> bool:
        return await self._database.write(inbox.count_attempt, inbox_id)

    async def settle(self, inbox_id: str, out: Sequence[NewOutboxRow], *, dead: bool = False) -> None:
        await self._database.write(turns.settle_inbox_row, inbox_id, out, dead=dead)

    async def finish(
        self,
        turn: TurnRow,
        state: TurnState,
        final: NewMessage | None,
        out: Sequence[NewOutboxRow],
        usage: Sequence[Usage] = (),
        *,
        remember: bool = False,
    ) -> bool:
        ending = turns.FinishedTurn(state=state, final=final, out=out, usage=usage, remember=remember)
        finished = await self._database.write(turns.finish_turn, turn, ending)
        await hit_async("finish.committed")
        if remember:
            await hit_async("extract.queued")
        return finished

    async def notify(self, conversation: str, source: str, out: Sequence[NewOutboxRow]) -> None:
        await self._database.write(outbox.add_notices, conversation, source, out)

    async def unsent(self) -> list[str]:
        return await self._database.read(outbox.load_unsent)

    async def move(self, arrival: NewInboxRow) -> None:
        await self._database.write(acts.move, arrival)

    async def has_open_parts(self, conversation: str) -> bool:
        return await self._database.read(outbox.has_open_parts, conversation)

    async def next_outbox_row(self, conversation: str) -> OutboxRow | None:
        return await self._database.read(outbox.next_row, conversation)

    async def sending(self, id: str) -> OutboxRow | None:
        row = await self._database.write(outbox.mark_sending, id)
        await hit_async("outbox.claimed")
        return row

    async def stayed(self, id: str, outcome: SendOutcome) -> OutboxRow | None:
        return await self._database.write(outbox.settle_not_sent, id, outcome)

    async def sent(self, id: str, outcome: SendOutcome) -> OutboxRow:
        row = await self._database.write(outbox.settle_sent, id, outcome)
        await hit_async("outbox.marked")
        return row

    async def recover(self, now: float, *, alone: bool = True) -> RecoveryReport:
        return await recover(self._database, now, alone=alone)
