"""Delivery: messages in by the inbox, replies out by the outbox, and recovery of what a process
left unfinished.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import false, func, select, true, update

from memory.failpoints import hit_async
from memory.store.conversations import inbox as inbox_rows
from memory.store.conversations import outbox, turns
from memory.store.conversations.folds.steps import take_over
from memory.store.conversations.messages import count_unknown, settle_orphaned_calls
from memory.store.conversations.sessions import load_conversation
from memory.store.conversations.turns import FinishedTurn
from memory.store.engine.database import Repository, Tx, light, read, write
from memory.store.longterm.views import NO_VIEWS, ViewBatch
from memory.store.people.access import load_grants, load_grants_of_next
from memory.store.people.rows import GrantRow, GrantsKey
from memory.store.rows import (
    ALBUM_SECONDS,
    AcceptedRow,
    ConversationRow,
    InboxRow,
    NewInboxRow,
    NewMessage,
    NewOutboxRow,
    NoteChanges,
    Place,
    RecoveryReport,
    TurnRow,
    TurnState,
    Usage,
)
from memory.store.schema.tables import inbox, is_lease_void, is_one_of, literal_text, turn

_REQUEUE = (
    update(inbox)
    .where(
        inbox.c.state == literal_text("running"),
        inbox.c.turn_id == literal_text(""),
        is_lease_void(inbox.c.lease_epoch),
    )
    .values(state=literal_text("new"))
)
_CLEAR_URGENT = (
    update(inbox)
    .where(inbox.c.state == literal_text("new"), inbox.c.urgent == true())
    .values(urgent=false())
)
_ORPHANED_TURNS = turns.OPEN_TURNS.where(is_lease_void(turn.c.lease_epoch))
_COUNT_WAITING = select(func.count().label("count")).where(
    is_one_of(inbox.c.state, "new", "running")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextWork:
    """The next row of a conversation's queue."""

    row: InboxRow
    conversation: ConversationRow
    #: Of the sender, by the id in `row`, and of the group.
    grants: Sequence[GrantRow]
    #: What was said before without asking for an answer, see `inbox.load_asides`; None where it may
    #: have changed.
    asides: Sequence[InboxRow] | None


