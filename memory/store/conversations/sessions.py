"""The Sessions door: each method is one unit of work."""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import (
    CompoundSelect,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    union_all,
    update,
)

from memory.conversation import Message, Session, Summary, Turn
from memory.failpoints import hit_async
from memory.store.audit import append_act
from memory.store.conversations import imports, prompt_state, traces, turns
from memory.store.conversations import messages as calls
from memory.store.conversations import usage as usage_rows
from memory.store.conversations.folds import mark_open_stale, plan_log_only_fold
from memory.store.conversations.messages import load_conversation_row, take_numbers
from memory.store.conversations.outbox import drop_unsent, keep_unsent
from memory.store.conversations.prompt_state import delete_snapshot, load_live_reductions, raise_generation
from memory.store.conversations.turns import cancel_open_turns, running_turn_number
from memory.store.engine.database import Row, Tx, single_query
from memory.store.engine.repository import Repository, read, write
from memory.store.rows import (
    LINKED_SPACE,
    PLACE_COLUMNS,
    ConversationRow,
    FoldPlan,
    TranscriptRow,
    Usage,
    columns_of,
    to_conversation_row,
    to_message,
    to_transcript_line,
)
from memory.store.schema.columns import literal_text
from memory.store.schema.memory_tables import access_request, approval, extraction
from memory.store.schema.tables import (
    clearing,
    conversation,
    coverage,
    fold,
    inbox,
    limit_told,
    message,
    outbox,
    reduction,
    removal,
    tool_call,
    turn,
)
from memory.store.schema.tables import conversation as conversations
from memory.store.schema.tables import usage as usage_table

# T10, the clear: a new epoch that fences everything older; and the taking back of one.

_INSERT_CLEARING = insert(clearing)
_SELECT_NEWEST_CLEARING = (
    select(clearing)
    .where(clearing.c.conversation == bindparam("row"), clearing.c.undone.is_(False))
    .order_by(clearing.c.epoch.desc())
    .limit(1)
)
_MARK_UNDONE = (
    update(clearing)
    .where(clearing.c.conversation == bindparam("row"), clearing.c.epoch == bindparam("at_epoch"))
    .values(undone=bindparam("taken_back"))
)
_START_EPOCH = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"), conversation.c.epoch == bindparam("former"))
    .values(epoch=conversation.c.epoch + 1, view_from=bindparam("first"), fold_head=bindparam("head"))
)


async def clear_conversation(tx: Tx, conversation: str, log_only: FoldPlan | None = None, *, by: str = "") -> int:
    """T10; with `log_only` (from /new) that fold is planned with it. Returns the epoch. by: who wants it."""
    await take_numbers(tx, conversation)
    await cancel_open_turns(tx, conversation)
    home = await load_conversation_row(tx, conversation)
    await mark_open_stale(tx, conversation)
    if log_only is not None:
        await plan_log_only_fold(tx, home, log_only)
    epoch = int(home["epoch"]) + 1
    await tx.run(
        _INSERT_CLEARING,
        conversation=conversation,
        epoch=epoch,
        view_from=home["view_from"],
        fold_head=home["fold_head"],
        at=tx.now,
    )
    await tx.run(_START_EPOCH, row=conversation, former=home["epoch"], first=home["next_seq"], head="")
    await drop_unsent(tx, conversation)
    await raise_generation(tx, conversation, "clear")
    await append_act(tx, "clear", conversation, f"epoch {epoch}", by)
    await hit_async("clear.in_txn")
    return epoch


