"""What conversations hold, read back: the session a model may see, the transcript, originals, lists."""

from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import CompoundSelect, bindparam, exists, func, literal_column, or_, select, union_all

from memory.conversation import Message, Session, Summary, Turn
from memory.store.columns import word
from memory.store.engine import Row, Tx, glance
from memory.store.homes import HOME, PLACE
from memory.store.prefix import live_reductions
from memory.store.records import ConversationRow, Line
from memory.store.rows import columns_of, conversation_row, line_of, message_of
from memory.store.tables import conversation, fold, inbox, message, outbox, turn
from memory.store.turns import running_of

_EVERYTHING = (1 << 31) - 1
_LIVE_FROM = func.coalesce(
    select(fold.c.to_seq + 1).where(fold.c.id == conversation.c.fold_head).correlate(conversation).scalar_subquery(),
    conversation.c.view_from,
)
_OF_VIEW = (
    select(func.count())
    .where(
        turn.c.conversation == conversation.c.id,
        turn.c.first_seq >= _LIVE_FROM,
        turn.c.state != word("running"),
        turn.c.state != word("waiting"),
    )
    .scalar_subquery()
)
CONVERSATION = select(
    *columns_of(ConversationRow, conversation),
    conversation.c.space.label("own_space"),
    *PLACE,
    _OF_VIEW.label("turns"),
)
_ONE = CONVERSATION.where(conversation.c.id == bindparam("row"))
_AT = CONVERSATION.where(
    conversation.c.channel == bindparam("channel"),
    conversation.c.account == bindparam("account"),
    conversation.c.chat_id == bindparam("chat_id"),
    conversation.c.thread_id == bindparam("thread_id"),
)
_LISTED = (
    CONVERSATION.where(
        conversation.c.listed.is_(True),
        or_(bindparam("only") == word(""), conversation.c.channel == bindparam("only")),
    )
    .order_by(conversation.c.updated.desc(), conversation.c.id.desc())
    .limit(bindparam("most"))
)
_IDLE = select(conversation.c.id).where(
    conversation.c.listed.is_(True),
    conversation.c.heard < bindparam("before"),
    exists().where(turn.c.conversation == conversation.c.id, turn.c.first_seq >= _LIVE_FROM),
)
_undone = fold.alias("undone")
_HELD = (
    select(func.max(_undone.c.seen_seq))
    .where(
        _undone.c.conversation == conversation.c.id,
        _undone.c.state == word("undone"),
        _undone.c.epoch == conversation.c.epoch,
        _undone.c.prev_fold == conversation.c.fold_head,
    )
    .correlate(conversation)
    .scalar_subquery()
)
_SESSION = (
    select(
        conversation,
        running_of(conversation.c.id).label("running"),
        HOME.label("home"),
        _HELD.label("held"),
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
_MESSAGE = columns_of(Message, message)
_RANGE = (
    select(*_MESSAGE)
    .where(
        message.c.conversation == bindparam("row"),
        message.c.seq >= bindparam("first"),
        message.c.seq <= bindparam("last"),
        message.c.turn >= bindparam("from_turn"),
    )
    .order_by(message.c.seq)
    .limit(bindparam("most"))
)


def _both_ways() -> CompoundSelect[Any]:
    """Inbox and outbox rows of one conversation as lines between two numbers."""
    heard = select(
        inbox.c.id,
        inbox.c.line.label("number"),
        word("user").label("role"),
        inbox.c.body.label("text"),
        inbox.c.received.label("at"),
        word("").label("reply_to"),
        inbox.c.state,
    ).where(
        inbox.c.conversation == bindparam("row"),
        inbox.c.line > bindparam("above"),
        inbox.c.line < bindparam("below"),
        inbox.c.state != word("ignored"),
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
        outbox.c.state != word("dropped"),
    )
    return union_all(heard, spoken)


_LINES = _both_ways()
_FIRST_LINES = _LINES.order_by(literal_column("number")).limit(bindparam("most"))
_LAST_LINES = _LINES.order_by(literal_column("number").desc()).limit(bindparam("most"))


async def load(tx: Tx, id: str, turns: int = 0) -> Session:
    """See Sessions.load.

    Raises:
        LookupError: there is no such conversation.
    """
    home = await tx.one(_SESSION, row=id)
    if home is None:
        raise LookupError(f"there is no conversation {id}")
    live_from = home["view_from"] if home["head_to_seq"] is None else home["head_to_seq"] + 1
    from_turn = home["next_turn"] - turns if turns else 0
    return Session(
        conversation=id,
        space=home["home"],
        epoch=home["epoch"],
        next_seq=home["next_seq"],
        next_turn=home["next_turn"],
        view_from=home["view_from"],
        fold_head=home["fold_head"],
        summary=_summary(home),
        turns=_turns(await _read(tx, id, live_from, from_turn=from_turn)),
        reductions=await live_reductions(tx, id, live_from) if home["prefix_generation"] else (),
        running=home["running"] or 0,
        policy=home["policy"],
        model=home["model"],
        prefix_generation=home["prefix_generation"],
        held=home["held"] or 0,
    )


@glance
async def messages(tx: Tx, id: str, from_seq: int = 1, to_seq: int = 0, limit: int = 0) -> list[Message]:
    return await _read(tx, id, from_seq, to_seq, limit)


@glance
async def lines(tx: Tx, id: str, before: int = 0, limit: int = 50, after: int = 0) -> list[Line]:
    statement = _FIRST_LINES if after else _LAST_LINES
    rows = await tx.all(statement, row=id, above=after, below=before or _EVERYTHING, most=limit)
    found = [line_of(row) for row in rows]
    return found if after else found[::-1]


@glance
async def find(tx: Tx, place: dict[str, str]) -> ConversationRow | None:
    row = await tx.one(_AT, **place)
    return conversation_row(row) if row else None


@glance
async def read_one(tx: Tx, id: str) -> ConversationRow | None:
    """One conversation, None for an unknown id."""
    row = await tx.one(_ONE, row=id)
    return conversation_row(row) if row else None


@glance
async def listed(tx: Tx, channel: str = "", limit: int = 200) -> list[ConversationRow]:
    """Conversations that people see, newest first."""
    return [conversation_row(row) for row in await tx.all(_LISTED, only=channel, most=limit)]


@glance
async def idle(tx: Tx, before: datetime) -> list[str]:
    return [row["id"] for row in await tx.all(_IDLE, before=before.timestamp())]


async def _read(
    tx: Tx, id: str, from_seq: int, to_seq: int = 0, limit: int = 0, *, from_turn: int = 0
) -> list[Message]:
    rows = await tx.all(
        _RANGE,
        row=id,
        first=from_seq,
        last=to_seq or _EVERYTHING,
        from_turn=from_turn,
        most=limit or _EVERYTHING,
    )
    return [message_of(row) for row in rows]


def _turns(found: list[Message]) -> tuple[Turn, ...]:
    return tuple(Turn(number=number, messages=tuple(held)) for number, held in groupby(found, key=lambda one: one.turn))


def _summary(home: Row) -> Summary | None:
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
