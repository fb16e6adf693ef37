"""The fold's states: each step a compare-and-set, fenced by the conversation's epoch and head."""

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from memory.context.taint import FoldLabel
from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store.conversations import ledger
from memory.store.conversations.messages import take_numbers
from memory.store.conversations.prompt_state import raise_generation
from memory.store.conversations.turns import load_running_number
from memory.store.engine.database import Row, Tx, single_query
from memory.store.engine.repository import Repository, read, write
from memory.store.errors import WrongState
from memory.store.rows import FoldMethod, FoldPlan, FoldRow, columns_of, load_linked_space, to_fold_row
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.tables import conversation, coverage, fold, is_lease_void, message

OPEN = ("planned", "summarised", "checked", "logged")
TEXT_COLUMNS = ("log_text", "summary")
TRANSITIONS: dict[str, tuple[str, ...]] = {
    "planned": ("summarised", "checked", "stale"),
    "summarised": ("checked", "stale"),
    "checked": ("logged", "stale"),
    "logged": ("stale",),
}
_SELECT = select(*columns_of(FoldRow, fold))
_SELECT_ONE = _SELECT.where(fold.c.id == bindparam("row"))
_SELECT_LABEL = select(fold.c.id, fold.c.tainted, fold.c.clean_lines).where(fold.c.id == bindparam("row"))
_SELECT_OPEN = _SELECT.where(is_one_of(fold.c.state, *OPEN)).order_by(fold.c.at, fold.c.id)
_SELECT_FOLDED = _SELECT.where(
    fold.c.conversation == bindparam("row"),
    fold.c.state == literal_text("folded"),
    or_(bindparam("any_epoch"), fold.c.epoch == bindparam("only")),
).order_by(fold.c.at, fold.c.from_seq)
_SELECT_FOLDED_WITHOUT_TEXTS = _SELECT_FOLDED.with_only_columns(
    *(literal_text("").label(one.name) if one.name in TEXT_COLUMNS else one for one in columns_of(FoldRow, fold))
)
_SELECT_BEGUN = select(fold.c.id).where(
    fold.c.conversation == bindparam("row"), is_one_of(fold.c.state, *OPEN), fold.c.log_only.is_(False)
)
_SELECT_IDS = select(fold.c.id).where(fold.c.conversation == bindparam("row"))
_INSERT = insert(fold)
_SELECT_RANGE = select(
    func.min(message.c.turn).label("from_turn"),
    func.max(message.c.turn).label("to_turn"),
    func.max(message.c.seq).label("to_seq"),
    func.coalesce(func.sum(message.c.tokens), 0).label("tokens"),
).where(
    message.c.conversation == bindparam("row"),
    message.c.seq >= bindparam("first"),
    message.c.seq <= bindparam("last"),
)
_SELECT_AFTER = select(message.c.turn).where(
    message.c.conversation == bindparam("row"), message.c.seq == bindparam("last") + 1
)
_ADVANCE = (
    update(fold)
    .where(fold.c.id == bindparam("row"), fold.c.state == bindparam("was"), fold.c.lease_epoch == bindparam("holder"))
    .values(
        state=bindparam("became"),
        method=bindparam("by_method"),
        log_text=bindparam("diary"),
        summary=bindparam("gist"),
        summary_tokens=bindparam("gist_tokens"),
        source_sha256=bindparam("source"),
        log_ref=bindparam("entry"),
        tokens_after=bindparam("left"),
        tainted=bindparam("outside"),
        clean_lines=bindparam("clean"),
        summary_tainted=bindparam("gist_outside"),
    )
)
_INSERT_COVERAGE = insert(coverage).from_select(
    ["message_id", "kind", "fold_id"],
    select(message.c.id, literal_text("folded"), bindparam("by")).where(
        message.c.conversation == bindparam("row"),
        message.c.seq >= bindparam("first"),
        message.c.seq <= bindparam("last"),
    ),
)
_DELETE_COVERAGE = delete(coverage).where(
    coverage.c.fold_id == bindparam("by"), coverage.c.kind == literal_text("folded")
)
_MOVE_HEAD = (
    update(conversation)
    .where(
        conversation.c.id == bindparam("row"),
        conversation.c.epoch == bindparam("under"),
        conversation.c.fold_head == bindparam("former"),
    )
    .values(fold_head=bindparam("head"))
)
_MARK_STALE = (
    update(fold)
    .where(fold.c.conversation == bindparam("row"), is_one_of(fold.c.state, *OPEN), fold.c.log_only.is_(False))
    .values(state=literal_text("stale"))
)
_MARK_UNDONE = (
    update(fold)
    .where(fold.c.id == bindparam("row"), fold.c.state == literal_text("folded"))
    .values(state=literal_text("undone"), seen_seq=bindparam("seen"))
)
_TAKE_OVER = (
    update(fold)
    .where(is_one_of(fold.c.state, *OPEN), is_lease_void(fold.c.lease_epoch))
    .values(lease_epoch=bindparam("mine"))
)
_TAKE_ONE = (
    update(fold)
    .where(
        fold.c.id == bindparam("row"),
        is_one_of(fold.c.state, *OPEN),
        or_(bindparam("at_once"), fold.c.lease_epoch == bindparam("mine"), is_lease_void(fold.c.lease_epoch)),
    )
    .values(lease_epoch=bindparam("mine"))
)
_SELECT_OURS = _SELECT_OPEN.where(fold.c.lease_epoch == bindparam("mine"))


