"""The People door: who talks here, and the removal of a person's rows from every table."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Select, Table, bindparam, case, delete, func, insert, or_, select, update

from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store.audit import append_act, digest_arguments
from memory.store.engine.database import Row, Tx
from memory.store.engine.repository import Repository, read, write
from memory.store.people.rows import Person, PersonRemovalRow, PersonRow
from memory.store.rows import from_unix
from memory.store.schema.columns import literal_text
from memory.store.schema.memory_tables import (
    access_grant,
    access_request,
    account_link,
    approval,
    dream,
    extraction,
    file_label,
    forgetting,
    link_code,
    memory,
    memory_change,
)
from memory.store.schema.tables import (
    audit,
    channel_note,
    conversation,
    inbox,
    limit_told,
    message,
    outbox,
    person_removal,
    turn,
    usage,
)

BLOB_NAME = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_SELECT_CONVERSATIONS = (
    select(
        conversation.c.id,
        conversation.c.space,
        conversation.c.channel,
        conversation.c.chat_id,
        conversation.c.thread_id,
        conversation.c.next_seq,
        conversation.c.updated,
    )
    .where(conversation.c.kind == literal_text("dm"))
    .order_by(conversation.c.space, conversation.c.id)
)
_SELECT_WRITERS = (
    select(inbox.c.conversation, inbox.c.sender_id)
    .join(conversation, conversation.c.id == inbox.c.conversation)
    .where(conversation.c.kind == literal_text("dm"), inbox.c.sender_id != literal_text(""))
    .distinct()
)
_COUNT_IN_GROUPS = (
    select(func.count().label("found"))
    .select_from(inbox)
    .join(conversation, conversation.c.id == inbox.c.conversation)
    .where(
        conversation.c.kind != literal_text("dm"),
        inbox.c.channel == bindparam("on"),
        inbox.c.sender_id == bindparam("whose"),
        inbox.c.state != literal_text("ignored"),
    )
)
_SELECT_PARTS = select(message.c.parts).where(
    message.c.conversation == bindparam("row"), message.c.parts.like(bindparam("files"))
)
_SELECT_BODIES = select(inbox.c.id, inbox.c.key, inbox.c.body).where(inbox.c.conversation == bindparam("row"))
_SELECT_PAYLOADS = select(outbox.c.id, outbox.c.client_key, outbox.c.payload).where(
    outbox.c.conversation == bindparam("row")
)
_SELECT_NOTE_NAMES = select(channel_note.c.name).where(channel_note.c.channel == bindparam("on"))
_DELETE_NOTE = delete(channel_note).where(
    channel_note.c.channel == bindparam("on"), channel_note.c.name == bindparam("called")
)
_SELECT_OPEN = select(person_removal).order_by(person_removal.c.id)
_INSERT = insert(person_removal)
_SET_COUNTS = update(person_removal).where(person_removal.c.id == bindparam("row")).values(receipt=bindparam("told"))
_DELETE = delete(person_removal).where(person_removal.c.id == bindparam("row"))
_DELETES_OF_SPACE = {
    table.name: delete(table).where(table.c.space == bindparam("mine"))
    for table in (memory, memory_change, extraction, dream, forgetting, approval, file_label)
}
_DELETE_LINKS = delete(account_link).where(
    or_(account_link.c.own_space == bindparam("mine"), account_link.c.space == bindparam("mine"))
)
_DELETE_CODES = delete(link_code).where(
    or_(link_code.c.space == bindparam("mine"), link_code.c.typed_space == bindparam("mine"))
)
_DELETES_OF_PARTY = {
    table.name: delete(table).where(
        table.c.channel == bindparam("on"),
        table.c.subject_id == bindparam("whose"),
        *([table.c.subject != literal_text("group")] if table is not approval else ()),
    )
    for table in (access_grant, access_request, approval)
}
_DELETE_LIMIT_NOTICES = delete(limit_told).where(limit_told.c.who.like(bindparam("like"), escape="\\"))
# What they used in groups is nobody's from then on, and goes on to count to the whole.
_ANONYMISE = tuple(
    update(table).where(table.c.who.like(bindparam("like"), escape="\\")).values(who=literal_text(""))
    for table in (turn, usage)
)
_ACTS_OF = select(func.count().label("found")).select_from(audit)
_ACTS_ON = _ACTS_OF.where(audit.c.subject == bindparam("named"))
_ACTS_BY = _ACTS_OF.where(audit.c.actor.like(bindparam("like"), escape="\\"))


def _page_query(table: Table, column: Column[str]) -> Select[Any]:
    """So many rows in order of their ids, the column of those that name no file left empty."""
    held = case((column.like(bindparam("files")), column), else_=literal_text(""))
    after = select(table.c.id, held.label("value")).where(table.c.id > bindparam("after"))
    return after.order_by(table.c.id).limit(bindparam("most"))


_PAGES_NAMING_FILES = {
    "message": _page_query(message, message.c.parts),
    "inbox": _page_query(inbox, inbox.c.body),
    "outbox": _page_query(outbox, outbox.c.payload),
}
# What a row that names a file has in it, so that the others are passed over by the database.
_NAMES_FILES = {"message": '%"sha256"%', "inbox": '%"files"%', "outbox": "_%"}


async def _load_people(tx: Tx) -> list[PersonRow]:
    """One for each space of private talk, the owner's too, in order of the spaces."""
    talks: dict[str, list[Row]] = defaultdict(list)
    for row in await tx.all(_SELECT_CONVERSATIONS):
        talks[row["space"]].append(row)
    writers: dict[str, set[str]] = defaultdict(set)
    for row in await tx.all(_SELECT_WRITERS):
        writers[row["conversation"]].add(row["sender_id"])
    return [_person_row(space, rows, writers) for space, rows in talks.items()]


