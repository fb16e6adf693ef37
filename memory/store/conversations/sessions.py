"""The Sessions door: each method is one unit of work."""

import re
from collections.abc import Mapping, Sequence
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

from memory.conversation import Message, Reduction, Session, Summary, Turn
from memory.failpoints import hit_async
from memory.store.audit import append_act
from memory.store.conversations import imports, prompt_state, traces, turns, usage
from memory.store.conversations import messages as calls
from memory.store.conversations.folds import mark_open_stale, plan_log_only_fold
from memory.store.conversations.messages import load_conversation_row, take_numbers
from memory.store.conversations.outbox import drop_unsent, keep_unsent
from memory.store.conversations.prompt_state import delete_snapshot, load_live_reductions, raise_generation
from memory.store.conversations.traces import Trace
from memory.store.conversations.turns import cancel_open_turns, running_turn_number
from memory.store.engine.database import Database, Row, Tx, single_query
from memory.store.rows import (
    LINKED_SPACE,
    PLACE_COLUMNS,
    CallRow,
    ConversationRow,
    FoldPlan,
    NewMessage,
    Place,
    PlannedCall,
    PromptSnapshot,
    TranscriptRow,
    TurnRow,
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


async def clear_conversation(tx: Tx, id: str, log_only: FoldPlan | None = None, by: str = "") -> int:
    """T10. What the view held when its turns were closed is what a log-only fold covers."""
    await take_numbers(tx, id)
    await cancel_open_turns(tx, id)
    home = await load_conversation_row(tx, id)
    await mark_open_stale(tx, id)
    if log_only is not None:
        await plan_log_only_fold(tx, home, log_only)
    epoch = int(home["epoch"]) + 1
    await tx.run(
        _INSERT_CLEARING,
        conversation=id,
        epoch=epoch,
        view_from=home["view_from"],
        fold_head=home["fold_head"],
        at=tx.now,
    )
    await tx.run(_START_EPOCH, row=id, former=home["epoch"], first=home["next_seq"], head="")
    await drop_unsent(tx, id)
    await raise_generation(tx, id, "clear")
    await append_act(tx, "clear", id, f"epoch {epoch}", by)
    await hit_async("clear.in_txn")
    return epoch


async def undo_clear(tx: Tx, id: str, by: str = "") -> bool:
    """The newest clear is the newest act exactly while nothing has been folded on it: then there is no head."""
    await take_numbers(tx, id)
    former = await tx.one(_SELECT_NEWEST_CLEARING, row=id)
    if former is None or (await load_conversation_row(tx, id))["fold_head"]:
        return False
    await cancel_open_turns(tx, id)
    await mark_open_stale(tx, id)
    home = await load_conversation_row(tx, id)
    await tx.run(_MARK_UNDONE, row=id, at_epoch=former["epoch"], taken_back=True)
    await tx.run(_START_EPOCH, row=id, former=home["epoch"], first=former["view_from"], head=former["fold_head"])
    await keep_unsent(tx, id, home["epoch"], home["epoch"] + 1)
    await raise_generation(tx, id, "clear undone")
    await append_act(tx, "undo clear", id, f"epoch {home['epoch'] + 1}", by)
    return True


# How far each conversation of a space goes, for whoever keeps an index of what was said.

_SELECT_NEXT_SEQS = select(conversation.c.id, conversation.c.next_seq).where(
    conversation.c.space == bindparam("space"), conversation.c.next_seq > 1
)


@single_query
async def load_next_seqs(tx: Tx, space: str) -> dict[str, int]:
    """The next seq of every conversation that has messages."""
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


async def load_session(tx: Tx, id: str, turns: int = 0) -> Session:
    """See Sessions.load.

    Raises:
        LookupError: there is no such conversation.
    """
    home = await tx.one(_SELECT_SESSION, row=id)
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
        summary=_load_summary(home),
        turns=_group_by_turn(await _load_messages(tx, id, live_from, from_turn=from_turn)),
        reductions=await load_live_reductions(tx, id, live_from) if home["prefix_generation"] else (),
        running=home["running"] or 0,
        policy=home["policy"],
        model=home["model"],
        prefix_generation=home["prefix_generation"],
        held=home["held"] or 0,
    )


@single_query
async def load_messages(tx: Tx, id: str, from_seq: int = 1, to_seq: int = 0, limit: int = 0) -> list[Message]:
    return await _load_messages(tx, id, from_seq, to_seq, limit)


@single_query
async def load_lines(tx: Tx, id: str, before: int = 0, limit: int = 50, after: int = 0) -> list[TranscriptRow]:
    statement = _FIRST_LINES if after else _LAST_LINES
    rows = await tx.all(statement, row=id, above=after, below=before or _MAX_SEQ, most=limit)
    found = [to_transcript_line(row) for row in rows]
    return found if after else found[::-1]


@single_query
async def find_conversation(tx: Tx, place: dict[str, str]) -> ConversationRow | None:
    row = await tx.one(_SELECT_BY_PLACE, **place)
    return to_conversation_row(row) if row else None


@single_query
async def load_conversation(tx: Tx, id: str) -> ConversationRow | None:
    """One conversation, None for an unknown id."""
    row = await tx.one(_SELECT_ONE, row=id)
    return to_conversation_row(row) if row else None


@single_query
async def list_conversations(tx: Tx, channel: str = "", limit: int = 200) -> list[ConversationRow]:
    """Conversations that people see, newest first."""
    return [to_conversation_row(row) for row in await tx.all(_SELECT_LISTED, only=channel, most=limit)]


