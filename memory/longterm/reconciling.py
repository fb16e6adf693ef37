"""What a person's edit of MEMORY.md means for the records: lines that stayed, were changed, went, or are new. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.longterm.bullets import memorable
from memory.longterm.similarity import SAME, content, normal, similarity
from memory.store.memory_records import MemoryRow, NewMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """renamed: (former key, the line as it is now). new: lines without a record. gone: keys without a line."""

    renamed: tuple[tuple[str, NewMemory], ...] = ()
    new: tuple[NewMemory, ...] = ()
    gone: tuple[str, ...] = ()


def differences(text: str, rows: Sequence[MemoryRow]) -> Differences:
    """Where the records do not say what the file says.

    A line that was changed keeps its record while it is at least `SAME` similar to what it was, and so does one that
    stands under another heading now.

    Args:
        rows: the live ones of the space.
    """
    lines = lines_of(text)
    known = {row.norm: row for row in rows}
    moved = [(norm, line) for norm, line in lines.items() if norm in known and known[norm].category != line.category]
    new = {norm: line for norm, line in lines.items() if norm not in known}
    lost = {norm: row for norm, row in known.items() if norm not in lines}
    changed = [(former, new.pop(norm)) for former, norm in _pairs(lost, new)]
    for former, _ in changed:
        del lost[former]
    return Differences(renamed=(*moved, *changed), new=tuple(new.values()), gone=tuple(lost))


def lines_of(text: str) -> dict[str, NewMemory]:
    """The memories of a file by key, as a person wrote them there."""
    found: dict[str, NewMemory] = {}
    for bullet in memorable(text):
        norm = normal(bullet.text)
        line = NewMemory(norm=norm, category=bullet.category, text=bullet.text, importance=5, origin="file")
        found.setdefault(norm, line)
    return found


def _pairs(lost: dict[str, MemoryRow], new: dict[str, NewMemory]) -> list[tuple[str, str]]:
    """Which lost line became which new one: the most similar first, each once."""
    before = {norm: content(row.text) for norm, row in lost.items()}
    after = {norm: content(line.text) for norm, line in new.items()}
    scored = [
        (similarity(lost[former].text, new[norm].text), former, norm)
        for former, was in before.items()
        for norm, became in after.items()
        if 2 * len(was & became) >= min(len(was), len(became))  # asking how similar costs a hundred times as much
    ]
    taken: set[str] = set()
    pairs = []
    for score, former, norm in sorted(scored, key=lambda item: -item[0]):
        if score >= SAME and former not in taken and norm not in taken:
            taken |= {former, norm}
            pairs.append((former, norm))
    return pairs
