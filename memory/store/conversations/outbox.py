"""What goes out: the parts of answers, T7 and T8."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, case, exists, func, insert, or_, select, update

from memory.ids import derive_key, new_id
from memory.store.conversations.messages import take_numbers
from memory.store.engine.database import QueueKey, Row, Tx, single_query
from memory.store.errors import WrongState
from memory.store.rows import (
    HELD_UNTIL_REPLY,
    PLACE_COLUMNS,
    NewOutboxRow,
    OutboxRow,
    OutboxState,
    Place,
    SendOutcome,
    columns_of,
    to_outbox_row,
)
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.tables import conversation, inbox, is_lease_void, outbox

_INSERT = insert(outbox)
# As not_before of a part that is due or being sent: the person has written, so it need not wait for that.
_REPLIED_SINCE = -1.0
_SELECT_BY_SOURCE = select(outbox.c.id).where(outbox.c.source == bindparam("source")).limit(1)
_IS_OPEN = is_one_of(outbox.c.state, "pending", "sending", "unknown")
_SELECT_UNSENT = select(outbox.c.conversation).where(_IS_OPEN, outbox.c.state != literal_text("sending")).distinct()
_SELECT = (
    select(
        *columns_of(OutboxRow, outbox),
        *PLACE_COLUMNS,
        func.coalesce(inbox.c.key, "").label("reply_to_key"),
        func.coalesce(inbox.c.trace_id, "").label("trace_id"),
    )
    .join(conversation, conversation.c.id == outbox.c.conversation)
    .outerjoin(inbox, inbox.c.id == outbox.c.reply_to)
)
_SELECT_ONE = _SELECT.where(outbox.c.id == bindparam("row"))
_other = outbox.alias("other")
_IS_ANOTHER_SENDING = exists().where(
    _other.c.conversation == outbox.c.conversation, _other.c.state == literal_text("sending")
)
_HAS_EARLIER_PART = exists().where(
    _other.c.source == outbox.c.source,
    _other.c.part_no < outbox.c.part_no,
    or_(_other.c.state == literal_text("pending"), _other.c.state == literal_text("sending")),
)
_SELECT_NEXT = (
    _SELECT.where(
        outbox.c.conversation == bindparam("row"),
        _IS_OPEN,
        outbox.c.state == literal_text("pending"),
        ~_IS_ANOTHER_SENDING,
    )
    .order_by(outbox.c.line, outbox.c.part_no)
    .limit(1)
)
_SELECT_OPEN_PART = select(outbox.c.id).where(outbox.c.conversation == bindparam("row"), _IS_OPEN).limit(1)
_MARK_SENDING = (
    update(outbox)
    .where(
        outbox.c.id == bindparam("row"),
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
            (outbox.c.key_valid != 0.0, outbox.c.key_valid + bindparam("begun")),
            else_=0.0,
        ),
        lease_epoch=bindparam("mine"),
    )
)
_SELECT_WITH_EPOCHS = _SELECT.add_columns(outbox.c.epoch, conversation.c.epoch.label("home_epoch")).where(
    outbox.c.id == bindparam("row")
)
_SETTLE = (
    update(outbox)
    .where(
        outbox.c.id == bindparam("row"),
        outbox.c.state == literal_text("sending"),
        outbox.c.lease_epoch == bindparam("holder"),
    )
    .values(
        state=bindparam("became"),
        repeats=bindparam("repeated"),
        plain=bindparam("as_plain"),
        not_before=bindparam("after"),
        platform_id=bindparam("platform"),
        error=bindparam("why"),
        settled=bindparam("at"),
    )
)
_FAIL_LATER_PARTS = (
    update(outbox)
    .where(
        outbox.c.source == bindparam("origin"),
        outbox.c.part_no > bindparam("part"),
        outbox.c.state == literal_text("pending"),
    )
    .values(state=literal_text("failed"), error=bindparam("why"), settled=bindparam("at"))
)
_SELECT_SENT_PART = (
    select(outbox.c.id).where(outbox.c.source == bindparam("source"), outbox.c.state == literal_text("sent")).limit(1)
)
_DROP = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("row"),
        outbox.c.state == literal_text("pending"),
        outbox.c.kind != literal_text("notice"),
        ~exists().where(_other.c.source == outbox.c.source, _other.c.state == literal_text("sent")),
    )
    .values(state=literal_text("dropped"))
)
_MOVE_TO_EPOCH = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("row"),
        or_(outbox.c.state == literal_text("pending"), outbox.c.state == literal_text("sending")),
        outbox.c.epoch == bindparam("former"),
    )
    .values(epoch=bindparam("now_epoch"))
)
_IS_HELD = (outbox.c.state == literal_text("pending")) & (outbox.c.not_before >= bindparam("held"))
# One that is due may be with a channel that has not said yet that it leaves.
_IS_DUE = (outbox.c.state == literal_text("pending")) & (outbox.c.not_before <= bindparam("now"))
_RELEASE = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("row"),
        _IS_OPEN,  # the index of open parts: a long conversation has many that are long gone
        or_(outbox.c.state == literal_text("sending"), _IS_HELD, _IS_DUE),
    )
    .values(not_before=case((_IS_HELD, 0.0), else_=_REPLIED_SINCE))
)
_SELECT_ORPHANED = select(outbox.c.id, outbox.c.lease_epoch).where(
    _IS_OPEN, outbox.c.state == literal_text("sending"), is_lease_void(outbox.c.lease_epoch)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPartState:
    """What a part becomes after a send."""

    state: OutboxState
    repeats: int
    #: Unix seconds.
    not_before: float = 0.0


def next_state(row: OutboxRow, outcome: SendOutcome, now: float, *, fenced: bool) -> NextPartState:
    """Where a part goes from `sending`. Pure.

    Args:
        now: unix seconds.
        fenced: its conversation was cleared, it is no notice, and no part of its source has been sent.

    Raises:
        WrongState: that fate is not drawn.
    """
    if outcome.state in ("sent", "failed"):
        return NextPartState(state=outcome.state, repeats=row.repeats)
    if outcome.state not in ("pending", "unknown"):
        raise WrongState(f"a send does not end as {outcome.state}")
    if fenced:
        return NextPartState(state="dropped", repeats=row.repeats)
    if outcome.state == "pending" or row.key_expires > now:
        again = outcome.retry_at >= HELD_UNTIL_REPLY and row.not_before == _REPLIED_SINCE
        return NextPartState(state="pending", repeats=row.repeats, not_before=0.0 if again else outcome.retry_at)
    if row.kind != "progress" and row.repeats == 0:
        return NextPartState(state="pending", repeats=1, not_before=outcome.retry_at)
    return NextPartState(state="dropped", repeats=row.repeats)


async def add_parts(
    tx: Tx, conversation_id: str, source: str, out: Sequence[NewOutboxRow], reply_to: str = "", taken: Row | None = None
) -> None:
    """All parts of one answer, in the order they will be seen.

    taken: the conversation's row, where their lines have been taken already.
    """
    if not out:
        return
    conversation_row = taken or await take_numbers(tx, conversation_id, lines=len(out), touched=True)
    first = conversation_row["next_line"] - len(out)
    for line, part in enumerate(out, first):
        await tx.run(
            _INSERT,
            id=new_id(tx.now),
            conversation=conversation_id,
            source=source,
            part_no=part.part_no,
            parts=part.parts,
            epoch=conversation_row["epoch"],
            kind=part.kind,
            client_key=derive_key(source, part.part_no),
            text=part.text,
            state="pending",
            key_valid=part.key_valid,
            payload=part.payload,
            reply_to=reply_to,
            line=line,
            created=tx.now,
        )
    tx.notify(QueueKey(kind="out", id=conversation_id, channel=conversation_row["channel"]))


async def add_notices(tx: Tx, conversation: str, source: str, out: Sequence[NewOutboxRow]) -> None:
    """Notice rows that answer no inbox row; the same source twice changes nothing."""
    if await tx.one(_SELECT_BY_SOURCE, source=source) is None:
        await add_parts(tx, conversation, source, out)


@single_query
async def load_unsent(tx: Tx) -> list[str]:
    """Conversations that have outbox rows pending or unknown."""
    return [row["conversation"] for row in await tx.all(_SELECT_UNSENT)]


async def release(tx: Tx, conversation_id: str, place: Place) -> None:
    """The person has written: what waited for that may go."""
    if await tx.run(_RELEASE, row=conversation_id, held=HELD_UNTIL_REPLY, now=tx.now):
        tx.notify(QueueKey(kind="out", id=conversation_id, channel=place.channel))


@single_query
async def has_open_parts(tx: Tx, conversation: str) -> bool:
    """Whether parts of earlier answers are still on their way."""
    return await tx.one(_SELECT_OPEN_PART, row=conversation) is not None


@single_query
async def next_row(tx: Tx, conversation: str) -> OutboxRow | None:
    """The oldest part that may go next (pending, whatever its not_before), none while one is sending."""
    row = await tx.one(_SELECT_NEXT, row=conversation)
    return to_outbox_row(row) if row else None


async def mark_sending(tx: Tx, id: str) -> OutboxRow | None:
    """T7: pending -> sending, attempts + 1; None when it is no longer pending."""
    taken = await tx.run(_MARK_SENDING, row=id, mine=tx.lease, begun=tx.now)
    return await _load_row(tx, id) if taken else None


async def settle_not_sent(tx: Tx, id: str, outcome: SendOutcome) -> OutboxRow | None:
    """T7 and T8 in one, for a part that surely did not leave; None when it is no longer pending."""
    return await _settle(tx, id, outcome, tx.lease) if await mark_sending(tx, id) else None


async def settle_sent(tx: Tx, id: str, outcome: SendOutcome) -> OutboxRow:
    """T8. "unknown" is settled at once by the diagram: pending again (key valid, or marked), or dropped.

    "failed" fails the later parts of the source too.
    """
    return await _settle(tx, id, outcome, tx.lease)


async def settle_orphaned(tx: Tx) -> int:
    """T8 of every part that an earlier life left in `sending`: nobody knows what became of it."""
    void = await tx.all(_SELECT_ORPHANED)
    for row in void:
        await _settle(
            tx,
            row["id"],
            SendOutcome(state="unknown", error="the program ended while this was sent"),
            row["lease_epoch"],
        )
    return len(void)


async def drop_unsent(tx: Tx, conversation_id: str) -> None:
    """At a clear: pending parts of sources of which nothing has been sent, notices excepted."""
    await tx.run(_DROP, row=conversation_id)


async def keep_unsent(tx: Tx, conversation_id: str, former: int, epoch: int) -> None:
    """At the undoing of a clear: what is on its way stays wanted under the new epoch."""
    await tx.run(_MOVE_TO_EPOCH, row=conversation_id, former=former, now_epoch=epoch)


async def _settle(tx: Tx, id: str, outcome: SendOutcome, holder: int) -> OutboxRow:
    held = await tx.one(_SELECT_WITH_EPOCHS, row=id)
    if held is None:
        raise WrongState(f"there is no outbox row {id}")
    row = to_outbox_row({name: held[name] for name in held.keys() if name not in ("epoch", "home_epoch")})  # noqa: SIM118
    after = next_state(row, outcome, tx.now, fenced=await _is_fenced(tx, row, held))
    became = replace(
        row,
        state=after.state,
        repeats=after.repeats,
        plain=row.plain or outcome.plain,
        not_before=after.not_before,
        platform_id=outcome.platform_id or row.platform_id,
        error=outcome.error,
    )
    changed = await tx.run(
        _SETTLE,
        row=id,
        holder=holder,
        became=became.state,
        repeated=became.repeats,
        as_plain=became.plain,
        after=became.not_before,
        platform=became.platform_id,
        why=became.error,
        at=tx.now,
    )
    if not changed:
        raise WrongState(f"outbox row {id} is {row.state}, or not ours")
    if after.state == "failed":
        await tx.run(_FAIL_LATER_PARTS, origin=row.source, part=row.part_no, why="an earlier part failed", at=tx.now)
    return became


async def _is_fenced(tx: Tx, row: OutboxRow, held: Row) -> bool:
    if row.kind == "notice" or held["home_epoch"] == held["epoch"]:
        return False
    return await tx.one(_SELECT_SENT_PART, source=row.source) is None


async def _load_row(tx: Tx, id: str) -> OutboxRow:
    row = await tx.one(_SELECT_ONE, row=id)
    if row is None:
        raise WrongState(f"there is no outbox row {id}")
    return to_outbox_row(row)
