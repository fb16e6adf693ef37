"""The Retention door: what is old leaves in small transactions, oldest first, and sound after each of them."""

from sqlalchemy import Table, bindparam, delete, exists, insert, or_, select, update

from memory.store.conversations.folds import mark_open_stale
from memory.store.conversations.prompt_state import delete_snapshot
from memory.store.conversations.sessions import delete_conversation
from memory.store.engine.database import Database, Tx
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


class SqlRetention:
    """See memory.store.people.people.Retention."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def old(self, before: float, limit: int) -> list[str]:
        return await self._database.read(_load_old, before, limit)

    async def thin(self, conversation: str, before: float, limit: int) -> str:
        return await self._database.write(_delete_oldest_turns, conversation, before, limit)

    async def ended(self, before: float, limit: int) -> int:
        return await self._database.write(_delete_ended, before, limit)

    async def spent(self, before: float, limit: int) -> int:
        return await self._database.write(_delete_usage, before, limit)


async def _load_old(tx: Tx, before: float, limit: int) -> list[str]:
    return [row["id"] for row in await tx.all(_SELECT_OLD, before=before, most=limit)]


async def _delete_oldest_turns(tx: Tx, id: str, before: float, limit: int) -> str:
    """The oldest turns go; the view is let go of first, so that what is left is cleared and nothing is half there."""
    held = await tx.one(_SELECT_IF_STILL_OLD, row=id, before=before)
    if held is None:
        return "awake"
    if held["view_from"] < held["next_seq"]:
        await mark_open_stale(tx, id)
        await delete_snapshot(tx, id)
        await tx.run(_START_EPOCH, row=id)
    await tx.run(_DELETE_CLEARINGS, row=id)
    turns = [row["id"] for row in await tx.all(_SELECT_OLDEST_TURNS, row=id, most=limit)]
    await tx.run(_ALLOW_DELETES, conversation=id)
    for one in turns:
        for statement in _DELETES_BEFORE_MESSAGES:
            await tx.run(statement, row=id, of=one)
        for statement in _DELETES_AFTER_MESSAGES:
            await tx.run(statement, of=one)
    await tx.run(_FORBID_DELETES, row=id)
    lines = sum([await tx.run(statement, row=id, most=4 * limit) for statement in _DELETE_FIRST_LINES.values()])
    if turns or lines == 8 * limit:
        return "left"
    await delete_conversation(tx, id, ACTOR)
    return "gone"


async def _delete_ended(tx: Tx, before: float, limit: int) -> int:
    return sum([await tx.run(statement, before=before, most=limit) for statement in _DELETE_ENDED.values()])


async def _delete_usage(tx: Tx, before: float, limit: int) -> int:
    return await tx.run(_DELETE_USAGE, before=before, most=limit)
