"""Corrections of single memories by a person, and how a former line comes back. Pure."""

from dataclasses import dataclass
from typing import Literal

from memory.longterm.memory_file import MemoryRevision
from memory.longterm.similarity import normalize_key
from memory.store.longterm.rows import MemoryRow, NewMemory
from memory.text.bullets import (
    HEADINGS,
    MAX_BULLET,
    Bullet,
    add_bullet,
    recordable_bullets,
    remove_bullet,
    replace_bullet,
    tidy_content,
)


class LineMissing(LookupError):
    """The file no longer has the line."""


class LineExists(ValueError):
    """The file has another line with these words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """How a person wants one memory to be."""

    #: Key of the line as it is.
    norm: str
    text: str
    category: str
    #: 1 to 10.
    importance: int


def correct_line(text: str, correction: Correction) -> MemoryRevision:
    """Change one line; with other words it becomes a new memory that supersedes the former one.

    Raises:
        LineMissing: the file no longer has it.
        LineExists: another line has these words.
        ValueError: the new words are empty or too long, or the category does not exist.
    """
    words = tidy_content(correction.text)
    if not words or len(words) > MAX_BULLET:
        raise ValueError(f"a memory has 1 to {MAX_BULLET} characters")
    key = normalize_key(words)
    line = _find_line(text, correction.norm)
    if line is None:
        raise LineMissing(correction.norm)
    if key != correction.norm and _find_line(text, key) is not None:
        raise LineExists(words)
    if correction.category in (line.category, ""):
        text = text if words == line.text else replace_bullet(text, line, words)
    elif correction.category not in HEADINGS:
        raise ValueError(f"no category is called {correction.category!r}")
    else:
        text = add_bullet(remove_bullet(text, line), correction.category, words)
    category = correction.category or line.category
    new = NewMemory(
        norm=key, category=category, text=words, importance=correction.importance, origin="person"
    )
    superseded = ((correction.norm, key),) if key != correction.norm else ()
    return MemoryRevision(text=text, live=(new,), superseded=superseded)


RestoreObstacle = Literal["forgotten", "live", "changed"]


def restore_obstacle(former: MemoryRow, successor: MemoryRow | None) -> RestoreObstacle | None:
    """Why a former memory cannot come back; None if it can.

    "forgotten": its words are gone. "live": it is in the file. "changed": what superseded it was
    itself changed since.
    """
    if former.state == "forgotten" or not former.text:
        return "forgotten"
    if former.state == "live":
        return "live"
    superseded = former.state == "superseded"
    return "changed" if superseded and (successor is None or successor.state != "live") else None


def restore_line(text: str, former: MemoryRow, successor: MemoryRow | None) -> MemoryRevision:
    """Put a former line back, in place of the line that superseded it."""
    there = _find_line(text, former.norm)
    line = _find_line(text, successor.norm) if successor else None
    if there is not None:
        text = remove_bullet(text, line) if line else text
    elif line is not None and line.category == former.category:
        text = replace_bullet(text, line, former.text)
    else:
        text = remove_bullet(text, line) if line else text
        text = add_bullet(
            text, former.category if former.category in HEADINGS else "fact", former.text
        )
    live = NewMemory(
        norm=former.norm,
        category=former.category,
        text=former.text,
        importance=former.importance,
        origin=former.origin,
    )
    return MemoryRevision(text=text, live=(live,))


def _find_line(text: str, norm: str) -> Bullet | None:
    return next(
        (line for line in recordable_bullets(text) if normalize_key(line.text) == norm), None
    )
