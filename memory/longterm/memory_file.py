"""One edit of a MEMORY.md: what the file becomes, and its writing, never over what somebody else wrote meanwhile."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memory.longterm.similarity import normal
from memory.store.longterm.rows import ChangeKind, NewChange, NewMemory
from memory.text.bullets import memorable
from memory.workspace.files import SpaceFiles, TooBig
from memory.workspace.safe_path import PathRefused

PATH = "MEMORY.md"
MOST_BYTES = 1_000_000
"""A larger file is read by people and by searches; no line of it gets a record, and nothing is written into it."""
LEAST_LEFT = 0.5
"""Share of its bytes that a file keeps at a write which no person asked for."""

Action = Literal["created", "updated", "unchanged"]


class Unreadable(ValueError):
    """The file is not UTF-8, larger than any text, or no file of ours: it is left as it is, and nothing is noted."""


class WouldLose(RuntimeError):
    """The write would leave less than half of the file, and no person asked for it; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A MEMORY.md as it was read. sha256: of its bytes, "" where there is none."""

    text: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What an edit makes of a file's text.

    live: what is known of lines that the new text has; a new line that is not named gets the kind's origin. superseded:
    (key of a line that is gone from it, key of the one that took its place); every other line that is gone was taken
    out. action: what became of what was to be remembered.
    """

    text: str
    live: tuple[NewMemory, ...] = ()
    superseded: tuple[tuple[str, str], ...] = ()
    action: Action = "updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of a whole file. revise: pure; asked again with the new text when somebody else wrote meanwhile.

    about: what it belongs to, as in MemoryChange. keeps_before: the former text is kept in the record. by_person: a
    person asked for it, so that it may take out as much as it likes.
    """

    kind: ChangeKind
    revise: Callable[[str], Revision]
    about: str = ""
    keeps_before: bool = False
    by_person: bool = False


def read(files: SpaceFiles) -> Held:
    """The file, decoded to the letter. Blocks.

    Raises:
        Unreadable: it cannot be had as text.
        OSError: the disk failed.
    """
    try:
        data = files.read_bytes(PATH)
        if len(data) > MOST_BYTES:
            raise TooBig(
                f"it has {len(data):,} bytes, and {MOST_BYTES:,} are the most; move what is old to another file"
            )
        return Held(text=data.decode(), sha256=hashlib.sha256(data).hexdigest())
    except FileNotFoundError:
        return Held(text="", sha256="")
    except (UnicodeDecodeError, TooBig, PathRefused) as err:
        raise Unreadable(f"{PATH} is left alone: {err}") from err


def write(files: SpaceFiles, held: Held, text: str, *, by_person: bool) -> Held:
    """Put the new text where `held` was read, on the disk when this returns. Blocks.

    Raises:
        WouldLose: see there.
        Conflict: the file is another one by now.
        Unreadable: it would be larger than any text, or is no file of ours by now.
        OSError: the disk failed.
    """
    if not by_person and loses(held.text, text):
        raise WouldLose(f"{PATH} would be less than half of what it was")
    try:
        file = files.write(PATH, text, held.sha256 or None)
    except (TooBig, PathRefused) as err:
        raise Unreadable(f"{PATH} is left alone: {err}") from err
    return Held(text=text, sha256=file.sha256)


def loses(before: str, after: str) -> bool:
    """Whether less than half of the bytes is left."""
    return len(after.encode()) < LEAST_LEFT * len(before.encode())


def words(text: str) -> dict[str, str]:
    """The lines that are memories, by key."""
    return {normal(bullet.text): bullet.text for bullet in memorable(text)}


def noted(edit: Edit, before: Held, after: Held) -> NewChange:
    """The write as the record keeps it; nothing of the words where they are to be forgotten."""
    old, new = ({}, {}) if edit.kind == "forget" else (words(before.text), words(after.text))
    return NewChange(
        path=PATH,
        kind=edit.kind,
        before_sha256=before.sha256,
        after_sha256=after.sha256,
        added=tuple(new[norm] for norm in new if norm not in old),
        removed=tuple(old[norm] for norm in old if norm not in new),
        before=before.text if edit.keeps_before else "",
        about=edit.about,
    )