def _person_row(space: str, rows: Sequence[Row], writers: Mapping[str, Collection[str]]) -> PersonRow:
    accounts = {f"{row['channel']}:{who}" for row in rows for who in writers.get(row["id"], ())}
    return PersonRow(
        space=space,
        accounts=tuple(sorted(accounts)),
        conversations=tuple(row["id"] for row in rows),
        messages=sum(row["next_seq"] - 1 for row in rows),
        updated=from_unix(max(row["updated"] for row in rows)),
    )


async def _count_in_groups(tx: Tx, account: str) -> int:
    """How many messages of that account stand in groups; they are the groups'."""
    channel, id = _audit_name(account)
    row = await tx.one(_COUNT_IN_GROUPS, on=channel, whose=id)
    return int(row["found"]) if row else 0


async def _count_acts(tx: Tx, person: Person) -> int:
    """How many rows of the chain of acts name them; those stay."""
    by = [f"{channel}/%/{_escape_like(id)}" for channel, id in map(_audit_name, person.accounts)]
    rows = [await tx.one(_ACTS_ON, named=space) for space in person.spaces]
    rows += [await tx.one(_ACTS_BY, like=actor) for actor in by]
    return sum(int(row["found"]) for row in rows if row)


async def _load_conversations(tx: Tx, person: Person) -> list[str]:
    """Ids of their private conversations."""
    return [row["id"] for row in await tx.all(_SELECT_CONVERSATIONS) if row["space"] in person.spaces]


async def _begin_removal(tx: Tx, person: Person) -> PersonRemovalRow:
    """From here on they are to be removed, whatever dies; gives what is known of one who is leaving already."""
    known = next((one for one in await _load_removals(tx) if set(one.person.spaces) & set(person.spaces)), None)
    if known is not None:
        return known
    blobs: set[str] = set()
    for row in await tx.all(_SELECT_CONVERSATIONS):
        if row["space"] in person.spaces:
            blobs |= await _collect_blobs(tx, row, person)
    leaving = PersonRemovalRow(id=new_id(tx.now), person=person, blobs=tuple(sorted(blobs)))
    lists = {"spaces": person.spaces, "parties": person.accounts, "blobs": leaving.blobs}
    await tx.run(
        _INSERT, id=leaving.id, receipt="{}", at=tx.now, **{name: json.dumps(value) for name, value in lists.items()}
    )
    return leaving


