"""Received messages: the inbox, what edits, deletions and moves change, and the notes of
channels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, case, delete, or_, select, true, union_all, update

from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store.conversations.messages import take_numbers
from memory.store.conversations.outbox import release
from memory.store.conversations.transcript import shown_text
from memory.store.engine.database import (
    InsertIfAbsent,
    QueueKey,
    Repository,
    Row,
    Tx,
    insert_into,
    light,
    read,
    write,
)
from memory.store.errors import WrongState
from memory.store.linked_spaces import IS_AT_PLACE, load_linked_space
from memory.store.rows import (
    AcceptedRow,
    InboxRow,
    InboxState,
    NewInboxRow,
    NoteChanges,
    Place,
    column_values,
    columns_of,
    from_row,
)
from memory.store.schema.memory_tables import account_link
from memory.store.schema.tables import channel_note, conversation, inbox, is_one_of, literal_text

# The reason of a row that is new while its command may have had its effect: an edit no longer
# changes it.
BEGUN = "begun"
MAX_FIRST_WORDS = 60  # characters of a title that is the first words
MAX_CONTEXT_ROWS = 200
_IS_AT_KEY = (
    inbox.c.channel == bindparam("channel"),
    inbox.c.account == bindparam("account"),
    inbox.c.key == bindparam("key"),
)
_SELECT_TARGET = select(inbox.c.id, inbox.c.state, inbox.c.reason, inbox.c.conversation).where(
    *_IS_AT_KEY
)
_UPDATE_BODY = update(inbox).where(inbox.c.id == bindparam("id")).values(body=bindparam("new_body"))
_WITHDRAW = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"), is_one_of(inbox.c.state, "new", "aside"))
    .values(state=literal_text("ignored"), reason=literal_text("withdrawn"), body=literal_text(""))
)
_DELAY_ALBUM = (
    update(inbox)
    .where(
        inbox.c.conversation == bindparam("conversation"),
        inbox.c.album == bindparam("album"),
        inbox.c.state == literal_text("new"),
    )
    .values(not_before=bindparam("new_not_before"))
)
_DELAY_ALL_ALBUMS = (
    update(inbox)
    .where(
        inbox.c.state == literal_text("new"),
        inbox.c.album != literal_text(""),
        inbox.c.not_before < bindparam("new_not_before"),
    )
    .values(not_before=bindparam("new_not_before"))
)
_SELECT_INBOX = select(*columns_of(InboxRow, inbox))
_SELECT_CONTEXT_ROWS = (
    _SELECT_INBOX.where(
        inbox.c.conversation == bindparam("conversation"), inbox.c.state == literal_text("aside")
    )
    .order_by(inbox.c.line.desc())
    .limit(MAX_CONTEXT_ROWS)
)
_END_OLDER_CONTEXT_ROWS = (
    update(inbox)
    .where(
        inbox.c.conversation == bindparam("conversation"),
        inbox.c.state == literal_text("aside"),
        inbox.c.line < bindparam("before_line"),
    )
    .values(state=literal_text("done"), turn_id=bindparam("new_turn_id"))
)
_SELECT_ALBUM = _SELECT_INBOX.where(
    inbox.c.conversation == bindparam("conversation"),
    inbox.c.album == bindparam("album"),
    inbox.c.state == literal_text("new"),
    inbox.c.id != bindparam("id"),
)
_context_rows = _SELECT_CONTEXT_ROWS.subquery()
_SELECT_CONTEXT_ROWS_AND_ALBUM = union_all(select(_context_rows), _SELECT_ALBUM)
_END_WITH_TURN = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"), is_one_of(inbox.c.state, "new", "aside"))
    .values(state=literal_text("done"), turn_id=bindparam("new_turn_id"))
)
_IS_IN_CHAT = (
    conversation.c.channel == bindparam("channel"),
    conversation.c.account == bindparam("account"),
    conversation.c.chat_id == bindparam("chat_id"),
)
_MOVE_CHAT = update(conversation).where(*_IS_IN_CHAT).values(chat_id=bindparam("new_chat_id"))
_SELECT_BY_CHAT = select(conversation.c.id, conversation.c.space).where(*_IS_IN_CHAT)
_SELECT_LINK = select(account_link.c.own_space).where(
    account_link.c.own_space == bindparam("own_space")
)
_SELECT_BY_KEY = select(
    inbox.c.id, inbox.c.conversation, inbox.c.state, inbox.c.line, inbox.c.trace_id
).where(*_IS_AT_KEY)
_SELECT_BY_PLACE = select(conversation.c.id).where(*IS_AT_PLACE)
_INSERT_CONVERSATION = InsertIfAbsent(conversation)
_UPDATE_LAST_INBOUND = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(
        listed=true(),
        space=bindparam("new_space"),
        heard=bindparam("now"),
        updated=bindparam("now"),
        title=case(
            (conversation.c.title == literal_text(""), bindparam("new_title")),
            else_=conversation.c.title,
        ),
        chat_name=case(
            (bindparam("new_chat_name") != literal_text(""), bindparam("new_chat_name")),
            else_=conversation.c.chat_name,
        ),
    )
)
_MARK_BEGUN = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"), inbox.c.state == literal_text("new"))
    .values(
        attempts=inbox.c.attempts + 1,
        lease_epoch=bindparam("new_lease_epoch"),
        reason=literal_text(BEGUN),
    )
)
_SELECT_WAITING = (
    select(inbox.c.conversation).where(is_one_of(inbox.c.state, "new", "running")).distinct()
)
_SELECT_ONE = _SELECT_INBOX.where(inbox.c.id == bindparam("id"))
_DUE_LATER = case((inbox.c.not_before > bindparam("now"), inbox.c.not_before), else_=0.0)
_IS_QUEUED = (
    inbox.c.conversation == bindparam("conversation"),
    is_one_of(inbox.c.state, "new", "running"),
    or_(inbox.c.state == literal_text("running"), inbox.c.urgent.is_(False)),
)
_QUEUE_ORDER = (
    case(
        (inbox.c.state == literal_text("running"), 0),
        (inbox.c.kind == literal_text("approval"), 1),
        else_=2,
    ),
    _DUE_LATER,
    inbox.c.order_key,
    inbox.c.line,
)
_SELECT_NEXT = _SELECT_INBOX.where(*_IS_QUEUED).order_by(*_QUEUE_ORDER).limit(1)
# Of the row that `next_row` loads.
NEXT_SENDER = (
    select(inbox.c.sender_id).where(*_IS_QUEUED).order_by(*_QUEUE_ORDER).limit(1).scalar_subquery()
)
# Of the conversation in the enclosing statement: who wrote there last, or for whom something was
# done.
_IS_BY_PERSON = is_one_of(inbox.c.kind, "message", "command")
NEWEST_SENDER = (
    select(inbox.c.sender_id)
    .where(inbox.c.conversation == conversation.c.id, _IS_BY_PERSON)
    .order_by(inbox.c.line.desc())
    .limit(1)
    .scalar_subquery()
)
_SELECT_NEWEST = (
    _SELECT_INBOX.where(
        inbox.c.conversation == bindparam("conversation"),
        _IS_BY_PERSON,
        inbox.c.state != literal_text("ignored"),
    )
    .order_by(inbox.c.line.desc())
    .limit(1)
)
_SELECT_ANOTHER = select(inbox.c.id).where(*_IS_QUEUED, inbox.c.id != bindparam("id")).limit(1)
_SELECT_NOTES = select(channel_note.c.name, channel_note.c.value).where(
    channel_note.c.channel == bindparam("channel"),
    channel_note.c.name >= bindparam("from_name"),
    channel_note.c.name < bindparam("to_name"),
)
_DELETE_NOTE = delete(channel_note).where(
    channel_note.c.channel == bindparam("channel"), channel_note.c.name == bindparam("name")
)
CHANGING_KINDS = frozenset(("edit", "delete", "move"))  # they change what was received before
_LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundByKey:
    """What is stored of a received message."""

    #: Its row, where its key is known.
    known: Row | None
    #: Id of its conversation; None for a new one.
    conversation: str | None


@light
async def accept(
    tx: Tx,
    arrivals: Sequence[NewInboxRow],
    keep: NoteChanges | None = None,
    first: FoundByKey | None = None,
) -> list[AcceptedRow]:
    """Store received messages in one transaction; a known key changes nothing.

    Creates conversations as needed.

    Parts that were held until the person writes again are released.

    Args:
        keep: notes that the channel stores with these messages, such as its cursor.
        first: what was found for the first of them in this transaction.

    Raises:
        ValueError: an empty key, or a body that is not a JSON object; nothing of the batch is
            stored.
        StoreError: nothing of the batch is stored; the channel must not acknowledge it.
    """
    accepted: list[AcceptedRow] = []
    for arrival in arrivals:
        found = (
            first
            if first is not None and not accepted
            else await find_by_key(tx, arrival.place, arrival.key)
        )
        accepted.append(await _accept_one(tx, arrival, found))
    if keep is not None:
        await put_notes(tx, keep.channel, keep.values)
    await hit_async("recv.in_txn")
    return accepted


async def find_by_key(tx: Tx, place: Place, key: str) -> FoundByKey:
    """Find the message that a key stands for, and the conversation at its place, in whatever space
    that is.
    """
    at = {"channel": place.channel, "account": place.account, "key": key}
    known = (await tx.execute(_SELECT_BY_KEY, **at)).first()
    return FoundByKey(known=known, conversation=await find_conversation_id(tx, place))


async def _accept_one(tx: Tx, arrival: NewInboxRow, found: FoundByKey) -> AcceptedRow:
    if not arrival.key:
        raise ValueError("an empty key would make all messages one")
    text = shown_text(arrival.body) if arrival.body and not arrival.ignored else ""
    place = arrival.place
    if known := found.known:
        if known["state"] == "new":
            # the first delivery's worker may be gone
            _notify(tx, arrival, known["id"], known["conversation"])
        return AcceptedRow(**known, new=False)
    conversation_id = found.conversation or await _create_conversation(tx, place)
    before = await _take_line(tx, arrival, conversation_id)
    line = before["next_line"] - 1
    start = await _apply_to_others(tx, arrival)
    if start.state == "new" and _is_listed(arrival):
        title = make_title(text)
        await tx.execute(
            _UPDATE_LAST_INBOUND,
            id=conversation_id,
            now=tx.now,
            new_space=place.space,
            new_title=title,
            new_chat_name=arrival.chat_name,
        )
        if before["space"] != place.space:
            tx.changed.update({(before["space"], conversation_id), (place.space, conversation_id)})
    accepted = AcceptedRow(
        id=new_id(tx.now),
        conversation=conversation_id,
        new=True,
        state=start.state,
        line=line,
        meant=start.meant,
        meant_in=start.meant_in,
        trace_id=new_id(tx.now),
    )
    columns = column_values(arrival, inbox) | column_values(accepted, inbox)
    if accepted.state == "ignored":
        columns["body"] = ""  # a message that starts nothing leaves no text, as a stranger's does
    at = {"channel": place.channel, "account": place.account}
    await tx.execute(insert_into(inbox), **columns, **at, reason=start.reason, received=tx.now)
    if arrival.album:
        await tx.execute(
            _DELAY_ALBUM,
            conversation=conversation_id,
            album=arrival.album,
            new_not_before=arrival.not_before,
        )
        await hit_async("album.armed")
    if start.state == "new":
        _notify(tx, arrival, accepted.id, conversation_id)
    return accepted


def make_title(text: str) -> str:
    """Return the title of a conversation that starts with this text, "" for a command or for files
    alone.
    """
    lines = [line for line in text.splitlines() if not line.startswith("📎")]
    words = " ".join(" ".join(lines).split())
    return "" if words.startswith("/") else words[:MAX_FIRST_WORDS]


def _notify(tx: Tx, arrival: NewInboxRow, inbox_id: str, conversation_id: str) -> None:
    if arrival.urgent:
        tx.notify(QueueKey(kind="urgent", id=inbox_id))
    else:
        tx.notify(QueueKey(kind="turn", id=conversation_id, due=arrival.not_before))


def _is_listed(arrival: NewInboxRow) -> bool:
    # a hidden conversation is in no list
    return not arrival.by_program and not arrival.place.is_hidden


async def _take_line(tx: Tx, arrival: NewInboxRow, conversation_id: str) -> Row:
    """Take the line of a row, and release the parts that were held until the person writes
    again.
    """
    before = await take_numbers(tx, conversation_id, lines=1, touched=arrival.by_program)
    starts = not arrival.ignored and arrival.kind != "aside" and arrival.kind not in CHANGING_KINDS
    is_by_person = _is_listed(arrival) and not arrival.is_from_page
    # a stranger's pairing code may be held too
    if is_by_person and (starts or arrival.ignored == "stranger"):
        await release(tx, conversation_id, arrival.place)
    return before


async def _create_conversation(tx: Tx, place: Place) -> str:
    await tx.execute(
        _INSERT_CONVERSATION,
        id=new_id(tx.now),
        updated=tx.now,
        **column_values(place, conversation),
    )
    id = await find_conversation_id(tx, place)
    if id is None:
        raise LookupError(f"no conversation could be made at {place}")
    return id


async def find_conversation_id(tx: Tx, place: Place) -> str | None:
    """Return the id of the conversation at a place, None when there is none."""
    where = {"channel": place.channel, "account": place.account, "chat_id": place.chat_id}
    row = (await tx.execute(_SELECT_BY_PLACE, **where, thread_id=place.thread_id)).first()
    return row["id"] if row else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """The first state of an inbox row."""

    state: InboxState
    reason: str = ""
    #: See AcceptedRow.
    meant: str = ""
    #: See AcceptedRow.
    meant_in: str = ""


async def _apply_to_others(tx: Tx, arrival: NewInboxRow) -> _Start:
    """Carry out an edit, deletion or move, and return the first state of the new row."""
    if arrival.ignored:
        return _Start(state="ignored", reason=arrival.ignored)
    match arrival.kind:
        case "aside":
            return _Start(state="aside")
        case "edit":
            return await _edit(tx, arrival)
        case "delete":
            return await _withdraw(tx, arrival)
        case "move":
            await move(tx, arrival)
            return _Start(state="ignored", reason="moved")
    return _Start(state="new")


async def _edit(tx: Tx, arrival: NewInboxRow) -> _Start:
    meant = await _load_target(tx, arrival)
    if meant is None or meant["state"] in ("ignored", "dead"):
        return _Start(state="ignored", reason="edit of nothing")
    if meant["state"] in ("new", "aside") and meant["reason"] != BEGUN:
        await tx.execute(_UPDATE_BODY, id=meant["id"], new_body=arrival.body)
        return _Start(state="ignored", reason="edit", meant=meant["id"])
    return _Start(state="aside", meant=meant["id"])


async def _withdraw(tx: Tx, arrival: NewInboxRow) -> _Start:
    meant = await _load_target(tx, arrival)
    if meant is None:
        return _Start(state="ignored", reason="withdrawal")
    await tx.execute(_WITHDRAW, id=meant["id"])
    return _Start(
        state="ignored", reason="withdrawal", meant=meant["id"], meant_in=meant["conversation"]
    )


async def _load_target(tx: Tx, arrival: NewInboxRow) -> Row | None:
    place = arrival.place
    return (
        await tx.execute(
            _SELECT_TARGET, channel=place.channel, account=place.account, key=arrival.target
        )
    ).first()


async def move(tx: Tx, arrival: NewInboxRow) -> None:
    """Give the conversations of a chat its new id, and link the new chat's space to the old one's
    memory.

    Args:
        arrival: of kind "move"; see NewInboxRow.
    """
    place = arrival.place
    account = {"channel": place.channel, "account": place.account}
    old = (await tx.execute(_SELECT_BY_CHAT, chat_id=place.chat_id, **account)).all()
    if not old:
        return
    if not (await tx.execute(_SELECT_BY_CHAT, chat_id=arrival.target, **account)).all():
        await tx.execute(_MOVE_CHAT, chat_id=place.chat_id, new_chat_id=arrival.target, **account)
    own_space = arrival.to_space
    if (
        own_space
        and own_space != place.space
        and (await tx.execute(_SELECT_LINK, own_space=own_space)).first() is None
    ):
        space = await load_linked_space(tx, place.space)
        await tx.execute(
            insert_into(account_link),
            own_space=own_space,
            space=space,
            sender_id=arrival.target,
            at=tx.now,
            **account,
        )


async def load_waiting(tx: Tx) -> list[str]:
    """Load the conversations that have inbox rows in state new (due or not) or running."""
    return [row["conversation"] for row in (await tx.execute(_SELECT_WAITING)).all()]


@light
async def next_row(tx: Tx, conversation: str, now: float) -> InboxRow | None:
    """Load the next row of a conversation's queue.

    A running row comes first, then approved calls, then the oldest row that is due, then the one
    that is due next. Urgent rows that are new are not in the queue.
    """
    row = (await tx.execute(_SELECT_NEXT, conversation=conversation, now=now)).first()
    return from_row(InboxRow, row) if row else None


async def load_newest(tx: Tx, conversation: str) -> InboxRow | None:
    """Load the newest message or command that a conversation has taken, None where there is
    none."""
    row = (await tx.execute(_SELECT_NEWEST, conversation=conversation)).first()
    return from_row(InboxRow, row) if row else None


async def has_another(tx: Tx, conversation: str, id: str) -> bool:
    """Return whether a conversation's queue has another row than this one, due or not."""
    return (await tx.execute(_SELECT_ANOTHER, conversation=conversation, id=id)).first() is not None


