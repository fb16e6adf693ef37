"""What a conversation's prompt prefix is made of: reductions, the snapshot of files, and its
generation.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, exists, select, update

from memory.conversation import Reduction, SystemPart
from memory.store.conversations.messages import load_conversation_row, take_numbers
from memory.store.engine.database import InsertIfAbsent, Tx, insert_into, light
from memory.store.rows import PromptSnapshot, column_values, columns_of, new_binds
from memory.store.schema.tables import (
    conversation,
    message,
    prefix_text,
    reduction,
    snapshot,
    snapshot_part,
)

_INSERT_REDUCTION = InsertIfAbsent(reduction)
_RAISE_GENERATION = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(prefix_generation=conversation.c.prefix_generation + 1, **new_binds("prefix_reason"))
)
_MARK_PREFIX = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"))
    .values(**new_binds("prefix_sha256", "prefix_reason"))
)
_SELECT_LIVE_REDUCTIONS = (
    select(*columns_of(Reduction, reduction))
    .join(message, message.c.id == reduction.c.message_id)
    .where(
        message.c.conversation == bindparam("conversation"), message.c.seq >= bindparam("live_from")
    )
    .order_by(reduction.c.prefix_generation, message.c.seq, reduction.c.part, reduction.c.form)
)
_SELECT_SNAPSHOT = select(snapshot).where(snapshot.c.conversation == bindparam("conversation"))
_SELECT_PARTS = (
    select(snapshot_part.c.name, snapshot_part.c.left_out, prefix_text.c.sha256, prefix_text.c.text)
    .join(prefix_text, prefix_text.c.sha256 == snapshot_part.c.sha256)
    .where(snapshot_part.c.conversation == bindparam("conversation"))
    .order_by(snapshot_part.c.place)
)
_INSERT_TEXT = InsertIfAbsent(prefix_text)
_DELETE_SNAPSHOT = delete(snapshot).where(snapshot.c.conversation == bindparam("conversation"))
_DELETE_PARTS = delete(snapshot_part).where(
    snapshot_part.c.conversation == bindparam("conversation")
)
_DELETE_UNUSED_TEXT = delete(prefix_text).where(
    prefix_text.c.sha256 == bindparam("sha256"),
    ~exists().where(snapshot_part.c.sha256 == prefix_text.c.sha256),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixMark:
    """The prefix without its snapshot: model, tools, SOUL.md and time zone."""

    sha256: str
    #: Why it changes, if it does.
    reason: str


async def raise_generation(tx: Tx, conversation_id: str, reason: str) -> None:
    """Note that the prefix changes with this transaction."""
    await tx.execute(_RAISE_GENERATION, id=conversation_id, new_prefix_reason=reason)
    tx.breaks.append(reason)


@light
async def add_reductions(
    tx: Tx, conversation: str, reductions: Sequence[Reduction], reason: str
) -> None:
    """Store reductions; raises the prefix generation by one when at least one is new."""
    generation = (await load_conversation_row(tx, conversation))["prefix_generation"] + 1
    added = 0
    for one in reductions:
        columns = column_values(one, reduction)
        added += (
            await tx.execute(
                _INSERT_REDUCTION,
                **columns,
                conversation=conversation,
                reason=reason,
                prefix_generation=generation,
            )
        ).rowcount
    if added:
        await raise_generation(tx, conversation, reason)


@light
async def mark_prefix(tx: Tx, conversation: str, mark: PrefixMark) -> int:
    """Store the hash of the current prefix (system, tools, model); return the generation, raised if
    it has changed.
    """
    conversation_row = await load_conversation_row(tx, conversation)
    generation = int(conversation_row["prefix_generation"])
    if conversation_row["prefix_sha256"] == mark.sha256:
        return generation
    await tx.execute(
        _MARK_PREFIX, id=conversation, new_prefix_sha256=mark.sha256, new_prefix_reason=mark.reason
    )
    if not conversation_row["prefix_sha256"]:
        return generation
    await raise_generation(tx, conversation, mark.reason)
    return generation + 1


async def load_live_reductions(
    tx: Tx, conversation_id: str, live_from: int
) -> tuple[Reduction, ...]:
    """Load the reductions of messages from seq `live_from` on, in the order they were made."""
    rows = (
        await tx.execute(_SELECT_LIVE_REDUCTIONS, conversation=conversation_id, live_from=live_from)
    ).all()
    return tuple(Reduction(**row) for row in rows)


@light
async def load_snapshot(tx: Tx, conversation: str) -> PromptSnapshot | None:
    """Load the snapshot of files in this conversation's prefix, None before the first."""
    row = (await tx.execute(_SELECT_SNAPSHOT, conversation=conversation)).first()
    if row is None:
        return None
    parts = tuple(
        SystemPart(
            name=part["name"], text=part["text"], left_out=tuple(json.loads(part["left_out"]))
        )
        for part in (await tx.execute(_SELECT_PARTS, conversation=conversation)).all()
    )
    return PromptSnapshot(
        **{name: row[name] for name in ("source", "epoch", "fold_head", "reductions")}, parts=parts
    )