async def undo_clear(tx: Tx, conversation: str, *, by: str = "") -> bool:
    """Take back the newest clear (epoch + 1 again); False when a clear is not the newest act on the context."""
    await take_numbers(tx, conversation)
    former = await tx.one(_SELECT_NEWEST_CLEARING, row=conversation)
    if former is None or (await load_conversation_row(tx, conversation))["fold_head"]:
        return False
    await cancel_open_turns(tx, conversation)
    await mark_open_stale(tx, conversation)
    home = await load_conversation_row(tx, conversation)
    await tx.run(_MARK_UNDONE, row=conversation, at_epoch=former["epoch"], taken_back=True)
    await tx.run(
        _START_EPOCH, row=conversation, former=home["epoch"], first=former["view_from"], head=former["fold_head"]
    )
    await keep_unsent(tx, conversation, home["epoch"], home["epoch"] + 1)
    await raise_generation(tx, conversation, "clear undone")
    await append_act(tx, "undo clear", conversation, f"epoch {home['epoch'] + 1}", by)
    return True


# How far each conversation of a space goes, for whoever keeps an index of what was said.

_SELECT_NEXT_SEQS = select(conversation.c.id, conversation.c.next_seq).where(
    conversation.c.space == bindparam("space"), conversation.c.next_seq > 1
)


@single_query
async def load_next_seqs(tx: Tx, space: str) -> dict[str, int]:
    """The next seq of each conversation that is of this very space, linked ones not among them."""
    return {row["id"]: row["next_seq"] for row in await tx.all(_SELECT_NEXT_SEQS, space=space)}


# What conversations hold, read back: the session a model may see, the transcript, originals, lists.

_MAX_SEQ = (1 << 31) - 1
_LIVE_FROM = func.coalesce(
    select(fold.c.to_seq + 1).where(fold.c.id == conversation.c.fold_head).correlate(conversation).scalar_subquery(),
    conversation.c.view_from,
)
_COUNT_TURNS_IN_VIEW = (
    select(func.count())
    .where(
        turn.c.conversation == conversation.c.id,
        turn.c.first_seq >= _LIVE_FROM,
        turn.c.state != literal_text("running"),
        turn.c.state != literal_text("waiting"),
    )
    .scalar_subquery()
)
SELECT_CONVERSATION = select(
    *columns_of(ConversationRow, conversation),
    conversation.c.space.label("own_space"),
    *PLACE_COLUMNS,
    _COUNT_TURNS_IN_VIEW.label("turns"),
)
_SELECT_ONE = SELECT_CONVERSATION.where(conversation.c.id == bindparam("row"))
_SELECT_BY_PLACE = SELECT_CONVERSATION.where(
    conversation.c.channel == bindparam("channel"),
    conversation.c.account == bindparam("account"),
    conversation.c.chat_id == bindparam("chat_id"),
    conversation.c.thread_id == bindparam("thread_id"),
)
_SELECT_LISTED = (
    SELECT_CONVERSATION.where(
        conversation.c.listed.is_(True),
        or_(bindparam("only") == literal_text(""), conversation.c.channel == bindparam("only")),
    )
    .order_by(conversation.c.updated.desc(), conversation.c.id.desc())
    .limit(bindparam("most"))
)
_SELECT_IDLE = select(conversation.c.id).where(
    conversation.c.listed.is_(True),
    conversation.c.heard < bindparam("before"),
    exists().where(turn.c.conversation == conversation.c.id, turn.c.first_seq >= _LIVE_FROM),
)
_undone_fold = fold.alias("undone")
_LAST_UNDONE_SEQ = (
    select(func.max(_undone_fold.c.seen_seq))
    .where(
        _undone_fold.c.conversation == conversation.c.id,
        _undone_fold.c.state == literal_text("undone"),
        _undone_fold.c.epoch == conversation.c.epoch,
        _undone_fold.c.prev_fold == conversation.c.fold_head,
    )
    .correlate(conversation)
    .scalar_subquery()
)
_SELECT_SESSION = (
    select(
        conversation,
        running_turn_number(conversation.c.id).label("running"),
        LINKED_SPACE.label("home"),
        _LAST_UNDONE_SEQ.label("held"),
        fold.c.to_seq.label("head_to_seq"),
        fold.c.turns_covered,
        fold.c.summary,
        fold.c.summary_tokens,
        fold.c.seen_seq,
        fold.c.summary_tainted,
    )
    .outerjoin(fold, fold.c.id == conversation.c.fold_head)
    .where(conversation.c.id == bindparam("row"))
)
_MESSAGE_COLUMNS = columns_of(Message, message)
_SELECT_MESSAGES = (
    select(*_MESSAGE_COLUMNS)
    .where(
        message.c.conversation == bindparam("row"),
        message.c.seq >= bindparam("first"),
        message.c.seq <= bindparam("last"),
        message.c.turn >= bindparam("from_turn"),
    )
    .order_by(message.c.seq)
    .limit(bindparam("most"))
)


