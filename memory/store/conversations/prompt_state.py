"""What the prefix of a conversation's requests is made of, and when it changed: reductions and generations."""

import hashlib
import json
from collections.abc import Sequence

from sqlalchemy import bindparam, delete, exists, insert, select, update

from memory.conversation import Reduction, SystemPart
from memory.store.conversations.messages import load_conversation_row, take_numbers
from memory.store.engine.database import InsertIfAbsent, Row, Tx
from memory.store.rows import PromptSnapshot, columns_of
from memory.store.schema.tables import conversation, message, prefix_text, reduction, snapshot, snapshot_part

_INSERT_REDUCTION = InsertIfAbsent(reduction)
_RAISE_GENERATION = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(prefix_generation=conversation.c.prefix_generation + 1, prefix_reason=bindparam("why"))
)
_MARK_PREFIX = (
    update(conversation)
    .where(conversation.c.id == bindparam("row"))
    .values(prefix_sha256=bindparam("now_sha256"), prefix_reason=bindparam("why"))
)
_SELECT_LIVE_REDUCTIONS = (
    select(*columns_of(Reduction, reduction))
    .join(message, message.c.id == reduction.c.message_id)
    .where(message.c.conversation == bindparam("row"), message.c.seq >= bindparam("live_from"))
    .order_by(reduction.c.prefix_generation, message.c.seq, reduction.c.part, reduction.c.form)
)


async def raise_generation(tx: Tx, id: str, reason: str) -> None:
    """The prefix changes with this transaction."""
    await tx.run(_RAISE_GENERATION, row=id, why=reason)
    tx.breaks.append(reason)


async def add_reductions(tx: Tx, conversation: str, reductions: Sequence[Reduction], reason: str) -> None:
    """Record reductions; raises prefix_generation by one when any is new."""
    generation = (await load_conversation_row(tx, conversation))["prefix_generation"] + 1
    new = [await _insert_reduction(tx, conversation, one, reason, generation) for one in reductions]
    if any(new):
        await raise_generation(tx, conversation, reason)


async def mark_prefix(tx: Tx, conversation: str, sha256: str, reason: str) -> int:
    """Note what the prefix (system, tools, model) is now; returns the generation, raised when it changed."""
    home = await load_conversation_row(tx, conversation)
    if home["prefix_sha256"] == sha256:
        return int(home["prefix_generation"])
    await tx.run(_MARK_PREFIX, row=conversation, now_sha256=sha256, why=reason)
    if home["prefix_sha256"]:
        await raise_generation(tx, conversation, reason)
    return int((await load_conversation_row(tx, conversation))["prefix_generation"])


async def load_live_reductions(tx: Tx, id: str, live_from: int) -> tuple[Reduction, ...]:
    """Those of messages from seq `live_from` on, in the order they were made."""
    return tuple(Reduction(**row) for row in await tx.all(_SELECT_LIVE_REDUCTIONS, row=id, live_from=live_from))


async def _insert_reduction(tx: Tx, id: str, one: Reduction, reason: str, generation: int) -> int:
    return await tx.run(
        _INSERT_REDUCTION,
        message_id=one.message_id,
        part=one.part,
        form=one.form,
        conversation=id,
        text=one.text,
        tokens=one.tokens,
        reason=reason,
        prefix_generation=generation,
    )


# What a conversation's prefix shows of files and of the bot itself, so that a restart shows the same bytes.

_SELECT_SNAPSHOT = select(snapshot).where(snapshot.c.conversation == bindparam("row"))
_SELECT_PARTS = (
    select(snapshot_part.c.name, snapshot_part.c.left_out, prefix_text.c.sha256, prefix_text.c.text)
    .join(prefix_text, prefix_text.c.sha256 == snapshot_part.c.sha256)
    .where(snapshot_part.c.conversation == bindparam("row"))
    .order_by(snapshot_part.c.place)
)
_INSERT_SNAPSHOT = insert(snapshot)
_INSERT_PART = insert(snapshot_part)
_INSERT_TEXT = InsertIfAbsent(prefix_text)
_DELETE_SNAPSHOT = delete(snapshot).where(snapshot.c.conversation == bindparam("row"))
_DELETE_PARTS = delete(snapshot_part).where(snapshot_part.c.conversation == bindparam("row"))
_DELETE_TEXT = delete(prefix_text).where(
    prefix_text.c.sha256 == bindparam("unused"), ~exists().where(snapshot_part.c.sha256 == prefix_text.c.sha256)
)


async def load_snapshot(tx: Tx, conversation: str) -> PromptSnapshot | None:
    """What the files look like in this conversation's prefix, None where none was taken yet."""
    head = await tx.one(_SELECT_SNAPSHOT, row=conversation)
    if head is None:
        return None
    own = {name: head[name] for name in ("source", "epoch", "fold_head", "reductions")}
    return PromptSnapshot(**own, parts=tuple(_to_part(row) for row in await tx.all(_SELECT_PARTS, row=conversation)))


async def set_snapshot(tx: Tx, conversation: str, snapshot: PromptSnapshot, reason: str) -> int:
    """Keep a new one; returns the generation, raised when there was one before and its parts are others now.

    One whose epoch or fold_head is not the conversation's any more changes nothing.
    """
    home = await take_numbers(tx, conversation)
    if (home["epoch"], home["fold_head"]) == (snapshot.epoch, snapshot.fold_head):
        before = await load_snapshot(tx, conversation)
        await delete_snapshot(tx, conversation, keep={hash_text(part.text) for part in snapshot.parts})
        await _insert_snapshot(tx, conversation, snapshot)
        if before is not None and before.parts != snapshot.parts:
            await raise_generation(tx, conversation, reason)
            return int(home["prefix_generation"]) + 1
    return int(home["prefix_generation"])


async def delete_snapshot(tx: Tx, id: str, keep: set[str] | frozenset[str] = frozenset()) -> None:
    """Take a conversation's snapshot away, and of its texts those that no other shows. keep: texts that stay."""
    held = [row["sha256"] for row in await tx.all(_SELECT_PARTS, row=id)]
    await tx.run(_DELETE_PARTS, row=id)
    await tx.run(_DELETE_SNAPSHOT, row=id)
    for unused in {*held} - keep:
        await tx.run(_DELETE_TEXT, unused=unused)


def hash_text(text: str) -> str:
    """The name of a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


async def _insert_snapshot(tx: Tx, id: str, taken: PromptSnapshot) -> None:
    head = {"epoch": taken.epoch, "fold_head": taken.fold_head, "reductions": taken.reductions}
    await tx.run(_INSERT_SNAPSHOT, conversation=id, source=taken.source, at=tx.now, **head)
    for place, part in enumerate(taken.parts):
        sha256 = hash_text(part.text)
        await tx.run(_INSERT_TEXT, sha256=sha256, text=part.text)
        left_out = json.dumps(part.left_out, ensure_ascii=False)
        await tx.run(_INSERT_PART, conversation=id, place=place, name=part.name, sha256=sha256, left_out=left_out)


def _to_part(row: Row) -> SystemPart:
    return SystemPart(name=row["name"], text=row["text"], left_out=tuple(json.loads(row["left_out"])))