_TEXT_FIELDS = ("method", "log_text", "summary", "summary_tokens", "source_sha256", "log_ref", "tokens_after")
_CHANGEABLE_FIELDS = (*_TEXT_FIELDS, "tainted", "clean_lines", "summary_tainted")


class FoldChanges(TypedDict, total=False):
    """What a step may add to a fold's row; None leaves a field as it is."""

    method: FoldMethod | None
    log_text: str | None
    summary: str | None
    summary_tokens: int | None
    source_sha256: str | None
    log_ref: str | None
    tainted: bool | None
    clean_lines: str | None
    summary_tainted: bool | None


@single_query
async def load_fold(tx: Tx, id: str) -> FoldRow | None:
    """One fold, None for an unknown id."""
    row = await tx.one(_SELECT_ONE, row=id)
    return to_fold_row(row) if row else None


async def load_labels(tx: Tx, ids: Sequence[str]) -> dict[str, FoldLabel]:
    """Which lines of these folds rest on words from outside; those that are not in the store are left out."""
    found = [await tx.one(_SELECT_LABEL, row=id) for id in ids]
    return {row["id"]: FoldLabel.of(row["tainted"], row["clean_lines"]) for row in found if row}


async def load_folded(tx: Tx, conversation: str, epoch: int | None = None, *, bare: bool = False) -> list[FoldRow]:
    """Folded ones, oldest first.

    Args:
        bare: with "" for their log texts and summaries, of which a conversation of years has megabytes.
    """
    rows = await tx.all(
        _SELECT_FOLDED_WITHOUT_TEXTS if bare else _SELECT_FOLDED,
        row=conversation,
        any_epoch=epoch is None,
        only=epoch or 0,
    )
    return [to_fold_row(row) for row in rows]


async def load_open_folds(tx: Tx) -> list[FoldRow]:
    """Load the folds of all conversations that have not ended, to resume them at start."""
    return [to_fold_row(row) for row in await tx.all(_SELECT_OPEN)]


async def load_fold_ids(tx: Tx, conversation: str) -> frozenset[str]:
    """The ids of all its folds, in whatever state and epoch."""
    return frozenset(row["id"] for row in await tx.all(_SELECT_IDS, row=conversation))


async def plan_fold(tx: Tx, plan: FoldPlan) -> FoldRow | None:
    """None when a fold of this conversation is open, or the epoch or the head has moved."""
    home = await take_numbers(tx, plan.conversation)
    if not _is_current(home, plan.epoch, plan.prev_fold) or not await _covers_whole_turns(tx, home, plan):
        return None
    if not plan.log_only and await tx.one(_SELECT_BEGUN, row=plan.conversation):
        return None
    return await _insert_fold(tx, home, plan)


