"""The list of conversations: its pages, what the owner chooses for each, and deletion with time to
take it back.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    update,
)

from memory.store.audit import append_act
from memory.store.conversations.lifecycle import delete_conversation
from memory.store.conversations.sessions import NEWEST_FIRST, SELECT_CONVERSATION
from memory.store.engine.database import Repository, Tx, light, read, write
from memory.store.linked_spaces import LINKED_SPACE
from memory.store.rows import ConversationRow, to_conversation_row
from memory.store.schema.tables import conversation, escape_like, literal_text

UNDO_SECONDS = 10.0
MAX_TITLE = 200  # characters
# "" leaves out what is archived.
ListState = Literal["", "archived", "unread", "all"]
DeleteResult = Literal["deleted", "kept", "gone"]

_MAX_SECONDS = 1e14
_CURSOR = re.compile(r"([01]):([0-9]{1,15}\.[0-9]{1,10})_([A-Za-z0-9-]{1,64})", re.ASCII)
_PLAIN_CURSOR = re.compile(r"([0-9]{1,15}\.[0-9]{1,10})_([A-Za-z0-9-]{1,64})", re.ASCII)
# Of another person's private chat the title, their first words, is not searched: that would be a
# reading of it.
_IS_OPEN = or_(
    conversation.c.space == literal_text(""), conversation.c.kind == literal_text("group")
)
_IS_LISTED = conversation.c.deleting == 0
_IS_FOUND = or_(
    and_(_IS_OPEN, conversation.c.title.icontains(bindparam("words"), escape="/")),
    conversation.c.chat_name.icontains(bindparam("words"), escape="/"),
    conversation.c.own_title.icontains(bindparam("words"), escape="/"),
    conversation.c.chat_id.icontains(bindparam("words"), escape="/"),
)
_IS_BELOW = or_(
    conversation.c.updated < bindparam("updated"),
    and_(conversation.c.updated == bindparam("updated"), conversation.c.id < bindparam("id")),
)
_IS_OWN = (conversation.c.space == literal_text(""), conversation.c.kind != literal_text("group"))
_IS_WANTED = (
    or_(bindparam("channel") == literal_text(""), conversation.c.channel == bindparam("channel")),
    or_(bindparam("person") == literal_text(""), conversation.c.chat_id == bindparam("person")),
)
_IN_STATE: dict[str, ColumnElement[bool]] = {
    "": conversation.c.archived == 0,
    "archived": conversation.c.archived == 1,
    "unread": conversation.c.next_line - 1 > conversation.c.seen_line,
    "all": conversation.c.archived >= 0,
}


def _page(*conditions: ColumnElement[bool]) -> Select[Any]:
    where = (conversation.c.updated <= bindparam("updated"), _IS_BELOW, _IS_FOUND, _IS_LISTED)
    return NEWEST_FIRST.where(*where, *conditions).limit(bindparam("limit"))


_PAGES = {False: _page(), True: _page(*_IS_OWN)}
_PAGES_BY_PIN = {
    state: _page(conversation.c.pinned == bindparam("pinned"), in_state, *_IS_WANTED)
    for state, in_state in _IN_STATE.items()
}
MAX_OF_OTHERS = 10_000  # conversations that are looked at for the spaces of other people
_OF_OTHERS = NEWEST_FIRST.where(func.length(LINKED_SPACE) > 0).limit(bindparam("limit"))
_CHANGED = NEWEST_FIRST.where(
    or_(conversation.c.updated >= bindparam("since"), conversation.c.touched >= bindparam("since"))
).limit(bindparam("limit"))


async def load_page(
    tx: Tx, cursor: str = "", limit: int = 200, *, own: bool = False, words: str = ""
) -> tuple[list[ConversationRow], str]:
    """Load a page of the list of conversations, newest first, and the cursor of the next page (""
    after the last).

    One that gets no message while the pages are read is on exactly one of them; one that does moves
    to the front.

    Args: own: only the owner's private ones. words: only those whose title, or id on their channel,
    contains this.

    Raises:
        ValueError: the cursor is not one of this list.
    """
    found = _PLAIN_CURSOR.fullmatch(cursor or f"{_MAX_SECONDS}_-")
    if found is None:
        raise ValueError("the cursor is not one of this list")
    place = {"updated": float(found[1]), "id": found[2], "words": escape_like(words)}
    rows = (await tx.execute(_PAGES[own], **place, limit=limit + 1)).all()
    next_cursor = (
        f"{rows[limit - 1]['updated']!r}_{rows[limit - 1]['id']}" if len(rows) > limit else ""
    )
    return [to_conversation_row(row) for row in rows[:limit]], next_cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """Which conversations are wanted; "" for any."""

    #: The title, or the id on their channel, contains this.
    words: str = ""
    channel: str = ""
    #: Id of the chat on its channel.
    person: str = ""
    state: ListState = ""


ANY_CONVERSATION = ListFilter()


async def load_pinned_page(
    tx: Tx, cursor: str = "", limit: int = 200, wanted: ListFilter = ANY_CONVERSATION
) -> tuple[list[ConversationRow], str]:
    """Load a page of the list as `load_page` does, the pinned ones before all others.

    Raises:
        ValueError: the cursor is not one of this list.
    """
    found = _CURSOR.fullmatch(cursor or f"1:{_MAX_SECONDS}_-")
    if found is None:
        raise ValueError("the cursor is not one of this list")
    statement = _PAGES_BY_PIN[wanted.state]
    values = {
        "words": escape_like(wanted.words),
        "channel": wanted.channel,
        "person": wanted.person,
    }
    pinned, updated, id = int(found[1]), float(found[2]), found[3]
    rows = (
        await tx.execute(
            statement, pinned=pinned, updated=updated, id=id, limit=limit + 1, **values
        )
    ).all()
    if pinned and len(rows) <= limit:
        rows += (
            await tx.execute(
                statement,
                pinned=0,
                updated=_MAX_SECONDS,
                id="-",
                limit=limit + 1 - len(rows),
                **values,
            )
        ).all()
    last = rows[limit - 1] if len(rows) > limit else None
    next_cursor = f"{last['pinned']}:{last['updated']!r}_{last['id']}" if last else ""
    return [to_conversation_row(row) for row in rows[:limit]], next_cursor


async def load_changed(tx: Tx, since: float, limit: int = 200) -> list[ConversationRow]:
    """Load what has a message or a choice at or after `since` (unix seconds of `Store.now`), newest
    first.

    Those that are about to be deleted are among them: the list leaves them out.
    """
    return [
        to_conversation_row(row)
        for row in (await tx.execute(_CHANGED, since=since, limit=limit)).all()
    ]


# What the owner chooses.

_ONE = SELECT_CONVERSATION.where(conversation.c.id == bindparam("id"))
_LOCK = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(touched=bindparam("now"))
)
_SET = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(
        own_title=bindparam("new_own_title"),
        pinned=bindparam("new_pinned"),
        archived=bindparam("new_archived"),
    )
)
_SET_DELETING = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(deleting=bindparam("new_deleting"))
)
_SET_SEEN = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"), conversation.c.seen_line < bindparam("line"))
    .values(
        seen_line=case(
            (conversation.c.next_line - 1 < bindparam("line"), conversation.c.next_line - 1),
            else_=bindparam("line"),
        ),
        touched=bindparam("now"),
    )
)
_DUE = (
    select(conversation.c.id, conversation.c.deleting, conversation.c.heard)
    .where(conversation.c.deleting > literal_column("0"))  # as the partial index says it
    .order_by(conversation.c.deleting)
    .limit(bindparam("limit"))
)
_HEARD = select(func.max(conversation.c.heard).label("heard")).where(
    conversation.c.id == bindparam("id")
)


class StaleChoice(ValueError):
    """What the owner saw has been changed since; `tag` is that of the present state."""

    def __init__(self, tag: str) -> None:
        super().__init__("the conversation was changed meanwhile")
        self.tag = tag


def choice_tag(row: ConversationRow) -> str:
    """Return the tag of what the owner may choose for a conversation; it changes with each of
    them.
    """
    chosen = (row.id, row.own_title, row.pinned, row.archived, row.deleting)
    return sha256(repr(chosen).encode()).hexdigest()[:24]


async def _check(tx: Tx, id: str, expected: str) -> ConversationRow:
    """Lock a conversation's row and compare its tag.

    Raises:
        LookupError: there is no such conversation. StaleChoice: it was changed.
    """
    if not (await tx.execute(_LOCK, id=id, now=tx.now)).rowcount:
        raise LookupError(f"there is no conversation {id}")
    found = (await tx.execute(_ONE, id=id)).first()
    if found is None:
        raise LookupError(f"there is no conversation {id}")
    row = to_conversation_row(found)
    if expected != choice_tag(row):
        raise StaleChoice(choice_tag(row))
    return row


async def choose(
    tx: Tx,
    id: str,
    expected: str,
    *,
    title: str | None = None,
    pinned: bool | None = None,
    archived: bool | None = None,
) -> ConversationRow:
    """Set what is not None; `title` "" shows the first words again.

    Args:
        expected: `choice_tag` of the row as it was seen.

    Raises:
        LookupError: there is no such conversation. StaleChoice: it was changed.
    """
    row = await _check(tx, id, expected)
    await tx.execute(
        _SET,
        id=id,
        new_own_title=row.own_title if title is None else title[:MAX_TITLE],
        new_pinned=row.pinned if pinned is None else int(pinned),
        new_archived=row.archived if archived is None else int(archived),
    )
    return await _load(tx, id)


async def ask_deletion(tx: Tx, id: str, expected: str, by: str = "") -> ConversationRow:
    """Leave a conversation out of the list, and delete it once `UNDO_SECONDS` are over.

    Raises:
        LookupError: there is no such conversation. StaleChoice: it was changed.
    """
    row = await _check(tx, id, expected)
    if not row.deleting:
        await tx.execute(_SET_DELETING, id=id, new_deleting=tx.now + UNDO_SECONDS)
        await append_act(tx, "delete", id, "asked", by)
    return await _load(tx, id)


async def take_back_deletion(tx: Tx, id: str, by: str = "") -> ConversationRow | None:
    """Keep a conversation after all; None where there is none any more."""
    if not (await tx.execute(_LOCK, id=id, now=tx.now)).rowcount:
        return None
    row = await _load(tx, id)
    if row.deleting:
        await tx.execute(_SET_DELETING, id=id, new_deleting=0.0)
        await append_act(tx, "delete", id, "taken back", by)
    return await _load(tx, id)


async def finish_deletion(tx: Tx, id: str, by: str = "") -> DeleteResult:
    """Delete a conversation whose time is over; one that was written to meanwhile is kept, for that
    is to be answered.

    Returns:
        "gone" where it was deleted or taken back before.
    """
    if not (await tx.execute(_LOCK, id=id, now=tx.now)).rowcount:
        return "gone"
    row = await _load(tx, id)
    if not row.deleting or row.deleting > tx.now:
        return "gone"
    heard = (await tx.execute(_HEARD, id=id)).first()
    if heard and heard["heard"] > row.deleting - UNDO_SECONDS:
        await tx.execute(_SET_DELETING, id=id, new_deleting=0.0)
        await append_act(tx, "delete", id, "kept: it was written to", by)
        return "kept"
    await delete_conversation(tx, id, by)
    return "deleted"


async def load_newest_by_space(tx: Tx) -> list[ConversationRow]:
    """Load the newest conversation of each space but the owner's, newest first; spaces beyond a
    bound are left out.
    """
    found: dict[str, ConversationRow] = {}
    for row in map(to_conversation_row, (await tx.execute(_OF_OTHERS, limit=MAX_OF_OTHERS)).all()):
        found.setdefault(row.place.space, row)
    return list(found.values())


async def _load(tx: Tx, id: str) -> ConversationRow:
    found = (await tx.execute(_ONE, id=id)).first()
    if found is None:
        raise LookupError(f"there is no conversation {id}")
    return to_conversation_row(found)


async def load_deletions(tx: Tx, limit: int = 100) -> list[tuple[str, float, bool]]:
    """Load the conversations that are to be deleted, soonest first: id, time, whether somebody has
    written since.
    """
    rows = (await tx.execute(_DUE, limit=limit)).all()
    return [
        (row["id"], row["deleting"], row["heard"] > row["deleting"] - UNDO_SECONDS) for row in rows
    ]


@light
async def mark_seen(tx: Tx, id: str, line: int) -> bool:
    """Note that the owner has read up to this line; False where they have read as far before."""
    return bool((await tx.execute(_SET_SEEN, id=id, line=line, now=tx.now)).rowcount)


class ConversationList(Repository):
    """The list of conversations, and what the owner chooses for each."""

    page = read(load_page)
    pinned_page = read(load_pinned_page)
    changed = read(load_changed)
    choose = write(choose)
    ask_deletion = write(ask_deletion)
    take_back_deletion = write(take_back_deletion)
    finish_deletion = write(finish_deletion)
    deletions = read(load_deletions)
    newest_by_space = read(load_newest_by_space)
    mark_seen = write(mark_seen)
