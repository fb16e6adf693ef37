"""What a person's edit of MEMORY.md means for the records: lines that stayed, were changed, went, or are new. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice

from memory.longterm.bullets import memorable
from memory.longterm.similarity import SAME, content, normal, similarity
from memory.store.memory_records import MemoryRow, NewMemory

MOST_TAKEN = 5_000
"""Lines of one space that have a record; more stay in the file, and are found there by a search."""
MOST_COMPARED = 8
"""New lines that a lost one is compared with."""
MOST_LOOKED_AT = 1_000
"""Lines that are looked at for those, by the words that they share with it."""

Words = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """renamed: (former key, the line as it is now). new: lines without a record. gone: keys without a line.

    left: how many lines of the file have no record and get none, because there are `MOST_TAKEN` already.
    """

    renamed: tuple[tuple[str, NewMemory], ...] = ()
    new: tuple[NewMemory, ...] = ()
    gone: tuple[str, ...] = ()
    left: int = 0


def differences(text: str, rows: Sequence[MemoryRow]) -> Differences:
    """Where the records do not say what the file says.

    A line that was changed keeps its record while it is at least `SAME` similar to what it was, and so does one that
    stands under another heading now. Of more than `MOST_TAKEN` lines, the first ones get a record.

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
    room = max(0, MOST_TAKEN - (len(known) - len(lost)))
    taken = tuple(islice(new.values(), room))
    return Differences(renamed=(*moved, *changed), new=taken, gone=tuple(lost), left=len(new) - len(taken))


def beyond(text: str) -> int:
    """How many lines of a file can have no record, because it has more than `MOST_TAKEN`."""
    return max(0, len(lines_of(text)) - MOST_TAKEN)


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
    scored = [(similarity(lost[former].text, new[norm].text), former, norm) for former, norm in _alike(before, after)]
    taken: set[str] = set()
    pairs = []
    for score, former, norm in sorted(scored, key=lambda item: -item[0]):
        if score >= SAME and former not in taken and norm not in taken:
            taken |= {former, norm}
            pairs.append((former, norm))
    return pairs


def _alike(before: Mapping[str, Words], after: Mapping[str, Words]) -> Iterator[tuple[str, str]]:
    """Pairs that are worth a comparison, which costs a hundred times as much: of each lost line the few new ones that
    share most of its words with it, rare words first.
    """
    having: dict[str, list[str]] = {}
    for norm, words in after.items():
        for word in words:
            having.setdefault(word, []).append(norm)
    for former, was in before.items():
        shared: Counter[str] = Counter()
        looked_at = 0
        for word in sorted((word for word in was if word in having), key=lambda word: (len(having[word]), word)):
            holders = having[word]
            if looked_at and looked_at + len(holders) > MOST_LOOKED_AT:
                break
            looked_at += len(holders)
            shared.update(holders[:MOST_LOOKED_AT])
        most = nlargest(MOST_COMPARED, shared, key=lambda norm: (len(was & after[norm]), shared[norm]))
        yield from ((former, norm) for norm in most if 2 * len(was & after[norm]) >= min(len(was), len(after[norm])))