async def _collect_blobs(tx: Tx, row: Row, person: Person) -> set[str]:
    """The files that a conversation's rows name; its pages of the channel's notebook go at once."""
    heard = await tx.all(_SELECT_BODIES, row=row["id"])
    spoken = await tx.all(_SELECT_PAYLOADS, row=row["id"])
    texts = [one["parts"] for one in await tx.all(_SELECT_PARTS, row=row["id"], files=_NAMES_FILES["message"])]
    texts += [one["body"] for one in heard] + [one["payload"] for one in spoken]
    ids = {row["chat_id"], row["thread_id"], *(_audit_name(account)[1] for account in person.accounts)}
    ids |= {one[name] for one in heard for name in ("id", "key")}
    ids |= {one[name] for one in spoken for name in ("id", "client_key")}
    for page in await tx.all(_SELECT_NOTE_NAMES, on=row["channel"]):
        _, colon, last = page["name"].partition(":")
        if colon and {last, last.rpartition(":")[2]} & (ids - {""}):
            await tx.run(_DELETE_NOTE, on=row["channel"], called=page["name"])
    return {name for text in texts for name in BLOB_NAME.findall(text)}


async def _load_removals(tx: Tx) -> list[PersonRemovalRow]:
    """Those whose removal was begun and is not at its end."""
    return [
        PersonRemovalRow(
            id=row["id"],
            person=Person(spaces=tuple(json.loads(row["spaces"])), accounts=tuple(json.loads(row["parties"]))),
            blobs=tuple(json.loads(row["blobs"])),
            counts=json.loads(row["receipt"]),
        )
        for row in await tx.all(_SELECT_OPEN)
    ]


async def _delete_rows(tx: Tx, leaving: PersonRemovalRow) -> int:
    """Every row of theirs beside their conversations; returns how many."""
    gone = 0
    for space in leaving.person.spaces:
        for statement in (*_DELETES_OF_SPACE.values(), _DELETE_LINKS, _DELETE_CODES):
            gone += await tx.run(statement, mine=space)
    for account in leaving.person.accounts:
        channel, id = _audit_name(account)
        for statement in _DELETES_OF_PARTY.values():
            gone += await tx.run(statement, on=channel, whose=id)
        who = f"{_escape_like(channel)}:%:{_escape_like(id)}"
        gone += await tx.run(_DELETE_LIMIT_NOTICES, like=who)
        for blank in _ANONYMISE:
            await tx.run(blank, like=who)
    await hit_async("forget.in_txn")
    return gone


async def _set_counts(tx: Tx, leaving: PersonRemovalRow) -> None:
    """Keep the counts, for the receipt of whoever goes on."""
    await tx.run(_SET_COUNTS, row=leaving.id, told=json.dumps(dict(leaving.counts)))


async def _finish_removal(tx: Tx, leaving: PersonRemovalRow, by: str) -> None:
    """All is removed: the work's own row goes, and the act is noted."""
    if await tx.run(_DELETE, row=leaving.id):
        args: dict[str, object] = {"spaces": leaving.person.spaces, "accounts": leaving.person.accounts}
        await append_act(tx, "person deleted", digest_arguments(args), "deleted", by, args=args)


async def _load_named_blobs(tx: Tx, source: str, after: str, limit: int) -> tuple[set[str], str]:
    """Names of files that so many rows name, and where to go on, "" at the end.

    source: message, inbox or outbox.
    """
    rows = await tx.all(_PAGES_NAMING_FILES[source], after=after, most=limit, files=_NAMES_FILES[source])
    last = rows[-1]["id"] if len(rows) == limit else ""
    return {name for row in rows for name in BLOB_NAME.findall(row["value"])}, last


def _audit_name(account: str) -> tuple[str, str]:
    channel, _, id = account.partition(":")
    return channel, id


def _escape_like(text: str) -> str:
    """A text in which LIKE finds nothing but itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


# The store's doors to what is kept about people and acts, as Protocols that any backend passes the suite of.
#
# All methods may raise StoreFull, StoreBusy or StoreCorrupt.


class People(Repository):
    """Who talks here, and the removal of all that is kept of a person."""

    everyone = read(_load_people)
    count_in_groups = read(_count_in_groups)
    count_acts_naming = read(_count_acts)
    begin = write(_begin_removal, committed="forget.committed")
    leaving = read(_load_removals)
    conversations = read(_load_conversations)
    drop = write(_delete_rows)
    counted = write(_set_counts)
    gone = write(_finish_removal)
    load_named_blobs = read(_load_named_blobs)

    async def compact(self) -> bool:
        """No byte of what was deleted is left in the database's files; False while somebody reads it."""
        return await self._database.compact()
