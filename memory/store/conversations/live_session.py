"""The session of a conversation: what a model may see of it, read from its live rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import bindparam, func, select

from memory.conversation import Message, Reduction, Session, Summary, Turn
from memory.store.conversations.prompt_state import load_live_reductions
from memory.store.conversations.turns import running_turn_number
from memory.store.engine.database import Row, Tx, light, single_query
from memory.store.rows import LINKED_SPACE, columns_of, to_message
from memory.store.schema.tables import conversation, fold, literal_text, message

MAX_SEQ = (1 << 31) - 1
LIVE_FROM = func.coalesce(
    select(fold.c.to_seq + 1).where(fold.c.id == conversation.c.fold_head).correlate(conversation).scalar_subquery(),
    conversation.c.view_from,
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
        message.c.seq >= select(LIVE_FROM).where(conversation.c.id == bindparam("conversation")).scalar_subquery(),
    )
    .order_by(message.c.seq)
    .limit(bindparam("limit"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRows:
    """What a session is made of, as it is stored."""

    conversation: Row
    messages: Sequence[Row]
    reductions: Sequence[Reduction]


# An imported conversation has thousands; they are read and parsed in threads, a second for 25,000 turns.
MAX_LIGHT_MESSAGES = 1_000


async def load_long_session_rows(tx: Tx, conversation: str, turns: int = 0, limit: int = MAX_SEQ) -> SessionRows:
    """Load what a session is made of: only the live rows, so that the cost does not grow with the conversation.

    Args:
        turns: load only so many of the newest turns, 0 for all live ones.
        limit: of the messages.

    Raises:
        LookupError: unknown conversation.
    """
    row, messages = await tx.together(
        lambda tx: tx.one(_SELECT_SESSION, id=conversation),
        lambda tx: tx.all(_SELECT_LIVE_MESSAGES, conversation=conversation, limit=0 if turns else limit),
    )
    if row is None:
        raise LookupError(f"there is no conversation {conversation}")
    live_from = row["view_from"] if row["head_to_seq"] is None else row["head_to_seq"] + 1
    if turns:
        messages = await tx.all(
            _SELECT_MESSAGES,
            conversation=conversation,
            from_seq=live_from,
            to_seq=MAX_SEQ,
            from_turn=row["next_turn"] - turns,
            limit=limit,
        )
    reductions = await load_live_reductions(tx, conversation, live_from) if row["prefix_generation"] else ()
    return SessionRows(conversation=row, messages=messages, reductions=tuple(reductions))


@light
async def load_session_rows(tx: Tx, conversation: str, turns: int = 0) -> SessionRows:
    """Load what a session is made of, but no more messages than show that it is long."""
    return await load_long_session_rows(tx, conversation, turns, MAX_LIGHT_MESSAGES + 1)


def to_session(rows: SessionRows) -> Session:
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
            Turn(number=number, messages=tuple(group)) for number, group in groupby(messages, key=lambda one: one.turn)
        ),
        reductions=tuple(rows.reductions),
        running=row["running"] or 0,
        held=row["held"] or 0,
    )


@single_query
async def load_messages(
    tx: Tx, conversation: str, from_seq: int = 1, to_seq: int = 0, limit: int = 0, *, from_turn: int = 0
) -> list[Message]:
    """Load stored originals in order of seq, folded and cleared ones too.

    Args:
        to_seq: 0 for the end.
        limit: 0 for all.
        from_turn: number of the first turn.
    """
    rows = await tx.all(
        _SELECT_MESSAGES,
        conversation=conversation,
        from_seq=from_seq,
        to_seq=to_seq or MAX_SEQ,
        from_turn=from_turn,
        limit=limit or MAX_SEQ,
    )
    return [to_message(row) for row in rows]


@light
async def load_ranges(tx: Tx, ranges: Sequence[tuple[str, int, int]]) -> list[list[Message]]:
    """Load a few messages of each (conversation, first seq, last seq)."""
    return [await load_messages(tx, conversation, first, last) for conversation, first, last in ranges]


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
