"""What comes in: T1 and what is read of the inbox."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, case, delete, insert, or_, select, true, union_all, update

from memory.failpoints import afp
from memory.ids import new_id
from memory.store.conversations.messages import take
from memory.store.conversations.outbox import release
from memory.store.engine.database import Database, InsertNew, Lane, Row, Tx, glance
from memory.store.errors import WrongState
from memory.store.rows import Arrival, InboxRow, InboxState, Keep, Place, Stored, columns_of, home_of, inbox_row, said
from memory.store.schema.columns import among, word
from memory.store.schema.memory_tables import account_link
from memory.store.schema.tables import channel_note, conversation, inbox

# What people do to messages they have written, and to chats: edits, withdrawals, albums, moves; all within T1.

BEGUN = "begun"
"""The reason of a row that is still new and whose command may have had its effect: its words stay what they were."""
_MEANT = select(inbox.c.id, inbox.c.state, inbox.c.reason, inbox.c.conversation).where(
    inbox.c.channel == bindparam("channel"), inbox.c.account == bindparam("account"), inbox.c.key == bindparam("key")
)
_REWRITE = update(inbox).where(inbox.c.id == bindparam("row")).values(body=bindparam("words"))
_WITHDRAW = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), among(inbox.c.state, "new", "aside"))
    .values(state=word("ignored"), reason=word("withdrawn"), body=word(""))
)
_ARM = (
    update(inbox)
    .where(inbox.c.conversation == bindparam("of"), inbox.c.album == bindparam("named"), inbox.c.state == word("new"))
    .values(not_before=bindparam("due"))
)
_REARM = (
    update(inbox)
    .where(inbox.c.state == word("new"), inbox.c.album != word(""), inbox.c.not_before < bindparam("due"))
    .values(not_before=bindparam("due"))
)
_ROWS = select(*columns_of(InboxRow, inbox))
MOST_ASIDES = 200
_ASIDES = (
    _ROWS.where(inbox.c.conversation == bindparam("of"), inbox.c.state == word("aside"))
    .order_by(inbox.c.line.desc())
    .limit(MOST_ASIDES)
)
_OLDER = (
    update(inbox)
    .where(inbox.c.conversation == bindparam("of"), inbox.c.state == word("aside"), inbox.c.line < bindparam("before"))
    .values(state=word("done"), turn_id=bindparam("by"))
)
_ALBUM = _ROWS.where(
    inbox.c.conversation == bindparam("of"),
    inbox.c.album == bindparam("named"),
    inbox.c.state == word("new"),
    inbox.c.id != bindparam("row"),
)
_asides = _ASIDES.subquery()
_ASIDES_AND_ALBUM = union_all(select(_asides), _ALBUM)
_TAKEN = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), among(inbox.c.state, "new", "aside"))
    .values(state=word("done"), turn_id=bindparam("by"))
)
_RENAME = (
    update(conversation)
    .where(
        conversation.c.channel == bindparam("of_channel"),
        conversation.c.account == bindparam("of_account"),
        conversation.c.chat_id == bindparam("former"),
    )
    .values(chat_id=bindparam("now_called"))
)
_AT = select(conversation.c.id, conversation.c.space).where(
    conversation.c.channel == bindparam("of_channel"),
    conversation.c.account == bindparam("of_account"),
    conversation.c.chat_id == bindparam("called"),
)
_JOINED = select(account_link.c.own_space).where(account_link.c.own_space == bindparam("own"))
_JOIN = insert(account_link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How a row begins. meant: the row that an edit or a withdrawal is about; meant_in: its conversation."""

    state: InboxState
    reason: str = ""
    meant: str = ""
    meant_in: str = ""


async def entry(tx: Tx, arrival: Arrival) -> Entry:
    """What becomes of a new arrival, with what it does to others already done."""
    if arrival.ignored:
        return Entry(state="ignored", reason=arrival.ignored)
    match arrival.kind:
        case "aside":
            return Entry(state="aside")
        case "edit":
            return await _edit(tx, arrival)
        case "delete":
            return await _withdraw(tx, arrival)
        case "move":
            await move(tx, arrival)
            return Entry(state="ignored", reason="moved")
    return Entry(state="new")


async def arm(tx: Tx, conversation_id: str, arrival: Arrival) -> None:
    """Every waiting part of an album is due when its newest part is."""
    if arrival.album:
        await tx.run(_ARM, of=conversation_id, named=arrival.album, due=arrival.not_before)
        await afp("album.armed")