async def plan_log_only_fold(tx: Tx, home: Row, wanted: FoldPlan) -> None:
    """At a clear: a log-only fold of exactly what is in the view at this instant."""
    first, last = await load_live_from(tx, home), home["next_seq"] - 1
    held = await tx.one(_SELECT_RANGE, row=home["id"], first=first, last=last)
    if held is None or held["to_seq"] is None:
        return
    view = FoldPlan(
        conversation=home["id"],
        epoch=home["epoch"],
        prev_fold=home["fold_head"],
        from_seq=first,
        to_seq=last,
        from_turn=held["from_turn"],
        to_turn=held["to_turn"],
        policy=wanted.policy,
        reason=wanted.reason,
        tokens_before=wanted.tokens_before or held["tokens"],
        log_only=True,
        why=wanted.why,
    )
    await _insert_fold(tx, home, view)


async def advance(tx: Tx, fold: FoldRow, state: str, **changes: Unpack[FoldChanges]) -> FoldRow | None:
    """One step on; None (and stale) when the epoch or the head has moved. A log-only fold is never fenced."""
    home = await take_numbers(tx, fold.conversation)
    if not fold.log_only and state != "stale" and not _is_current(home, fold.epoch, fold.prev_fold):
        await _mark_stale(tx, fold)
        return None
    if state not in TRANSITIONS.get(fold.state, ()):
        raise WrongState(f"a fold does not go from {fold.state} to {state}")
    return await _update_fold(tx, fold, state, {name: value for name, value in changes.items() if value is not None})


async def commit(tx: Tx, fold: FoldRow, tokens_after: int) -> FoldRow | None:
    """T9, fenced by epoch and head; None when it is stale. A log-only fold moves no head."""
    if not fold.log_ref:
        raise WrongState(f"fold {fold.id} has no log entry")
    if (await _load_known(tx, fold.id)).state == "stale":
        return None
    if not fold.log_only:
        head = {"under": fold.epoch, "former": fold.prev_fold, "head": fold.id}
        if not await tx.run(_MOVE_HEAD, row=fold.conversation, **head):
            await _mark_stale(tx, fold)
            return None
        await tx.run(_INSERT_COVERAGE, row=fold.conversation, by=fold.id, first=fold.from_seq, last=fold.to_seq)
        await raise_generation(tx, fold.conversation, "fold")
    done = await _update_fold(tx, fold, "folded", {"tokens_after": tokens_after}, was="logged")
    await hit_async("fold.in_txn")
    return done


async def undo(tx: Tx, conversation: str) -> FoldRow | None:
    """folded -> undone for the newest one; None when there is none, or a clear is the newer act."""
    home = await take_numbers(tx, conversation)
    held = await load_fold(tx, home["fold_head"])
    if held is None:
        return None
    await tx.run(_MOVE_HEAD, row=conversation, under=home["epoch"], former=held.id, head=held.prev_fold)
    await tx.run(_DELETE_COVERAGE, by=held.id)
    await mark_open_stale(tx, conversation)
    await raise_generation(tx, conversation, "fold undone")
    await tx.run(_MARK_UNDONE, row=held.id, seen=home["next_seq"])
    return await load_fold(tx, held.id)


async def mark_open_stale(tx: Tx, id: str) -> None:
    """The epoch or the head moves: what was begun on the old one changes nothing any more; log-only folds go on."""
    await tx.run(_MARK_STALE, row=id)


async def take_over(tx: Tx) -> list[FoldRow]:
    """At start: open folds that still fit go on under our lease; the others are stale."""
    await tx.run(_TAKE_OVER, mine=tx.lease)
    for held in await _load_ours(tx):
        home = await take_numbers(tx, held.conversation)
        if not held.log_only and not _is_current(home, held.epoch, held.prev_fold):
            await _mark_stale(tx, held)
    return await _load_ours(tx)


async def take_one(tx: Tx, id: str, *, at_once: bool) -> FoldRow | None:
    """Carry out an open fold from now on; None while a living process does. at_once: take it from that one."""
    return await load_fold(tx, id) if await tx.run(_TAKE_ONE, row=id, mine=tx.lease, at_once=at_once) else None


