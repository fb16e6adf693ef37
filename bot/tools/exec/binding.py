"""What an approval of a command is bound to: the bytes of the files it names, and where it runs."""

import hashlib
import os
import stat
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from bot.errors import ToolFailed
from bot.tools.exec.sandbox import SPACE_PATH
from memory.workspace.safe_path import FOLDER_FLAGS, PathRefused, open_below, split_path

_CHUNK_BYTES = 2**20


def check_folder(space: Path, cwd: str) -> str:
    """Return a working folder relative to the space, without links in its path.

    Raises:
        ToolFailed: there is no such folder in the space.
    """
    relative = _to_relative(cwd, "")
    if relative is None:
        raise ToolFailed(f"cwd must be a folder of the workspace, relative to it or below {SPACE_PATH}.")
    if not relative:
        return ""
    try:
        root = os.open(space, FOLDER_FLAGS | os.O_CLOEXEC)
        try:
            os.close(open_below(root, split_path(relative), FOLDER_FLAGS))
        finally:
            os.close(root)
    except (OSError, PathRefused) as err:
        raise ToolFailed(f"There is no folder {cwd!r} in the workspace.") from err
    return relative


def hash_files(space: Path, cwd: str, argv: Sequence[str]) -> Mapping[str, str]:
    """Return the SHA-256 of each file of the space that the words of a command name.

    A word may also hold the name after `=`, as in `--file=notes.txt`.

    Raises:
        ToolFailed: one of them is reached by a link, which may lead elsewhere by the time of the run.
    """
    hashes: dict[str, str] = {}
    for word in argv:
        for name in {word, word.partition("=")[2]}:
            relative = _to_relative(name, cwd) if name and "\0" not in name else None
            if relative:
                digest = _hash_file(space, relative)
                if digest:
                    hashes[relative] = digest
    return hashes


def skills_of(paths: Collection[str]) -> list[str]:
    """Return the names of the skills that paths of the space belong to. Pure."""
    return sorted({path.split("/")[1] for path in paths if path.startswith("skills/") and path.count("/") > 1})


def _to_relative(name: str, cwd: str) -> str | None:
    """Return a name in the sandbox as a path below the space; None if it is not in there."""
    path = os.path.normpath(os.path.join(SPACE_PATH, cwd, name))
    if path == SPACE_PATH:
        return ""
    return path.removeprefix(f"{SPACE_PATH}/") if path.startswith(f"{SPACE_PATH}/") else None


def _hash_file(space: Path, relative: str) -> str:
    """Return the SHA-256 of a regular file, "" if it is none."""
    current = space
    for part in relative.split("/"):
        current = current / part
        try:
            mode = current.lstat().st_mode
        except (OSError, ValueError):
            return ""
        if stat.S_ISLNK(mode):
            raise ToolFailed(f"{relative} is reached by a link; name the file itself.")
    if not stat.S_ISREG(mode):
        return ""
    digest = hashlib.sha256()
    with open(os.open(current, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
