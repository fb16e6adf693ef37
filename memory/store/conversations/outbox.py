"""What goes out: the parts of answers, T7 and T8."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, case, exists, func, insert, or_, select, update

from memory.ids import key_of, new_id
from memory.store.conversations.messages import take
from memory.store.engine.database import Lane, Row, Tx, glance
from memory.store.errors import WrongState
from memory.store.rows import HELD, PLACE, Fate, OutboxRow, OutboxState, Outgoing, Place, columns_of, outbox_row
from memory.store.schema.columns import among, word
from memory.store.schema.tables import conversation, inbox, outbox, void

_ADD = insert(outbox)
_HEARD_SINCE = -1.0
"""As not_before of a part that is due or being sent: the person has written, so it need not wait for that."""
_TOLD = select(outbox.c.id).where(outbox.c.source == bindparam("source")).limit(1)
_OPEN = among(outbox.c.state, "pending", "sending", "unknown")
_UNSENT = select(outbox.c.conversation).where(_OPEN, outbox.c.state != word("sending")).distinct()
_OUTBOX = (
    select(
        *columns_of(OutboxRow, outbox),
        *PLACE,
        func.coalesce(inbox.c.key, "").label("reply_to_key"),
        func.coalesce(inbox.c.trace_id, "").label("trace_id"),
    )
    .join(conversation, conversation.c.id == outbox.c.conversation)
    .outerjoin(inbox, inbox.c.id == outbox.c.reply_to)
)
_ONE = _OUTBOX.where(outbox.c.id == bindparam("row"))
_other = outbox.alias("other")
_ON_ITS_WAY = exists().where(_other.c.conversation == outbox.c.conversation, _other.c.state == word("sending"))
_EARLIER = exists().where(
    _other.c.source == outbox.c.source,
    _other.c.part_no < outbox.c.part_no,
    or_(_other.c.state == word("pending"), _other.c.state == word("sending")),
)
_NEXT = (
    _OUTBOX.where(
        outbox.c.conversation == bindparam("row"),
        _OPEN,
        outbox.c.state == word("pending"),
        ~_ON_ITS_WAY,
    )
    .order_by(outbox.c.line, outbox.c.part_no)
    .limit(1)
)
_OWED = select(outbox.c.id).where(outbox.c.conversation == bindparam("row"), _OPEN).limit(1)
_SENDING = (
    update(outbox)
    .where(outbox.c.id == bindparam("row"), outbox.c.state == word("pending"), ~_ON_ITS_WAY, ~_EARLIER)
    .values(
        state=word("sending"),
        attempts=outbox.c.attempts + 1,
        not_before=case((outbox.c.not_before == _HEARD_SINCE, _HEARD_SINCE), else_=0.0),
        key_expires=case(
            (outbox.c.key_expires != 0.0, outbox.c.key_expires),
            (outbox.c.key_valid != 0.0, outbox.c.key_valid + bindparam("begun")),
            else_=0.0,
        ),
        lease_epoch=bindparam("mine"),
    )
)
_HELD = _OUTBOX.add_columns(outbox.c.epoch, conversation.c.epoch.label("home_epoch")).where(
    outbox.c.id == bindparam("row")
)
_SENT = (
    update(outbox)
    .where(
        outbox.c.id == bindparam("row"), outbox.c.state == word("sending"), outbox.c.lease_epoch == bindparam("holder")
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
_LATER_FAIL = (
    update(outbox)
    .where(
        outbox.c.source == bindparam("origin"),
        outbox.c.part_no > bindparam("part"),
        outbox.c.state == word("pending"),
    )
    .values(state=word("failed"), error=bindparam("why"), settled=bindparam("at"))
)
_GONE = select(outbox.c.id).where(outbox.c.source == bindparam("source"), outbox.c.state == word("sent")).limit(1)
_DROP = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("row"),
        outbox.c.state == word("pending"),
        outbox.c.kind != word("notice"),
        ~exists().where(_other.c.source == outbox.c.source, _other.c.state == word("sent")),
    )
    .values(state=word("dropped"))
)
_KEEP_EPOCH = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("row"),
        or_(outbox.c.state == word("pending"), outbox.c.state == word("sending")),
        outbox.c.epoch == bindparam("former"),
    )
    .values(epoch=bindparam("now_epoch"))
)
_IS_HELD = (outbox.c.state == word("pending")) & (outbox.c.not_before >= bindparam("held"))
# One that is due may be with a channel that has not said yet that it leaves.
_IS_DUE = (outbox.c.state == word("pending")) & (outbox.c.not_before <= bindparam("now"))
_RELEASE = (
    update(outbox)
    .where(
        outbox.c.conversation == bindparam("row"),
        _OPEN,  # the index of open parts: a long conversation has many that are long gone
        or_(outbox.c.state == word("sending"), _IS_HELD, _IS_DUE),
    )
    .values(not_before=case((_IS_HELD, 0.0), else_=_HEARD_SINCE))
)
_VOID = select(outbox.c.id, outbox.c.lease_epoch).where(
    _OPEN, outbox.c.state == word("sending"), void(outbox.c.lease_epoch)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """What a part becomes after a send. not_before: unix seconds."""

    state: OutboxState
    repeats: int
    not_before: float = 0.0


def diagram(row: OutboxRow, fate: Fate, now: float, *, fenced: bool) -> Next:
    """Where a part goes from `sending`. Pure.

    Args:
        now: unix seconds.
        fenced: its conversation was cleared, it is no notice, and no part of its source has been sent.

    Raises:
        WrongState: that fate is not drawn.
    """
    if fate.state in ("sent", "failed"):
        return Next(state=fate.state, repeats=row.repeats)
    if fate.state not in ("pending", "unknown"):
        raise WrongState(f"a send does not end as {fate.state}")
    if fenced:
        return Next(state="dropped", repeats=row.repeats)
    if fate.state == "pending" or row.key_expires > now:
        again = fate.retry_at >= HELD and row.not_before == _HEARD_SINCE
        return Next(state="pending", repeats=row.repeats, not_before=0.0 if again else fate.retry_at)
    if row.kind != "progress" and row.repeats == 0:
        return Next(state="pending", repeats=1, not_before=fate.retry_at)
    return Next(state="dropped", repeats=row.repeats)


async def add_parts(
    tx: Tx, conversation_id: str, source: str, out: Sequence[Outgoing], reply_to: str = "", taken: Row | None = None
) -> None:
    """All parts of one answer, in the order they will be seen.

    taken: the conversation's row, where their lines have been taken already.
    """
    if not out:
        return
    home = taken or await take(tx, conversation_id, lines=len(out), touched=True)
    first = home["next_line"] - len(out)
    for line, part in enumerate(out, first):
        await tx.run(
            _ADD,
            id=new_id(tx.now),
            conversation=conversation_id,
            source=source,
            part_no=part.part_no,
            parts=part.parts,
            epoch=home["epoch"],
            kind=part.kind,
            client_key=key_of(source, part.part_no),
            text=part.text,
            state="pending",
            key_valid=part.key_valid,
            payload=part.payload,
            reply_to=reply_to,
            line=line,
            created=tx.now,
        )
    tx.ring(Lane(kind="out", id=conversation_id, channel=home["channel"]))


async def notify(tx: Tx, conversation_id: str, source: str, out: Sequence[Outgoing]) -> None:
    if await tx.one(_TOLD, source=source) is None:
        await add_parts(tx, conversation_id, source, out)


@glance
async def unsent(tx: Tx) -> list[str]:
    return [row["conversation"] for row in await tx.all(_UNSENT)]


async def release(tx: Tx, conversation_id: str, place: Place) -> None:
    """The person has written: what waited for that may go."""
    if await tx.run(_RELEASE, row=conversation_id, held=HELD, now=tx.now):
        tx.ring(Lane(kind="out", id=conversation_id, channel=place.channel))


@glance
async def owes(tx: Tx, conversation_id: str) -> bool:
    return await tx.one(_OWED, row=conversation_id) is not None


@glance
async def next_out(tx: Tx, conversation_id: str) -> OutboxRow | None:
    row = await tx.one(_NEXT, row=conversation_id)
    return outbox_row(row) if row else None


async def sending(tx: Tx, id: str) -> OutboxRow | None:
    """T7. The key's time runs from the first send."""
    taken = await tx.run(_SENDING, row=id, mine=tx.lease, begun=tx.now)
    return await _read(tx, id) if taken else None


