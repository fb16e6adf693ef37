"""Conversations read back: session, transcript, lists, deletion; and clears, which start a new
epoch.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import groupby
from typing import Any, Literal

from sqlalchemy import (
    CompoundSelect,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
    union_all,
    update,
)

from memory.conversation import Message, Reduction, Session, Summary, Turn
from memory.failpoints import hit_async
from memory.store.audit import append_act
from memory.store.conversations import lifecycle, prompt_state, traces, turns
from memory.store.conversations import usage as usage_rows
from memory.store.conversations.folds.day_logs import note_unlogged, plan_log_of_view
from memory.store.conversations.folds.steps import mark_open_stale
from memory.store.conversations.messages import (
    load_calls,
    load_conversation_row,
    load_writers,
    sender_name,
    take_numbers,
)
from memory.store.conversations.outbox import drop_unsent, keep_unsent
from memory.store.conversations.prompt_state import load_live_reductions, raise_generation
from memory.store.conversations.transcript import TranscriptRow, to_transcript_row
from memory.store.conversations.turns import cancel_open_turns, running_turn_number
from memory.store.engine.database import Repository, Row, Tx, insert_into, light, read, write
from memory.store.linked_spaces import (
    IS_AT_PLACE,
    LINKED_SPACE,
    PLACE_COLUMNS,
    belongs_to_space,
    load_linked_space,
)
from memory.store.people.spending import SpendingQuery, SpendingTotals, load_newest_usage
from memory.store.rows import (
    HIDDEN_THREAD,
    ConversationRow,
    FoldPlan,
    columns_of,
    new_binds,
    to_conversation_row,
    to_message,
)
from memory.store.schema.tables import (
    clearing,
    conversation,
    fold,
    inbox,
    is_one_of,
    literal_text,
    message,
    outbox,
    turn,
)

_SELECT_NEWEST_CLEARING = (
    select(clearing)
    .where(clearing.c.conversation == bindparam("conversation"), clearing.c.undone.is_(False))
    .order_by(clearing.c.epoch.desc())
    .limit(1)
)
_MARK_UNDONE = (
    update(clearing)
    .where(
        clearing.c.conversation == bindparam("conversation"), clearing.c.epoch == bindparam("epoch")
    )
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
    tx: Tx,
    conversation: str,
    log_only: FoldPlan | None = None,
    *,
    reason: EpochReason = "clear",
    by: str = "",
    zone: tzinfo = UTC,
) -> int:
    """Empty the view and start a new epoch, which fences off all work that began before.

    Args:
        log_only: folds to plan as well of the turns in the view that the daily log lacks, one for
            each day, as /new does.
        by: the actor, for the audit.
        zone: of the daily log.

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
        await plan_log_of_view(tx, row, log_only, zone)
    epoch = int(row["epoch"]) + 1
    former = {name: row[name] for name in _RESTORED}
    await tx.execute(
        insert_into(clearing),
        conversation=conversation,
        epoch=epoch,
        begun_by=reason,
        at=tx.now,
        **former,
    )
    cleared_before = row["next_seq"] if reason == "clear" else row["cleared_before"]
    begun = {
        "new_view_from": row["next_seq"],
        "new_fold_head": "",
        "new_cleared_before": cleared_before,
    }
    await tx.execute(_START_EPOCH, id=conversation, epoch=row["epoch"], **begun)
    await drop_unsent(tx, conversation)
    await note_unlogged(tx, conversation)
    await raise_generation(tx, conversation, "clear")
    await append_act(tx, "clear", conversation, f"epoch {epoch}", by)
    await hit_async("clear.in_txn")
    return epoch


async def undo_clear(tx: Tx, conversation: str, *, by: str = "") -> bool:
    """Undo the newest clear, which starts a new epoch again; False when there is none, or a fold
    came after it.

    Raises:
        LookupError: unknown conversation.
    """
    await take_numbers(tx, conversation)
    former = (await tx.execute(_SELECT_NEWEST_CLEARING, conversation=conversation)).first()
    if former is None or (await load_conversation_row(tx, conversation))["fold_head"]:
        return False
    await cancel_open_turns(tx, conversation)
    await mark_open_stale(tx, conversation)
    epoch = (await load_conversation_row(tx, conversation))["epoch"]
    await tx.execute(_MARK_UNDONE, conversation=conversation, epoch=former["epoch"])
    restored = {f"new_{name}": former[name] for name in _RESTORED}
    await tx.execute(_START_EPOCH, id=conversation, epoch=epoch, **restored)
    await note_unlogged(tx, conversation, may_begin=True)
    await keep_unsent(tx, conversation, epoch, epoch + 1)
    await raise_generation(tx, conversation, "clear undone")
    await append_act(tx, "undo clear", conversation, f"epoch {epoch + 1}", by)
    return True


