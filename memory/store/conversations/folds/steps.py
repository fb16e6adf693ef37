"""Folds: each step compares and sets the state, fenced by the lease and by the conversation's epoch
and fold head.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import Any, TypedDict, Unpack

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from memory.context.taint import UNKNOWN_FOLD, FoldLabel
from memory.failpoints import hit_async
from memory.store.conversations.folds import ledger
from memory.store.conversations.folds.day_logs import (
    DAY_REASON,
    insert_log_folds,
    load_logged_ranges,
    load_newest_log_ref,
    load_open_logs,
    load_open_logs_of,
    load_spans,
    load_unlogged_conversations,
    note_unlogged,
    plan_ended_days,
)
from memory.store.conversations.folds.rows import (
    IS_OPEN,
    SELECT_FOLD,
    insert_fold,
    load_existing_fold,
    load_fold,
    load_live_from,
)
from memory.store.conversations.messages import take_numbers
from memory.store.conversations.prompt_state import raise_generation
from memory.store.conversations.turns import load_running_number
from memory.store.engine.database import Repository, Row, Tx, read, write
from memory.store.errors import WrongState
from memory.store.rows import (
    FOLD_TRANSITIONS,
    FoldAwaiting,
    FoldMethod,
    FoldPlan,
    FoldRow,
    check_transition,
    columns_of,
    from_row,
    new_binds,
)
from memory.store.schema.tables import (
    conversation,
    coverage,
    fold,
    is_lease_void,
    literal_text,
    message,
)
from memory.workspace.day_ranges import split_by_day, without_ranges

_TEXT_COLUMNS = ("log_text", "summary")
LABELS_AT_ONCE = 64  # folds of one query
_ID_NAMES = tuple(f"id{number}" for number in range(LABELS_AT_ONCE))
_SELECT_LABELS = select(fold.c.id, fold.c.tainted, fold.c.clean_lines).where(
    fold.c.id.in_([bindparam(name) for name in _ID_NAMES])
)
_SELECT_OPEN = SELECT_FOLD.where(IS_OPEN).order_by(fold.c.at, fold.c.id)
_SELECT_OURS = _SELECT_OPEN.where(fold.c.lease_epoch == bindparam("lease_epoch"))
_SELECT_FOLDED = SELECT_FOLD.where(
    fold.c.conversation == bindparam("conversation"),
    fold.c.state == literal_text("folded"),
    or_(bindparam("any_epoch"), fold.c.epoch == bindparam("epoch")),
).order_by(fold.c.at, fold.c.from_seq)
_SELECT_FOLDED_WITHOUT_TEXTS = _SELECT_FOLDED.with_only_columns(
    *(
        literal_text("").label(one.name) if one.name in _TEXT_COLUMNS else one
        for one in columns_of(FoldRow, fold)
    )
)
_IS_OPEN_WITH_SUMMARY = (
    fold.c.conversation == bindparam("conversation"),
    IS_OPEN,
    fold.c.log_only.is_(False),
)
_SELECT_OPEN_WITH_SUMMARY = select(fold.c.id).where(*_IS_OPEN_WITH_SUMMARY)
_IS_IN_RANGE = (
    message.c.conversation == bindparam("conversation"),
    message.c.seq >= bindparam("from_seq"),
    message.c.seq <= bindparam("to_seq"),
)
_SELECT_RANGE = select(
    func.min(message.c.turn).label("from_turn"),
    func.max(message.c.turn).label("to_turn"),
    func.max(message.c.seq).label("to_seq"),
    func.coalesce(func.sum(message.c.tokens), 0).label("tokens"),
).where(*_IS_IN_RANGE)
_SELECT_TURN_OF_SEQ = select(message.c.turn).where(
    message.c.conversation == bindparam("conversation"), message.c.seq == bindparam("seq")
)
_STEP_COLUMNS = (
    *(
        "method",
        "log_text",
        "summary",
        "summary_tokens",
        "source_sha256",
        "log_ref",
        "tokens_after",
    ),
    *("tainted", "clean_lines", "summary_tainted"),
    *("rejected", "sent_from", "awaiting"),
)
_STEP = (
    update(fold)
    .where(
        fold.c.id == bindparam("id"),
        fold.c.state == bindparam("state"),
        fold.c.lease_epoch == bindparam("lease_epoch"),
    )
    .values(**new_binds("state", *_STEP_COLUMNS))
)
_INSERT_COVERAGE = insert(coverage).from_select(
    ["message_id", "kind", "fold_id"],
    select(message.c.id, literal_text("folded"), bindparam("fold_id")).where(*_IS_IN_RANGE),
)
_DELETE_COVERAGE = delete(coverage).where(
    coverage.c.fold_id == bindparam("fold_id"), coverage.c.kind == literal_text("folded")
)
_MOVE_HEAD = (
    update(conversation)
    .where(
        conversation.c.id == bindparam("id"),
        conversation.c.epoch == bindparam("epoch"),
        conversation.c.fold_head == bindparam("fold_head"),
    )
    .values(fold_head=bindparam("new_fold_head"))
)
_MARK_STALE = update(fold).where(*_IS_OPEN_WITH_SUMMARY).values(state=literal_text("stale"))
_MARK_UNDONE = (
    update(fold)
    .where(fold.c.id == bindparam("id"), fold.c.state == literal_text("folded"))
    .values(
        state=literal_text("undone"), seen_seq=bindparam("new_seen_seq"), awaiting=literal_text("")
    )
)
_IS_AWAITING = (fold.c.state == literal_text("folded")) & (fold.c.awaiting != literal_text(""))
_SELECT_OUR_AWAITING = SELECT_FOLD.where(
    _IS_AWAITING, fold.c.lease_epoch == bindparam("lease_epoch")
)
_TEXT_CHANGES = (
    *(
        "method",
        "log_text",
        "summary",
        "summary_tokens",
        "source_sha256",
        "tokens_after",
        "tainted",
        "clean_lines",
    ),
    *("summary_tainted", "rejected", "sent_from", "awaiting", "body_sha256"),
)
_REPLACE_TEXTS = (
    update(fold)
    .where(
        fold.c.id == bindparam("id"),
        _IS_AWAITING,
        fold.c.awaiting == literal_text("texts"),
        fold.c.lease_epoch == bindparam("lease_epoch"),
    )
    .values(**new_binds(*_TEXT_CHANGES))
)
_END_AWAITING = (
    update(fold)
    .where(
        fold.c.conversation == bindparam("conversation"), fold.c.awaiting == literal_text("texts")
    )
    .values(awaiting=literal_text(""))
)
# A person's forgetting may change the log's text after it was read for the file.
_END_LOG = (
    update(fold)
    .where(
        fold.c.id == bindparam("id"),
        fold.c.awaiting == literal_text("log"),
        fold.c.log_text == bindparam("log_text"),
    )
    .values(awaiting=literal_text(""))
)
_TAKE_OVER = (
    update(fold)
    .where(or_(IS_OPEN, _IS_AWAITING), is_lease_void(fold.c.lease_epoch))
    .values(lease_epoch=bindparam("new_lease_epoch"))
)
_TAKE_ONE = (
    update(fold)
    .where(
        fold.c.id == bindparam("id"),
        IS_OPEN,
        or_(
            bindparam("at_once"),
            fold.c.lease_epoch == bindparam("lease_epoch"),
            is_lease_void(fold.c.lease_epoch),
        ),
    )
    .values(lease_epoch=bindparam("lease_epoch"))
)


class FoldChanges(TypedDict, total=False):
    """What a step adds to a fold's row; None leaves a column as it is."""

    method: FoldMethod | None
    log_text: str | None
    summary: str | None
    summary_tokens: int | None
    source_sha256: str | None
    log_ref: str | None
    tainted: bool | None
    clean_lines: str | None
    summary_tainted: bool | None
    rejected: int | None
    sent_from: int | None
    awaiting: FoldAwaiting | None
    body_sha256: str | None


