"""Which turns in view the daily log lacks, and the folds that only write them to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from sqlalchemy import (
    and_,
    bindparam,
    func,
    literal_column,
    not_,
    or_,
    select,
    tuple_,
    update,
)

from memory.store.conversations.folds.rows import IS_OPEN, SELECT_FOLD, insert_fold, load_live_from
from memory.store.conversations.messages import load_conversation_row, take_numbers
from memory.store.conversations.turns import load_running_number
from memory.store.engine.database import Row, Tx
from memory.store.rows import HIDDEN_THREAD, FoldPlan, FoldRow, from_row, new_binds
from memory.store.schema.tables import conversation, fold, is_one_of, literal_text, message
from memory.workspace.day_ranges import DayRange, TurnSpan, split_by_day, without_ranges

SEQS_AT_ONCE = 200  # of the messages among which the first turn without a log is looked for
DAY_REASON = "day"  # of a fold that writes the turns of one day to the log

_IS_OF_CONVERSATION = fold.c.conversation == bindparam("conversation")
_SELECT_SPANS = (
    select(
        message.c.turn,
        func.min(message.c.seq).label("from_seq"),
        func.max(message.c.seq).label("to_seq"),
        func.min(message.c.at).label("began"),
        func.coalesce(func.sum(message.c.tokens), 0).label("tokens"),
    )
    .where(
        message.c.conversation == bindparam("conversation"),
        message.c.seq >= bindparam("from_seq"),
        message.c.seq <= bindparam("to_seq"),
    )
    .group_by(message.c.turn)
    .order_by(func.min(message.c.seq))
)
# A fold that only writes the log always ends with its section, unless it is stale.
_WRITES_LOG_ONLY = and_(fold.c.log_only.is_(True), fold.c.state != literal_text("stale"))
_WRITES_BOTH = and_(fold.c.log_only.is_(False), fold.c.summary_only == 0)
_SELECT_LOGGED = select(fold.c.from_seq, fold.c.to_seq).where(
    _IS_OF_CONVERSATION,
    fold.c.to_seq >= bindparam("from_seq"),
    or_(_WRITES_LOG_ONLY, and_(_WRITES_BOTH, fold.c.state == literal_text("folded"))),
)
_SELECT_BEING_LOGGED = select(fold.c.from_seq, fold.c.to_seq).where(
    _IS_OF_CONVERSATION, IS_OPEN, fold.c.log_only.is_(False), fold.c.summary_only == 0
)
_SELECT_ALL_OPEN_LOGS = SELECT_FOLD.where(IS_OPEN, fold.c.log_only.is_(True)).order_by(
    fold.c.conversation, fold.c.from_seq
)
_SELECT_OPEN_LOGS = _SELECT_ALL_OPEN_LOGS.where(_IS_OF_CONVERSATION)
_SELECT_NEWEST_LOG_REF = (
    select(fold.c.log_ref)
    .where(
        _IS_OF_CONVERSATION,
        fold.c.to_seq >= bindparam("from_seq"),
        fold.c.from_seq <= bindparam("to_seq"),
        fold.c.log_ref != literal_text(""),
        not_(is_one_of(fold.c.state, "stale", "undone")),
    )
    .order_by(fold.c.to_seq.desc())
    .limit(1)
)
_SET_UNLOGGED = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(**new_binds("unlogged_since"))
)
_SELECT_UNLOGGED = (
    select(conversation.c.id, conversation.c.unlogged_since)
    .where(
        conversation.c.unlogged_since > literal_column("0"),
        conversation.c.unlogged_since < bindparam("before"),
        tuple_(conversation.c.unlogged_since, conversation.c.id)
        > tuple_(bindparam("after_since"), bindparam("after_id")),
    )
    .order_by(conversation.c.unlogged_since, conversation.c.id)
    .limit(bindparam("limit"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnloggedConversation:
    """A conversation of which the daily log lacks turns."""

    id: str
    #: Unix seconds at which the first of them began.
    since: float


async def load_unlogged_conversations(
    tx: Tx, before: float, after: UnloggedConversation | None, limit: int
) -> list[UnloggedConversation]:
    """Load the next conversations of which the log lacks turns that began before a moment.

    Args:
        before: unix seconds.
        after: the last one of the page before, None for the first page.
    """
    rows = await tx.execute(
        _SELECT_UNLOGGED,
        before=before,
        after_since=after.since if after else 0.0,
        after_id=after.id if after else "",
        limit=limit,
    )
    return [UnloggedConversation(id=row["id"], since=row["unlogged_since"]) for row in rows.all()]


async def plan_ended_days(
    tx: Tx, conversation: str, before: float, zone: tzinfo, policy: str
) -> list[FoldRow]:
    """Plan a log-only fold for each ended day whose finished turns in view the log lacks.

    Turns of a fold in progress are left to it.

    Args:
        before: unix seconds at which the current day began.
        policy: of a conversation without one of its own.
    """
    row = await take_numbers(tx, conversation)
    running = await load_running_number(tx, conversation)
    spans = await _load_unlogged(tx, row, with_open_folds=True)
    ended = [span for span in spans if span.began < before and span.turn != running]
    requested = _plan_of_view(row, policy=row["policy"] or policy, reason=DAY_REASON)
    planned = await insert_log_folds(tx, row, requested, split_by_day(ended, zone))
    await note_unlogged(tx, conversation)
    return planned


async def plan_log_of_view(
    tx: Tx, conversation_row: Row, requested: FoldPlan, zone: tzinfo
) -> None:
    """At a clear: plan log-only folds of what is in view in this transaction and not in the log."""
    spans = await _load_unlogged(tx, conversation_row)
    requested = _plan_of_view(
        conversation_row, policy=requested.policy, reason=requested.reason, why=requested.why
    )
    await insert_log_folds(tx, conversation_row, requested, split_by_day(spans, zone))


async def insert_log_folds(
    tx: Tx, conversation_row: Row, requested: FoldPlan, ranges: Sequence[DayRange]
) -> list[FoldRow]:
    """Insert a log-only fold for each range, with what is requested otherwise."""
    return [
        await insert_fold(
            tx,
            conversation_row,
            FoldPlan(
                conversation=requested.conversation,
                epoch=requested.epoch,
                prev_fold=requested.prev_fold,
                from_seq=found.from_seq,
                to_seq=found.to_seq,
                from_turn=found.from_turn,
                to_turn=found.to_turn,
                policy=requested.policy,
                reason=requested.reason,
                tokens_before=found.tokens,
                log_only=True,
                why=requested.why,
                day=f"{found.day:%Y-%m-%d}",
                at=requested.at,
            ),
        )
        for found in ranges
    ]


def _plan_of_view(row: Row, *, policy: str, reason: str, why: str = "") -> FoldPlan:
    """Make a plan for the conversation as it is, still without turns."""
    return FoldPlan(
        conversation=row["id"],
        epoch=row["epoch"],
        prev_fold=row["fold_head"],
        from_seq=0,
        to_seq=0,
        from_turn=0,
        to_turn=0,
        policy=policy,
        reason=reason,
        tokens_before=0,
        log_only=True,
        why=why,
    )


async def load_spans(tx: Tx, conversation: str, from_seq: int, to_seq: int) -> tuple[TurnSpan, ...]:
    """Load the turns between two seqs."""
    rows = await tx.execute(
        _SELECT_SPANS, conversation=conversation, from_seq=from_seq, to_seq=to_seq
    )
    return tuple(TurnSpan(**row) for row in rows.all())


async def load_logged_ranges(
    tx: Tx, conversation: str, from_seq: int, *, with_open_folds: bool = False
) -> list[tuple[int, int]]:
    """Load the ranges of seqs, from one on, that are in the log or on their way there.

    Args:
        with_open_folds: also what an open fold with a summary is to write; it may become stale.
    """
    values = {"conversation": conversation, "from_seq": from_seq}
    rows = (await tx.execute(_SELECT_LOGGED, **values)).all()
    if with_open_folds:
        open_rows = await tx.execute(_SELECT_BEING_LOGGED, conversation=conversation)
        rows = [*rows, *open_rows.all()]
    return [(row["from_seq"], row["to_seq"]) for row in rows]


async def _load_unlogged(
    tx: Tx, conversation_row: Row, *, with_open_folds: bool = False
) -> tuple[TurnSpan, ...]:
    """Load the turns in view without those of `load_logged_ranges`."""
    id, from_seq = conversation_row["id"], await load_live_from(tx, conversation_row)
    spans = await load_spans(tx, id, from_seq, conversation_row["next_seq"] - 1)
    ranges = await load_logged_ranges(tx, id, from_seq, with_open_folds=with_open_folds)
    return without_ranges(spans, ranges)


async def note_unlogged(tx: Tx, conversation: str, *, may_begin: bool = False) -> None:
    """Note since when the log lacks turns of the view.

    Args:
        may_begin: also where the conversation lacked none: turns have come back into its view. Else
            such a one stays at rest, as after an import.
    """
    row = await load_conversation_row(tx, conversation)
    if row["thread_id"].startswith(HIDDEN_THREAD) or not (row["unlogged_since"] or may_begin):
        return
    since = await _find_unlogged_since(tx, row)
    if since != row["unlogged_since"]:
        await tx.execute(_SET_UNLOGGED, id=conversation, new_unlogged_since=since)


async def _find_unlogged_since(tx: Tx, conversation_row: Row) -> float:
    """When the first turn in view began that is in no log, 0 for none."""
    id, first = conversation_row["id"], await load_live_from(tx, conversation_row)
    ranges = await load_logged_ranges(tx, id, first)
    while first < conversation_row["next_seq"]:
        spans = await load_spans(tx, id, first, first + SEQS_AT_ONCE - 1)
        if unlogged := without_ranges(spans, ranges):
            return unlogged[0].began
        first += SEQS_AT_ONCE
    return 0.0


async def load_open_logs(tx: Tx, conversation: str = "") -> list[FoldRow]:
    """Load the log-only folds of a conversation that have not ended; of all for ""."""
    rows = (
        await tx.execute(_SELECT_OPEN_LOGS, conversation=conversation)
        if conversation
        else await tx.execute(_SELECT_ALL_OPEN_LOGS)
    )
    return [from_row(FoldRow, row) for row in rows.all()]


async def load_open_logs_of(tx: Tx, of: FoldRow) -> list[FoldRow]:
    """Load the log-only folds of a fold's turns that have not ended."""
    return [
        row
        for row in await load_open_logs(tx, of.conversation)
        if row.from_seq <= of.to_seq and of.from_seq <= row.to_seq
    ]


async def load_newest_log_ref(tx: Tx, conversation: str, from_seq: int, to_seq: int) -> str:
    """Load the path of the daily log that has the newest turns of a range, "" for none."""
    row = (
        await tx.execute(
            _SELECT_NEWEST_LOG_REF, conversation=conversation, from_seq=from_seq, to_seq=to_seq
        )
    ).first()
    return str(row["log_ref"]) if row else ""
