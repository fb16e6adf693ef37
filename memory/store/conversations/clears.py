"""Clears and their undo: each starts a new epoch, which fences off all work that began before."""

from datetime import UTC, tzinfo
from typing import Literal

from sqlalchemy import bindparam, select, true, update

from memory.failpoints import hit_async
from memory.store.audit import append_act
from memory.store.conversations.folds.day_logs import note_unlogged, plan_log_of_view
from memory.store.conversations.folds.steps import mark_open_stale
from memory.store.conversations.messages import load_conversation_row, take_numbers
from memory.store.conversations.outbox import drop_unsent, keep_unsent
from memory.store.conversations.prompt_state import raise_generation
from memory.store.conversations.turns import cancel_open_turns
from memory.store.engine.database import Tx, insert_into
from memory.store.rows import FoldPlan, new_binds
from memory.store.schema.tables import clearing, conversation

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