async def load_labels(tx: Tx, folds: Iterable[str]) -> dict[str, FoldLabel]:
    """Load which lines of these folds are tainted; a fold that is not stored may hold anything.

    "" is no fold.
    """
    ids = [id for id in dict.fromkeys(folds) if id]
    labels = dict.fromkeys(ids, UNKNOWN_FOLD)
    for at in range(0, len(ids), LABELS_AT_ONCE):
        values = dict.fromkeys(_ID_NAMES, "") | dict(
            zip(_ID_NAMES, ids[at : at + LABELS_AT_ONCE], strict=False)
        )
        for row in (await tx.execute(_SELECT_LABELS, **values)).all():
            labels[row["id"]] = FoldLabel.of(row["tainted"], row["clean_lines"])
    return labels


async def load_folded(
    tx: Tx, conversation: str, epoch: int | None = None, *, with_texts: bool = True
) -> list[FoldRow]:
    """Load the folds in state folded, oldest first.

    Args:
        epoch: only this one, None for all.
        with_texts: load log texts and summaries, which are megabytes in a conversation of years.
    """
    statement = _SELECT_FOLDED if with_texts else _SELECT_FOLDED_WITHOUT_TEXTS
    rows = (
        await tx.execute(
            statement, conversation=conversation, any_epoch=epoch is None, epoch=epoch or 0
        )
    ).all()
    return [from_row(FoldRow, row) for row in rows]