async def stayed(tx: Tx, id: str, fate: Fate) -> OutboxRow | None:
    """T7 and T8 in one of a part that did not leave; None when it is no longer pending."""
    return await _settle(tx, id, fate, tx.lease) if await sending(tx, id) else None


async def sent(tx: Tx, id: str, fate: Fate) -> OutboxRow:
    """T8 of a part that we are sending."""
    return await _settle(tx, id, fate, tx.lease)


async def settle_void(tx: Tx) -> int:
    """T8 of every part that an earlier life left in `sending`: nobody knows what became of it."""
    void = await tx.all(_VOID)
    for row in void:
        await _settle(
            tx, row["id"], Fate(state="unknown", error="the program ended while this was sent"), row["lease_epoch"]
        )
    return len(void)


async def drop_unsent(tx: Tx, conversation_id: str) -> None:
    """At a clear: pending parts of sources of which nothing has been sent, notices excepted."""
    await tx.run(_DROP, row=conversation_id)


async def keep_unsent(tx: Tx, conversation_id: str, former: int, epoch: int) -> None:
    """At the undoing of a clear: what is on its way stays wanted under the new epoch."""
    await tx.run(_KEEP_EPOCH, row=conversation_id, former=former, now_epoch=epoch)


async def _settle(tx: Tx, id: str, fate: Fate, holder: int) -> OutboxRow:
    held = await tx.one(_HELD, row=id)
    if held is None:
        raise WrongState(f"there is no outbox row {id}")
    row = outbox_row({name: held[name] for name in held.keys() if name not in ("epoch", "home_epoch")})  # noqa: SIM118
    after = diagram(row, fate, tx.now, fenced=await _fenced(tx, row, held))
    became = replace(
        row,
        state=after.state,
        repeats=after.repeats,
        plain=row.plain or fate.plain,
        not_before=after.not_before,
        platform_id=fate.platform_id or row.platform_id,
        error=fate.error,
    )
    changed = await tx.run(
        _SENT,
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
        await tx.run(_LATER_FAIL, origin=row.source, part=row.part_no, why="an earlier part failed", at=tx.now)
    return became


async def _fenced(tx: Tx, row: OutboxRow, held: Row) -> bool:
    if row.kind == "notice" or held["home_epoch"] == held["epoch"]:
        return False
    return await tx.one(_GONE, source=row.source) is None


async def _read(tx: Tx, id: str) -> OutboxRow:
    row = await tx.one(_ONE, row=id)
    if row is None:
        raise WrongState(f"there is no outbox row {id}")
    return outbox_row(row)