_SELECT_NEXT_SEQS = select(conversation.c.id, conversation.c.next_seq).where(
    conversation.c.space == bindparam("space"),
    conversation.c.next_seq > 1,
    ~conversation.c.thread_id.like(literal_text(f"{HIDDEN_THREAD}%")),
)


async def load_next_seqs(tx: Tx, space: str) -> dict[str, int]:
    """Load the next seq of each conversation of a space, without those of linked spaces; for the
    recall index.
    """
    return {
        row["id"]: row["next_seq"]
        for row in (await tx.execute(_SELECT_NEXT_SEQS, space=space)).all()
    }


_MAX_SEQ = (1 << 31) - 1
_LIVE_FROM = func.coalesce(
    select(fold.c.to_seq + 1)
    .where(fold.c.id == conversation.c.fold_head)
    .correlate(conversation)
    .scalar_subquery(),
    conversation.c.view_from,
)
_FIRST_LIVE_TURN = (
    select(turn.c.number)
    .where(turn.c.conversation == conversation.c.id, turn.c.first_seq >= _LIVE_FROM)
    .order_by(turn.c.first_seq)
    .limit(1)
    .scalar_subquery()
)
_IS_RUNNING = exists().where(
    turn.c.conversation == conversation.c.id, is_one_of(turn.c.state, "running", "waiting")
)
# By their numbers, which have no gaps: counting the rows would take longer with each turn of a view
# without folds.
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
        LINKED_SPACE.label("linked_space"),
        _LAST_UNDONE_SEQ.label("held"),
        fold.c.to_seq.label("head_to_seq"),
        fold.c.to_turn.label("head_to_turn"),
        fold.c.turns_covered,
        fold.c.summary,
        fold.c.summary_tokens,
        fold.c.seen_seq,
        fold.c.summary_tainted,
        fold.c.clean_lines,
    )
    .outerjoin(fold, fold.c.id == conversation.c.fold_head)
    .where(conversation.c.id == bindparam("id"))
)
_SELECT_MESSAGES = (
    select(*columns_of(Message, message))
    .where(
        message.c.conversation == bindparam("conversation"),
        message.c.seq >= bindparam("from_seq"),
        message.c.seq <= bindparam("to_seq"),
        message.c.turn >= bindparam("from_turn"),
    )
    .order_by(message.c.seq)
    .limit(bindparam("limit"))
)


_SELECT_LIVE_MESSAGES = (
    select(*columns_of(Message, message))
    .where(
        message.c.conversation == bindparam("conversation"),
        message.c.seq
        >= select(_LIVE_FROM)
        .where(conversation.c.id == bindparam("conversation"))
        .scalar_subquery(),
    )
    .order_by(message.c.seq)
    .limit(bindparam("limit"))
)


def transcript_lines() -> CompoundSelect[Any]:
    """Select the inbox and outbox rows of one conversation between two line numbers, as transcript
    lines.
    """
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionRows:
    """What a session is made of, as it is stored."""

    conversation: Row
    messages: Sequence[Row]
    reductions: Sequence[Reduction]


# An imported conversation has thousands; they are read and parsed in threads, a second for 25,000
# turns.
MAX_LIGHT_MESSAGES = 1_000


async def _load_long_session_rows(
    tx: Tx, conversation: str, turns: int = 0, limit: int = _MAX_SEQ
) -> _SessionRows:
    """Load what a session is made of: only the live rows, so that the cost does not grow with the
    conversation.

    Args:
        turns: load only so many of the newest turns, 0 for all live ones.
        limit: of the messages.

    Raises:
        LookupError: unknown conversation.
    """
    row = (await tx.execute(_SELECT_SESSION, id=conversation)).first()
    if row is None:
        raise LookupError(f"there is no conversation {conversation}")
    live_from = row["view_from"] if row["head_to_seq"] is None else row["head_to_seq"] + 1
    if not turns:
        messages = (
            await tx.execute(_SELECT_LIVE_MESSAGES, conversation=conversation, limit=limit)
        ).all()
    else:
        messages = (
            await tx.execute(
                _SELECT_MESSAGES,
                conversation=conversation,
                from_seq=live_from,
                to_seq=_MAX_SEQ,
                from_turn=row["next_turn"] - turns,
                limit=limit,
            )
        ).all()
    reductions = (
        await load_live_reductions(tx, conversation, live_from) if row["prefix_generation"] else ()
    )
    return _SessionRows(conversation=row, messages=messages, reductions=tuple(reductions))


