"""One edit of a MEMORY.md: what the file becomes, and its writing, never over what somebody else wrote meanwhile."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memory.longterm.similarity import normalize_key
from memory.store.longterm.rows import ChangeKind, NewMemory, NewMemoryChange
from memory.text.bullets import recordable_bullets
from memory.workspace.files import FileTooBig, SpaceFiles
from memory.workspace.safe_path import PathRefused

MEMORY_PATH = "MEMORY.md"
# A larger file is read by people and by searches; no line of it gets a record, and nothing is written into it.
MAX_BYTES = 1_000_000
MIN_LEFT_SHARE = 0.5  # share of its bytes that a file keeps at a write which no person asked for

Action = Literal["created", "updated", "unchanged"]


class MemoryFileUnreadable(ValueError):
    """The file is not UTF-8, larger than any text, or no file of ours: it is left as it is, and nothing is noted."""


class MemoryLossRefused(RuntimeError):
    """The write would leave less than half of the file, and no person asked for it; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFileText:
    """A MEMORY.md as it was read."""

    text: str
    #: Of its bytes, "" where there is none.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRevision:
    """What an edit makes of a file's text."""

    text: str
    #: What is known of lines that the new text has; a new line that is not named gets the kind's origin.
    live: tuple[NewMemory, ...] = ()
    #: (key of a line that is gone from it, key of the one that took its place); every other line that is gone was taken
    #: out.
    superseded: tuple[tuple[str, str], ...] = ()
    #: What became of what was to be remembered.
    action: Action = "updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdit:
    """A change of a whole file."""

    kind: ChangeKind
    #: Pure; asked again with the new text when somebody else wrote meanwhile.
    revise: Callable[[str], MemoryRevision]
    #: What it belongs to, as in MemoryChange. keeps_before: the former text is kept in the record.
    about: str = ""
    stores_previous: bool = False
    #: A person asked for it, so that it may take out as much as it likes.
    by_person: bool = False


def read_memory(files: SpaceFiles) -> MemoryFileText:
    """The file, decoded to the letter. Blocks.

    Raises:
        Unreadable: it cannot be had as text.
        OSError: the disk failed.
    """
    try:
        data = files.read_bytes(MEMORY_PATH)
        if len(data) > MAX_BYTES:
            raise FileTooBig(
                f"it has {len(data):,} bytes, and {MAX_BYTES:,} are the most; move what is old to another file"
            )
        return MemoryFileText(text=data.decode(), sha256=hashlib.sha256(data).hexdigest())
    except FileNotFoundError:
        return MemoryFileText(text="", sha256="")
    except (UnicodeDecodeError, FileTooBig, PathRefused) as err:
        raise MemoryFileUnreadable(f"{MEMORY_PATH} is left alone: {err}") from err


def write_memory(files: SpaceFiles, held: MemoryFileText, text: str, *, by_person: bool) -> MemoryFileText:
    """Put the new text where `held` was read, on the disk when this returns. Blocks.

    Raises:
        WouldLose: see there.
        Conflict: the file is another one by now.
        Unreadable: it would be larger than any text, or is no file of ours by now.
        OSError: the disk failed.
    """
    if not by_person and loses_too_much(held.text, text):
        raise MemoryLossRefused(f"{MEMORY_PATH} would be less than half of what it was")
    try:
        file = files.write(MEMORY_PATH, text, held.sha256 or None)
    except (FileTooBig, PathRefused) as err:
        raise MemoryFileUnreadable(f"{MEMORY_PATH} is left alone: {err}") from err
    return MemoryFileText(text=text, sha256=file.sha256)


def loses_too_much(before: str, after: str) -> bool:
    """Whether less than half of the bytes is left."""
    return len(after.encode()) < MIN_LEFT_SHARE * len(before.encode())


def memory_keys(text: str) -> dict[str, str]:
    """The lines that are memories, by key."""
    return {normalize_key(bullet.text): bullet.text for bullet in recordable_bullets(text)}


def change_record(edit: MemoryEdit, before: MemoryFileText, after: MemoryFileText) -> NewMemoryChange:
    """The write as the record keeps it; nothing of the words where they are to be forgotten."""
    old, new = ({}, {}) if edit.kind == "forget" else (memory_keys(before.text), memory_keys(after.text))
    return NewMemoryChange(
        path=MEMORY_PATH,
        kind=edit.kind,
        before_sha256=before.sha256,
        after_sha256=after.sha256,
        added=tuple(new[norm] for norm in new if norm not in old),
        removed=tuple(old[norm] for norm in old if norm not in new),
        before=before.text if edit.stores_previous else "",
        about=edit.about,
    )
