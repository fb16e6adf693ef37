"""Whole conversations: their import with finished turns, as `mnema sessions export` wrote them,
branches of them, and their deletion.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from sqlalchemy import bindparam, delete, select, update

from memory.conversation import Document, Image, Message, Part, Text, Turn
from memory.ids import derive_key, new_id
from memory.store.audit import append_act
from memory.store.conversations.inbox import find_conversation_id, make_title
from memory.store.conversations.messages import insert_message
from memory.store.conversations.outbox import add_notices
from memory.store.conversations.prompt_state import delete_snapshot
from memory.store.conversations.turns import answer_source
from memory.store.engine.database import Tx, insert_into
from memory.store.errors import WrongState
from memory.store.longterm.views import VIEW_TABLES
from memory.store.rows import NewOutboxRow, Place, TurnRow, column_values, columns_of, to_message
from memory.store.schema.memory_tables import (
    access_request,
    approval,
    background_task,
    extraction,
    job,
)
from memory.store.schema.tables import (
    clearing,
    conversation,
    coverage,
    fold,
    inbox,
    limit_told,
    literal_text,
    message,
    outbox,
    reduction,
    removal,
    tool_call,
    turn,
)
from memory.store.schema.tables import usage as usage_table

ORIGIN = "import"  # as the sender and the actor of imported turns
_EPOCH = 1


async def import_conversation(tx: Tx, place: Place, turns: Sequence[Turn]) -> str:
    """Store a whole conversation in one transaction and return its id. Nothing of it is sent.

    Ids and numbers are new; times, parts, origins and token counts stay.

    Raises:
        WrongState: there is a conversation at that place.
    """
    if await find_conversation_id(tx, place) is not None:
        raise WrongState(f"there is a conversation at {place.channel}:{place.chat_id}")
    conversation_id, seq, line = new_id(tx.now), 1, 1
    first_text = next((text for one in turns if (text := shown_text_of(one.messages[0].parts))), "")
    await tx.execute(
        insert_into(conversation),
        **column_values(place, conversation),
        id=conversation_id,
        next_seq=1 + sum(len(one.messages) for one in turns),
        next_turn=1 + len(turns),
        next_line=1 + 2 * len(turns),
        listed=True,
        title=make_title(first_text),
        heard=tx.now,
        updated=tx.now,
    )
    for number, imported in enumerate(turns, 1):
        turn_row = TurnRow(
            id=new_id(tx.now),
            conversation=conversation_id,
            number=number,
            epoch=_EPOCH,
            inbox_id=new_id(tx.now) if imported.messages[0].role == "user" else "",
            actor=ORIGIN,
            state="done",
            step=sum(one.role == "assistant" for one in imported.messages),
            attempts=0,
            trace_id=new_id(tx.now),
        )
        await _insert_turn(tx, place, turn_row, imported, seq)
        await _insert_lines(tx, place, turn_row, imported, line)
        seq, line = seq + len(imported.messages), line + 2
    await append_act(tx, "import", conversation_id, "imported")
    return conversation_id


BRANCH_PREFIX = "branch:"  # of the source of the notice that names what was branched from
MAX_BRANCH_TURNS = 1_000
_BRANCHED_TURN = (
    select(turn.c.number, turn.c.epoch, conversation.c.title, conversation.c.own_title)
    .join(conversation, conversation.c.id == turn.c.conversation)
    .where(
        turn.c.conversation == bindparam("conversation"), turn.c.inbox_id == bindparam("message")
    )
)
# Of the same epoch: what the model had before that turn, nothing that a clear had taken away.
_MESSAGES_BEFORE = (
    select(*columns_of(Message, message))
    .join(turn, (turn.c.conversation == message.c.conversation) & (turn.c.number == message.c.turn))
    .where(
        message.c.conversation == bindparam("conversation"),
        turn.c.epoch == bindparam("epoch"),
        turn.c.number < bindparam("number"),
        turn.c.number >= bindparam("first"),
    )
    .order_by(message.c.seq)
)
_NAME = (
    update(conversation)
    .where(conversation.c.id == bindparam("conversation"))
    .values(own_title=bindparam("new_own_title"))
)


async def branch_conversation(
    tx: Tx, origin: str, message_id: str, place: Place, notice: NewOutboxRow
) -> str:
    """Begin a conversation with the turns before a message of another one, and return its id.

    It has the newest `MAX_BRANCH_TURNS` of them as copies, and a notice whose source names where
    they are from.

    Args:
        place: of the new conversation, in the space of the other one.

    Raises:
        LookupError: there is no such message, or it started no turn.
        WrongState: there is a conversation at that place.
    """
    found = (await tx.execute(_BRANCHED_TURN, conversation=origin, message=message_id)).first()
    if found is None:
        raise LookupError(message_id)
    where = {"conversation": origin, "epoch": found["epoch"], "number": found["number"]}
    rows = await tx.execute(_MESSAGES_BEFORE, **where, first=found["number"] - MAX_BRANCH_TURNS)
    messages = [to_message(row) for row in rows.all()]
    turns = [
        Turn(number=number, messages=tuple(group))
        for number, group in groupby(messages, key=lambda one: one.turn)
    ]
    id = await import_conversation(tx, place, turns)
    title = make_title(f"↳ {found['own_title'] or found['title']}")
    await tx.execute(_NAME, conversation=id, new_own_title=title)
    source = f"{BRANCH_PREFIX}{id}:{origin}:{found['number']}"
    await add_notices(tx, id, source, [notice])
    return id


async def _insert_turn(
    tx: Tx, place: Place, turn_row: TurnRow, imported: Turn, first_seq: int
) -> None:
    """Insert a turn and its messages.

    The user message has the id of the inbox row, as that of a received one.
    """
    started, ended = imported.messages[0].at.timestamp(), imported.messages[-1].at.timestamp()
    await tx.execute(
        insert_into(turn),
        **column_values(turn_row, turn),
        first_seq=first_seq,
        started=started,
        ended=ended,
    )
    for seq, one in enumerate(imported.messages, first_seq):
        id = turn_row.inbox_id if seq == first_seq and turn_row.inbox_id else new_id(tx.now)
        numbered = replace(one, id=id, seq=seq, turn=turn_row.number)
        await insert_message(
            tx, turn_row, numbered, at=one.at.timestamp(), epoch=_EPOCH, space=place.space
        )


async def _insert_lines(tx: Tx, place: Place, turn_row: TurnRow, imported: Turn, line: int) -> None:
    """Insert the inbox and outbox rows of a turn, for the transcript: processed, and sent."""
    first, last = imported.messages[0], imported.messages[-1]
    if turn_row.inbox_id:
        await tx.execute(
            insert_into(inbox),
            conversation=turn_row.conversation,
            id=turn_row.inbox_id,
            channel=place.channel,
            account=place.account,
            key=f"{ORIGIN}:{turn_row.conversation}:{turn_row.number}",
            kind="message",
            sender_id=ORIGIN,
            body=json.dumps({"text": shown_text_of(first.parts)}, ensure_ascii=False),
            state="done",
            turn_id=turn_row.id,
            trace_id=turn_row.trace_id,
            line=line,
            received=first.at.timestamp(),
        )
    if last.role == "assistant" and (text := shown_text_of(last.parts)):
        source = answer_source(turn_row.inbox_id or turn_row.id)
        await tx.execute(
            insert_into(outbox),
            conversation=turn_row.conversation,
            id=new_id(tx.now),
            source=source,
            epoch=_EPOCH,
            kind="final",
            client_key=derive_key(source, 0),
            text=text,
            state="sent",
            reply_to=turn_row.inbox_id,
            line=line + 1,
            created=last.at.timestamp(),
        )


def shown_text_of(parts: Sequence[Part]) -> str:
    """Return what a transcript shows of a message."""
    shown: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            shown.append(part.text)
        elif isinstance(part, Document | Image):
            shown.append(f"📎 {part.name if isinstance(part, Document) else part.media_type}")
    return "\n".join(shown)


_FORBID_DELETES = delete(removal).where(removal.c.conversation == bindparam("conversation"))
_MESSAGES = select(message.c.id).where(message.c.conversation == bindparam("conversation"))
_TURNS = select(turn.c.id).where(turn.c.conversation == bindparam("conversation"))
# Rows that refer to others by a foreign key go first.
_CONVERSATION_TABLES = (
    *(extraction, reduction, usage_table, limit_told, clearing, fold, outbox, message, turn, inbox),
    *(access_request, approval, job, background_task, *VIEW_TABLES),
)
_DELETES = (
    delete(coverage).where(coverage.c.message_id.in_(_MESSAGES)),
    delete(tool_call).where(tool_call.c.turn_id.in_(_TURNS)),
    *(
        delete(table).where(table.c.conversation == bindparam("conversation"))
        for table in _CONVERSATION_TABLES
    ),
    delete(conversation).where(conversation.c.id == bindparam("conversation")),
)


_SELECT_SPACE = select(conversation.c.space).where(conversation.c.id == bindparam("id"))


_SELECT_CHILDREN = select(background_task.c.child).where(
    background_task.c.conversation == bindparam("conversation"),
    background_task.c.child != literal_text(""),
)


async def delete_conversation(tx: Tx, id: str, by: str = "") -> None:
    """Delete a conversation with all its rows, and its sub-agents; the audit chain stores that it
    happened, no more.
    """
    for task in (await tx.execute(_SELECT_CHILDREN, conversation=id)).all():
        await delete_conversation(tx, task["child"], by)
    row = (await tx.execute(_SELECT_SPACE, id=id)).first()
    tx.changed.update({(row["space"], id)} if row else ())
    # lets the triggers accept the deletion of messages
    await tx.execute(insert_into(removal), conversation=id)
    await delete_snapshot(tx, id)
    for statement in _DELETES:
        await tx.execute(statement, conversation=id)
    await tx.execute(_FORBID_DELETES, conversation=id)
    await append_act(tx, "delete", id, "deleted", by)