@light
async def load_session_rows(tx: Tx, conversation: str, turns: int = 0) -> _SessionRows:
    """Load what a session is made of, but no more messages than show that it is long."""
    return await _load_long_session_rows(tx, conversation, turns, MAX_LIGHT_MESSAGES + 1)


def _to_session(rows: _SessionRows) -> Session:
    row, messages = rows.conversation, [to_message(message) for message in rows.messages]
    same = (
        *("epoch", "next_seq", "next_turn", "view_from", "cleared_before", "fold_head"),
        *("policy", "model", "prefix_generation"),
    )
    return Session(
        **{name: row[name] for name in same},
        conversation=row["id"],
        space=row["linked_space"],
        summary=_to_summary(row),
        turns=tuple(
            Turn(number=number, messages=tuple(group))
            for number, group in groupby(messages, key=lambda one: one.turn)
        ),
        reductions=tuple(rows.reductions),
        running=row["running"] or 0,
        held=row["held"] or 0,
    )


async def load_messages(
    tx: Tx,
    conversation: str,
    from_seq: int = 1,
    to_seq: int = 0,
    limit: int = 0,
    *,
    from_turn: int = 0,
) -> list[Message]:
    """Load stored originals in order of seq, folded and cleared ones too.

    Args:
        to_seq: 0 for the end.
        limit: 0 for all.
        from_turn: number of the first turn.
    """
    rows = (
        await tx.execute(
            _SELECT_MESSAGES,
            conversation=conversation,
            from_seq=from_seq,
            to_seq=to_seq or _MAX_SEQ,
            from_turn=from_turn,
            limit=limit or _MAX_SEQ,
        )
    ).all()
    return [to_message(row) for row in rows]


@light
async def load_ranges(tx: Tx, ranges: Sequence[tuple[str, int, int]]) -> list[list[Message]]:
    """Load a few messages of each (conversation, first seq, last seq)."""
    return [
        await load_messages(tx, conversation, first, last) for conversation, first, last in ranges
    ]


def _to_summary(row: Row) -> Summary | None:
    if row["head_to_seq"] is None:
        return None
    return Summary(
        fold_id=row["fold_head"],
        turns=row["turns_covered"],
        text=row["summary"],
        tokens=row["summary_tokens"],
        seen=row["seen_seq"],
        tainted=bool(row["summary_tainted"]),
        clean_lines=row["clean_lines"],
        last_turn=row["head_to_turn"],
    )


async def load_lines(
    tx: Tx, conversation: str, before: int = 0, limit: int = 50, after: int = 0
) -> list[TranscriptRow]:
    """Load lines of the transcript, oldest first.

    Args:
        before: load the newest lines with smaller numbers, 0 for the end.
        after: load the first lines with greater numbers instead.
    """
    statement = _FIRST_LINES if after else _LAST_LINES
    rows = (
        await tx.execute(
            statement,
            conversation=conversation,
            after=after,
            before=before or _MAX_SEQ,
            limit=limit,
        )
    ).all()
    found = [to_transcript_row(row) for row in rows]
    return found if after else found[::-1]


@light
async def find_conversation(
    tx: Tx, channel: str, account: str, chat_id: str, thread_id: str = ""
) -> ConversationRow | None:
    """Load the conversation of a chat of one of our accounts, None when there is none."""
    row = (
        await tx.execute(
            _SELECT_BY_PLACE, channel=channel, account=account, chat_id=chat_id, thread_id=thread_id
        )
    ).first()
    return to_conversation_row(row) if row else None


@light
async def load_conversation(tx: Tx, id: str) -> ConversationRow | None:
    """Load one conversation, None for an unknown id."""
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    return to_conversation_row(row) if row else None


async def list_conversations(tx: Tx, channel: str = "", limit: int = 200) -> list[ConversationRow]:
    """Load the conversations of a channel ("" for all), newest first."""
    return [
        to_conversation_row(row)
        for row in (await tx.execute(_SELECT_LISTED, channel=channel, limit=limit)).all()
    ]


async def load_idle(tx: Tx, before: datetime) -> list[str]:
    """Load the ids of conversations with live turns and no received message since that time."""
    return [row["id"] for row in (await tx.execute(_SELECT_IDLE, before=before.timestamp())).all()]


