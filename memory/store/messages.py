"""Messages are added here, and nowhere changed: the originals that folds and reductions stand in for."""

from dataclasses import dataclass

from sqlalchemy import insert

from memory.conversation import Document, Message, Part, Text, dump_parts
from memory.store.counters import take
from memory.store.engine import Row, Tx
from memory.store.ids import new_id
from memory.store.records import Draft
from memory.store.rows import moment
from memory.store.tables import message

_ADD = insert(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a message belongs: its conversation, and its turn by id and number."""

    conversation: str
    turn_id: str
    number: int


async def add_message(tx: Tx, spot: Spot, draft: Draft, taken: Row | None = None) -> Message:
    """Store a message behind all others of its conversation; the draft's id is kept where it has one.

    taken: the conversation's row, where its number has been taken already.
    """
    home = taken or await take(tx, spot.conversation, seqs=1)
    added = Message(
        id=draft.id or new_id(tx.now),
        seq=home["next_seq"] - 1,
        turn=spot.number,
        role=draft.role,
        parts=draft.parts,
        at=moment(tx.now),
        tokens=draft.tokens,
        counter=draft.counter,
        origin=draft.origin,
        tainted=draft.tainted,
    )
    await tx.run(
        _ADD,
        id=added.id,
        conversation=spot.conversation,
        epoch=home["epoch"],
        seq=added.seq,
        turn=added.turn,
        turn_id=spot.turn_id,
        role=added.role,
        parts=dump_parts(added.parts),
        origin=added.origin,
        space=home["space"],
        has_text=any(_words(part) for part in added.parts),
        tokens=added.tokens,
        counter=added.counter,
        at=tx.now,
        tainted=int(added.tainted),
    )
    return added


def _words(part: Part) -> bool:
    return isinstance(part, Text | Document) and bool(part.text.strip())
