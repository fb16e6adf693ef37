"""What we wrote into MEMORY.md since a prompt showed it: no reason to show it anew, but it counts at once. Pure."""

from collections.abc import Callable, Sequence

from memory.store.memory_records import MemoryChange

FORGETTING = "forget"
"""The write of ours that no request may still show the other side of."""
MOST_TOKENS = 500
"""More than that is not told but read anew."""
MOST_CHANGES = 100
HEAD, GONE, END = "[Remembered since MEMORY.md was read:]", "[No longer true:]", "[End of remembered]"


def trail(
    changes: Sequence[MemoryChange], path: str, sha256: str, seen: Callable[[str], bool]
) -> tuple[MemoryChange, ...] | None:
    """Our writes that lead from the file that was seen to the one with the hash `sha256`, oldest first.

    A person's own, by hand or by the page, have no change in the record, and so break it off.

    Args:
        changes: of a space, newest first.
        seen: whether a file of that hash ("" for none) is the one that was seen.

    Returns:
        None where somebody else wrote too, or something was forgotten.
    """
    found: list[MemoryChange] = []
    for change in changes:
        if change.path != path or change.after_sha256 != sha256:
            continue
        if change.kind == FORGETTING:
            return None
        found.append(change)
        sha256 = change.before_sha256
        if seen(sha256):
            return tuple(reversed(found))
    return None


def told(changes: Sequence[MemoryChange]) -> str:
    """What these writes came to, oldest first: lines that are new, and lines that are gone; "" for nothing."""
    new: dict[str, None] = {}
    gone: dict[str, None] = {}
    for change in changes:
        _move(change.removed, new, gone)
        _move(change.added, gone, new)
    lines = [HEAD, *map(_item, new)] if new else []
    lines += [GONE, *map(_item, gone)] if gone else []
    return "\n".join((*lines, END)) if lines else ""


def _move(lines: Sequence[str], out_of: dict[str, None], into: dict[str, None]) -> None:
    for line in lines:
        if line in out_of:
            del out_of[line]
        else:
            into[line] = None


def _item(line: str) -> str:
    return f"- {' '.join(line.split())}".replace(END, END.strip("[]"))
