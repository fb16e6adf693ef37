"""The Delivery door: each method is one unit of work."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import false as no
from sqlalchemy import func, select, true, update

from memory.failpoints import hit_async
from memory.store.conversations import inbox as arrivals
from memory.store.conversations import outbox, turns
from memory.store.conversations.folds import take_over
from memory.store.conversations.inbox import delay_all_albums
from memory.store.conversations.messages import count_unknown, settle_orphaned_calls
from memory.store.conversations.outbox import settle_orphaned
from memory.store.conversations.turns import OPEN_TURNS, count_deaths
from memory.store.engine.database import Database, Tx
from memory.store.engine.repository import Repository, read, write
from memory.store.rows import (
    ALBUM_SECONDS,
    NewMessage,
    NewOutboxRow,
    RecoveryReport,
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


class Delivery(Repository):
    """In by the inbox, out by the outbox: T1, T2, T6 to T8 and what recovery finds."""

    accept = write(arrivals.accept, committed="recv.committed")
    waiting = read(arrivals.load_waiting)
    next_inbox_row = read(arrivals.next_row)
    inbox = read(arrivals.load_row)
    load_batched_rows = read(arrivals.load_batched_rows)
    claim = write(turns.claim_turn, committed="claim.committed")
    take_over = write(turns.take_over_turn)
    mark_opened = write(turns.mark_opened)
    deaths_of_others = read(turns.deaths_of_others)
    begin = write(arrivals.count_attempt)
    settle = write(turns.settle_inbox_row)
    notify = write(outbox.add_notices)
    unsent = read(outbox.load_unsent)
    move = write(arrivals.move)
    has_open_parts = read(outbox.has_open_parts)
    next_outbox_row = read(outbox.next_row)
    sending = write(outbox.mark_sending, committed="outbox.claimed")
    stayed = write(outbox.settle_not_sent)
    sent = write(outbox.settle_sent, committed="outbox.marked")

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
        """T6: final message, all outbox rows, turn -> state, inbox -> done (dead for interrupted), usage.

        remember: put the turn into the queue of those that are read for lasting facts (see Extractions).
        Returns False and drops `out` (turn -> cancelled) when the epoch has moved since the claim. Calls of the
        turn that are still open get their final state and a result message first.
        """
        finished = await self._database.write(turns.finish_turn, turn, state, final, out, usage, remember=remember)
        await hit_async("finish.committed")
        if remember:
            await hit_async("extract.queued")
        return finished

    async def recover(self, now: float, *, alone: bool = True) -> RecoveryReport:
        """R4, R6 to R9 in short transactions; running it twice changes nothing.

        alone: no other process is at work, so what was to overtake its lane, or waited for its album, is nobody's.
        """
        return await recover(self._database, now, alone=alone)
