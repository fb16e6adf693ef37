"""A space's folder, removed with all that is in it, without following a link out of it. Blocks."""

import os
from contextlib import suppress
from pathlib import Path

from memory.beneath import FOLDER, PathRefused, names, open_below
from memory.workspace import SPACES

DEEPEST = 64


def remove_space(root: Path, space: str) -> int:
    """Delete the folder of a space below the workspace's root; returns how many files went. A missing one is none.

    A link goes itself, and what it points to stays.

    Raises:
        PathRefused: it is the owner's, or no space's name, or nested beyond reason.
        OSError: something in it could not be deleted.
    """
    if len(names(space)) != 1:
        raise PathRefused(f"not the name of a space: {space!r}")
    with suppress(FileNotFoundError):
        top = os.open(root, FOLDER | os.O_CLOEXEC)
        try:
            spaces = open_below(top, (SPACES,), FOLDER)
        finally:
            os.close(top)
        try:
            return _remove(spaces, space, 0)
        finally:
            os.close(spaces)
    return 0


def _remove(parent: int, name: str, depth: int) -> int:
    if depth > DEEPEST:
        raise PathRefused(f"folders are nested more than {DEEPEST} deep")
    folder = open_below(parent, (name,), FOLDER)
    try:
        gone = sum(_gone(folder, item, depth) for item in list(os.scandir(folder)))
        os.fsync(folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)
    os.fsync(parent)
    return gone


def _gone(folder: int, item: "os.DirEntry[str]", depth: int) -> int:
    if item.is_dir(follow_symlinks=False):
        return _remove(folder, item.name, depth + 1)
    os.unlink(item.name, dir_fd=folder)
    return 1
