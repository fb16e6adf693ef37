"""What the prefix of a conversation's requests is made of, and when it changed: reductions and generations."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select, update

from memory.conversation import Reduction
from memory.store.counters import read_conversation
from memory.store.engine import InsertNew, Tx
from memory.store.rows import columns_of
from memory.store.tables import conversation, message, reduction

_REDUCE = InsertNew(reduction)
_RAISE = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(prefix_generation=conversation.c.prefix_generation + 1, prefix_reason=bindparam("why"))
)
_MARK = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(prefix_sha256=bindparam("now_sha256"), prefix_reason=bindparam("why"))
)
_LIVE = (
    select(*columns_of(Reduction, reduction))
    .join(message, message.c.id == reduction.c.message_id)
    .where(message.c.conversation == bindparam("row"), message.c.seq >= bindparam("live_from"))
    .order_by(reduction.c.prefix_generation, message.c.seq, reduction.c.part, reduction.c.form)
)


async def raise_generation(tx: Tx, id: str, reason: str) -> None:
    """The prefix changes with this transaction."""
    await tx.run(_RAISE, row=id, why=reason)
    tx.breaks.append(reason)


async def reduce(tx: Tx, id: str, reductions: Sequence[Reduction], reason: str) -> None:
    generation = (await read_conversation(tx, id))["prefix_generation"] + 1
    new = [await _record(tx, id, one, reason, generation) for one in reductions]
    if any(new):
        await raise_generation(tx, id, reason)


async def mark_prefix(tx: Tx, id: str, sha256: str, reason: str) -> int:
    """The first mark is no change: there was no prefix before it."""
    home = await read_conversation(tx, id)
    if home["prefix_sha256"] == sha256:
        return int(home["prefix_generation"])
    await tx.run(_MARK, row=id, now_sha256=sha256, why=reason)
    if home["prefix_sha256"]:
        await raise_generation(tx, id, reason)
    return int((await read_conversation(tx, id))["prefix_generation"])


async def live_reductions(tx: Tx, id: str, live_from: int) -> tuple[Reduction, ...]:
    """Those of messages from seq `live_from` on, in the order they were made."""
    return tuple(Reduction(**row) for row in await tx.all(_LIVE, row=id, live_from=live_from))


async def _record(tx: Tx, id: str, one: Reduction, reason: str, generation: int) -> int:
    return await tx.run(
        _REDUCE,
        message_id=one.message_id,
        part=one.part,
        form=one.form,
        conversation=id,
        text=one.text,
        tokens=one.tokens,
        reason=reason,
        prefix_generation=generation,
    )