async def _load_ours(tx: Tx) -> list[FoldRow]:
    return [to_fold_row(row) for row in await tx.all(_SELECT_OURS, mine=tx.lease)]


async def load_live_from(tx: Tx, home: Row) -> int:
    """The first seq that is in the view: behind the head, or where the view begins."""
    head = await load_fold(tx, home["fold_head"])
    return head.to_seq + 1 if head else int(home["view_from"])


def _is_current(home: Row, epoch: int, head: str) -> bool:
    return bool(home["epoch"] == epoch and home["fold_head"] == head)


async def _covers_whole_turns(tx: Tx, home: Row, wanted: FoldPlan) -> bool:
    if wanted.from_seq != await load_live_from(tx, home):
        return False
    held = await tx.one(_SELECT_RANGE, row=wanted.conversation, first=wanted.from_seq, last=wanted.to_seq)
    after = await tx.one(_SELECT_AFTER, row=wanted.conversation, last=wanted.to_seq)
    found = (held["from_turn"], held["to_turn"], held["to_seq"]) if held else ()
    return (
        found == (wanted.from_turn, wanted.to_turn, wanted.to_seq)
        and (after is None or after["turn"] > wanted.to_turn)
        and await load_running_number(tx, wanted.conversation) not in range(wanted.from_turn, wanted.to_turn + 1)
    )


async def _insert_fold(tx: Tx, home: Row, wanted: FoldPlan) -> FoldRow:
    before = None if wanted.log_only else await load_fold(tx, wanted.prev_fold)
    id = new_id(tx.now)
    await tx.run(
        _INSERT,
        id=id,
        **{name: getattr(wanted, name) for name in wanted.__dataclass_fields__ if name != "seen_seq"},
        seen_seq=wanted.seen_seq or home["next_seq"],
        space=await load_linked_space(tx, home["space"]),
        channel=home["channel"],
        turns_covered=wanted.to_turn - wanted.from_turn + 1 + (before.turns_covered if before else 0),
        state="planned",
        method="model",
        at=tx.now,
        lease_epoch=tx.lease,
    )
    return await _load_known(tx, id)


async def _update_fold(tx: Tx, held: FoldRow, state: str, changes: dict[str, Any], was: str = "") -> FoldRow | None:
    now = {name: changes.get(name, getattr(held, name)) for name in _CHANGEABLE_FIELDS}
    written = await tx.run(
        _ADVANCE,
        row=held.id,
        was=was or held.state,
        holder=tx.lease,
        became=state,
        by_method=now["method"],
        diary=now["log_text"],
        gist=now["summary"],
        gist_tokens=now["summary_tokens"],
        source=now["source_sha256"],
        entry=now["log_ref"],
        left=now["tokens_after"],
        outside=int(now["tainted"]),
        clean=now["clean_lines"],
        gist_outside=int(now["summary_tainted"]),
    )
    found = await _load_known(tx, held.id)
    if not written and found.state != "stale":
        raise WrongState(f"fold {held.id} is {found.state}, not {was or held.state}, or not ours")
    return found if written else None


async def _mark_stale(tx: Tx, held: FoldRow) -> None:
    found = await _load_known(tx, held.id)
    if found.state not in (*OPEN, "stale"):
        raise WrongState(f"fold {held.id} is {found.state}")
    if found.state != "stale":
        await _update_fold(tx, found, "stale", {})


async def _load_known(tx: Tx, id: str) -> FoldRow:
    found = await load_fold(tx, id)
    if found is None:
        raise WrongState(f"there is no fold {id}")
    return found


# The door of folds: every state that one goes through is a transaction of its own.


# The Folds door: each method is one unit of work.


class Folds(Repository):
    """The fold's states: planned -> summarised -> checked -> logged -> folded, or stale; undone."""

    plan = write(plan_fold)
    advance = write(advance)
    commit = write(commit, committed="fold.folded")
    undo = write(undo, committed="fold.undone")
    folds = read(load_folded)
    open_folds = read(load_open_folds)
    fold_ids = read(load_fold_ids)
    take = write(take_one)
    fold = read(load_fold)
    labels = read(load_labels)
    check_ledger = read(ledger.check_ledger)