# Decides about messages by the grants of their senders; called again where the transaction is run
# again.
Admit = Callable[[Sequence[Sequence[GrantRow]]], Sequence[NewInboxRow]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A message that a channel delivers, before anybody has decided what it is to this bot."""

    place: Place
    key: str
    #: Which grants decide about its sender; None where nobody needs one.
    sender: GrantsKey | None


@light
async def _accept_by_grants(
    tx: Tx, delivered: Sequence[Delivered], admit: Admit, keep: NoteChanges | None
) -> list[AcceptedRow]:
    if not delivered:
        return await inbox_rows.accept(tx, admit([]), keep)
    first, *others = delivered
    grants = await _load_grants(tx, first)
    found = await inbox_rows.find_by_key(tx, first.place, first.key)
    return await inbox_rows.accept(
        tx, admit([grants, *[await _load_grants(tx, one) for one in others]]), keep, found
    )


async def _load_grants(tx: Tx, delivered: Delivered) -> list[GrantRow]:
    return await load_grants(tx, delivered.sender) if delivered.sender else []


@light
async def _load_next_work(tx: Tx, conversation: str, now: float) -> NextWork | None:
    """Load the next row of a conversation's queue as `inbox.next_row` does, and what decides about
    it.
    """
    row = await inbox_rows.next_row(tx, conversation, now)
    if row is None:
        return None
    conversation_row = await load_conversation(tx, conversation)
    if conversation_row is None:
        raise LookupError(f"conversation {conversation} of inbox row {row.id} is missing")
    grants = await load_grants_of_next(tx, conversation, now)
    asides = await inbox_rows.load_asides(tx, conversation)
    return NextWork(row=row, conversation=conversation_row, grants=grants, asides=asides)


async def _load_orphaned_turns(tx: Tx) -> list[TurnRow]:
    """Load the open turns that no living process has; each is taken over when its queue comes to
    it.
    """
    await turns.count_deaths(tx)
    await tx.execute(_REQUEUE)
    return [TurnRow(**row) for row in (await tx.execute(_ORPHANED_TURNS)).all()]


async def _requeue_waiting(tx: Tx) -> None:
    # the process that would have handled them at once is gone: they join their queues
    await tx.execute(_CLEAR_URGENT)
    await inbox_rows.delay_all_albums(tx, tx.now + ALBUM_SECONDS)


async def _count_waiting(tx: Tx) -> int:
    return (await tx.execute(_COUNT_WAITING)).count()


class Delivery(Repository):
    """The inbox, turns and the outbox."""

    waiting = read(inbox_rows.load_waiting)
    next_inbox_row = read(inbox_rows.next_row)
    next_work = read(_load_next_work)
    inbox = read(inbox_rows.load_row)
    newest_inbox_row = read(inbox_rows.load_newest)
    load_batched_rows = read(inbox_rows.load_batched_rows)
    claim = write(turns.claim_turn, committed="claim.committed")
    take_over = write(turns.take_over_turn)
    mark_opened = write(turns.mark_opened)
    deaths_of_others = read(turns.deaths_of_others)
    mark_begun = write(inbox_rows.mark_begun)
    settle = write(turns.settle_inbox_row)
    notify = write(outbox.add_notices)
    unsent = read(outbox.load_unsent)
    platform_id = read(outbox.load_platform_id)
    move = write(inbox_rows.move)
    has_open_parts = read(outbox.has_open_parts)
    next_outbox_row = read(outbox.next_row)
    mark_sending = write(outbox.mark_sending, committed="outbox.claimed")
    settle_not_sent = write(outbox.settle_not_sent)
    settle_sent = write(outbox.settle_sent, committed="outbox.marked")
    settle_sent_and_look = write(outbox.settle_sent_and_look, committed="outbox.marked")

    async def accept(
        self, arrivals: Sequence[NewInboxRow], keep: NoteChanges | None = None
    ) -> list[AcceptedRow]:
        """See memory.store.conversations.inbox.accept."""
        delivered = [
            Delivered(place=arrival.place, key=arrival.key, sender=None) for arrival in arrivals
        ]
        return await self.accept_by_grants(delivered, lambda _: arrivals, keep)

    async def accept_by_grants(
        self, delivered: Sequence[Delivered], admit: Admit, keep: NoteChanges | None = None
    ) -> list[AcceptedRow]:
        """Store messages as `accept` does, by the grants that their senders have at this moment.

        Args:
            admit: makes the rows of these messages, one for each, with their places and keys.
        """
        accepted = await self._database.write(_accept_by_grants, delivered, admit, keep)
        await hit_async("recv.committed")
        return accepted

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
        """See memory.store.conversations.turns.finish_turn."""
        finished = await self._database.write(
            turns.finish_turn, turn, state, final, out, usage, remember=remember
        )
        await hit_async("finish.committed")
        if remember:
            await hit_async("extract.queued")
        return finished

    async def finish_and_look(
        self,
        turn: TurnRow,
        state: TurnState,
        final: NewMessage | None,
        out: Sequence[NewOutboxRow],
        usage: Sequence[Usage] = (),
        *,
        remember: bool = False,
        views: ViewBatch = NO_VIEWS,
    ) -> FinishedTurn:
        """See memory.store.conversations.turns.finish_turn_and_look."""
        finished = await self._database.write(
            turns.finish_turn_and_look,
            turn,
            state,
            final,
            out,
            usage,
            remember=remember,
            views=views,
        )
        await hit_async("finish.committed")
        if remember:
            await hit_async("extract.queued")
        return finished

    async def recover(self, *, alone: bool = True) -> RecoveryReport:
        """Find what processes that are gone left unfinished, in short transactions; a second run
        changes nothing.

        Args:
            alone: whether no other process has the store open. Then rows that were to overtake
                their queue, or waited for more parts of their album, are requeued.
        """
        database = self._database
        await hit_async("recover.r4")
        await database.write(settle_orphaned_calls)
        await hit_async("recover.r6")
        orphaned = await database.write(_load_orphaned_turns)
        if alone:
            await database.write(_requeue_waiting)
        await hit_async("recover.r7")
        folds = await database.write(take_over)
        await hit_async("recover.r8")
        sends = await database.write(outbox.settle_orphaned)
        await hit_async("recover.r9")
        return RecoveryReport(
            turns=tuple(orphaned),
            folds=tuple(folds),
            calls_unknown=await database.read(count_unknown),
            sends_unknown=sends,
            inbox_waiting=await database.read(_count_waiting),
        )