@light
async def mark_begun(tx: Tx, inbox_id: str) -> bool:
    """Mark the row of a command as begun, before its effect; False when it had begun before.

    Raises:
        WrongState: the row is not new.
    """
    row = (await tx.execute(_SELECT_ONE, id=inbox_id)).first()
    if (
        row is None
        or not (await tx.execute(_MARK_BEGUN, id=inbox_id, new_lease_epoch=tx.lease)).rowcount
    ):
        raise WrongState(f"inbox row {inbox_id} is not new")
    return bool(row["reason"] != BEGUN)


@light
async def load_row(tx: Tx, id: str) -> InboxRow | None:
    """Load one inbox row, None for an unknown id."""
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    return from_row(InboxRow, row) if row else None


async def delay_all_albums(tx: Tx, due: float) -> None:
    """Delay all waiting albums, so that parts the platform has not delivered yet can join them
    after a start.
    """
    await tx.execute(_DELAY_ALL_ALBUMS, new_not_before=due)


@light
async def load_batched_rows(tx: Tx, row: InboxRow) -> list[InboxRow]:
    """Load the rows that join this row's turn, oldest first: the newest 200 asides, and the rest of
    its album.
    """
    if not row.album:
        return await load_asides(tx, row.conversation)
    return _in_order(
        (
            await tx.execute(
                _SELECT_CONTEXT_ROWS_AND_ALBUM,
                conversation=row.conversation,
                album=row.album,
                id=row.id,
            )
        ).all()
    )