def _transcript_lines() -> CompoundSelect[Any]:
    """Inbox and outbox rows of one conversation as lines between two numbers."""
    heard = select(
        inbox.c.id,
        inbox.c.line.label("number"),
        literal_text("user").label("role"),
        inbox.c.body.label("text"),
        inbox.c.received.label("at"),
        literal_text("").label("reply_to"),
        inbox.c.state,
    ).where(
        inbox.c.conversation == bindparam("row"),
        inbox.c.line > bindparam("above"),
        inbox.c.line < bindparam("below"),
        inbox.c.state != literal_text("ignored"),
    )
    spoken = select(
        outbox.c.id,
        outbox.c.line.label("number"),
        outbox.c.kind.label("role"),
        outbox.c.text,
        outbox.c.created.label("at"),
        outbox.c.reply_to,
        outbox.c.state,
    ).where(
        outbox.c.conversation == bindparam("row"),
        outbox.c.line > bindparam("above"),
        outbox.c.line < bindparam("below"),
        outbox.c.state != literal_text("dropped"),
    )
    return union_all(heard, spoken)


_LINES = _transcript_lines()
_FIRST_LINES = _LINES.order_by(literal_column("number")).limit(bindparam("most"))
_LAST_LINES = _LINES.order_by(literal_column("number").desc()).limit(bindparam("most"))


async def load_session(tx: Tx, conversation: str, turns: int = 0) -> Session:
    """The session as it may be shown. Touches only live rows (and the newest `turns` of them when > 0)."""
    home = await tx.one(_SELECT_SESSION, row=conversation)
    if home is None:
        raise LookupError(f"there is no conversation {conversation}")
    live_from = home["view_from"] if home["head_to_seq"] is None else home["head_to_seq"] + 1
    from_turn = home["next_turn"] - turns if turns else 0
    return Session(
        conversation=conversation,
        space=home["home"],
        epoch=home["epoch"],
        next_seq=home["next_seq"],
        next_turn=home["next_turn"],
        view_from=home["view_from"],
        fold_head=home["fold_head"],
        summary=_load_summary(home),
        turns=_group_by_turn(await _load_messages(tx, conversation, live_from, from_turn=from_turn)),
        reductions=await load_live_reductions(tx, conversation, live_from) if home["prefix_generation"] else (),
        running=home["running"] or 0,
        policy=home["policy"],
        model=home["model"],
        prefix_generation=home["prefix_generation"],
        held=home["held"] or 0,
    )


@single_query
async def load_messages(tx: Tx, conversation: str, from_seq: int = 1, to_seq: int = 0, limit: int = 0) -> list[Message]:
    """Stored originals in order of seq, cleared ones included; to_seq 0: to the end."""
    return await _load_messages(tx, conversation, from_seq, to_seq, limit)


@single_query
async def load_lines(
    tx: Tx, conversation: str, before: int = 0, limit: int = 50, after: int = 0
) -> list[TranscriptRow]:
    """The transcript, oldest first: the newest `limit` below `before` (0: all), or the first above `after`."""
    statement = _FIRST_LINES if after else _LAST_LINES
    rows = await tx.all(statement, row=conversation, above=after, below=before or _MAX_SEQ, most=limit)
    found = [to_transcript_line(row) for row in rows]
    return found if after else found[::-1]