_SET_CHOICES = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(
        policy=func.coalesce(bindparam("new_policy"), conversation.c.policy),
        model=func.coalesce(bindparam("new_model"), conversation.c.model),
    )
)


async def _set_choices(
    tx: Tx, conversation: str, *, policy: str | None = None, model: str | None = None
) -> None:
    """Choose policy and model of a conversation; "" for the configured one, None leaves the choice
    as it is.
    """
    await tx.execute(_SET_CHOICES, id=conversation, new_policy=policy, new_model=model)


# What tells a conversation from the others of its space: in the headings and in the handles of
# files.

_SELECT_TAGGED = select(conversation.c.id).where(
    conversation.c.id.like(bindparam("pattern")), belongs_to_space(conversation.c.space)
)
_SELECT_PLACE = select(
    *(conversation.c[name] for name in ("channel", "chat_id", "thread_id", "kind", "space"))
).where(conversation.c.id == bindparam("id"))
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
    #: No other conversation of its space and channel can have the same name: there is none, or
    #: chats have the names.
    is_unique: bool


async def list_tagged(tx: Tx, space: str, tag: str) -> list[str]:
    """Load the ids that end in this tag, of the conversations of a space and of those linked to it.

    Args:
        tag: letters and digits.
    """
    return [
        row["id"]
        for row in (await tx.execute(_SELECT_TAGGED, space=space, pattern=f"%{tag}")).all()
    ]


async def load_name(tx: Tx, id: str) -> ConversationName | None:
    """Load the names of a conversation, None for an unknown id."""
    row = (await tx.execute(_SELECT_PLACE, id=id)).first()
    if row is None:
        return None
    newest = (
        (await tx.execute(_SELECT_NEWEST_BODY, conversation=id)).first()
        if row["kind"] == "dm"
        else None
    )
    person, chat = sender_name(newest["body"]) if newest else "", _chat_name(row)
    space = await load_linked_space(tx, row["space"])
    others = [
        _chat_name(other)
        for other in (
            await tx.execute(_SELECT_OTHERS, id=id, channel=row["channel"], space=space)
        ).all()
    ]
    is_unique = not others if person else chat not in others
    return ConversationName(channel=row["channel"], chat=chat, person=person, is_unique=is_unique)


def _chat_name(row: Row) -> str:
    return "/".join(filter(None, (row["chat_id"], row["thread_id"])))


@light
async def _load_session_rows_with_spending(
    tx: Tx, conversation: str, spending: SpendingQuery
) -> tuple[_SessionRows, SpendingTotals]:
    """Load as `load_session_rows` does, with what `load_newest_usage` returns."""
    return await load_session_rows(tx, conversation), await load_newest_usage(tx, spending)


class Sessions(Repository):
    """Conversations: sessions, messages, transcripts, prompt state, clears and usage."""

    find = read(find_conversation)
    conversation = read(load_conversation)
    conversations = read(list_conversations)
    name = read(load_name)
    tagged = read(list_tagged)
    lines = read(load_lines)
    messages = read(load_messages)
    writers = read(load_writers)
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
    import_conversation = write(lifecycle.import_conversation)
    branch_conversation = write(lifecycle.branch_conversation)
    trace = read(traces.load_trace)
    traces = read(traces.load_traces)
    spend = write(usage_rows.add_usage)
    delete = write(lifecycle.delete_conversation)

    async def load(self, conversation: str, turns: int = 0) -> Session:
        """Load the session: what a model may see of the conversation.

        A long one is made in a thread.

        Args:
            turns: load only so many of the newest turns, 0 for all live ones.

        Raises:
            LookupError: unknown conversation.
            StoreError: the store cannot be read.
        """
        rows = await self._database.read(load_session_rows, conversation, turns)
        return await self._make_session(rows, conversation, turns)

    async def load_with_spending(
        self, conversation: str, spending: SpendingQuery
    ) -> tuple[Session, SpendingTotals]:
        """Load the session as `load` does, with what `load_newest_usage` returns."""
        rows, totals = await self._database.read(
            _load_session_rows_with_spending, conversation, spending
        )
        return await self._make_session(rows, conversation), totals

    async def _make_session(self, rows: _SessionRows, conversation: str, turns: int = 0) -> Session:
        if len(rows.messages) <= MAX_LIGHT_MESSAGES:
            return _to_session(rows)
        rows = await self._database.read(_load_long_session_rows, conversation, turns)
        return await asyncio.to_thread(_to_session, rows)
