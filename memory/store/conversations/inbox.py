"""What comes in: T1 and what is read of the inbox."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, case, delete, insert, or_, select, true, union_all, update

from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store.conversations.messages import take_numbers
from memory.store.conversations.outbox import release
from memory.store.engine.database import InsertIfAbsent, QueueKey, Row, Tx, single_query
from memory.store.engine.repository import Repository, read, write
from memory.store.errors import WrongState
from memory.store.rows import (
    AcceptedRow,
    InboxRow,
    InboxState,
    NewInboxRow,
    NoteChanges,
    Place,
    columns_of,
    load_linked_space,
    shown_text,
    to_inbox_row,
)
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import account_link
from memory.store.schema.tables import channel_note, conversation, inbox

# What people do to messages they have written, and to chats: edits, withdrawals, albums, moves; all within T1.

# The reason of a row that is still new and whose command may have had its effect: its words stay what they were.
BEGUN = "begun"
_SELECT_TARGET = select(inbox.c.id, inbox.c.state, inbox.c.reason, inbox.c.conversation).where(
    inbox.c.channel == bindparam("channel"), inbox.c.account == bindparam("account"), inbox.c.key == bindparam("key")
)
_UPDATE_BODY = update(inbox).where(inbox.c.id == bindparam("row")).values(body=bindparam("words"))
_WITHDRAW = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), is_one_of(inbox.c.state, "new", "aside"))
    .values(state=literal_text("ignored"), reason=literal_text("withdrawn"), body=literal_text(""))
)
_DELAY_ALBUM = (
    update(inbox)
    .where(
        inbox.c.conversation == bindparam("of"),
        inbox.c.album == bindparam("named"),
        inbox.c.state == literal_text("new"),
    )
    .values(not_before=bindparam("due"))
)
_DELAY_ALL_ALBUMS = (
    update(inbox)
    .where(
        inbox.c.state == literal_text("new"), inbox.c.album != literal_text(""), inbox.c.not_before < bindparam("due")
    )
    .values(not_before=bindparam("due"))
)
_SELECT_ROWS = select(*columns_of(InboxRow, inbox))
MAX_CONTEXT_ROWS = 200
_SELECT_CONTEXT_ROWS = (
    _SELECT_ROWS.where(inbox.c.conversation == bindparam("of"), inbox.c.state == literal_text("aside"))
    .order_by(inbox.c.line.desc())
    .limit(MAX_CONTEXT_ROWS)
)
_END_OLDER_CONTEXT_ROWS = (
    update(inbox)
    .where(
        inbox.c.conversation == bindparam("of"),
        inbox.c.state == literal_text("aside"),
        inbox.c.line < bindparam("before"),
    )
    .values(state=literal_text("done"), turn_id=bindparam("by"))
)
_SELECT_ALBUM = _SELECT_ROWS.where(
    inbox.c.conversation == bindparam("of"),
    inbox.c.album == bindparam("named"),
    inbox.c.state == literal_text("new"),
    inbox.c.id != bindparam("row"),
)
_context_rows = _SELECT_CONTEXT_ROWS.subquery()
_SELECT_CONTEXT_ROWS_AND_ALBUM = union_all(select(_context_rows), _SELECT_ALBUM)
_END_WITH_TURN = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), is_one_of(inbox.c.state, "new", "aside"))
    .values(state=literal_text("done"), turn_id=bindparam("by"))
)
_MOVE_CHAT = (
    update(conversation)
    .where(
        conversation.c.channel == bindparam("of_channel"),
        conversation.c.account == bindparam("of_account"),
        conversation.c.chat_id == bindparam("former"),
    )
    .values(chat_id=bindparam("now_called"))
)
_SELECT_BY_CHAT = select(conversation.c.id, conversation.c.space).where(
    conversation.c.channel == bindparam("of_channel"),
    conversation.c.account == bindparam("of_account"),
    conversation.c.chat_id == bindparam("called"),
)
_SELECT_LINK = select(account_link.c.own_space).where(account_link.c.own_space == bindparam("own"))
_INSERT_LINK = insert(account_link)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialState:
    """How a row begins."""

    state: InboxState
    reason: str = ""
    #: The row that an edit or a withdrawal is about.
    meant: str = ""
    #: Its conversation.
    meant_in: str = ""


async def resolve_initial_state(tx: Tx, arrival: NewInboxRow) -> InitialState:
    """What becomes of a new arrival, with what it does to others already done."""
    if arrival.ignored:
        return InitialState(state="ignored", reason=arrival.ignored)
    match arrival.kind:
        case "aside":
            return InitialState(state="aside")
        case "edit":
            return await _edit(tx, arrival)
        case "delete":
            return await _withdraw(tx, arrival)
        case "move":
            await move(tx, arrival)
            return InitialState(state="ignored", reason="moved")
    return InitialState(state="new")


async def delay_album(tx: Tx, conversation_id: str, arrival: NewInboxRow) -> None:
    """Every waiting part of an album is due when its newest part is."""
    if arrival.album:
        await tx.run(_DELAY_ALBUM, of=conversation_id, named=arrival.album, due=arrival.not_before)
        await hit_async("album.armed")


async def delay_all_albums(tx: Tx, due: float) -> None:
    """After a start: the parts that the platform still holds come first."""
    await tx.run(_DELAY_ALL_ALBUMS, due=due)


@single_query
async def load_batched_rows(tx: Tx, row: InboxRow) -> list[InboxRow]:
    """What goes into the turn of that row beside it, oldest first: the newest 200 of what was said aside, and the
    rest of its album.
    """
    if row.album:
        found = await tx.all(_SELECT_CONTEXT_ROWS_AND_ALBUM, of=row.conversation, named=row.album, row=row.id)
    else:
        found = await tx.all(_SELECT_CONTEXT_ROWS, of=row.conversation)
    return sorted((to_inbox_row(one) for one in found), key=lambda one: (one.order_key, one.line))


async def take_context_rows(tx: Tx, rows: tuple[InboxRow, ...], turn_id: str) -> None:
    """These rows have ended in that turn, and all that was said aside before them."""
    for row in rows:
        await tx.run(_END_WITH_TURN, row=row.id, by=turn_id)
    if asides := [row for row in rows if row.state == "aside"]:
        await tx.run(
            _END_OLDER_CONTEXT_ROWS, of=asides[0].conversation, before=min(row.line for row in asides), by=turn_id
        )
    if rows:
        await hit_async("album.fired")


async def move(tx: Tx, arrival: NewInboxRow) -> None:
    """T13 for a chat of which a send was told that it has moved: see Arrival, kind move."""
    place = arrival.place
    who = {"of_channel": place.channel, "of_account": place.account}
    old, new = [await tx.all(_SELECT_BY_CHAT, called=chat, **who) for chat in (place.chat_id, arrival.target)]
    if old and not new:
        await tx.run(_MOVE_CHAT, former=place.chat_id, now_called=arrival.target, **who)
    own = arrival.to_space
    if old and own and own != place.space and await tx.one(_SELECT_LINK, own=own) is None:
        who_moved = {"channel": place.channel, "account": place.account, "sender_id": arrival.target}
        await tx.run(
            _INSERT_LINK, own_space=own, space=await load_linked_space(tx, place.space), at=tx.now, **who_moved
        )


async def _edit(tx: Tx, arrival: NewInboxRow) -> InitialState:
    meant = await _load_target(tx, arrival)
    if meant is None or meant["state"] in ("ignored", "dead"):
        return InitialState(state="ignored", reason="edit of nothing")
    if meant["state"] in ("new", "aside") and meant["reason"] != BEGUN:
        await tx.run(_UPDATE_BODY, row=meant["id"], words=arrival.body)
        return InitialState(state="ignored", reason="edit", meant=meant["id"])
    return InitialState(state="aside", meant=meant["id"])


async def _withdraw(tx: Tx, arrival: NewInboxRow) -> InitialState:
    meant = await _load_target(tx, arrival)
    if meant is not None:
        await tx.run(_WITHDRAW, row=meant["id"])
    if meant is None:
        return InitialState(state="ignored", reason="withdrawal")
    return InitialState(state="ignored", reason="withdrawal", meant=meant["id"], meant_in=meant["conversation"])


async def _load_target(tx: Tx, arrival: NewInboxRow) -> Row | None:
    place = arrival.place
    return await tx.one(_SELECT_TARGET, channel=place.channel, account=place.account, key=arrival.target)


# What channels keep between their lives: a cursor, a token; short texts by name.

_SELECT_NOTES = select(channel_note.c.name, channel_note.c.value).where(channel_note.c.channel == bindparam("of"))
_SELECT_NOTES_FROM = _SELECT_NOTES.where(
    channel_note.c.name >= bindparam("start"), channel_note.c.name < bindparam("end")
)
_DELETE_NOTE = delete(channel_note).where(
    channel_note.c.channel == bindparam("of"), channel_note.c.name == bindparam("called")
)
_INSERT_NOTE = insert(channel_note)
_LAST_CHARACTER = "\U0010ffff"


async def put_notes(tx: Tx, channel: str, values: Mapping[str, str]) -> None:
    """Keep these, in place of what went by the same names; "" takes one away."""
    for name, value in values.items():
        await tx.run(_DELETE_NOTE, of=channel, called=name)
        if value:
            await tx.run(_INSERT_NOTE, channel=channel, name=name, value=value)


async def _load_notes(tx: Tx, channel: str, start: str = "") -> dict[str, str]:
    """All of a channel whose names begin so."""
    rows = await tx.all(_SELECT_NOTES_FROM, of=channel, start=start, end=start + _LAST_CHARACTER)
    return {row["name"]: row["value"] for row in rows}


class ChannelNotes(Repository):
    """What each channel keeps between its lives; see also Delivery.accept."""

    load = read(_load_notes)
    put = write(put_notes)


_MAX_TITLE = 60
_SELECT_BY_KEY = select(inbox.c.id, inbox.c.conversation, inbox.c.state, inbox.c.line, inbox.c.trace_id).where(
    inbox.c.channel == bindparam("channel"), inbox.c.account == bindparam("account"), inbox.c.key == bindparam("key")
)
_SELECT_BY_PLACE = select(conversation.c.id).where(
    conversation.c.channel == bindparam("channel"),
    conversation.c.account == bindparam("account"),
    conversation.c.chat_id == bindparam("chat_id"),
    conversation.c.thread_id == bindparam("thread_id"),
)
_INSERT_CONVERSATION = InsertIfAbsent(conversation)
_UPDATE_LAST_INBOUND = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(
        listed=true(),
        space=bindparam("mine"),
        heard=bindparam("now"),
        updated=bindparam("now"),
        title=case((conversation.c.title == literal_text(""), bindparam("words")), else_=conversation.c.title),
    )
)
_COUNT_ATTEMPT = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == literal_text("new"))
    .values(attempts=inbox.c.attempts + 1, lease_epoch=bindparam("mine"), reason=literal_text(BEGUN))
)
_INSERT_INBOX = insert(inbox)
_SELECT_WAITING = select(inbox.c.conversation).where(is_one_of(inbox.c.state, "new", "running")).distinct()
_SELECT_INBOX = select(*columns_of(InboxRow, inbox))
_SELECT_ONE = _SELECT_INBOX.where(inbox.c.id == bindparam("row"))
_DUE_LATER = case((inbox.c.not_before > bindparam("now"), inbox.c.not_before), else_=0.0)
_SELECT_NEXT = (
    _SELECT_INBOX.where(
        inbox.c.conversation == bindparam("row"),
        is_one_of(inbox.c.state, "new", "running"),
        or_(inbox.c.state == literal_text("running"), inbox.c.urgent.is_(False)),
    )
    .order_by(case((inbox.c.state == literal_text("running"), 0), else_=1), _DUE_LATER, inbox.c.order_key, inbox.c.line)
    .limit(1)
)


async def accept(tx: Tx, arrivals: Sequence[NewInboxRow], keep: NoteChanges | None = None) -> list[AcceptedRow]:
    """T1: one transaction for all of them; a known key changes nothing. Makes conversations as needed.

    What was HELD in their conversations may go from now on. keep: what goes into a channel's notes with them.
    """
    stored = [await _accept_one(tx, arrival) for arrival in arrivals]
    if keep is not None:
        await put_notes(tx, keep.channel, keep.values)
    await hit_async("recv.in_txn")
    return stored


@single_query
async def load_waiting(tx: Tx) -> list[str]:
    """Conversations that have inbox rows in state new (due or not) or running."""
    return [row["conversation"] for row in await tx.all(_SELECT_WAITING)]


@single_query
async def next_row(tx: Tx, conversation: str, now: float) -> InboxRow | None:
    """The lane's next row: a running one first, else of the new ones that are not urgent the oldest that is due at
    `now`, else the one that is due first.
    """
    row = await tx.one(_SELECT_NEXT, row=conversation, now=now)
    return to_inbox_row(row) if row else None


async def count_attempt(tx: Tx, inbox_id: str) -> bool:
    """Before a command's effect, durable; False where it had begun before. From then on no edit changes the row."""
    row = await tx.one(_SELECT_ONE, row=inbox_id)
    if row is None or not await tx.run(_COUNT_ATTEMPT, row=inbox_id, mine=tx.lease):
        raise WrongState(f"inbox row {inbox_id} is not new")
    return bool(row["reason"] != BEGUN)


