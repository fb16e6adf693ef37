"""Lists the people who use the bot, and removes a person's rows from every table."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

from sqlalchemy import Column, Select, Table, bindparam, case, delete, func, or_, select, update

from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store.audit import append_act, digest_arguments
from memory.store.engine.database import Repository, Row, Tx, insert_into, read, write
from memory.store.people.rows import Person, PersonRemovalRow, PersonRow
from memory.store.rows import from_unix
from memory.store.schema.memory_tables import (
    access_grant,
    access_request,
    account_link,
    approval,
    approval_rule,
    background_task,
    dream,
    extraction,
    file_label,
    file_version,
    forgetting,
    heartbeat,
    job,
    job_setting,
    link_code,
    memory,
    memory_change,
    occurrence,
    view_text,
)
from memory.store.schema.tables import (
    audit,
    channel_note,
    conversation,
    inbox,
    limit_told,
    literal_text,
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
    select(func.count().label("count"))
    .select_from(inbox)
    .join(conversation, conversation.c.id == inbox.c.conversation)
    .where(
        conversation.c.kind != literal_text("dm"),
        inbox.c.channel == bindparam("channel"),
        inbox.c.sender_id == bindparam("sender_id"),
        inbox.c.state != literal_text("ignored"),
    )
)
_SELECT_PARTS = select(message.c.parts).where(
    message.c.conversation == bindparam("conversation"), message.c.parts.like(bindparam("pattern"))
)
_SELECT_BODIES = select(inbox.c.id, inbox.c.key, inbox.c.body).where(
    inbox.c.conversation == bindparam("conversation")
)
_SELECT_PAYLOADS = select(outbox.c.id, outbox.c.client_key, outbox.c.payload).where(
    outbox.c.conversation == bindparam("conversation")
)
_SELECT_NOTE_NAMES = select(channel_note.c.name).where(
    channel_note.c.channel == bindparam("channel")
)
_SELECT_VERSIONS = select(file_version.c.sha256).where(
    file_version.c.space == bindparam("space"), file_version.c.sha256 != literal_text("")
)
_DELETE_NOTE = delete(channel_note).where(
    channel_note.c.channel == bindparam("channel"), channel_note.c.name == bindparam("name")
)
_SELECT_OPEN = select(person_removal).order_by(person_removal.c.id)
_SET_RECEIPT = (
    update(person_removal)
    .where(person_removal.c.id == bindparam("id"))
    .values(receipt=bindparam("new_receipt"))
)
_DELETE = delete(person_removal).where(person_removal.c.id == bindparam("id"))
_DELETES_OF_SPACE = (
    *(
        delete(table).where(table.c.space == bindparam("space"))
        for table in (
            memory,
            memory_change,
            extraction,
            dream,
            forgetting,
            approval,
            approval_rule,
            background_task,
            file_label,
            view_text,
            job,
            occurrence,
            job_setting,
            heartbeat,
        )
    ),
    delete(file_version).where(file_version.c.space == bindparam("space")),
    delete(account_link).where(
        or_(
            account_link.c.own_space == bindparam("space"),
            account_link.c.space == bindparam("space"),
        )
    ),
    delete(link_code).where(
        or_(link_code.c.space == bindparam("space"), link_code.c.typed_space == bindparam("space"))
    ),
)
_DELETES_OF_PARTY = tuple(
    delete(table).where(
        table.c.channel == bindparam("channel"),
        table.c.subject_id == bindparam("subject_id"),
        *([table.c.subject != literal_text("group")] if table is not approval else ()),
    )
    for table in (access_grant, access_request, approval)
)
# What they set up in groups; their own spaces are deleted as a whole.
_DELETES_OF_PERSON = tuple(
    delete(table).where(
        table.c.channel == bindparam("channel"), table.c.person == bindparam("person")
    )
    for table in (job, job_setting)
)
_DELETE_LIMIT_NOTICES = delete(limit_told).where(
    limit_told.c.who.like(bindparam("pattern"), escape="\\")
)
# Usage in groups stays without a person, and still counts in the totals.
_ANONYMISE = tuple(
    update(table)
    .where(table.c.who.like(bindparam("pattern"), escape="\\"))
    .values(who=literal_text(""))
    for table in (turn, usage)
)
_COUNT_ACTS = select(func.count().label("count")).select_from(audit)
_COUNT_ACTS_ON = _COUNT_ACTS.where(audit.c.subject == bindparam("subject"))
_COUNT_ACTS_BY = _COUNT_ACTS.where(audit.c.actor.like(bindparam("pattern"), escape="\\"))


def _page_query(table: Table, column: Column[str]) -> Select[Any]:
    """A page of rows in the order of their ids, with an empty value where the column names no
    file.
    """
    value = case((column.like(bindparam("pattern")), column), else_=literal_text(""))
    after = select(table.c.id, value.label("value")).where(table.c.id > bindparam("after"))
    return after.order_by(table.c.id).limit(bindparam("limit"))


_BLOB_PAGES = {
    "message": _page_query(message, message.c.parts),
    "inbox": _page_query(inbox, inbox.c.body),
    "outbox": _page_query(outbox, outbox.c.payload),
    "file_version": _page_query(file_version, file_version.c.sha256),
}
# LIKE patterns of values that name a file, so that the database skips the others.
_FILE_PATTERNS = {
    "message": '%"sha256"%',
    "inbox": '%"files"%',
    "outbox": "_%",
    "file_version": "_%",
}


async def _load_people(tx: Tx) -> list[PersonRow]:
    """Load a row for each space with private conversations, including the owner's, in the order of
    the spaces.
    """
    conversations: dict[str, list[Row]] = defaultdict(list)
    for row in (await tx.execute(_SELECT_CONVERSATIONS)).all():
        conversations[row["space"]].append(row)
    writers: dict[str, set[str]] = defaultdict(set)
    for row in (await tx.execute(_SELECT_WRITERS)).all():
        writers[row["conversation"]].add(row["sender_id"])
    return [_to_person_row(space, rows, writers) for space, rows in conversations.items()]


def _to_person_row(
    space: str, rows: Sequence[Row], writers: Mapping[str, Collection[str]]
) -> PersonRow:
    accounts = {
        f"{row['channel']}:{sender}" for row in rows for sender in writers.get(row["id"], ())
    }
    return PersonRow(
        space=space,
        accounts=tuple(sorted(accounts)),
        conversations=tuple(row["id"] for row in rows),
        messages=sum(row["next_seq"] - 1 for row in rows),
        updated=from_unix(max(row["updated"] for row in rows)),
    )


async def _count_in_groups(tx: Tx, account: str) -> int:
    """Count an account's messages in groups, which a removal does not delete."""
    channel, id = _split_account(account)
    row = (await tx.execute(_COUNT_IN_GROUPS, channel=channel, sender_id=id)).first()
    return int(row["count"]) if row else 0