async def load_open_folds(tx: Tx) -> list[FoldRow]:
    """Load the folds of all conversations that have not ended, to resume them at start."""
    return [from_row(FoldRow, row) for row in (await tx.execute(_SELECT_OPEN)).all()]


async def plan_fold(tx: Tx, plan: FoldPlan, zone: tzinfo = UTC) -> FoldRow | None:
    """Store a plan; where its turns are of several days, or partly in the log already, other folds
    write the log and it writes the summary only.

    Args:
        zone: of the daily log.

    Returns:
        None when a fold of this conversation is open, the epoch or the fold head has moved, or the
        range is not whole turns from the first live one on.
    """
    conversation_row = await take_numbers(tx, plan.conversation)
    if not _is_current(conversation_row, plan.epoch, plan.prev_fold):
        return None
    if not await _covers_whole_turns(tx, conversation_row, plan):
        return None
    if (
        not plan.log_only
        and (await tx.execute(_SELECT_OPEN_WITH_SUMMARY, conversation=plan.conversation)).first()
    ):
        return None
    spans = await load_spans(tx, plan.conversation, plan.from_seq, plan.to_seq)
    logged = await load_logged_ranges(tx, plan.conversation, plan.from_seq)
    ranges = split_by_day(without_ranges(spans, logged), zone)
    is_one_day = [(found.from_seq, found.to_seq) for found in ranges] == [
        (plan.from_seq, plan.to_seq)
    ]
    if is_one_day or plan.log_only:
        day = next((f"{found.day:%Y-%m-%d}" for found in ranges), "")
        return await insert_fold(tx, conversation_row, replace(plan, day=day))
    await insert_log_folds(tx, conversation_row, replace(plan, reason=DAY_REASON, why=""), ranges)
    planned = await insert_fold(tx, conversation_row, replace(plan, summary_only=True))
    await note_unlogged(tx, plan.conversation)
    return planned


async def advance(
    tx: Tx, fold: FoldRow, state: str, **changes: Unpack[FoldChanges]
) -> FoldRow | None:
    """Set the next state of a fold and store what its step has made.

    Returns:
        None when the epoch or the fold head has moved; then the fold is stale, unless it is
        log-only.

    Raises:
        WrongState: the fold cannot go to that state, or is not this process's.
    """
    conversation_row = await take_numbers(tx, fold.conversation)
    if (
        not fold.log_only
        and state != "stale"
        and not _is_current(conversation_row, fold.epoch, fold.prev_fold)
    ):
        await _mark_stale(tx, fold)
        return None
    check_transition("a fold", FOLD_TRANSITIONS, fold.state, state)
    return await _update_fold(
        tx, fold, state, {name: value for name, value in changes.items() if value is not None}
    )


async def commit(tx: Tx, fold: FoldRow, tokens_after: int) -> FoldRow | None:
    """Move the conversation's fold head to a logged fold, so that its summary replaces the turns in
    the view.

    A log-only fold moves no head.

    Returns:
        None when the epoch or the fold head has moved; then the fold is stale.

    Raises:
        WrongState: the fold is not logged, or is not this process's.
    """
    if not fold.log_ref:
        raise WrongState(f"fold {fold.id} has no log entry")
    if not fold.log_only and await load_open_logs_of(tx, fold):
        raise WrongState(f"turns of fold {fold.id} are not in the daily log yet")
    if (await load_existing_fold(tx, fold.id)).state == "stale":
        return None
    if not fold.log_only:
        moved = (
            await tx.execute(
                _MOVE_HEAD,
                id=fold.conversation,
                epoch=fold.epoch,
                fold_head=fold.prev_fold,
                new_fold_head=fold.id,
            )
        ).rowcount
        if not moved:
            await _mark_stale(tx, fold)
            return None
        covered = {
            "conversation": fold.conversation,
            "from_seq": fold.from_seq,
            "to_seq": fold.to_seq,
        }
        await tx.execute(_INSERT_COVERAGE, fold_id=fold.id, **covered)
        await raise_generation(tx, fold.conversation, "fold")
    done = await _update_fold(
        tx, fold, "folded", {"tokens_after": tokens_after}, from_state="logged"
    )
    if not fold.log_only:
        await note_unlogged(tx, fold.conversation)
    await hit_async("fold.in_txn")
    return done


