"""Whether what memory gives may hold words from outside: a fold, or a turn, in which a file or a tool had spoken."""

from collections.abc import Iterable, Sequence

from memory.context.taint import tainted
from memory.recall.passages import Passage
from memory.store.doors import Store

MOST_MESSAGES = 200
"""Of one turn; no turn within the step limit has more."""


async def from_outside(store: Store, passages: Sequence[Passage]) -> list[bool]:
    """Of each passage whether it may."""
    return [await _one(store, passage) for passage in passages]


async def folds_from_outside(store: Store, folds: Iterable[str]) -> bool:
    """Whether one of these folds may; one that the record does not know may hold anything."""
    for id in dict.fromkeys(folds):
        fold = await store.folds.fold(id)
        if fold is None or fold.tainted:
            return True
    return False


async def _one(store: Store, passage: Passage) -> bool:
    if passage.fold:
        return await folds_from_outside(store, (passage.fold,))
    if passage.kind != "said":
        return False
    first = max(1, passage.seq - MOST_MESSAGES)
    messages = await store.sessions.messages(passage.conversation, first, passage.seq)
    return tainted(message for message in messages if message.turn == passage.turn)