async def _count_acts(tx: Tx, person: Person) -> int:
    """Count the rows of the audit chain that name a person, which a removal does not delete."""
    actors = [
        f"{channel}/%/{_escape_like(id)}" for channel, id in map(_split_account, person.accounts)
    ]
    rows = [(await tx.execute(_COUNT_ACTS_ON, subject=space)).first() for space in person.spaces]
    rows += [(await tx.execute(_COUNT_ACTS_BY, pattern=actor)).first() for actor in actors]
    return sum(int(row["count"]) for row in rows if row)


async def _load_conversations(tx: Tx, person: Person) -> list[str]:
    """List the ids of a person's private conversations."""
    return [
        row["id"]
        for row in (await tx.execute(_SELECT_CONVERSATIONS)).all()
        if row["space"] in person.spaces
    ]


async def _begin_removal(tx: Tx, person: Person) -> PersonRemovalRow:
    """Store a removal, so that it resumes after a crash; for a person being removed, return the
    removal's row.
    """
    known = next(
        (one for one in await _load_removals(tx) if set(one.person.spaces) & set(person.spaces)),
        None,
    )
    if known is not None:
        return known
    blobs: set[str] = set()
    for row in (await tx.execute(_SELECT_CONVERSATIONS)).all():
        if row["space"] in person.spaces:
            blobs |= await _collect_blobs(tx, row, person)
    for space in person.spaces:
        blobs |= {row["sha256"] for row in (await tx.execute(_SELECT_VERSIONS, space=space)).all()}
    removal = PersonRemovalRow(id=new_id(tx.now), person=person, blobs=tuple(sorted(blobs)))
    lists = {"spaces": person.spaces, "parties": person.accounts, "blobs": removal.blobs}
    columns = {name: json.dumps(value) for name, value in lists.items()}
    await tx.execute(insert_into(person_removal), id=removal.id, receipt="{}", at=tx.now, **columns)
    return removal


async def _delete_notes(tx: Tx, channel: str, ids: Set[str]) -> None:
    """Delete a channel's notes whose name ends in one of these ids."""
    for note in (await tx.execute(_SELECT_NOTE_NAMES, channel=channel)).all():
        _, colon, suffix = note["name"].partition(":")
        if colon and {suffix, suffix.rpartition(":")[2]} & ids:
            await tx.execute(_DELETE_NOTE, channel=channel, name=note["name"])


