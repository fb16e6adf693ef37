"""Conversations read back: their rows, sessions and messages; and the repository of all that is
done to one.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import bindparam, case, exists, func, or_, select, update

from memory.conversation import Message, Reduction, Session, Summary, Turn
from memory.store.conversations import lifecycle, prompt_state, traces, turns
from memory.store.conversations import usage as usage_rows
from memory.store.conversations.clears import clear_conversation, undo_clear
from memory.store.conversations.messages import load_calls, load_writers
from memory.store.conversations.names import list_tagged, load_name
from memory.store.conversations.prompt_state import load_live_reductions
from memory.store.conversations.transcript import load_lines
from memory.store.conversations.turns import running_turn_number
from memory.store.engine.database import Repository, Row, Tx, light, read, write
from memory.store.linked_spaces import IS_AT_PLACE, LINKED_SPACE, PLACE_COLUMNS
from memory.store.people.spending import SpendingQuery, SpendingTotals, load_newest_usage
from memory.store.rows import (
    HIDDEN_THREAD,
    ConversationRow,
    columns_of,
    to_conversation_row,
    to_message,
)
from memory.store.schema.tables import (
    MAX_INTEGER,
    conversation,
    fold,
    is_one_of,
    literal_text,
    message,
    turn,
)

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
    tx: Tx, conversation: str, turns: int = 0, limit: int = MAX_INTEGER
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
                to_seq=MAX_INTEGER,
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
            to_seq=to_seq or MAX_INTEGER,
            from_turn=from_turn,
            limit=limit or MAX_INTEGER,
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
