"""The fold's states: each step a compare-and-set, fenced by the conversation's epoch and head."""

from collections.abc import Sequence
from typing import Any, Protocol, TypedDict, Unpack

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from memory.context.taint import FoldLabel
from memory.failpoints import afp
from memory.ids import new_id
from memory.store.conversations import ledger
from memory.store.conversations.messages import take
from memory.store.conversations.prompt_state import raise_generation
from memory.store.conversations.turns import running_number
from memory.store.engine.database import Database, Row, Tx, glance
from memory.store.errors import WrongState
from memory.store.rows import FoldMethod, FoldPlan, FoldRow, LedgerFault, columns_of, fold_row, home_of
from memory.store.schema.columns import among, word
from memory.store.schema.tables import conversation, coverage, fold, message, void

OPEN = ("planned", "summarised", "checked", "logged")
TEXTS = ("log_text", "summary")
DRAWN: dict[str, tuple[str, ...]] = {
    "planned": ("summarised", "checked", "stale"),
    "summarised": ("checked", "stale"),
    "checked": ("logged", "stale"),
    "logged": ("stale",),
}
_FOLD = select(*columns_of(FoldRow, fold))
_ONE = _FOLD.where(fold.c.id == bindparam("row"))
_LABEL = select(fold.c.id, fold.c.tainted, fold.c.clean_lines).where(fold.c.id == bindparam("row"))
_OPEN = _FOLD.where(among(fold.c.state, *OPEN)).order_by(fold.c.at, fold.c.id)
_FOLDED = _FOLD.where(
    fold.c.conversation == bindparam("row"),
    fold.c.state == word("folded"),
    or_(bindparam("any_epoch"), fold.c.epoch == bindparam("only")),
).order_by(fold.c.at, fold.c.from_seq)
_FOLDED_BARE = _FOLDED.with_only_columns(
    *(word("").label(one.name) if one.name in TEXTS else one for one in columns_of(FoldRow, fold))
)
_BEGUN = select(fold.c.id).where(
    fold.c.conversation == bindparam("row"), among(fold.c.state, *OPEN), fold.c.log_only.is_(False)
)
_IDS = select(fold.c.id).where(fold.c.conversation == bindparam("row"))
_ADD = insert(fold)
_RANGE = select(
    func.min(message.c.turn).label("from_turn"),
    func.max(message.c.turn).label("to_turn"),
    func.max(message.c.seq).label("to_seq"),
    func.coalesce(func.sum(message.c.tokens), 0).label("tokens"),
).where(
    message.c.conversation == bindparam("row"),
    message.c.seq >= bindparam("first"),
    message.c.seq <= bindparam("last"),
)
_AFTER = select(message.c.turn).where(
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
_COVER = insert(coverage).from_select(
    ["message_id", "kind", "fold_id"],
    select(message.c.id, word("folded"), bindparam("by")).where(
        message.c.conversation == bindparam("row"),
        message.c.seq >= bindparam("first"),
        message.c.seq <= bindparam("last"),
    ),
)
_UNCOVER = delete(coverage).where(coverage.c.fold_id == bindparam("by"), coverage.c.kind == word("folded"))
_MOVE_HEAD = (
    update(conversation)
    .where(
        conversation.c.id == bindparam("row"),
        conversation.c.epoch == bindparam("under"),
        conversation.c.fold_head == bindparam("former"),
    )
    .values(fold_head=bindparam("head"))
)
_STALE_HERE = (
    update(fold)
    .where(fold.c.conversation == bindparam("row"), among(fold.c.state, *OPEN), fold.c.log_only.is_(False))
    .values(state=word("stale"))
)
_UNDONE = (
    update(fold)
    .where(fold.c.id == bindparam("row"), fold.c.state == word("folded"))
    .values(state=word("undone"), seen_seq=bindparam("seen"))
)
_TAKE_OVER = (
    update(fold).where(among(fold.c.state, *OPEN), void(fold.c.lease_epoch)).values(lease_epoch=bindparam("mine"))
)
_TAKE = (
    update(fold)
    .where(
        fold.c.id == bindparam("row"),
        among(fold.c.state, *OPEN),
        or_(bindparam("at_once"), fold.c.lease_epoch == bindparam("mine"), void(fold.c.lease_epoch)),
    )
    .values(lease_epoch=bindparam("mine"))
)
_OURS = _OPEN.where(fold.c.lease_epoch == bindparam("mine"))


_TEXTUAL = ("method", "log_text", "summary", "summary_tokens", "source_sha256", "log_ref", "tokens_after")
_CHANGED = (*_TEXTUAL, "tainted", "clean_lines", "summary_tainted")


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


@glance
async def read_fold(tx: Tx, id: str) -> FoldRow | None:
    """One fold, None for an unknown id."""
    row = await tx.one(_ONE, row=id)
    return fold_row(row) if row else None


async def labels(tx: Tx, ids: Sequence[str]) -> dict[str, FoldLabel]:
    found = [await tx.one(_LABEL, row=id) for id in ids]
    return {row["id"]: FoldLabel.of(row["tainted"], row["clean_lines"]) for row in found if row}


async def folded(tx: Tx, id: str, epoch: int | None = None, bare: bool = False) -> list[FoldRow]:
    """A conversation's folded folds, oldest first; epoch: only that one's; bare: without their TEXTS."""
    rows = await tx.all(_FOLDED_BARE if bare else _FOLDED, row=id, any_epoch=epoch is None, only=epoch or 0)
    return [fold_row(row) for row in rows]


async def open_folds(tx: Tx) -> list[FoldRow]:
    return [fold_row(row) for row in await tx.all(_OPEN)]


async def fold_ids(tx: Tx, id: str) -> frozenset[str]:
    return frozenset(row["id"] for row in await tx.all(_IDS, row=id))


async def plan_fold(tx: Tx, wanted: FoldPlan) -> FoldRow | None:
    """Begin the planned fold; None if the conversation has moved on or another fold is under way."""
    home = await take(tx, wanted.conversation)
    if not _fits(home, wanted.epoch, wanted.prev_fold) or not await _whole_turns(tx, home, wanted):
        return None
    if not wanted.log_only and await tx.one(_BEGUN, row=wanted.conversation):
        return None
    return await _begin(tx, home, wanted)


async def plan_log_of_view(tx: Tx, home: Row, wanted: FoldPlan) -> None:
    """At a clear: a log-only fold of exactly what is in the view at this instant."""
    first, last = await live_from(tx, home), home["next_seq"] - 1
    held = await tx.one(_RANGE, row=home["id"], first=first, last=last)
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
    await _begin(tx, home, view)


async def advance(tx: Tx, held: FoldRow, state: str, changes: FoldChanges) -> FoldRow | None:
    home = await take(tx, held.conversation)
    if not held.log_only and state != "stale" and not _fits(home, held.epoch, held.prev_fold):
        await _stale(tx, held)
        return None
    if state not in DRAWN.get(held.state, ()):
        raise WrongState(f"a fold does not go from {held.state} to {state}")
    return await _write(tx, held, state, {name: value for name, value in changes.items() if value is not None})


async def commit(tx: Tx, held: FoldRow, tokens_after: int) -> FoldRow | None:
    """T9."""
    if not held.log_ref:
        raise WrongState(f"fold {held.id} has no log entry")
    if (await _known(tx, held.id)).state == "stale":
        return None
    if not held.log_only:
        head = {"under": held.epoch, "former": held.prev_fold, "head": held.id}
        if not await tx.run(_MOVE_HEAD, row=held.conversation, **head):
            await _stale(tx, held)
            return None
        await tx.run(_COVER, row=held.conversation, by=held.id, first=held.from_seq, last=held.to_seq)
        await raise_generation(tx, held.conversation, "fold")
    done = await _write(tx, held, "folded", {"tokens_after": tokens_after}, was="logged")
    await afp("fold.in_txn")
    return done


async def undo(tx: Tx, id: str) -> FoldRow | None:
    """A clear leaves no head behind, so the head, where there is one, is the newest act."""
    home = await take(tx, id)
    held = await read_fold(tx, home["fold_head"])
    if held is None:
        return None
    await tx.run(_MOVE_HEAD, row=id, under=home["epoch"], former=held.id, head=held.prev_fold)
    await tx.run(_UNCOVER, by=held.id)
    await stale_open(tx, id)
    await raise_generation(tx, id, "fold undone")
    await tx.run(_UNDONE, row=held.id, seen=home["next_seq"])
    return await read_fold(tx, held.id)


async def stale_open(tx: Tx, id: str) -> None:
    """The epoch or the head moves: what was begun on the old one changes nothing any more; log-only folds go on."""
    await tx.run(_STALE_HERE, row=id)


async def take_over(tx: Tx) -> list[FoldRow]:
    """At start: open folds that still fit go on under our lease; the others are stale."""
    await tx.run(_TAKE_OVER, mine=tx.lease)
    for held in await _ours(tx):
        home = await take(tx, held.conversation)
        if not held.log_only and not _fits(home, held.epoch, held.prev_fold):
            await _stale(tx, held)
    return await _ours(tx)


async def take_one(tx: Tx, id: str, at_once: bool) -> FoldRow | None:
    """See Folds.take."""
    return await read_fold(tx, id) if await tx.run(_TAKE, row=id, mine=tx.lease, at_once=at_once) else None


async def _ours(tx: Tx) -> list[FoldRow]:
    return [fold_row(row) for row in await tx.all(_OURS, mine=tx.lease)]


async def live_from(tx: Tx, home: Row) -> int:
    """The first seq that is in the view: behind the head, or where the view begins."""
    head = await read_fold(tx, home["fold_head"])
    return head.to_seq + 1 if head else int(home["view_from"])


def _fits(home: Row, epoch: int, head: str) -> bool:
    return bool(home["epoch"] == epoch and home["fold_head"] == head)


async def _whole_turns(tx: Tx, home: Row, wanted: FoldPlan) -> bool:
    if wanted.from_seq != await live_from(tx, home):
        return False
    held = await tx.one(_RANGE, row=wanted.conversation, first=wanted.from_seq, last=wanted.to_seq)
    after = await tx.one(_AFTER, row=wanted.conversation, last=wanted.to_seq)
    found = (held["from_turn"], held["to_turn"], held["to_seq"]) if held else ()
    return (
        found == (wanted.from_turn, wanted.to_turn, wanted.to_seq)
        and (after is None or after["turn"] > wanted.to_turn)
        and await running_number(tx, wanted.conversation) not in range(wanted.from_turn, wanted.to_turn + 1)
    )


async def _begin(tx: Tx, home: Row, wanted: FoldPlan) -> FoldRow:
    before = None if wanted.log_only else await read_fold(tx, wanted.prev_fold)
    id = new_id(tx.now)
    await tx.run(
        _ADD,
        id=id,
        **{name: getattr(wanted, name) for name in wanted.__dataclass_fields__ if name != "seen_seq"},
        seen_seq=wanted.seen_seq or home["next_seq"],
        space=await home_of(tx, home["space"]),
        channel=home["channel"],
        turns_covered=wanted.to_turn - wanted.from_turn + 1 + (before.turns_covered if before else 0),
        state="planned",
        method="model",
        at=tx.now,
        lease_epoch=tx.lease,
    )
    return await _known(tx, id)


async def _write(tx: Tx, held: FoldRow, state: str, changes: dict[str, Any], was: str = "") -> FoldRow | None:
    now = {name: changes.get(name, getattr(held, name)) for name in _CHANGED}
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
    found = await _known(tx, held.id)
    if not written and found.state != "stale":
        raise WrongState(f"fold {held.id} is {found.state}, not {was or held.state}, or not ours")
    return found if written else None


async def _stale(tx: Tx, held: FoldRow) -> None:
    found = await _known(tx, held.id)
    if found.state not in (*OPEN, "stale"):
        raise WrongState(f"fold {held.id} is {found.state}")
    if found.state != "stale":
        await _write(tx, found, "stale", {})


async def _known(tx: Tx, id: str) -> FoldRow:
    found = await read_fold(tx, id)
    if found is None:
        raise WrongState(f"there is no fold {id}")
    return found


# The door of folds: every state that one goes through is a transaction of its own.


class Folds(Protocol):
    """The fold's states: planned -> summarised -> checked -> logged -> folded, or stale; undone."""

    async def plan(self, plan: FoldPlan) -> FoldRow | None:
        """None when a fold of this conversation is open, or the epoch or the head has moved."""
        ...

    async def advance(
        self,
        fold: FoldRow,
        state: str,
        *,
        method: FoldMethod | None = None,
        log_text: str | None = None,
        summary: str | None = None,
        summary_tokens: int | None = None,
        source_sha256: str | None = None,
        log_ref: str | None = None,
        tainted: bool | None = None,
        clean_lines: str | None = None,
        summary_tainted: bool | None = None,
    ) -> FoldRow | None:
        """One step on; None (and stale) when the epoch or the head has moved. A log-only fold is never fenced."""
        ...

    async def commit(self, fold: FoldRow, tokens_after: int) -> FoldRow | None:
        """T9, fenced by epoch and head; None when it is stale. A log-only fold moves no head."""
        ...

    async def undo(self, conversation: str) -> FoldRow | None:
        """folded -> undone for the newest one; None when there is none, or a clear is the newer act."""
        ...

    async def folds(self, conversation: str, epoch: int | None = None, *, bare: bool = False) -> list[FoldRow]:
        """Folded ones, oldest first.

        Args:
            bare: with "" for their log texts and summaries, of which a conversation of years has megabytes.
        """
        ...

    async def open_folds(self) -> list[FoldRow]: ...

    async def take(self, id: str, *, at_once: bool) -> FoldRow | None:
        """Carry out an open fold from now on; None while a living process does. at_once: take it from that one."""
        ...

    async def fold_ids(self, conversation: str) -> frozenset[str]:
        """The ids of all its folds, in whatever state and epoch."""
        ...

    async def fold(self, id: str) -> FoldRow | None: ...

    async def labels(self, ids: Sequence[str]) -> dict[str, FoldLabel]:
        """Which lines of these folds rest on words from outside; those that are not in the record are left out."""
        ...

    async def check_ledger(self, conversation: str = "") -> list[LedgerFault]:
        """I36, one SQL statement."""
        ...


# The Folds door: each method is one unit of work.


class SqlFolds:
    """See memory.store.store.Folds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def plan(self, plan: FoldPlan) -> FoldRow | None:
        return await self._database.write(plan_fold, plan)

    async def advance(self, fold: FoldRow, state: str, **changes: Unpack[FoldChanges]) -> FoldRow | None:
        return await self._database.write(advance, fold, state, changes)

    async def commit(self, fold: FoldRow, tokens_after: int) -> FoldRow | None:
        done = await self._database.write(commit, fold, tokens_after)
        await afp("fold.folded")
        return done

    async def undo(self, conversation: str) -> FoldRow | None:
        undone = await self._database.write(undo, conversation)
        await afp("fold.undone")
        return undone

    async def folds(self, conversation: str, epoch: int | None = None, *, bare: bool = False) -> list[FoldRow]:
        return await self._database.read(folded, conversation, epoch, bare)

    async def open_folds(self) -> list[FoldRow]:
        return await self._database.read(open_folds)

    async def fold_ids(self, conversation: str) -> frozenset[str]:
        return await self._database.read(fold_ids, conversation)

    async def take(self, id: str, *, at_once: bool) -> FoldRow | None:
        return await self._database.write(take_one, id, at_once)

    async def fold(self, id: str) -> FoldRow | None:
        return await self._database.read(read_fold, id)

    async def labels(self, ids: Sequence[str]) -> dict[str, FoldLabel]:
        return await self._database.read(labels, ids)

    async def check_ledger(self, conversation: str = "") -> list[LedgerFault]:
        return await self._database.read(ledger.check, conversation)