async def _collect_blobs(tx: Tx, row: Row, person: Person) -> set[str]:
    """Return the blobs that a conversation's rows refer to, and delete the channel's notes about
    it.
    """
    received = (await tx.execute(_SELECT_BODIES, conversation=row["id"])).all()
    sent = (await tx.execute(_SELECT_PAYLOADS, conversation=row["id"])).all()
    messages = (
        await tx.execute(_SELECT_PARTS, conversation=row["id"], pattern=_FILE_PATTERNS["message"])
    ).all()
    texts = [one["parts"] for one in messages]
    texts += [one["body"] for one in received] + [one["payload"] for one in sent]
    ids = {
        row["chat_id"],
        row["thread_id"],
        *(_split_account(account)[1] for account in person.accounts),
    }
    ids |= {one[name] for one in received for name in ("id", "key")}
    ids |= {one[name] for one in sent for name in ("id", "client_key")}
    await _delete_notes(tx, row["channel"], ids - {""})
    return {name for text in texts for name in BLOB_NAME.findall(text)}


async def _load_removals(tx: Tx) -> list[PersonRemovalRow]:
    """Load the removals that have not ended."""
    return [
        PersonRemovalRow(
            id=row["id"],
            person=Person(
                spaces=tuple(json.loads(row["spaces"])), accounts=tuple(json.loads(row["parties"]))
            ),
            blobs=tuple(json.loads(row["blobs"])),
            counts=json.loads(row["receipt"]),
        )
        for row in (await tx.execute(_SELECT_OPEN)).all()
    ]


async def _delete_rows(tx: Tx, removal: PersonRemovalRow) -> int:
    """Delete a person's rows that belong to no conversation; returns how many."""
    deleted = 0
    for space in removal.person.spaces:
        for statement in _DELETES_OF_SPACE:
            deleted += (await tx.execute(statement, space=space)).rowcount
    for account in removal.person.accounts:
        channel, id = _split_account(account)
        for statement in _DELETES_OF_PARTY:
            deleted += (await tx.execute(statement, channel=channel, subject_id=id)).rowcount
        for statement in _DELETES_OF_PERSON:
            deleted += (await tx.execute(statement, channel=channel, person=id)).rowcount
        who = f"{_escape_like(channel)}:%:{_escape_like(id)}"
        deleted += (await tx.execute(_DELETE_LIMIT_NOTICES, pattern=who)).rowcount
        for anonymise in _ANONYMISE:
            await tx.execute(anonymise, pattern=who)
    await hit_async("forget.in_txn")
    return deleted


async def _set_counts(tx: Tx, removal: PersonRemovalRow) -> None:
    """Store the counts so far, for the receipt after a crash."""
    await tx.execute(_SET_RECEIPT, id=removal.id, new_receipt=json.dumps(dict(removal.counts)))


async def _finish_removal(tx: Tx, removal: PersonRemovalRow, by: str) -> None:
    """Delete the removal's row and add the act to the audit chain."""
    if (await tx.execute(_DELETE, id=removal.id)).rowcount:
        args: dict[str, object] = {
            "spaces": removal.person.spaces,
            "accounts": removal.person.accounts,
        }
        await append_act(tx, "person deleted", digest_arguments(args), "deleted", by, args=args)


async def _load_named_blobs(tx: Tx, source: str, after: str, limit: int) -> tuple[set[str], str]:
    """Load the blobs that a page of rows refers to.

    Args:
        source: "message", "inbox", "outbox" or "file_version".

    Returns:
        The blobs, and the id to continue after, "" at the end.
    """
    rows = (
        await tx.execute(
            _BLOB_PAGES[source], after=after, limit=limit, pattern=_FILE_PATTERNS[source]
        )
    ).all()
    last = rows[-1]["id"] if len(rows) == limit else ""
    return {name for row in rows for name in BLOB_NAME.findall(row["value"])}, last


def _split_account(account: str) -> tuple[str, str]:
    """Split "channel:sender id"; the id may contain colons."""
    channel, _, id = account.partition(":")
    return channel, id


def _escape_like(text: str) -> str:
    """Escape a text for LIKE."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


class People(Repository):
    """The people who use the bot, and removals of people."""

    load_people = read(_load_people)
    count_in_groups = read(_count_in_groups)
    count_acts_naming = read(_count_acts)
    begin_removal = write(_begin_removal, committed="forget.committed")
    load_removals = read(_load_removals)
    conversations = read(_load_conversations)
    delete_rows = write(_delete_rows)
    set_counts = write(_set_counts)
    finish_removal = write(_finish_removal)
    load_named_blobs = read(_load_named_blobs)

    async def compact(self) -> bool:
        """Overwrite deleted bytes in the database's files; False when a reader prevents it."""
        return await self._database.compact()
