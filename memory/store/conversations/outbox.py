"""The parts of replies and notices to send: queued, marked as sending before a send, and settled
after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import and_, bindparam, case, exists, func, or_, select, update

from memory.ids import derive_key, new_id
from memory.store.conversations.messages import take_numbers
from memory.store.engine.database import QueueKey, Row, Tx, insert_into, light, soft
from memory.store.errors import WrongState
from memory.store.linked_spaces import PLACE_COLUMNS
from memory.store.rows import (
    HELD_UNTIL_REPLY,
    NewOutboxRow,
    Notice,
    OutboxRow,
    OutboxState,
    Place,
    SendOutcome,
    column_values,
    columns_of,
    new_binds,
    to_outbox_row,
)
from memory.store.schema.tables import (
    conversation,
    inbox,
    is_lease_void,
    is_one_of,
    literal_text,
    outbox,
)

# As not_before of a part that is due or being sent: the person has written since, so it is not held
# for that again.
_REPLIED_SINCE = -1.0
_SELECT_BY_SOURCE = select(outbox.c.id).where(outbox.c.source == bindparam("source")).limit(1)
_IS_OPEN = is_one_of(outbox.c.state, "pending", "sending", "unknown")
_SELECT_UNSENT = (
    select(outbox.c.conversation)
    .where(_IS_OPEN, outbox.c.state != literal_text("sending"))
    .distinct()
)
# a reply quotes what was asked on the page: only its first part needs the words
_IS_REPLY_TO_PAGE = and_(
    outbox.c.part_no == 0,
    is_one_of(outbox.c.kind, "final", "notice"),
    inbox.c.body.like(literal_text('%"written_on": "page"%')),
)
_SELECT = (
    select(
        *columns_of(OutboxRow, outbox),
        *PLACE_COLUMNS,
        func.coalesce(inbox.c.key, "").label("reply_to_key"),
        func.coalesce(inbox.c.trace_id, "").label("trace_id"),
        case((_IS_REPLY_TO_PAGE, inbox.c.body), else_=literal_text("")).label("page_body"),
    )
    .join(conversation, conversation.c.id == outbox.c.conversation)
    .outerjoin(inbox, inbox.c.id == outbox.c.reply_to)
)
_SELECT_ONE = _SELECT.where(outbox.c.id == bindparam("id"))
_other = outbox.alias("other")
_IS_ANOTHER_SENDING = exists().where(
    _other.c.conversation == outbox.c.conversation, _other.c.state == literal_text("sending")
)
_HAS_EARLIER_PART = exists().where(
    _other.c.source == outbox.c.source,
    _other.c.part_no < outbox.c.part_no,
    is_one_of(_other.c.state, "pending", "sending"),
)
_SELECT_NEXT = (
    _SELECT.where(
        outbox.c.conversation == bindparam("conversation"),
        _IS_OPEN,
        outbox.c.state == literal_text("pending"),
        ~_IS_ANOTHER_SENDING,
    )
    .order_by(outbox.c.line, outbox.c.part_no)
    .limit(1)
)
_SELECT_OPEN_PART = (
    select(outbox.c.id).where(outbox.c.conversation == bindparam("conversation"), _IS_OPEN).limit(1)
)
_MARK_SENDING = (
    update(outbox)
    .where(
        outbox.c.id == bindparam("id"),
        outbox.c.state == literal_text("pending"),
        ~_IS_ANOTHER_SENDING,
        ~_HAS_EARLIER_PART,
    )
    .values(
        state=literal_text("sending"),
        attempts=outbox.c.attempts + 1,
        not_before=case((outbox.c.not_before == _REPLIED_SINCE, _REPLIED_SINCE), else_=0.0),
        key_expires=case(
            (outbox.c.key_expires != 0.0, outbox.c.key_expires),
            (outbox.c.key_valid != 0.0, outbox.c.key_valid + bindparam("now")),
            else_=0.0,
        ),
        lease_epoch=bindparam("new_lease_epoch"),
    )
)
_SELECT_TO_SETTLE = _SELECT.add_columns(
    outbox.c.epoch, conversation.c.epoch.label("conversation_epoch"), outbox.c.lease_epoch
).where(outbox.c.id == bindparam("id"))
_sent = outbox.alias("sent")
_SELECT_ANOTHER = (
    select(outbox.c.id)
    .where(
        outbox.c.conversation
        == select(_sent.c.conversation).where(_sent.c.id == bindparam("id")).scalar_subquery(),
        _IS_OPEN,
        outbox.c.state == literal_text("pending"),
        outbox.c.id != bindparam("id"),
    )
    .limit(1)
)
_SETTLED_COLUMNS = ("state", "repeats", "plain", "not_before", "platform_id", "error")
_SETTLE = (
    update(outbox)
    .where(
        outbox.c.id == bindparam("id"),
        outbox.c.state == literal_text("sending"),
        outbox.c.lease_epoch == bindparam("lease_epoch"),
    )
    .values(**new_binds(*_SETTLED_COLUMNS), settled=bindparam("now"))
)
_FAIL_LATER_PARTS = (
    update(outbox)
    .where(
        outbox.c.source == bindparam("source"),
        outbox.c.part_no > bindparam("part_no"),
        outbox.c.state == literal_text("pending"),
    )
    .values(
        state=literal_text("failed"),
        error=literal_text("an earlier part failed"),
        settled=bindparam("now"),
    )
)
_SELECT_SENT_PART = (
    select(outbox.c.id)
    .where(outbox.c.source == bindparam("source"), outbox.c.state == literal_text("sent"))
    .limit(1)
)
_SELECT_PLATFORM_ID = (
    select(outbox.c.platform_id)
    .where(
        outbox.c.source == bindparam("source"),
        outbox.c.state == literal_text("sent"),
        outbox.c.part_no == 0,
    )
    .limit(1)
)
_DROP = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("conversation"),
        outbox.c.state == literal_text("pending"),
        outbox.c.kind != literal_text("notice"),
        ~exists().where(_other.c.source == outbox.c.source, _other.c.state == literal_text("sent")),
    )
    .values(state=literal_text("dropped"))
)
_MOVE_TO_EPOCH = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("conversation"),
        is_one_of(outbox.c.state, "pending", "sending"),
        outbox.c.epoch == bindparam("epoch"),
    )
    .values(epoch=bindparam("new_epoch"))
)
_IS_HELD = (outbox.c.state == literal_text("pending")) & (outbox.c.not_before >= bindparam("held"))
# A part that is due may be with its channel already, which has not reported yet that it is being
# sent.
_IS_DUE = (outbox.c.state == literal_text("pending")) & (outbox.c.not_before <= bindparam("now"))
_RELEASE = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("conversation"),
        _IS_OPEN,  # for the index of open parts: a long conversation has many that were sent
        or_(outbox.c.state == literal_text("sending"), _IS_HELD, _IS_DUE),
    )
    .values(not_before=case((_IS_HELD, 0.0), else_=_REPLIED_SINCE))
)
_SELECT_ORPHANED = select(outbox.c.id, outbox.c.lease_epoch).where(
    _IS_OPEN, outbox.c.state == literal_text("sending"), is_lease_void(outbox.c.lease_epoch)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPartState:
    """The state of a part after a send; fields as in OutboxRow."""

    state: OutboxState
    repeats: int
    not_before: float = 0.0


def next_state(row: OutboxRow, outcome: SendOutcome, now: float, *, fenced: bool) -> NextPartState:
    """Return the state of a part after `sending`.

    A part of unknown outcome is sent again while the platform recognises its key, else once more as
    a repeat.

    Args:
        now: unix seconds.
        fenced: its conversation was cleared, it is no notice, and no part of its source has been
            sent.

    Raises:
        WrongState: a send has no such outcome.
    """
    if outcome.state in ("sent", "failed"):
        return NextPartState(state=outcome.state, repeats=row.repeats)
    if outcome.state not in ("pending", "unknown"):
        raise WrongState(f"a send does not end as {outcome.state}")
    if fenced:
        return NextPartState(state="dropped", repeats=row.repeats)
    if outcome.state == "pending" or row.key_expires > now:
        has_replied = outcome.retry_at >= HELD_UNTIL_REPLY and row.not_before == _REPLIED_SINCE
        return NextPartState(
            state="pending",
            repeats=row.repeats,
            not_before=0.0 if has_replied else outcome.retry_at,
        )
    if row.kind != "progress" and row.repeats == 0:
        return NextPartState(state="pending", repeats=1, not_before=outcome.retry_at)
    return NextPartState(state="dropped", repeats=row.repeats)


async def add_parts(
    tx: Tx,
    conversation_id: str,
    source: str,
    out: Sequence[NewOutboxRow],
    reply_to: str = "",
    taken: Row | None = None,
) -> None:
    """Queue all parts of one reply.

    Args:
        taken: the result of `take_numbers` where the caller has taken the parts' lines already.
    """
    if not out:
        return
    conversation_row = taken or await take_numbers(
        tx, conversation_id, lines=len(out), touched=True
    )
    for line, part in enumerate(out, conversation_row["next_line"] - len(out)):
        await tx.execute(
            insert_into(outbox),
            **column_values(part, outbox),
            id=new_id(tx.now),
            conversation=conversation_id,
            source=source,
            epoch=conversation_row["epoch"],
            client_key=derive_key(source, part.part_no),
            state="pending",
            reply_to=reply_to,
            line=line,
            created=tx.now,
        )
    tx.notify(QueueKey(kind="out", id=conversation_id, channel=conversation_row["channel"]))


@light
async def add_notices(tx: Tx, conversation: str, source: str, out: Sequence[NewOutboxRow]) -> None:
    """Queue notices that reply to no message; a source that exists already changes nothing."""
    if (await tx.execute(_SELECT_BY_SOURCE, source=source)).first() is None:
        await add_parts(tx, conversation, source, out)


async def add_all_notices(tx: Tx, notices: Sequence[Notice]) -> None:
    """Queue notices in the transaction that they report."""
    for notice in notices:
        await add_notices(tx, notice.conversation, notice.source, notice.out)


@light
async def load_platform_id(tx: Tx, source: str) -> str:
    """Load the platform's id of the first part of a source; "" if it was not sent, or the platform
    gives none.
    """
    row = (await tx.execute(_SELECT_PLATFORM_ID, source=source)).first()
    return str(row["platform_id"]) if row else ""


async def load_unsent(tx: Tx) -> list[str]:
    """Load the conversations that have outbox rows pending or unknown."""
    return [row["conversation"] for row in (await tx.execute(_SELECT_UNSENT)).all()]


async def release(tx: Tx, conversation_id: str, place: Place) -> None:
    """Release the parts that were held until the person writes again."""
    if (
        await tx.execute(_RELEASE, conversation=conversation_id, held=HELD_UNTIL_REPLY, now=tx.now)
    ).rowcount:
        tx.notify(QueueKey(kind="out", id=conversation_id, channel=place.channel))


@light
async def has_open_parts(tx: Tx, conversation: str) -> bool:
    """Return whether parts of earlier replies are not sent yet."""
    return (await tx.execute(_SELECT_OPEN_PART, conversation=conversation)).first() is not None


@light
async def next_row(tx: Tx, conversation: str) -> OutboxRow | None:
    """Load the oldest pending part, due or not; None while another part of the conversation is
    being sent.
    """
    row = (await tx.execute(_SELECT_NEXT, conversation=conversation)).first()
    return to_outbox_row(row) if row else None


@light
async def mark_sending(tx: Tx, id: str) -> OutboxRow | None:
    """Set a part from pending to sending and count the attempt; None when it is no longer
    pending.
    """
    if not (await tx.execute(_MARK_SENDING, id=id, new_lease_epoch=tx.lease, now=tx.now)).rowcount:
        return None
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    return to_outbox_row(row) if row else None


@light
async def settle_not_sent(tx: Tx, id: str, outcome: SendOutcome) -> OutboxRow | None:
    """Mark and settle at once a part that was certainly not sent; None when it is no longer
    pending.

    Raises:
        WrongState: the outcome is none of a send.
    """
    return await _settle(tx, id, outcome, tx.lease) if await mark_sending(tx, id) else None


@soft
@light
async def settle_sent_and_look(tx: Tx, id: str, outcome: SendOutcome) -> tuple[OutboxRow, bool]:
    """Store the outcome of a send as `settle_sent` does; return whether another part waits, too."""
    settled = await _settle(tx, id, outcome, tx.lease)
    another = (await tx.execute(_SELECT_ANOTHER, id=id)).first()
    return settled, settled.state == "pending" or another is not None


@soft
@light
async def settle_sent(tx: Tx, id: str, outcome: SendOutcome) -> OutboxRow:
    """Store the outcome of a send; see `next_state`.

    "failed" also fails the later parts of the source.

    Raises:
        WrongState: the part is not being sent, or not by this process.
    """
    return await _settle(tx, id, outcome, tx.lease)


async def settle_orphaned(tx: Tx) -> int:
    """Settle as unknown all parts that processes were sending when they ended; return how many."""
    orphaned = (await tx.execute(_SELECT_ORPHANED)).all()
    outcome = SendOutcome(state="unknown", error="the program ended while this was sent")
    for row in orphaned:
        await _settle(tx, row["id"], outcome, row["lease_epoch"])
    return len(orphaned)


async def drop_unsent(tx: Tx, conversation_id: str) -> None:
    """At a clear: drop pending parts of sources of which nothing has been sent, except notices."""
    await tx.execute(_DROP, conversation=conversation_id)


async def keep_unsent(tx: Tx, conversation_id: str, epoch: int, new_epoch: int) -> None:
    """When a clear is undone: move the unsent parts of the former epoch to the new one."""
    await tx.execute(_MOVE_TO_EPOCH, conversation=conversation_id, epoch=epoch, new_epoch=new_epoch)


async def _settle(tx: Tx, id: str, outcome: SendOutcome, lease: int) -> OutboxRow:
    found = (await tx.execute(_SELECT_TO_SETTLE, id=id)).first()
    if found is None:
        raise WrongState(f"there is no outbox row {id}")
    columns = dict(found)
    epochs, holder = (
        (columns.pop("epoch"), columns.pop("conversation_epoch")),
        columns.pop("lease_epoch"),
    )
    row = to_outbox_row(columns)
    if row.state != "sending" or holder != lease:
        raise WrongState(f"outbox row {id} is {row.state}, or not ours")
    is_stale = row.kind != "notice" and epochs[0] != epochs[1]
    fenced = is_stale and (await tx.execute(_SELECT_SENT_PART, source=row.source)).first() is None
    after = next_state(row, outcome, tx.now, fenced=fenced)
    settled = replace(
        row,
        state=after.state,
        repeats=after.repeats,
        plain=row.plain or outcome.plain,
        not_before=after.not_before,
        platform_id=outcome.platform_id or row.platform_id,
        error=outcome.error,
    )
    new = {f"new_{name}": getattr(settled, name) for name in _SETTLED_COLUMNS}
    # What was read above is still so, or the unit fails and is run again.
    await tx.execute(_SETTLE, id=id, lease_epoch=lease, **new, now=tx.now)
    if after.state == "failed":
        await tx.execute(_FAIL_LATER_PARTS, source=row.source, part_no=row.part_no, now=tx.now)
    return settled