def _changed_texts(fold: FoldRow, new: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a fold's texts: the new values, and for the others those that it has."""
    values = {name: new.get(name, getattr(fold, name)) for name in _TEXT_CHANGES}
    if "summary" in new:
        others = max(0, fold.tokens_after - fold.summary_tokens)
        values["tokens_after"] = others + new.get("summary_tokens", 0)
    for flag in ("tainted", "summary_tainted"):
        values[flag] = int(values[flag])
    return values | {"awaiting": new.get("awaiting", "")}


async def replace_texts(tx: Tx, fold: FoldRow, **changes: Unpack[FoldChanges]) -> FoldRow | None:
    """Replace the digest of a folded row that awaits the model's texts, and end the waiting for
    them.

    The view's prefix changes with the summary.

    Args:
        changes: None or left out for what stays; `awaiting` is "" unless given.

    Returns:
        None if nothing is replaced: the epoch or the fold head has moved, a newer fold has begun
            with the digest, or
        the row awaits no texts any more.
    """
    conversation_row = await take_numbers(tx, fold.conversation)
    found = await load_fold(tx, fold.id)
    if found is None or found.awaiting != "texts":
        return None
    is_open = (await tx.execute(_SELECT_OPEN_WITH_SUMMARY, conversation=fold.conversation)).first()
    is_fresh = not is_open and _is_current(conversation_row, fold.epoch, fold.id)
    new: dict[str, Any] = (
        {name: value for name, value in changes.items() if value is not None} if is_fresh else {}
    )
    values = _changed_texts(found, new)
    written = (
        await tx.execute(
            _REPLACE_TEXTS,
            id=fold.id,
            lease_epoch=tx.lease,
            **{f"new_{name}": value for name, value in values.items()},
        )
    ).rowcount
    if not written or not is_fresh:
        return None
    if "summary" in new:
        await raise_generation(tx, fold.conversation, "summary")
    await hit_async("fold.late_in_txn")
    return await load_fold(tx, fold.id)


async def end_log(tx: Tx, fold: FoldRow) -> bool:
    """Note that the file's section is settled; False if the row's log has changed since `fold` was
    read.
    """
    if (await tx.execute(_END_LOG, id=fold.id, log_text=fold.log_text)).rowcount:
        return True
    found = await load_fold(tx, fold.id)
    return found is None or found.awaiting != "log"


async def end_awaiting(tx: Tx, conversation_id: str) -> None:
    """Let no text of a model replace one of this conversation's any more, as words of it are being
    removed.
    """
    await tx.execute(_END_AWAITING, conversation=conversation_id)


async def undo(tx: Tx, conversation: str) -> FoldRow | None:
    """Undo the newest fold; None when there is none, or a clear came after it."""
    conversation_row = await take_numbers(tx, conversation)
    newest = await load_fold(tx, conversation_row["fold_head"])
    if newest is None:
        return None
    epoch = conversation_row["epoch"]
    await tx.execute(
        _MOVE_HEAD,
        id=conversation,
        epoch=epoch,
        fold_head=newest.id,
        new_fold_head=newest.prev_fold,
    )
    await tx.execute(_DELETE_COVERAGE, fold_id=newest.id)
    await mark_open_stale(tx, conversation)
    await raise_generation(tx, conversation, "fold undone")
    await tx.execute(_MARK_UNDONE, id=newest.id, new_seen_seq=conversation_row["next_seq"])
    await note_unlogged(tx, conversation, may_begin=True)
    return await load_fold(tx, newest.id)


async def mark_open_stale(tx: Tx, conversation_id: str) -> None:
    """When the epoch or the fold head moves: end open folds, except log-only ones."""
    await tx.execute(_MARK_STALE, conversation=conversation_id)


async def take_over(tx: Tx) -> list[FoldRow]:
    """Take over the folds of processes that are gone: the open ones, and those that await texts of
    a model.

    Open ones whose epoch or fold head has moved become stale.
    """
    await tx.execute(_TAKE_OVER, new_lease_epoch=tx.lease)
    for row in await _load_ours(tx):
        conversation_row = await take_numbers(tx, row.conversation)
        if not row.log_only and not _is_current(conversation_row, row.epoch, row.prev_fold):
            await _mark_stale(tx, row)
    awaiting = [
        from_row(FoldRow, row)
        for row in (await tx.execute(_SELECT_OUR_AWAITING, lease_epoch=tx.lease)).all()
    ]
    return [*await _load_ours(tx), *awaiting]


async def take_one(tx: Tx, id: str, *, at_once: bool) -> FoldRow | None:
    """Put this process's lease on an open fold; None while another living process has it.

    Args:
        at_once: take it from a living process too.
    """
    return (
        await load_fold(tx, id)
        if (await tx.execute(_TAKE_ONE, id=id, lease_epoch=tx.lease, at_once=at_once)).rowcount
        else None
    )


async def _load_ours(tx: Tx) -> list[FoldRow]:
    return [
        from_row(FoldRow, row)
        for row in (await tx.execute(_SELECT_OURS, lease_epoch=tx.lease)).all()
    ]


def _is_current(conversation_row: Row, epoch: int, head: str) -> bool:
    return bool(conversation_row["epoch"] == epoch and conversation_row["fold_head"] == head)


async def _covers_whole_turns(tx: Tx, conversation_row: Row, plan: FoldPlan) -> bool:
    if plan.from_seq != await load_live_from(tx, conversation_row):
        return False
    found = (
        await tx.execute(
            _SELECT_RANGE,
            conversation=plan.conversation,
            from_seq=plan.from_seq,
            to_seq=plan.to_seq,
        )
    ).first()
    after = (
        await tx.execute(_SELECT_TURN_OF_SEQ, conversation=plan.conversation, seq=plan.to_seq + 1)
    ).first()
    covered = (found["from_turn"], found["to_turn"], found["to_seq"]) if found else ()
    return (
        covered == (plan.from_turn, plan.to_turn, plan.to_seq)
        and (after is None or after["turn"] > plan.to_turn)
        and await load_running_number(tx, plan.conversation)
        not in range(plan.from_turn, plan.to_turn + 1)
    )


async def _update_fold(
    tx: Tx, row: FoldRow, state: str, changes: dict[str, Any], from_state: str = ""
) -> FoldRow | None:
    """Compare and set the state; None when the fold has become stale."""
    from_state = from_state or row.state
    new = {f"new_{name}": changes.get(name, getattr(row, name)) for name in _STEP_COLUMNS}
    for flag in ("new_tainted", "new_summary_tainted"):
        new[flag] = int(new[flag])
    written = (
        await tx.execute(
            _STEP, id=row.id, state=from_state, lease_epoch=tx.lease, new_state=state, **new
        )
    ).rowcount
    found = await load_existing_fold(tx, row.id)
    if not written and found.state != "stale":
        raise WrongState(f"fold {row.id} is {found.state}, not {from_state}, or not ours")
    return found if written else None


async def _mark_stale(tx: Tx, row: FoldRow) -> None:
    found = await load_existing_fold(tx, row.id)
    if found.state != "stale":
        check_transition(f"fold {row.id}", FOLD_TRANSITIONS, found.state, "stale")
        await _update_fold(tx, found, "stale", {})


class Folds(Repository):
    """The folds: planned -> summarised -> checked -> logged -> folded, or stale; undone.

    A folded row may await the texts of a model.
    """

    plan = write(plan_fold)
    plan_ended_days = write(plan_ended_days, committed="day.planned")
    unlogged = read(load_unlogged_conversations)
    open_logs = read(load_open_logs)
    open_logs_of = read(load_open_logs_of)
    log_ref = read(load_newest_log_ref)
    advance = write(advance)
    commit = write(commit, committed="fold.folded")
    replace_texts = write(replace_texts, committed="fold.late_stored")
    end_log = write(end_log)
    undo = write(undo, committed="fold.undone")
    folds = read(load_folded)
    open_folds = read(load_open_folds)
    take = write(take_one)
    fold = read(load_fold)
    labels = read(load_labels)
    check_ledger = read(ledger.check_ledger)
