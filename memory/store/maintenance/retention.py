"""The Retention door: what is old leaves in small transactions, oldest first, and sound after each of them."""

from sqlalchemy import Table, bindparam, delete, exists, insert, or_, select, update

from memory.store.conversations.folds import mark_open_stale
from memory.store.conversations.prompt_state import delete_snapshot
from memory.store.conversations.sessions import delete_conversation
from memory.store.engine.database import Repository, Tx, read, write
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import (
    access_request,
    approval,
    dream,
    extraction,
    forgetting,
    link_code,
    memory_change,
)
from memory.store.schema.tables import (
    clearing,
    conversation,
    coverage,
    inbox,
    message,
    outbox,
    reduction,
    removal,
    tool_call,
    turn,
    usage,
)

ACTOR = "retention"
_HAS_OPEN_ROWS = exists().where(inbox.c.conversation == conversation.c.id, is_one_of(inbox.c.state, "new", "running"))
_SELECT_OLD = (
    select(conversation.c.id)
    .where(conversation.c.updated < bindparam("before"), ~_HAS_OPEN_ROWS)
    .order_by(conversation.c.updated)
    .limit(bindparam("most"))
)
_SELECT_IF_STILL_OLD = select(conversation.c.next_seq, conversation.c.view_from).where(
    conversation.c.id == bindparam("row"), conversation.c.updated < bindparam("before"), ~_HAS_OPEN_ROWS
)
_START_EPOCH = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(epoch=conversation.c.epoch + 1, view_from=conversation.c.next_seq, fold_head=literal_text(""))
)
_DELETE_CLEARINGS = delete(clearing).where(clearing.c.conversation == bindparam("row"))
_ALLOW_DELETES = insert(removal)
_FORBID_DELETES = delete(removal).where(removal.c.conversation == bindparam("row"))
_SELECT_OLDEST_TURNS = (
    select(turn.c.id).where(turn.c.conversation == bindparam("row")).order_by(turn.c.number).limit(bindparam("most"))
)
_MESSAGES_OF_TURN = select(message.c.id).where(
    message.c.conversation == bindparam("row"), message.c.turn_id == bindparam("of")
)
_DELETES_BEFORE_MESSAGES = (
    delete(coverage).where(coverage.c.message_id.in_(_MESSAGES_OF_TURN)),
    delete(reduction).where(reduction.c.message_id.in_(_MESSAGES_OF_TURN)),
    delete(message).where(message.c.conversation == bindparam("row"), message.c.turn_id == bindparam("of")),
    delete(usage).where(usage.c.conversation == bindparam("row"), usage.c.turn_id == bindparam("of")),
    delete(inbox).where(inbox.c.conversation == bindparam("row"), inbox.c.turn_id == bindparam("of")),
)
_DELETES_AFTER_MESSAGES = (
    delete(extraction).where(extraction.c.turn_id == bindparam("of")),
    delete(tool_call).where(tool_call.c.turn_id == bindparam("of")),
    delete(turn).where(turn.c.id == bindparam("of")),
)
_DELETE_FIRST_LINES = {
    table.name: delete(table).where(
        table.c.id.in_(
            select(table.c.id)
            .where(table.c.conversation == bindparam("row"))
            .order_by(table.c.line)
            .limit(bindparam("most"))
        )
    )
    for table in (outbox, inbox)
}
_IS_ENDED: dict[Table, object] = {
    extraction: is_one_of(extraction.c.state, "done", "skipped", "failed"),
    access_request: access_request.c.state != literal_text("pending"),
    link_code: ~is_one_of(link_code.c.state, "made", "typed", "agreed"),
    approval: ~is_one_of(approval.c.state, "asked", "running"),
    forgetting: is_one_of(forgetting.c.state, "done", "dropped"),
    dream: ~is_one_of(dream.c.state, "planned", "written"),
    memory_change: or_(memory_change.c.undone.is_(True), memory_change.c.undone.is_(False)),
}
_DELETE_ENDED = {
    table.name: delete(table).where(
        next(iter(table.primary_key)).in_(
            select(next(iter(table.primary_key)))
            .where(table.c.at < bindparam("before"), over)  # type: ignore[arg-type]
            .order_by(table.c.at)
            .limit(bindparam("most"))
        )
    )
    for table, over in _IS_ENDED.items()
}
_DELETE_USAGE = delete(usage).where(
    usage.c.id.in_(
        select(usage.c.id).where(usage.c.at < bindparam("before")).order_by(usage.c.at).limit(bindparam("most"))
    )
)


async def _load_old(tx: Tx, before: float, limit: int) -> list[str]:
    """Conversations in which nothing was said or sent since and nothing waits, longest ago first."""
    return [row["id"] for row in await tx.all(_SELECT_OLD, before=before, most=limit)]


async def _delete_oldest_turns(tx: Tx, conversation: str, before: float, limit: int) -> str:
    """Take away its oldest turns, so many: "left" where there is more, "gone" with the conversation itself.

    "awake", and nothing, where somebody has written in it meanwhile.
    """
    held = await tx.one(_SELECT_IF_STILL_OLD, row=conversation, before=before)
    if held is None:
        return "awake"
    if held["view_from"] < held["next_seq"]:  # the view ends first, so what is left of it is not shown in parts
        await mark_open_stale(tx, conversation)
        await delete_snapshot(tx, conversation)
        await tx.run(_START_EPOCH, row=conversation)
    await tx.run(_DELETE_CLEARINGS, row=conversation)
    turns = [row["id"] for row in await tx.all(_SELECT_OLDEST_TURNS, row=conversation, most=limit)]
    await tx.run(_ALLOW_DELETES, conversation=conversation)
    for one in turns:
        for statement in _DELETES_BEFORE_MESSAGES:
            await tx.run(statement, row=conversation, of=one)
        for statement in _DELETES_AFTER_MESSAGES:
            await tx.run(statement, of=one)
    await tx.run(_FORBID_DELETES, row=conversation)
    lines = sum(
        [await tx.run(statement, row=conversation, most=4 * limit) for statement in _DELETE_FIRST_LINES.values()]
    )
    if turns or lines == 8 * limit:
        return "left"
    await delete_conversation(tx, conversation, ACTOR)
    return "gone"


async def _delete_ended(tx: Tx, before: float, limit: int) -> int:
    """Rows of work that came to its end before then, so many of each kind; returns how many went."""
    return sum([await tx.run(statement, before=before, most=limit) for statement in _DELETE_ENDED.values()])


async def _delete_usage(tx: Tx, before: float, limit: int) -> int:
    """Counts of tokens; returns how many rows went."""
    return await tx.run(_DELETE_USAGE, before=before, most=limit)


class Retention(Repository):
    """What is old, taken away in transactions so small that nobody waits for one. Times are unix seconds."""

    old = read(_load_old)
    thin = write(_delete_oldest_turns)
    ended = write(_delete_ended)
    spent = write(_delete_usage)
