"""Whether what memory gives may hold words from outside: a line of a fold, or something that was said."""

from collections.abc import Iterable, Mapping, Sequence

from memory.context.taint import UNKNOWN, FoldLabel, tainted
from memory.recall.passages import Passage
from memory.store.doors import Store


async def from_outside(store: Store, passages: Sequence[Passage]) -> list[bool]:
    """Of each passage whether it may."""
    labels = await labels_of(store, (passage.fold for passage in passages))
    return [await _one(store, passage, labels) for passage in passages]


async def labels_of(store: Store, folds: Iterable[str]) -> Mapping[str, FoldLabel]:
    """The labels of these folds by their ids; one that the record does not know may hold anything."""
    wanted = [id for id in dict.fromkeys(folds) if id]
    known = await store.folds.labels(wanted) if wanted else {}
    return {id: known.get(id, UNKNOWN) for id in wanted}


async def _one(store: Store, passage: Passage, labels: Mapping[str, FoldLabel]) -> bool:
    if passage.fold:
        return labels[passage.fold].covers(passage.words)
    if passage.kind != "said":
        return False
    return tainted(await store.sessions.messages(passage.conversation, passage.seq, passage.seq))