@single_query
async def load_row(tx: Tx, id: str) -> InboxRow | None:
    """One inbox row, None for an unknown id."""
    row = await tx.one(_SELECT_ONE, row=id)
    return to_inbox_row(row) if row else None


async def _accept_one(tx: Tx, arrival: NewInboxRow) -> AcceptedRow:
    if not arrival.key:
        raise ValueError("an empty key would make all messages one")
    words = shown_text(arrival.body) if arrival.body and not arrival.ignored else ""
    place = arrival.place
    known = await tx.one(_SELECT_BY_KEY, channel=place.channel, account=place.account, key=arrival.key)
    if known:
        if known["state"] == "new":
            _notify(tx, arrival, known["id"], known["conversation"])  # for a repeat too
        return AcceptedRow(**known, new=False)
    conversation_id = await _get_or_create_conversation(tx, place)
    line = (await take_numbers(tx, conversation_id, lines=1))["next_line"] - 1
    start = await resolve_initial_state(tx, arrival)
    if start.state == "new" or arrival.ignored == "stranger":
        await release(tx, conversation_id, place)  # a stranger's code may wait for them too
    if start.state == "new":
        await tx.run(
            _UPDATE_LAST_INBOUND,
            row=conversation_id,
            now=tx.now,
            mine=place.space,
            words=" ".join(words.split())[:_MAX_TITLE],
        )
    stored = AcceptedRow(
        id=new_id(tx.now),
        conversation=conversation_id,
        new=True,
        state=start.state,
        line=line,
        meant=start.meant,
        meant_in=start.meant_in,
        trace_id=new_id(tx.now),
    )
    await _insert_row(tx, arrival, stored, start.reason)
    await delay_album(tx, conversation_id, arrival)
    if start.state == "new":
        _notify(tx, arrival, stored.id, conversation_id)
    return stored


def _notify(tx: Tx, arrival: NewInboxRow, id: str, conversation_id: str) -> None:
    """There is something to do for the row: at once beside its conversation's lane, or in it when it is due."""
    if arrival.urgent:
        tx.notify(QueueKey(kind="urgent", id=id))
    else:
        tx.notify(QueueKey(kind="turn", id=conversation_id, due=arrival.not_before))


async def _insert_row(tx: Tx, arrival: NewInboxRow, stored: AcceptedRow, reason: str) -> None:
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


async def _get_or_create_conversation(tx: Tx, place: Place) -> str:
    where = {
        "channel": place.channel,
        "account": place.account,
        "chat_id": place.chat_id,
        "thread_id": place.thread_id,
    }
    row = await tx.one(_SELECT_BY_PLACE, **where)
    if row is None:
        await tx.run(
            _INSERT_CONVERSATION, id=new_id(tx.now), kind=place.kind, space=place.space, updated=tx.now, **where
        )
        row = await tx.one(_SELECT_BY_PLACE, **where)
    if row is None:
        raise LookupError(f"no conversation could be made at {place}")
    conversation_id: str = row["id"]
    return conversation_id
