"""The Retention door: what is old leaves in small transactions, oldest first, and sound after each of them."""

from sqlalchemy import Table, bindparam, delete, exists, insert, or_, select, update

from memory.store.conversations.folds import stale_open
from memory.store.conversations.prompt_state import forget
from memory.store.conversations.sessions import remove
from memory.store.engine.database import Database, Tx
from memory.store.schema.columns import among, word
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

BY = "retention"
_AT_WORK = exists().where(inbox.c.conversation == conversation.c.id, among(inbox.c.state, "new", "running"))
_OLD = (
    select(conversation.c.id)
    .where(conversation.c.updated < bindparam("before"), ~_AT_WORK)
    .order_by(conversation.c.updated)
    .limit(bindparam("most"))
)
_STILL_OLD = select(conversation.c.next_seq, conversation.c.view_from).where(
    conversation.c.id == bindparam("row"), conversation.c.updated < bindparam("before"), ~_AT_WORK
)
_LET_GO = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(epoch=conversation.c.epoch + 1, view_from=conversation.c.next_seq, fold_head=word(""))
)
_NO_UNDO = delete(clearing).where(clearing.c.conversation == bindparam("row"))
_OPEN_DOOR = insert(removal)
_CLOSE_DOOR = delete(removal).where(removal.c.conversation == bindparam("row"))
_OLDEST = (
    select(turn.c.id).where(turn.c.conversation == bindparam("row")).order_by(turn.c.number).limit(bindparam("most"))
)
_OF_TURN = select(message.c.id).where(message.c.conversation == bindparam("row"), message.c.turn_id == bindparam("of"))
_TURN_STEPS = (
    delete(coverage).where(coverage.c.message_id.in_(_OF_TURN)),
    delete(reduction).where(reduction.c.message_id.in_(_OF_TURN)),
    delete(message).where(message.c.conversation == bindparam("row"), message.c.turn_id == bindparam("of")),
    delete(usage).where(usage.c.conversation == bindparam("row"), usage.c.turn_id == bindparam("of")),
    delete(inbox).where(inbox.c.conversation == bindparam("row"), inbox.c.turn_id == bindparam("of")),
)
_TURN_ENDS = (
    delete(extraction).where(extraction.c.turn_id == bindparam("of")),
    delete(tool_call).where(tool_call.c.turn_id == bindparam("of")),
    delete(turn).where(turn.c.id == bindparam("of")),
)
_FIRST_LINES = {
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
_OVER: dict[Table, object] = {
    extraction: among(extraction.c.state, "done", "skipped", "failed"),
    access_request: access_request.c.state != word("pending"),
    link_code: ~among(link_code.c.state, "made", "typed", "agreed"),
    approval: ~among(approval.c.state, "asked", "running"),
    forgetting: among(forgetting.c.state, "done", "dropped"),
    dream: ~among(dream.c.state, "planned", "written"),
    memory_change: or_(memory_change.c.undone.is_(True), memory_change.c.undone.is_(False)),
}
_ENDED = {
    table.name: delete(table).where(
        next(iter(table.primary_key)).in_(
            select(next(iter(table.primary_key)))
            .where(table.c.at < bindparam("before"), over)  # type: ignore[arg-type]
            .order_by(table.c.at)
            .limit(bindparam("most"))
        )
    )
    for table, over in _OVER.items()
}
_SPENT = delete(usage).where(
    usage.c.id.in_(
        select(usage.c.id).where(usage.c.at < bindparam("before")).order_by(usage.c.at).limit(bindparam("most"))
    )
)


class SqlRetention:
    """See memory.store.people.people.Retention."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def old(self, before: float, limit: int) -> list[str]:
        return await self._database.read(_old, before, limit)

    async def thin(self, conversation: str, before: float, limit: int) -> str:
        return await self._database.write(_thin, conversation, before, limit)

    async def ended(self, before: float, limit: int) -> int:
        return await self._database.write(_ended, before, limit)

    async def spent(self, before: float, limit: int) -> int:
        return await self._database.write(_spent, before, limit)


async def _old(tx: Tx, before: float, limit: int) -> list[str]:
    return [row["id"] for row in await tx.all(_OLD, before=before, most=limit)]


async def _thin(tx: Tx, id: str, before: float, limit: int) -> str:
    """The oldest turns go; the view is let go of first, so that what is left is cleared and nothing is half there."""
    held = await tx.one(_STILL_OLD, row=id, before=before)
    if held is None:
        return "awake"
    if held["view_from"] < held["next_seq"]:
        await stale_open(tx, id)
        await forget(tx, id)
        await tx.run(_LET_GO, row=id)
    await tx.run(_NO_UNDO, row=id)
    turns = [row["id"] for row in await tx.all(_OLDEST, row=id, most=limit)]
    await tx.run(_OPEN_DOOR, conversation=id)
    for one in turns:
        for statement in _TURN_STEPS:
            await tx.run(statement, row=id, of=one)
        for statement in _TURN_ENDS:
            await tx.run(statement, of=one)
    await tx.run(_CLOSE_DOOR, row=id)
    lines = sum([await tx.run(statement, row=id, most=4 * limit) for statement in _FIRST_LINES.values()])
    if turns or lines == 8 * limit:
        return "left"
    await remove(tx, id, BY)
    return "gone"


async def _ended(tx: Tx, before: float, limit: int) -> int:
    return sum([await tx.run(statement, before=before, most=limit) for statement in _ENDED.values()])


async def _spent(tx: Tx, before: float, limit: int) -> int:
    return await tx.run(_SPENT, before=before, most=limit)
