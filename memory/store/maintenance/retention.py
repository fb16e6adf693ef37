"""Deletes old rows, oldest first, in small transactions that each leave the store consistent."""

from sqlalchemy import (
    ColumnElement,
    Delete,
    Table,
    bindparam,
    delete,
    exists,
    insert,
    select,
    true,
    update,
)

from memory.store.conversations.folds.steps import mark_open_stale
from memory.store.conversations.lifecycle import delete_conversation
from memory.store.conversations.prompt_state import delete_snapshot
from memory.store.engine.database import Repository, Tx, read, write
from memory.store.schema.memory_tables import (
    access_request,
    approval,
    background_task,
    dream,
    extraction,
    forgetting,
    heartbeat,
    job,
    link_code,
    memory_change,
    occurrence,
    view_manifest,
)
from memory.store.schema.tables import (
    clearing,
    conversation,
    coverage,
    inbox,
    is_one_of,
    literal_text,
    message,
    outbox,
    reduction,
    removal,
    tool_call,
    turn,
    usage,
)

ACTOR = "retention"
_HAS_OPEN_ROWS = exists().where(
    inbox.c.conversation == conversation.c.id, is_one_of(inbox.c.state, "new", "running")
)
_SELECT_OLD = (
    select(conversation.c.id)
    .where(conversation.c.updated < bindparam("before"), ~_HAS_OPEN_ROWS)
    .order_by(conversation.c.updated)
    .limit(bindparam("limit"))
)
_SELECT_IF_STILL_OLD = select(conversation.c.next_seq, conversation.c.view_from).where(
    conversation.c.id == bindparam("id"),
    conversation.c.updated < bindparam("before"),
    ~_HAS_OPEN_ROWS,
)
_START_EPOCH = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(
        epoch=conversation.c.epoch + 1,
        view_from=conversation.c.next_seq,
        fold_head=literal_text(""),
    )
)
_DELETE_CLEARINGS = delete(clearing).where(clearing.c.conversation == bindparam("conversation"))
_ALLOW_DELETES = insert(removal)
_FORBID_DELETES = delete(removal).where(removal.c.conversation == bindparam("conversation"))
_SELECT_OLDEST_TURNS = (
    select(turn.c.id)
    .where(turn.c.conversation == bindparam("conversation"))
    .order_by(turn.c.number)
    .limit(bindparam("limit"))
)
_IS_OF_TURN = {
    table.name: (table.c.conversation == bindparam("conversation"))
    & (table.c.turn_id == bindparam("turn_id"))
    for table in (message, usage, inbox, view_manifest)
}
_MESSAGES_OF_TURN = select(message.c.id).where(_IS_OF_TURN["message"])
_DELETES_BY_CONVERSATION = (
    delete(coverage).where(coverage.c.message_id.in_(_MESSAGES_OF_TURN)),
    delete(reduction).where(reduction.c.message_id.in_(_MESSAGES_OF_TURN)),
    *(
        delete(table).where(_IS_OF_TURN[table.name])
        for table in (message, usage, inbox, view_manifest)
    ),
)
_DELETES_BY_TURN = (
    delete(extraction).where(extraction.c.turn_id == bindparam("turn_id")),
    delete(tool_call).where(tool_call.c.turn_id == bindparam("turn_id")),
    delete(turn).where(turn.c.id == bindparam("turn_id")),
)
_DELETE_FIRST_LINES = tuple(
    delete(table).where(
        table.c.id.in_(
            select(table.c.id)
            .where(table.c.conversation == bindparam("conversation"))
            .order_by(table.c.line)
            .limit(bindparam("limit"))
        )
    )
    for table in (outbox, inbox)
)
_IS_ENDED: dict[Table, ColumnElement[bool]] = {
    extraction: is_one_of(extraction.c.state, "done", "skipped", "failed"),
    access_request: access_request.c.state != literal_text("pending"),
    link_code: ~is_one_of(link_code.c.state, "made", "typed", "agreed"),
    approval: ~is_one_of(approval.c.state, "asked", "running"),
    forgetting: is_one_of(forgetting.c.state, "done", "dropped"),
    dream: ~is_one_of(dream.c.state, "planned", "written"),
    memory_change: true(),
    job: is_one_of(job.c.state, "done"),
    occurrence: true(),
    heartbeat: ~is_one_of(heartbeat.c.decision, "on", "off", "paused"),
    background_task: ~is_one_of(background_task.c.state, "running"),
}


def _delete_old(table: Table, *conditions: ColumnElement[bool]) -> Delete:
    [key] = table.primary_key
    oldest = select(key).where(table.c.at < bindparam("before"), *conditions).order_by(table.c.at)
    return delete(table).where(key.in_(oldest.limit(bindparam("limit"))))


_DELETE_ENDED = tuple(_delete_old(table, is_ended) for table, is_ended in _IS_ENDED.items())
_DELETE_USAGE = _delete_old(usage)


async def _load_old(tx: Tx, before: float, limit: int) -> list[str]:
    """List conversations without activity since `before` and without open inbox rows, oldest
    first.
    """
    return [row["id"] for row in (await tx.execute(_SELECT_OLD, before=before, limit=limit)).all()]


async def _delete_oldest_turns(tx: Tx, conversation: str, before: float, limit: int) -> str:
    """Delete up to `limit` of a conversation's oldest turns, and finally the conversation.

    Returns:
        "left" when rows remain, "gone" when the conversation was deleted, "awake" when it has new
        activity and nothing was deleted.
    """
    row = (await tx.execute(_SELECT_IF_STILL_OLD, id=conversation, before=before)).first()
    if row is None:
        return "awake"
    # empties the view first, so that it never shows a part of a turn
    if row["view_from"] < row["next_seq"]:
        await mark_open_stale(tx, conversation)
        await delete_snapshot(tx, conversation)
        await tx.execute(_START_EPOCH, id=conversation)
    await tx.execute(_DELETE_CLEARINGS, conversation=conversation)
    turns = [
        row["id"]
        for row in (
            await tx.execute(_SELECT_OLDEST_TURNS, conversation=conversation, limit=limit)
        ).all()
    ]
    await tx.execute(_ALLOW_DELETES, conversation=conversation)
    for turn_id in turns:
        for statement in _DELETES_BY_CONVERSATION:
            await tx.execute(statement, conversation=conversation, turn_id=turn_id)
        for statement in _DELETES_BY_TURN:
            await tx.execute(statement, turn_id=turn_id)
    await tx.execute(_FORBID_DELETES, conversation=conversation)
    lines = sum(
        [
            (await tx.execute(one, conversation=conversation, limit=4 * limit)).rowcount
            for one in _DELETE_FIRST_LINES
        ]
    )
    if turns or lines == 8 * limit:
        return "left"
    await delete_conversation(tx, conversation, ACTOR)
    return "gone"


async def _delete_ended(tx: Tx, before: float, limit: int) -> int:
    """Delete rows of ended work, up to `limit` of each table; returns how many."""
    return sum(
        [
            (await tx.execute(statement, before=before, limit=limit)).rowcount
            for statement in _DELETE_ENDED
        ]
    )


async def _delete_usage(tx: Tx, before: float, limit: int) -> int:
    """Delete rows of token usage; returns how many."""
    return (await tx.execute(_DELETE_USAGE, before=before, limit=limit)).rowcount


class Retention(Repository):
    """Deletes old rows in transactions small enough for others not to wait. Times are unix
    seconds.
    """

    old_conversations = read(_load_old)
    delete_oldest_turns = write(_delete_oldest_turns)
    delete_ended = write(_delete_ended)
    delete_usage = write(_delete_usage)
