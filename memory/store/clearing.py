"""T10, the clear: a new epoch that fences everything older; and the taking back of one."""

from sqlalchemy import bindparam, insert, select, update

from memory.failpoint import afp
from memory.store.audit import note
from memory.store.counters import read_conversation, take
from memory.store.engine import Tx
from memory.store.folding import plan_log_of_view, stale_open
from memory.store.outbox import drop_unsent, keep_unsent
from memory.store.prefix import raise_generation
from memory.store.records import FoldPlan
from memory.store.tables import clearing, conversation
from memory.store.turns import cancel_open

_ADD = insert(clearing)
_NEWEST = (
    select(clearing)
    .where(clearing.c.conversation == bindparam("row"), clearing.c.undone.is_(False))
    .order_by(clearing.c.epoch.desc())
    .limit(1)
)
_UNDONE = (
    update(clearing)
    .where(clearing.c.conversation == bindparam("row"), clearing.c.epoch == bindparam("at_epoch"))
    .values(undone=bindparam("taken_back"))
)
_TURN_OVER = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"), conversation.c.epoch == bindparam("former"))
    .values(epoch=conversation.c.epoch + 1, view_from=bindparam("first"), fold_head=bindparam("head"))
)


async def clear(tx: Tx, id: str, log_only: FoldPlan | None = None, by: str = "") -> int:
    """T10. What the view held when its turns were closed is what a log-only fold covers."""
    await take(tx, id)
    await cancel_open(tx, id)
    home = await read_conversation(tx, id)
    await stale_open(tx, id)
    if log_only is not None:
        await plan_log_of_view(tx, home, log_only)
    epoch = int(home["epoch"]) + 1
    await tx.run(
        _ADD, conversation=id, epoch=epoch, view_from=home["view_from"], fold_head=home["fold_head"], at=tx.now
    )
    await tx.run(_TURN_OVER, row=id, former=home["epoch"], first=home["next_seq"], head="")
    await drop_unsent(tx, id)
    await raise_generation(tx, id, "clear")
    await note(tx, "clear", id, f"epoch {epoch}", by)
    await afp("clear.in_txn")
    return epoch


async def undo_clear(tx: Tx, id: str, by: str = "") -> bool:
    """The newest clear is the newest act exactly while nothing has been folded on it: then there is no head."""
    await take(tx, id)
    former = await tx.one(_NEWEST, row=id)
    if former is None or (await read_conversation(tx, id))["fold_head"]:
        return False
    await cancel_open(tx, id)
    await stale_open(tx, id)
    home = await read_conversation(tx, id)
    await tx.run(_UNDONE, row=id, at_epoch=former["epoch"], taken_back=True)
    await tx.run(_TURN_OVER, row=id, former=home["epoch"], first=former["view_from"], head=former["fold_head"])
    await keep_unsent(tx, id, home["epoch"], home["epoch"] + 1)
    await raise_generation(tx, id, "clear undone")
    await note(tx, "undo clear", id, f"epoch {home['epoch'] + 1}", by)
    return True