@single_query
async def find_conversation(
    tx: Tx, channel: str, account: str, chat_id: str, thread_id: str = ""
) -> ConversationRow | None:
    """The conversation of a chat of one of our accounts, None when there is none."""
    row = await tx.one(_SELECT_BY_PLACE, channel=channel, account=account, chat_id=chat_id, thread_id=thread_id)
    return to_conversation_row(row) if row else None


@single_query
async def load_conversation(tx: Tx, id: str) -> ConversationRow | None:
    """One conversation, None for an unknown id."""
    row = await tx.one(_SELECT_ONE, row=id)
    return to_conversation_row(row) if row else None


@single_query
async def list_conversations(tx: Tx, channel: str = "", limit: int = 200) -> list[ConversationRow]:
    """Newest first."""
    return [to_conversation_row(row) for row in await tx.all(_SELECT_LISTED, only=channel, most=limit)]


@single_query
async def load_idle(tx: Tx, before: datetime) -> list[str]:
    """Conversations with live turns that nobody wrote in since."""
    return [row["id"] for row in await tx.all(_SELECT_IDLE, before=before.timestamp())]


async def _load_messages(
    tx: Tx, id: str, from_seq: int, to_seq: int = 0, limit: int = 0, *, from_turn: int = 0
) -> list[Message]:
    rows = await tx.all(
        _SELECT_MESSAGES,
        row=id,
        first=from_seq,
        last=to_seq or _MAX_SEQ,
        from_turn=from_turn,
        most=limit or _MAX_SEQ,
    )
    return [to_message(row) for row in rows]


def _group_by_turn(found: list[Message]) -> tuple[Turn, ...]:
    return tuple(Turn(number=number, messages=tuple(held)) for number, held in groupby(found, key=lambda one: one.turn))


def _load_summary(home: Row) -> Summary | None:
    if home["head_to_seq"] is None:
        return None
    return Summary(
        fold_id=home["fold_head"],
        turns=home["turns_covered"],
        text=home["summary"],
        tokens=home["summary_tokens"],
        seen=home["seen_seq"],
        tainted=bool(home["summary_tainted"]),
    )


# The list of conversations, newest first: read page by page, and what has changed in it lately.

_MAX_SECONDS = 1e15
_CURSOR = re.compile(r"([0-9]{1,15}\.[0-9]{1,10})_([A-Za-z0-9-]{1,64})", re.ASCII)
_NEWEST_FIRST = SELECT_CONVERSATION.where(conversation.c.listed.is_(True)).order_by(
    conversation.c.updated.desc(), conversation.c.id.desc()
)
_PAGE = _NEWEST_FIRST.where(
    conversation.c.updated <= bindparam("newest"),
    or_(
        conversation.c.updated < bindparam("newest"),
        and_(conversation.c.updated == bindparam("newest"), conversation.c.id < bindparam("last")),
    ),
).limit(bindparam("most"))
_OWN_PAGE = _PAGE.where(conversation.c.space == literal_text(""), conversation.c.kind != literal_text("group"))
_CHANGED = _NEWEST_FIRST.where(conversation.c.updated >= bindparam("since")).limit(bindparam("most"))


@single_query
async def load_page(
    tx: Tx, cursor: str = "", limit: int = 200, *, own: bool = False
) -> tuple[list[ConversationRow], str]:
    """A page of the list, newest first, and the cursor of the next one ("" after the last).

    Conversations that do not move while the pages are read are in exactly one of them; one that gets a message
    meanwhile moves to the front. own: only the owner's, in private.

    Raises:
        ValueError: the cursor is not one of this list.
    """
    found = _CURSOR.fullmatch(cursor)
    if cursor and found is None:
        raise ValueError("the cursor is not one of this list")
    newest, last = (float(found[1]), found[2]) if found else (_MAX_SECONDS, "")
    rows = await tx.all(_OWN_PAGE if own else _PAGE, newest=newest, last=last, most=limit + 1)
    more = len(rows) > limit
    following = f"{rows[limit - 1]['updated']!r}_{rows[limit - 1]['id']}" if more else ""
    return [to_conversation_row(row) for row in rows[:limit]], following


