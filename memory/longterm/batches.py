"""Writes the records of many memory lines in small transactions, so that other writers wait for milliseconds."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from memory.store.longterm.memories import MemoryRecords
from memory.store.longterm.rows import MemoryRow, NewMemory, NewMemoryChange

BATCH_SIZE = 100  # lines per transaction
Item = TypeVar("Item")
Pair = tuple[str, str]


def batched(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Split items into slices of one transaction each."""
    return (items[at : at + BATCH_SIZE] for at in range(0, len(items), BATCH_SIZE))


async def put_in_batches(
    records: MemoryRecords,
    space: str,
    change: NewMemoryChange,
    live: Sequence[NewMemory] = (),
    superseded: Sequence[Pair] = (),
    gone: Sequence[str] = (),
) -> list[MemoryRow]:
    """Call `MemoryRecords.put` in batches; return the rows of the live lines.

    All lines are live before the first is superseded, because its successor needs a row. The change is stored last:
    where it is missing after a crash, the dream puts everything again, which changes nothing twice.
    """
    rows: list[MemoryRow] = []
    total = len(live) + len(superseded) + len(gone)
    for start in range(0, max(total, 1), BATCH_SIZE):
        in_place = start - len(live)
        out = in_place - len(superseded)
        last = start + BATCH_SIZE >= total
        rows += await records.put(
            space,
            change if last else None,
            live=_batch_from(live, start),
            superseded=_batch_from(superseded, in_place),
            gone=_batch_from(gone, out),
        )
    return rows


def _batch_from(items: Sequence[Item], start: int) -> Sequence[Item]:
    return items[max(0, start) : max(0, start + BATCH_SIZE)]
