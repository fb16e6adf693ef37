"""Conversations read back: session, transcript, lists, deletion; and clears, which start a new epoch."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    CompoundSelect,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
    union_all,
    update,
)

from memory.conversation import Session
from memory.store.audit import append_act
from memory.store.conversations import imports, prompt_state, traces, turns
from memory.store.conversations import usage as usage_rows
from memory.store.conversations.folds import mark_open_stale, plan_log_only_fold
from memory.store.conversations.messages import load_calls, load_conversation_row, sender_name, take_numbers
from memory.store.conversations.outbox import drop_unsent, keep_unsent
from memory.store.conversations.prompt_state import (
    LIVE_FROM,
    MAX_LIGHT_MESSAGES,
    MAX_SEQ,
    SessionRows,
    delete_snapshot,
    load_long_session_rows,
    load_messages,
    load_ranges,
    load_session_rows,
    raise_generation,
    to_session,
)
from memory.store.conversations.turns import cancel_open_turns
from memory.store.engine.database import Repository, Row, Tx, light, read, single_query, write
from memory.store.longterm.views import VIEW_TABLES
from memory.store.people.spending import SpendingQuery, SpendingTotals, load_newest_usage
from memory.store.rows import (
    HIDDEN_THREAD,
    IS_AT_PLACE,
    PLACE_COLUMNS,
    ConversationRow,
    FoldPlan,
    TranscriptRow,
    belongs_to_space,
    columns_of,
    load_linked_space,
    new_binds,
    to_conversation_row,
    to_transcript_row,
)
from memory.store.schema.memory_tables import access_request, approval, background_task, extraction, job
from memory.store.schema.tables import (
    clearing,
    conversation,
    coverage,
    fold,
    inbox,
    is_one_of,
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

_SELECT_NEWEST_CLEARING = (
    select(clearing)
    .where(clearing.c.conversation == bindparam("conversation"), clearing.c.undone.is_(False))
    .order_by(clearing.c.epoch.desc())
    .limit(1)
)
_MARK_UNDONE = (
    update(clearing)
    .where(clearing.c.conversation == bindparam("conversation"), clearing.c.epoch == bindparam("epoch"))
    .values(undone=true())
)
_START_EPOCH = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"), conversation.c.epoch == bindparam("epoch"))
    .values(epoch=conversation.c.epoch + 1, **new_binds("view_from", "fold_head", "cleared_before"))
)
_RESTORED = ("view_from", "fold_head", "cleared_before")  # by an undo
# Why an epoch began. Only what was cleared is hidden from recall and from the log in the prompt.
EpochReason = Literal["clear", "new", "idle"]


async def clear_conversation(
    tx: Tx, conversation: str, log_only: FoldPlan | None = None, *, reason: EpochReason = "clear", by: str = ""
) -> int:
    """Empty the view and start a new epoch, which fences off all work that began before.

    Args:
        log_only: a fold of the turns in the view to plan as well, as /new does.
        by: the actor, for the audit.

    Returns:
        The new epoch.

    Raises:
        LookupError: unknown conversation.
    """
    await take_numbers(tx, conversation)
    await cancel_open_turns(tx, conversation)
    row = await load_conversation_row(tx, conversation)
    await mark_open_stale(tx, conversation)
    if log_only is not None:
        await plan_log_only_fold(tx, row, log_only)
    epoch = int(row["epoch"]) + 1
    former = {name: row[name] for name in _RESTORED}
    await tx.insert(clearing, conversation=conversation, epoch=epoch, begun_by=reason, at=tx.now, **former)
    cleared_before = row["next_seq"] if reason == "clear" else row["cleared_before"]
    begun = {"new_view_from": row["next_seq"], "new_fold_head": "", "new_cleared_before": cleared_before}
    await tx.send(_START_EPOCH, id=conversation, epoch=row["epoch"], **begun)
    await drop_unsent(tx, conversation)
    await raise_generation(tx, conversation, "clear")
    await append_act(tx, "clear", conversation, f"epoch {epoch}", by)
    await tx.hit("clear.in_txn")
    return epoch


async def undo_clear(tx: Tx, conversation: str, *, by: str = "") -> bool:
    """Undo the newest clear, which starts a new epoch again; False when there is none, or a fold came after it.

    Raises:
        LookupError: unknown conversation.
    """
    await take_numbers(tx, conversation)
    former = await tx.one(_SELECT_NEWEST_CLEARING, conversation=conversation)
    if former is None or (await load_conversation_row(tx, conversation))["fold_head"]:
        return False
    await cancel_open_turns(tx, conversation)
    await mark_open_stale(tx, conversation)
    epoch = (await load_conversation_row(tx, conversation))["epoch"]
    await tx.send(_MARK_UNDONE, conversation=conversation, epoch=former["epoch"])
    restored = {f"new_{name}": former[name] for name in _RESTORED}
    await tx.send(_START_EPOCH, id=conversation, epoch=epoch, **restored)
    await keep_unsent(tx, conversation, epoch, epoch + 1)
    await raise_generation(tx, conversation, "clear undone")
    await append_act(tx, "undo clear", conversation, f"epoch {epoch + 1}", by)
    return True


_SELECT_NEXT_SEQS = select(conversation.c.id, conversation.c.next_seq).where(
    conversation.c.space == bindparam("space"),
    conversation.c.next_seq > 1,
    ~conversation.c.thread_id.like(literal_text(f"{HIDDEN_THREAD}%")),
)


@single_query
async def load_next_seqs(tx: Tx, space: str) -> dict[str, int]:
    """Load the next seq of each conversation of a space, without those of linked spaces; for the recall index."""
    return {row["id"]: row["next_seq"] for row in await tx.all(_SELECT_NEXT_SEQS, space=space)}


_FIRST_LIVE_TURN = (
    select(turn.c.number)
    .where(turn.c.conversation == conversation.c.id, turn.c.first_seq >= LIVE_FROM)
    .order_by(turn.c.first_seq)
    .limit(1)
    .scalar_subquery()
)
_IS_RUNNING = exists().where(turn.c.conversation == conversation.c.id, is_one_of(turn.c.state, "running", "waiting"))
# By their numbers, which have no gaps: counting the rows would take longer with each turn of a view without folds.
_TURNS_IN_VIEW = (
    conversation.c.next_turn
    - func.coalesce(_FIRST_LIVE_TURN, conversation.c.next_turn)
    - case((_FIRST_LIVE_TURN.is_not(None) & _IS_RUNNING, 1), else_=0)
)
SELECT_CONVERSATION = select(
    *columns_of(ConversationRow, conversation),
    conversation.c.space.label("own_space"),
    *PLACE_COLUMNS,
    _TURNS_IN_VIEW.label("turns"),
)
_SELECT_ONE = SELECT_CONVERSATION.where(conversation.c.id == bindparam("id"))
_SELECT_BY_PLACE = SELECT_CONVERSATION.where(*IS_AT_PLACE)
NEWEST_FIRST = SELECT_CONVERSATION.where(conversation.c.listed.is_(True)).order_by(
    conversation.c.updated.desc(), conversation.c.id.desc()
)
_SELECT_LISTED = NEWEST_FIRST.where(
    or_(bindparam("channel") == literal_text(""), conversation.c.channel == bindparam("channel"))
).limit(bindparam("limit"))
_SELECT_IDLE = select(conversation.c.id).where(
    conversation.c.listed.is_(True),
    conversation.c.heard < bindparam("before"),
    exists().where(turn.c.conversation == conversation.c.id, turn.c.first_seq >= LIVE_FROM),
)


def transcript_lines() -> CompoundSelect[Any]:
    """Select the inbox and outbox rows of one conversation between two line numbers, as transcript lines."""
    received = select(
        inbox.c.id,
        inbox.c.line.label("number"),
        literal_text("user").label("role"),
        inbox.c.body.label("text"),
        inbox.c.received.label("at"),
        literal_text("").label("reply_to"),
        inbox.c.state,
        literal_text("").label("payload"),
    ).where(
        inbox.c.conversation == bindparam("conversation"),
        inbox.c.line > bindparam("after"),
        inbox.c.line < bindparam("before"),
        inbox.c.state != literal_text("ignored"),
    )
    sent = select(
        outbox.c.id,
        outbox.c.line.label("number"),
        outbox.c.kind.label("role"),
        outbox.c.text,
        outbox.c.created.label("at"),
        outbox.c.reply_to,
        outbox.c.state,
        outbox.c.payload,
    ).where(
        outbox.c.conversation == bindparam("conversation"),
        outbox.c.line > bindparam("after"),
        outbox.c.line < bindparam("before"),
        outbox.c.state != literal_text("dropped"),
    )
    return union_all(received, sent)


_LINES = transcript_lines()
_FIRST_LINES = _LINES.order_by(literal_column("number")).limit(bindparam("limit"))
_LAST_LINES = _LINES.order_by(literal_column("number").desc()).limit(bindparam("limit"))


@single_query
async def load_lines(
    tx: Tx, conversation: str, before: int = 0, limit: int = 50, after: int = 0
) -> list[TranscriptRow]:
    """Load lines of the transcript, oldest first.

    Args:
        before: load the newest lines with smaller numbers, 0 for the end.
        after: load the first lines with greater numbers instead.
    """
    statement = _FIRST_LINES if after else _LAST_LINES
    rows = await tx.all(statement, conversation=conversation, after=after, before=before or MAX_SEQ, limit=limit)
    found = [to_transcript_row(row) for row in rows]
    return found if after else found[::-1]


@light
@single_query
async def find_conversation(
    tx: Tx, channel: str, account: str, chat_id: str, thread_id: str = ""
) -> ConversationRow | None:
    """Load the conversation of a chat of one of our accounts, None when there is none."""
    row = await tx.one(_SELECT_BY_PLACE, channel=channel, account=account, chat_id=chat_id, thread_id=thread_id)
    return to_conversation_row(row) if row else None


@light
@single_query
async def load_conversation(tx: Tx, id: str) -> ConversationRow | None:
    """Load one conversation, None for an unknown id."""
    row = await tx.one(_SELECT_ONE, id=id)
    return to_conversation_row(row) if row else None


@single_query
async def list_conversations(tx: Tx, channel: str = "", limit: int = 200) -> list[ConversationRow]:
    """Load the conversations of a channel ("" for all), newest first."""
    return [to_conversation_row(row) for row in await tx.all(_SELECT_LISTED, channel=channel, limit=limit)]


@single_query
async def load_idle(tx: Tx, before: datetime) -> list[str]:
    """Load the ids of conversations with live turns and no received message since that time."""
    return [row["id"] for row in await tx.all(_SELECT_IDLE, before=before.timestamp())]


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
    *(delete(table).where(table.c.conversation == bindparam("conversation")) for table in _CONVERSATION_TABLES),
    delete(conversation).where(conversation.c.id == bindparam("conversation")),
)


_SELECT_SPACE = select(conversation.c.space).where(conversation.c.id == bindparam("id"))


_SELECT_CHILDREN = select(background_task.c.child).where(
    background_task.c.conversation == bindparam("conversation"), background_task.c.child != literal_text("")
)


async def delete_conversation(tx: Tx, id: str, by: str = "") -> None:
    """Delete a conversation with all its rows, and its sub-agents; the audit chain stores that it happened, no more."""
    for task in await tx.all(_SELECT_CHILDREN, conversation=id):
        await delete_conversation(tx, task["child"], by)
    row = await tx.one(_SELECT_SPACE, id=id)
    tx.changed.update({(row["space"], id)} if row else ())
    await tx.insert(removal, conversation=id)  # lets the triggers accept the deletion of messages
    await delete_snapshot(tx, id)
    for statement in _DELETES:
        await tx.send(statement, conversation=id)
    await tx.send(_FORBID_DELETES, conversation=id)
    await append_act(tx, "delete", id, "deleted", by)


_SET_CHOICES = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(
        policy=func.coalesce(bindparam("new_policy"), conversation.c.policy),
        model=func.coalesce(bindparam("new_model"), conversation.c.model),
    )
)


async def _set_choices(tx: Tx, conversation: str, *, policy: str | None = None, model: str | None = None) -> None:
    """Choose policy and model of a conversation; "" for the configured one, None leaves the choice as it is."""
    await tx.send(_SET_CHOICES, id=conversation, new_policy=policy, new_model=model)


# What tells a conversation from the others of its space: in the headings and in the handles of files.

_SELECT_TAGGED = select(conversation.c.id).where(
    conversation.c.id.like(bindparam("pattern")), belongs_to_space(conversation.c.space)
)
_SELECT_PLACE = select(*(conversation.c[name] for name in ("channel", "chat_id", "thread_id", "kind", "space"))).where(
    conversation.c.id == bindparam("id")
)
_SELECT_NEWEST_BODY = (
    select(inbox.c.body)
    .where(
        inbox.c.conversation == bindparam("conversation"),
        inbox.c.kind == literal_text("message"),
        inbox.c.body != literal_text(""),
    )
    .order_by(inbox.c.line.desc())
    .limit(1)
)
_SELECT_OTHERS = select(conversation.c.chat_id, conversation.c.thread_id).where(
    conversation.c.channel == bindparam("channel"),
    conversation.c.id != bindparam("id"),
    belongs_to_space(conversation.c.space),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationName:
    """The names of one conversation."""

    channel: str
    #: Id of the chat, with the thread's if it has one.
    chat: str
    #: Display name of the person it is with; "" for a group, or while no message has given one.
    person: str
    #: No other conversation of its space and channel can have the same name: there is none, or chats have the names.
    is_unique: bool


@single_query
async def list_tagged(tx: Tx, space: str, tag: str) -> list[str]:
    """Load the ids that end in this tag, of the conversations of a space and of those linked to it.

    Args:
        tag: letters and digits.
    """
    return [row["id"] for row in await tx.all(_SELECT_TAGGED, space=space, pattern=f"%{tag}")]


async def load_name(tx: Tx, id: str) -> ConversationName | None:
    """Load the names of a conversation, None for an unknown id."""
    row = await tx.one(_SELECT_PLACE, id=id)
    if row is None:
        return None
    newest = await tx.one(_SELECT_NEWEST_BODY, conversation=id) if row["kind"] == "dm" else None
    person, chat = sender_name(newest["body"]) if newest else "", _chat_name(row)
    space = await load_linked_space(tx, row["space"])
    others = [_chat_name(other) for other in await tx.all(_SELECT_OTHERS, id=id, channel=row["channel"], space=space)]
    is_unique = not others if person else chat not in others
    return ConversationName(channel=row["channel"], chat=chat, person=person, is_unique=is_unique)


def _chat_name(row: Row) -> str:
    return "/".join(filter(None, (row["chat_id"], row["thread_id"])))


@light
async def _load_session_rows_with_spending(
    tx: Tx, conversation: str, spending: SpendingQuery
) -> tuple[SessionRows, SpendingTotals]:
    """Load as `load_session_rows` does, with what `load_newest_usage` returns."""
    return await tx.together(lambda tx: load_session_rows(tx, conversation), lambda tx: load_newest_usage(tx, spending))


class Sessions(Repository):
    """Conversations: sessions, messages, transcripts, prompt state, clears and usage."""

    find = read(find_conversation)
    conversation = read(load_conversation)
    conversations = read(list_conversations)
    name = read(load_name)
    tagged = read(list_tagged)
    lines = read(load_lines)
    messages = read(load_messages)
    ranges = read(load_ranges)
    add_step = write(turns.add_step, committed="plan.committed")
    start_calls = write(turns.start_calls, committed="tool.started")
    end_calls = write(turns.end_calls, committed="tool.committed")
    calls = read(load_calls)
    turn = read(turns.load_turn)
    reduce = write(prompt_state.add_reductions)
    mark_prefix = write(prompt_state.mark_prefix)
    snapshot = read(prompt_state.load_snapshot)
    set_snapshot = write(prompt_state.set_snapshot)
    clear = write(clear_conversation, committed="clear.committed")
    undo_clear = write(undo_clear)
    choose = write(_set_choices)
    next_seqs = read(load_next_seqs)
    usage = read(usage_rows.sum_usage)
    turn_tokens = read(usage_rows.count_turn_tokens)
    factor = read(usage_rows.load_factor)
    set_factors = write(usage_rows.set_factors)
    idle = read(load_idle)
    import_conversation = write(imports.import_conversation)
    trace = read(traces.load_trace)
    traces = read(traces.load_traces)
    spend = write(usage_rows.add_usage)
    delete = write(delete_conversation)

    async def load(self, conversation: str, turns: int = 0) -> Session:
        """Load the session: what a model may see of the conversation. A long one is made in a thread.

        Args:
            turns: load only so many of the newest turns, 0 for all live ones.

        Raises:
            LookupError: unknown conversation.
            StoreError: the store cannot be read.
        """
        rows = await self._database.read(load_session_rows, conversation, turns)
        return await self._make_session(rows, conversation, turns)

    async def load_with_spending(self, conversation: str, spending: SpendingQuery) -> tuple[Session, SpendingTotals]:
        """Load the session as `load` does, with what `load_newest_usage` returns."""
        rows, totals = await self._database.read(_load_session_rows_with_spending, conversation, spending)
        return await self._make_session(rows, conversation), totals

    async def _make_session(self, rows: SessionRows, conversation: str, turns: int = 0) -> Session:
        if len(rows.messages) <= MAX_LIGHT_MESSAGES:
            return to_session(rows)
        rows = await self._database.read(load_long_session_rows, conversation, turns)
        return await asyncio.to_thread(to_session, rows)