@single_query
async def load_idle(tx: Tx, before: datetime) -> list[str]:
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
async def load_page(tx: Tx, cursor: str, limit: int, own: bool) -> tuple[list[ConversationRow], str]:
    """See Sessions.page. The cursor names the last row of a page, so rows that do not move are seen exactly once."""
    found = _CURSOR.fullmatch(cursor)
    if cursor and found is None:
        raise ValueError("the cursor is not one of this list")
    newest, last = (float(found[1]), found[2]) if found else (_MAX_SECONDS, "")
    rows = await tx.all(_OWN_PAGE if own else _PAGE, newest=newest, last=last, most=limit + 1)
    more = len(rows) > limit
    following = f"{rows[limit - 1]['updated']!r}_{rows[limit - 1]['id']}" if more else ""
    return [to_conversation_row(row) for row in rows[:limit]], following


@single_query
async def load_changed(tx: Tx, since: float, limit: int) -> list[ConversationRow]:
    """See Sessions.changed."""
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


class SqlSessions:
    """See memory.store.store.Sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, conversation: str, turns: int = 0) -> Session:
        return await self._database.read(load_session, conversation, turns)

    async def find(self, channel: str, account: str, chat_id: str, thread_id: str = "") -> ConversationRow | None:
        place = {"channel": channel, "account": account, "chat_id": chat_id, "thread_id": thread_id}
        return await self._database.read(find_conversation, place)

    async def conversation(self, id: str) -> ConversationRow | None:
        return await self._database.read(load_conversation, id)

    async def conversations(self, channel: str = "", limit: int = 200) -> list[ConversationRow]:
        return await self._database.read(list_conversations, channel, limit)

    async def page(self, cursor: str = "", limit: int = 200, *, own: bool = False) -> tuple[list[ConversationRow], str]:
        return await self._database.read(load_page, cursor, limit, own)

    async def changed(self, since: float, limit: int = 200) -> list[ConversationRow]:
        return await self._database.read(load_changed, since, limit)

    async def lines(self, conversation: str, before: int = 0, limit: int = 50, after: int = 0) -> list[TranscriptRow]:
        return await self._database.read(load_lines, conversation, before, limit, after)

    async def messages(self, conversation: str, from_seq: int = 1, to_seq: int = 0, limit: int = 0) -> list[Message]:
        return await self._database.read(load_messages, conversation, from_seq, to_seq, limit)

    async def add_step(
        self, turn: TurnRow, message: NewMessage, calls: Sequence[PlannedCall], usage: Usage
    ) -> list[CallRow]:
        planned = await self._database.write(turns.add_step, turn, message, calls, usage)
        await hit_async("plan.committed")
        return planned

    async def start_calls(self, calls: Sequence[CallRow]) -> None:
        await self._database.write(turns.start_calls, calls)
        await hit_async("tool.started")

    async def end_calls(self, turn: TurnRow, results: Sequence[tuple[CallRow, str]], message: NewMessage) -> Message:
        told = await self._database.write(turns.end_calls, turn, results, message)
        await hit_async("tool.committed")
        return told

    async def calls(self, turn_id: str) -> list[CallRow]:
        return await self._database.read(calls.load_calls, turn_id)

    async def turn(self, id: str) -> TurnRow | None:
        return await self._database.read(turns.load_turn, id)

    async def reduce(self, conversation: str, reductions: Sequence[Reduction], reason: str) -> None:
        await self._database.write(prompt_state.add_reductions, conversation, reductions, reason)

    async def mark_prefix(self, conversation: str, sha256: str, reason: str) -> int:
        return await self._database.write(prompt_state.mark_prefix, conversation, sha256, reason)

    async def snapshot(self, conversation: str) -> PromptSnapshot | None:
        return await self._database.read(prompt_state.load_snapshot, conversation)

    async def set_snapshot(self, conversation: str, snapshot: PromptSnapshot, reason: str) -> int:
        return await self._database.write(prompt_state.set_snapshot, conversation, snapshot, reason)

    async def clear(self, conversation: str, log_only: FoldPlan | None = None, *, by: str = "") -> int:
        epoch = await self._database.write(clear_conversation, conversation, log_only, by)
        await hit_async("clear.committed")
        return epoch

    async def undo_clear(self, conversation: str, *, by: str = "") -> bool:
        return await self._database.write(undo_clear, conversation, by)

    async def choose(self, conversation: str, *, policy: str | None = None, model: str | None = None) -> None:
        await self._database.write(_set_choice, conversation, policy, model)

    async def ends(self, space: str) -> dict[str, int]:
        return await self._database.read(load_next_seqs, space)

    async def usage(self, since: datetime, conversation: str = "") -> list[Usage]:
        return await self._database.read(usage.sum_usage, since, conversation)

    async def spend(self, conversation: str, spent: Sequence[Usage]) -> None:
        await self._database.write(usage.add_usage, conversation, spent)

    async def factor(self, model: str) -> tuple[float, int, float]:
        return await self._database.read(usage.load_factor, model)

    async def set_factors(self, learned: Mapping[str, tuple[float, int, float]]) -> None:
        await self._database.write(usage.set_factors, learned)

    async def idle(self, before: datetime) -> list[str]:
        return await self._database.read(load_idle, before)

    async def import_conversation(self, place: Place, turns: Sequence[Turn]) -> str:
        return await self._database.write(imports.import_conversation, place, turns)

    async def delete(self, conversation: str) -> None:
        await self._database.write(delete_conversation, conversation)

    async def trace(self, conversation: str, *, of: str = "", sender: str = "", below: int = 0) -> Trace | None:
        return await self._database.read(
            traces.load_trace, conversation, traces.TraceQuery(of=of, sender=sender, below=below)
        )


async def _set_choice(tx: Tx, id: str, policy: str | None, model: str | None) -> None:
    await tx.run(
        _SET_CHOICE,
        row=id,
        set_policy=policy is not None,
        to_policy=policy,
        set_model=model is not None,
        to_model=model,
    )
