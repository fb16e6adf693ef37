"""What taking a dream back makes of a MEMORY.md, also where people have written in it since. Pure."""

import hashlib
from dataclasses import dataclass

from memory.longterm.bullets import added, memorable, removed
from memory.longterm.editing import Revision
from memory.longterm.similarity import normal
from memory.store.memory_records import MemoryChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What was taken back. day: YYYY-MM-DD, the dream's; whole: the file is as it was before it, byte for byte.

    back, gone: the words of the lines that were put back and taken out.
    """

    day: str
    whole: bool
    back: tuple[str, ...]
    gone: tuple[str, ...]


def taken_back(change: MemoryChange, text: str) -> Revision:
    """The file without what a dream did to it.

    As the dream left it, it becomes the former text. Else the lines that the dream brought go, as far as nobody has
    changed them, those it took out come back under their headings, and every other byte stays.
    """
    if hashlib.sha256(text.encode()).hexdigest() == change.after_sha256:
        return Revision(text=change.before)
    brought = set(map(normal, change.added))
    for line in reversed(memorable(text)):
        if normal(line.text) in brought:
            text = removed(text, line)
    wanted = set(map(normal, change.removed)) - {normal(line.text) for line in memorable(text)}
    for line in memorable(change.before):
        if normal(line.text) in wanted:
            wanted.discard(normal(line.text))
            text = added(text, line.category if line.heading else "fact", line.text, line.heading)
    return Revision(text=text)
