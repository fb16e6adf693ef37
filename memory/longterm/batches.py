"""Writes what is known of many lines, in transactions so small that others wait for milliseconds."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from memory.store.longterm.memories import MemoryRecords
from memory.store.longterm.rows import MemoryRow, NewMemory, NewMemoryChange

BATCH_SIZE = 100  # lines in one transaction
Item = TypeVar("Item")
Pair = tuple[str, str]


def batched(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """As many as go into one transaction at a time."""
    return (items[at : at + BATCH_SIZE] for at in range(0, len(items), BATCH_SIZE))


async def put_in_batches(
    records: MemoryRecords,
    space: str,
    change: NewMemoryChange,
    live: Sequence[NewMemory] = (),
    superseded: Sequence[Pair] = (),
    gone: Sequence[str] = (),
) -> list[MemoryRow]:
    """As `MemoryRecords.put`, in one transaction where the lines are few; returns the rows of the live lines.

    No line is superseded before all lines are live, since the one that takes its place has to have a row. The change
    is noted last: where it is missing, a dream that was cut off puts all of it once more, which changes nothing twice.
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
            live=_pages_from(live, start),
            superseded=_pages_from(superseded, in_place),
            gone=_pages_from(gone, out),
        )
    return rows


def _pages_from(items: Sequence[Item], start: int) -> Sequence[Item]:
    return items[max(0, start) : max(0, start + BATCH_SIZE)]
