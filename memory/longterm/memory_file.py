"""Reads MEMORY.md and writes one edit of it, never over a concurrent change."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memory.longterm.similarity import normalize_key
from memory.store.longterm.rows import ChangeKind, NewMemory, NewMemoryChange
from memory.text.bullets import recordable_bullets
from memory.workspace.files import SpaceFiles
from memory.workspace.safe_path import FileTooBig, PathRefused

MEMORY_PATH = "MEMORY.md"
MAX_BYTES = 1_000_000  # a larger file is searched, but gets no records and is never written
MIN_LEFT_SHARE = 0.5  # of the bytes; a write that no person asked for must leave at least this much

Action = Literal["created", "updated", "unchanged"]


class MemoryFileUnreadable(ValueError):
    """The file is not UTF-8, too large, or not a regular file in the space; it stays as it is."""


class MemoryLossRefused(RuntimeError):
    """The write would remove more than half of the file and no person requested it; nothing was
    written.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFileText:
    """The content of a MEMORY.md."""

    text: str
    #: Of the file's bytes; "" when there is no file.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRevision:
    """The result of an edit: the new text and the records that change with it."""

    text: str
    #: Records of lines in the new text; a new line without one gets a default record.
    live: tuple[NewMemory, ...] = ()
    #: (key of a removed line, key of its successor); other lines missing from the new text count as
    #: deleted.
    superseded: tuple[tuple[str, str], ...] = ()
    #: What happened to the candidate.
    action: Action = "updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdit:
    """A change of the whole file."""

    kind: ChangeKind
    #: Pure; called again with the new text after a concurrent write.
    revise: Callable[[str], MemoryRevision]
    #: Id of the message or dream that caused it.
    about: str = ""
    #: Store the former text with the change, for an undo.
    stores_previous: bool = False
    #: Requested by a person, so it may remove any amount.
    by_person: bool = False


def read_memory(files: SpaceFiles) -> MemoryFileText:
    """Read MEMORY.md; a missing file is an empty text. Blocks.

    Raises:
        MemoryFileUnreadable: it cannot be read as text.
        OSError: the disk failed.
    """
    try:
        file = files.read(MEMORY_PATH, exact=True)
        if file.size > MAX_BYTES:
            raise FileTooBig(
                f"it has {file.size:,} bytes, and {MAX_BYTES:,} are the most; move what is old to "
                "another file"
            )
        return MemoryFileText(text=file.text, sha256=file.sha256)
    except FileNotFoundError:
        return MemoryFileText(text="", sha256="")
    except (UnicodeDecodeError, FileTooBig, PathRefused) as err:
        raise MemoryFileUnreadable(f"{MEMORY_PATH} is left alone: {err}") from err


def write_memory(
    files: SpaceFiles, file: MemoryFileText, text: str, *, by_person: bool
) -> MemoryFileText:
    """Replace the text that was read as `file`; fsynced when this returns. Blocks.

    Raises:
        MemoryLossRefused: more than half would be lost.
        FileConflict: the file has changed since it was read.
        MemoryFileUnreadable: the text is too large, or the path is no longer a regular file in the
            space.
        OSError: the disk failed.
    """
    if not by_person and loses_too_much(file.text, text):
        raise MemoryLossRefused(f"{MEMORY_PATH} would lose more than half of its content")
    try:
        written = files.write(MEMORY_PATH, text, file.sha256 or None)
    except (FileTooBig, PathRefused) as err:
        raise MemoryFileUnreadable(f"{MEMORY_PATH} is left alone: {err}") from err
    return MemoryFileText(text=text, sha256=written.sha256)


def loses_too_much(before: str, after: str) -> bool:
    """Whether less than half of the bytes would be left."""
    return len(after.encode()) < MIN_LEFT_SHARE * len(before.encode())


def memory_keys(text: str) -> dict[str, str]:
    """Map the keys of the file's memories to their texts."""
    return {normalize_key(bullet.text): bullet.text for bullet in recordable_bullets(text)}


def change_record(
    edit: MemoryEdit, before: MemoryFileText, after: MemoryFileText
) -> NewMemoryChange:
    """Build the change to store; a "forget" change contains no words."""
    old, new = (
        ({}, {}) if edit.kind == "forget" else (memory_keys(before.text), memory_keys(after.text))
    )
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