async def rearm(tx: Tx, due: float) -> None:
    """After a start: the parts that the platform still holds come first."""
    await tx.run(_REARM, due=due)


@glance
async def companions(tx: Tx, row: InboxRow) -> list[InboxRow]:
    """What goes into the turn of a row beside it, oldest first: what was said aside, the other parts of its album."""
    if row.album:
        found = await tx.all(_ASIDES_AND_ALBUM, of=row.conversation, named=row.album, row=row.id)
    else:
        found = await tx.all(_ASIDES, of=row.conversation)
    return sorted((inbox_row(one) for one in found), key=lambda one: (one.order_key, one.line))


async def take_context_rows(tx: Tx, rows: tuple[InboxRow, ...], turn_id: str) -> None:
    """These rows have ended in that turn, and all that was said aside before them."""
    for row in rows:
        await tx.run(_TAKEN, row=row.id, by=turn_id)
    if asides := [row for row in rows if row.state == "aside"]:
        await tx.run(_OLDER, of=asides[0].conversation, before=min(row.line for row in asides), by=turn_id)
    if rows:
        await afp("album.fired")


async def move(tx: Tx, arrival: Arrival) -> None:
    """T13: the conversations of a chat go by its new id, and its new space joins the memory of the old one.

    Where something was said at the new id before the move was heard of, that goes on, with the old memory.
    """
    place = arrival.place
    who = {"of_channel": place.channel, "of_account": place.account}
    old, new = [await tx.all(_AT, called=chat, **who) for chat in (place.chat_id, arrival.target)]
    if old and not new:
        await tx.run(_RENAME, former=place.chat_id, now_called=arrival.target, **who)
    own = arrival.to_space
    if old and own and own != place.space and await tx.one(_JOINED, own=own) is None:
        who_moved = {"channel": place.channel, "account": place.account, "sender_id": arrival.target}
        await tx.run(_JOIN, own_space=own, space=await home_of(tx, place.space), at=tx.now, **who_moved)


async def _edit(tx: Tx, arrival: Arrival) -> Entry:
    meant = await _meant(tx, arrival)
    if meant is None or meant["state"] in ("ignored", "dead"):
        return Entry(state="ignored", reason="edit of nothing")
    if meant["state"] in ("new", "aside") and meant["reason"] != BEGUN:
        await tx.run(_REWRITE, row=meant["id"], words=arrival.body)
        return Entry(state="ignored", reason="edit", meant=meant["id"])
    return Entry(state="aside", meant=meant["id"])


async def _withdraw(tx: Tx, arrival: Arrival) -> Entry:
    meant = await _meant(tx, arrival)
    if meant is not None:
        await tx.run(_WITHDRAW, row=meant["id"])
    if meant is None:
        return Entry(state="ignored", reason="withdrawal")
    return Entry(state="ignored", reason="withdrawal", meant=meant["id"], meant_in=meant["conversation"])


async def _meant(tx: Tx, arrival: Arrival) -> Row | None:
    place = arrival.place
    return await tx.one(_MEANT, channel=place.channel, account=place.account, key=arrival.target)


# What channels keep between their lives: a cursor, a token; short texts by name.

_OF = select(channel_note.c.name, channel_note.c.value).where(channel_note.c.channel == bindparam("of"))
_FROM = _OF.where(channel_note.c.name >= bindparam("start"), channel_note.c.name < bindparam("end"))
_DROP = delete(channel_note).where(
    channel_note.c.channel == bindparam("of"), channel_note.c.name == bindparam("called")
)
_INSERT_NOTE = insert(channel_note)
_LAST = "\U0010ffff"


class SqlNotes:
    """See memory.store.store.Notes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, channel: str, start: str = "") -> dict[str, str]:
        return await self._database.read(_read, channel, start)

    async def write(self, channel: str, values: Mapping[str, str]) -> None:
        await self._database.write(put, channel, values)


async def put(tx: Tx, channel: str, values: Mapping[str, str]) -> None:
    """Keep these, in place of what went by the same names; "" takes one away."""
    for name, value in values.items():
        await tx.run(_DROP, of=channel, called=name)
        if value:
            await tx.run(_INSERT_NOTE, channel=channel, name=name, value=value)


async def _read(tx: Tx, channel: str, start: str) -> dict[str, str]:
    rows = await tx.all(_FROM, of=channel, start=start, end=start + _LAST)
    return {row["name"]: row["value"] for row in rows}


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
_INSERT_INBOX = insert(inbox)
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
        _INSERT_INBOX,
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
