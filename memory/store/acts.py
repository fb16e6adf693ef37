"""What people do to messages they have written, and to chats: edits, withdrawals, albums, moves; all within T1."""

from dataclasses import dataclass

from sqlalchemy import bindparam, insert, select, union_all, update

from memory.failpoint import afp
from memory.store.columns import among, word
from memory.store.engine import Row, Tx, glance
from memory.store.homes import home_of
from memory.store.memory_tables import account_link
from memory.store.records import Arrival, InboxRow, InboxState
from memory.store.rows import columns_of, inbox_row
from memory.store.tables import conversation, inbox

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


async def take(tx: Tx, rows: tuple[InboxRow, ...], turn_id: str) -> None:
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
