"""What a conversation's prefix shows of files and of the bot itself, so that a restart shows the same bytes."""

import hashlib
import json

from sqlalchemy import bindparam, delete, exists, insert, select

from memory.context.system import SystemPart
from memory.store.counters import take
from memory.store.engine import InsertNew, Row, Tx
from memory.store.prefix import raise_generation
from memory.store.records import Snapshot
from memory.store.tables import prefix_text, snapshot, snapshot_part

_READ = select(snapshot).where(snapshot.c.conversation == bindparam("row"))
_PARTS = (
    select(snapshot_part.c.name, snapshot_part.c.left_out, prefix_text.c.sha256, prefix_text.c.text)
    .join(prefix_text, prefix_text.c.sha256 == snapshot_part.c.sha256)
    .where(snapshot_part.c.conversation == bindparam("row"))
    .order_by(snapshot_part.c.place)
)
_ADD = insert(snapshot)
_ADD_PART = insert(snapshot_part)
_ADD_TEXT = InsertNew(prefix_text)
_DROP = delete(snapshot).where(snapshot.c.conversation == bindparam("row"))
_DROP_PARTS = delete(snapshot_part).where(snapshot_part.c.conversation == bindparam("row"))
_DROP_TEXT = delete(prefix_text).where(
    prefix_text.c.sha256 == bindparam("unused"), ~exists().where(snapshot_part.c.sha256 == prefix_text.c.sha256)
)


async def read_snapshot(tx: Tx, id: str) -> Snapshot | None:
    """What was shown last, None where nothing was yet."""
    head = await tx.one(_READ, row=id)
    if head is None:
        return None
    own = {name: head[name] for name in ("source", "epoch", "fold_head", "reductions")}
    return Snapshot(**own, parts=tuple(_part(row) for row in await tx.all(_PARTS, row=id)))


async def set_snapshot(tx: Tx, id: str, taken: Snapshot, reason: str) -> int:
    """See Sessions.set_snapshot. One that was taken before a clear or a fold changes nothing when it comes after."""
    home = await take(tx, id)
    if (home["epoch"], home["fold_head"]) == (taken.epoch, taken.fold_head):
        before = await read_snapshot(tx, id)
        await forget(tx, id, keep={sha256_of(part.text) for part in taken.parts})
        await _write(tx, id, taken)
        if before is not None and before.parts != taken.parts:
            await raise_generation(tx, id, reason)
            return int(home["prefix_generation"]) + 1
    return int(home["prefix_generation"])


async def forget(tx: Tx, id: str, keep: set[str] | frozenset[str] = frozenset()) -> None:
    """Take a conversation's snapshot away, and of its texts those that no other shows. keep: texts that stay."""
    held = [row["sha256"] for row in await tx.all(_PARTS, row=id)]
    await tx.run(_DROP_PARTS, row=id)
    await tx.run(_DROP, row=id)
    for unused in {*held} - keep:
        await tx.run(_DROP_TEXT, unused=unused)


def sha256_of(text: str) -> str:
    """The name of a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


async def _write(tx: Tx, id: str, taken: Snapshot) -> None:
    head = {"epoch": taken.epoch, "fold_head": taken.fold_head, "reductions": taken.reductions}
    await tx.run(_ADD, conversation=id, source=taken.source, at=tx.now, **head)
    for place, part in enumerate(taken.parts):
        sha256 = sha256_of(part.text)
        await tx.run(_ADD_TEXT, sha256=sha256, text=part.text)
        left_out = json.dumps(part.left_out, ensure_ascii=False)
        await tx.run(_ADD_PART, conversation=id, place=place, name=part.name, sha256=sha256, left_out=left_out)


def _part(row: Row) -> SystemPart:
    return SystemPart(name=row["name"], text=row["text"], left_out=tuple(json.loads(row["left_out"])))
