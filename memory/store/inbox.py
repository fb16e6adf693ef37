"""What comes in: T1 and what is read of the inbox."""

from collections.abc import Sequence

from sqlalchemy import bindparam, case, insert, or_, select, true, update

from memory.failpoint import afp
from memory.store.acts import BEGUN, arm, entry
from memory.store.columns import among, word
from memory.store.counters import take
from memory.store.engine import InsertNew, Tx, glance
from memory.store.errors import WrongState
from memory.store.ids import new_id
from memory.store.lane import Lane
from memory.store.notes import put
from memory.store.outbox import release
from memory.store.records import Arrival, InboxRow, Keep, Place, Stored
from memory.store.rows import columns_of, inbox_row, said
from memory.store.tables import conversation, inbox

_TITLE_LETTERS = 60
_KNOWN = select(inbox.c.id, inbox.c.conversation, inbox.c.state, inbox.c.line, inbox.c.trace_id).where(
    inbox.c.channel == bindparam("channel"), inbox.c.account == bindparam("account"), inbox.c.key == bindparam("key")
)
_BY_PLACE = select(conversation.c.id).where(
    conversation.c.channel == bindparam("channel"),
    conversation.c.account == bindparam("account"),
    conversation.c.chat_id == bindparam("chat_id"),
    conversation.c.thread_id == bindparam("thread_id"),
)
_NEW_PLACE = InsertNew(conversation)
_HEARD = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(
        listed=true(),
        space=bindparam("mine"),
        heard=bindparam("now"),
        updated=bindparam("now"),
        title=case((conversation.c.title == word(""), bindparam("words")), else_=conversation.c.title),
    )
)
_BEGIN = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == word("new"))
    .values(attempts=inbox.c.attempts + 1, lease_epoch=bindparam("mine"), reason=word(BEGUN))
)
_ADD = insert(inbox)
_WAITING = select(inbox.c.conversation).where(among(inbox.c.state, "new", "running")).distinct()
_INBOX = select(*columns_of(InboxRow, inbox))
_ONE = _INBOX.where(inbox.c.id == bindparam("row"))
_LATER = case((inbox.c.not_before > bindparam("now"), inbox.c.not_before), else_=0.0)
_NEXT = (
    _INBOX.where(
        inbox.c.conversation == bindparam("row"),
        among(inbox.c.state, "new", "running"),
        or_(inbox.c.state == word("running"), inbox.c.urgent.is_(False)),
    )
    .order_by(case((inbox.c.state == word("running"), 0), else_=1), _LATER, inbox.c.order_key, inbox.c.line)
    .limit(1)
)


async def accept(tx: Tx, arrivals: Sequence[Arrival], keep: Keep | None = None) -> list[Stored]:
    """T1 for all of them; see Delivery.accept.

    Raises:
        ValueError: a key is empty, or a body is not a JSON object.
    """
    stored = [await _accept_one(tx, arrival) for arrival in arrivals]
    if keep is not None:
        await put(tx, keep.channel, keep.values)
    await afp("recv.in_txn")
    return stored


@glance
async def waiting(tx: Tx) -> list[str]:
    return [row["conversation"] for row in await tx.all(_WAITING)]


@glance
async def next_in(tx: Tx, conversation_id: str, now: float) -> InboxRow | None:
    row = await tx.one(_NEXT, row=conversation_id, now=now)
    return inbox_row(row) if row else None


async def begin(tx: Tx, id: str) -> bool:
    """See Delivery.begin."""
    row = await tx.one(_ONE, row=id)
    if row is None or not await tx.run(_BEGIN, row=id, mine=tx.lease):
        raise WrongState(f"inbox row {id} is not new")
    return bool(row["reason"] != BEGUN)


@glance
async def read_inbox(tx: Tx, id: str) -> InboxRow | None:
    """One inbox row, None for an unknown id."""
    row = await tx.one(_ONE, row=id)
    return inbox_row(row) if row else None


async def _accept_one(tx: Tx, arrival: Arrival) -> Stored:
    if not arrival.key:
        raise ValueError("an empty key would make all messages one")
    words = said(arrival.body) if arrival.body and not arrival.ignored else ""
    place = arrival.place
    known = await tx.one(_KNOWN, channel=place.channel, account=place.account, key=arrival.key)
    if known:
        if known["state"] == "new":
            _ring(tx, arrival, known["id"], known["conversation"])  # for a repeat too
        return Stored(**known, new=False)
    home = await _home(tx, place)
    line = (await take(tx, home, lines=1))["next_line"] - 1
    start = await entry(tx, arrival)
    if start.state == "new" or arrival.ignored == "stranger":
        await release(tx, home, place)  # a stranger's code may wait for them too
    if start.state == "new":
        await tx.run(_HEARD, row=home, now=tx.now, mine=place.space, words=" ".join(words.split())[:_TITLE_LETTERS])
    stored = Stored(
        id=new_id(tx.now),
        conversation=home,
        new=True,
        state=start.state,
        line=line,
        meant=start.meant,
        meant_in=start.meant_in,
        trace_id=new_id(tx.now),
    )
    await _add(tx, arrival, stored, start.reason)
    await arm(tx, home, arrival)
    if start.state == "new":
        _ring(tx, arrival, stored.id, home)
    return stored


def _ring(tx: Tx, arrival: Arrival, id: str, home: str) -> None:
    """There is something to do for the row: at once beside its conversation's lane, or in it when it is due."""
    if arrival.urgent:
        tx.ring(Lane(kind="urgent", id=id))
    else:
        tx.ring(Lane(kind="turn", id=home, due=arrival.not_before))


async def _add(tx: Tx, arrival: Arrival, stored: Stored, reason: str) -> None:
    await tx.run(
        _ADD,
        id=stored.id,
        conversation=stored.conversation,
        channel=arrival.place.channel,
        account=arrival.place.account,
        key=arrival.key,
        kind=arrival.kind,
        sender_id=arrival.sender_id,
        body="" if stored.state == "ignored" else arrival.body,  # a stranger's words are not kept
        order_key=arrival.order_key,
        state=stored.state,
        reason=reason,
        trace_id=stored.trace_id,
        line=stored.line,
        urgent=arrival.urgent,
        not_before=arrival.not_before,
        album=arrival.album,
        received=tx.now,
    )


async def _home(tx: Tx, place: Place) -> str:
    where = {
        "channel": place.channel,
        "account": place.account,
        "chat_id": place.chat_id,
        "thread_id": place.thread_id,
    }
    row = await tx.one(_BY_PLACE, **where)
    if row is None:
        await tx.run(_NEW_PLACE, id=new_id(tx.now), kind=place.kind, space=place.space, updated=tx.now, **where)
        row = await tx.one(_BY_PLACE, **where)
    if row is None:
        raise LookupError(f"no conversation could be made at {place}")
    home: str = row["id"]
    return home