@single_query
async def load_changed(tx: Tx, since: float, limit: int = 200) -> list[ConversationRow]:
    """Those with a message at or after `since` (unix seconds of `Store.now`), newest first."""
    return [to_conversation_row(row) for row in await tx.all(_CHANGED, since=since, most=limit)]


# A conversation leaves with all its rows, because a person asked for it.

_ALLOW_DELETES = insert(removal)
_FORBID_DELETES = delete(removal).where(removal.c.conversation == bindparam("row"))
_MESSAGES = select(message.c.id).where(message.c.conversation == bindparam("row"))
_TURNS = select(turn.c.id).where(turn.c.conversation == bindparam("row"))
_DELETES = (
    delete(coverage).where(coverage.c.message_id.in_(_MESSAGES)),
    delete(tool_call).where(tool_call.c.turn_id.in_(_TURNS)),
    *(
        delete(table).where(table.c.conversation == bindparam("row"))
        for table in (extraction, reduction, usage_table, limit_told, clearing, fold, outbox, message, turn, inbox)
    ),
    *(delete(table).where(table.c.conversation == bindparam("row")) for table in (access_request, approval)),
    delete(conversation).where(conversation.c.id == bindparam("row")),
)


async def delete_conversation(tx: Tx, id: str, by: str = "") -> None:
    """All of it in one transaction; the chain of acts keeps that it happened, and no word of it."""
    await tx.run(_ALLOW_DELETES, conversation=id)
    await delete_snapshot(tx, id)
    for step in _DELETES:
        await tx.run(step, row=id)
    await tx.run(_FORBID_DELETES, row=id)
    await append_act(tx, "delete", id, "deleted", by)


_SET_CHOICE = (
    update(conversations)
    .where(conversations.c.id == bindparam("row"))
    .values(
        policy=case((bindparam("set_policy"), bindparam("to_policy")), else_=conversations.c.policy),
        model=case((bindparam("set_model"), bindparam("to_model")), else_=conversations.c.model),
    )
)


async def _set_choice(tx: Tx, conversation: str, *, policy: str | None = None, model: str | None = None) -> None:
    await tx.run(
        _SET_CHOICE,
        row=conversation,
        set_policy=policy is not None,
        to_policy=policy,
        set_model=model is not None,
        to_model=model,
    )


class Sessions(Repository):
    """What conversations hold: T2 to T6's messages read back, T10, and the transcript."""

    load = read(load_session)
    find = read(find_conversation)
    conversation = read(load_conversation)
    conversations = read(list_conversations)
    page = read(load_page)
    changed = read(load_changed)
    lines = read(load_lines)
    messages = read(load_messages)
    add_step = write(turns.add_step, committed="plan.committed")
    start_calls = write(turns.start_calls, committed="tool.started")
    end_calls = write(turns.end_calls, committed="tool.committed")
    calls = read(calls.load_calls)
    turn = read(turns.load_turn)
    reduce = write(prompt_state.add_reductions)
    mark_prefix = write(prompt_state.mark_prefix)
    snapshot = read(prompt_state.load_snapshot)
    set_snapshot = write(prompt_state.set_snapshot)
    clear = write(clear_conversation, committed="clear.committed")
    undo_clear = write(undo_clear)
    choose = write(_set_choice)
    ends = read(load_next_seqs)
    usage = read(usage_rows.sum_usage)
    factor = read(usage_rows.load_factor)
    set_factors = write(usage_rows.set_factors)
    idle = read(load_idle)
    import_conversation = write(imports.import_conversation)
    trace = read(traces.load_trace)

    async def spend(self, conversation: str, spent: Sequence[Usage]) -> None:
        """Tokens of model calls beside a turn (a fold, an extraction)."""
        await self._database.write(usage_rows.add_usage, conversation, spent)

    async def delete(self, conversation: str) -> None:
        """A person asked (`mnema sessions delete`): the conversation with all its rows."""
        await self._database.write(delete_conversation, conversation)