@light
async def set_snapshot(
    tx: Tx, conversation: str, snapshot: PromptSnapshot, reason: str, mark: PrefixMark | None = None
) -> int:
    """Replace the snapshot; return the prefix generation, raised when there was one with other
    parts.

    A snapshot whose epoch or fold_head is not the conversation's any more changes nothing.

    Args:
        mark: of the rest of the prefix, if that is new, too; see `mark_prefix`.
    """
    generation = await _replace_snapshot(tx, conversation, snapshot, reason)
    return generation if mark is None else await mark_prefix(tx, conversation, mark)


async def _replace_snapshot(
    tx: Tx, conversation: str, snapshot: PromptSnapshot, reason: str
) -> int:
    conversation_row = await take_numbers(tx, conversation)
    generation = int(conversation_row["prefix_generation"])
    if (conversation_row["epoch"], conversation_row["fold_head"]) != (
        snapshot.epoch,
        snapshot.fold_head,
    ):
        return generation
    before = await load_snapshot(tx, conversation)
    await delete_snapshot(tx, conversation, keep={hash_text(part.text) for part in snapshot.parts})
    await _insert_snapshot(tx, conversation, snapshot)
    if before is None or before.parts == snapshot.parts:
        return generation
    await raise_generation(tx, conversation, reason)
    return generation + 1


async def delete_snapshot(
    tx: Tx, conversation_id: str, keep: set[str] | frozenset[str] = frozenset()
) -> None:
    """Delete a conversation's snapshot, and those of its texts that no other snapshot uses.

    Args:
        keep: hashes of texts that stay, because the next snapshot uses them.
    """
    hashes = {
        row["sha256"]
        for row in (await tx.execute(_SELECT_PARTS, conversation=conversation_id)).all()
    }
    await tx.execute(_DELETE_PARTS, conversation=conversation_id)
    await tx.execute(_DELETE_SNAPSHOT, conversation=conversation_id)
    for sha256 in hashes - keep:
        await tx.execute(_DELETE_UNUSED_TEXT, sha256=sha256)


def hash_text(text: str) -> str:
    """Return the key of a text in `prefix_text`."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


async def _insert_snapshot(tx: Tx, conversation_id: str, new: PromptSnapshot) -> None:
    columns = column_values(new, snapshot)
    await tx.execute(insert_into(snapshot), **columns, conversation=conversation_id, at=tx.now)
    for place, part in enumerate(new.parts):
        sha256 = hash_text(part.text)
        await tx.execute(_INSERT_TEXT, sha256=sha256, text=part.text)
        left_out = json.dumps(part.left_out, ensure_ascii=False)
        await tx.execute(
            insert_into(snapshot_part),
            conversation=conversation_id,
            place=place,
            name=part.name,
            sha256=sha256,
            left_out=left_out,
        )