async def load_asides(tx: Tx, conversation: str) -> list[InboxRow]:
    """Load the newest 200 asides that wait for a conversation's next turn, oldest first."""
    return _in_order((await tx.execute(_SELECT_CONTEXT_ROWS, conversation=conversation)).all())


def _in_order(rows: Sequence[Row]) -> list[InboxRow]:
    return sorted(
        (from_row(InboxRow, row) for row in rows), key=lambda row: (row.order_key, row.line)
    )


async def take_context_rows(tx: Tx, rows: Sequence[InboxRow], turn_id: str) -> None:
    """End these rows with a turn, and all asides that are older than they are."""
    for row in rows:
        await tx.execute(_END_WITH_TURN, id=row.id, new_turn_id=turn_id)
    if asides := [row for row in rows if row.state == "aside"]:
        await tx.execute(
            _END_OLDER_CONTEXT_ROWS,
            conversation=asides[0].conversation,
            before_line=min(row.line for row in asides),
            new_turn_id=turn_id,
        )
    if rows:
        await hit_async("album.fired")


@light
async def put_notes(tx: Tx, channel: str, values: Mapping[str, str]) -> None:
    """Store a channel's notes by name; "" deletes one."""
    for name, value in values.items():
        await tx.execute(_DELETE_NOTE, channel=channel, name=name)
        if value:
            await tx.execute(insert_into(channel_note), channel=channel, name=name, value=value)


@light
async def _load_notes(tx: Tx, channel: str, prefix: str = "") -> dict[str, str]:
    """Load a channel's notes whose names start with the prefix."""
    rows = (
        await tx.execute(
            _SELECT_NOTES, channel=channel, from_name=prefix, to_name=prefix + _LAST_CHARACTER
        )
    ).all()
    return {row["name"]: row["value"] for row in rows}


class ChannelNotes(Repository):
    """Short texts that each channel stores between restarts, such as a cursor; see also
    Delivery.accept.
    """

    load = read(_load_notes)
    put = write(put_notes)
