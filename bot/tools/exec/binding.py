"""What an approval of a command is bound to: the bytes of the files it names, and where it runs and
may write.
"""

import hashlib
import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.errors import ToolFailed
from bot.tools.exec.sandbox import SPACE_PATH
from channels.phrases import Phrase
from memory.workspace.files import FILES_FOLDER, GUARDED_FOLDERS, SPACES_FOLDER, original_name
from memory.workspace.safe_path import (
    FOLDER_FLAGS,
    PathRefused,
    make_folders,
    open_below,
    split_path,
)

_CHUNK_BYTES = 2**20
UNBOUND_KEY = "not bound"  # what a consent does not cover, among the facts that it is bound to
# The last of what it does not cover, in English and in Chinese: no reading of a command finds all
# that it will open.
UNBOUND_REST = Phrase("anything else it opens or runs, in its state at that time")
# What separates names in a text that a shell or Python reads; a name in quotes may also hold what
# separates others.
_QUOTED = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")
_SEPARATORS = re.compile(r"[\s'\"`;|&<>(){}\[\]$=,:#!*?\\]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceFolders:
    """The folders in the owner's space by what a command may do with them; it may read the
    others.
    """

    writable: tuple[str, ...]
    hidden: tuple[str, ...]


def sort_folders(space: Path) -> SpaceFolders:
    """Return what a command may do with the folders of the owner's space; makes those that must be
    there.

    Raises:
        ToolFailed: something else is in the place of one of these, or a link in that of a guarded
            one.
    """
    try:
        root = os.open(space, FOLDER_FLAGS | os.O_CLOEXEC)
        try:
            # A `spaces` that came into being while the command runs could be read by it.
            for name in (FILES_FOLDER, SPACES_FOLDER):
                os.close(make_folders(root, (name,)))
        finally:
            os.close(root)
    except (PathRefused, OSError) as err:
        raise ToolFailed(f"Nothing was run: the workspace is not as it must be ({err}).") from err

    writable, hidden = list[str](), list[str]()
    for entry in sorted(os.scandir(space), key=lambda found: found.name):
        original = original_name(entry.name)
        if original in GUARDED_FOLDERS and entry.is_symlink():
            # Its target may be in a folder that can be written to.
            raise ToolFailed(f"Nothing was run: {entry.name} of the workspace is a link.")
        if not entry.is_dir(follow_symlinks=False):
            continue
        if original == SPACES_FOLDER:
            hidden.append(entry.name)
        elif original not in GUARDED_FOLDERS:
            # no tool lists a folder of such a name, so it has no label either
            with suppress(PathRefused):
                split_path(entry.name)
                writable.append(entry.name)
    return SpaceFolders(writable=tuple(writable), hidden=tuple(hidden))


def check_folder(space: Path, cwd: str) -> str:
    """Return a working folder relative to the space, without links in its path.

    Raises:
        ToolFailed: there is no such folder in the space.
    """
    relative = _to_relative(cwd, "")
    if relative is None:
        raise ToolFailed(
            f"cwd must be a folder of the workspace, relative to it or below {SPACE_PATH}."
        )
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
        ToolFailed: one of them is reached by a link, which may lead elsewhere by the time of the
            run.
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


def find_inner_names(space: Path, cwd: str, texts: Sequence[str]) -> list[str]:
    """Return the files of the space, and links to some, that are named inside texts of a shell or
    of Python.

    They are not bound: a script that writes to the file it names could not be run twice by one
    consent.
    """
    names = {name for text in texts for name in _split_names(text) - {text}}
    paths = {_to_relative(name, cwd) for name in names if name and "\0" not in name}
    return sorted(path for path in paths if path and _is_file(space / path))


def _split_names(text: str) -> set[str]:
    quoted = {name for found in _QUOTED.finditer(text) for name in found.groups("")}
    return {*quoted, *_SEPARATORS.split(text)}


def _is_file(path: Path) -> bool:
    try:
        return not stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def skills_of(paths: Collection[str]) -> list[str]:
    """Return the names of the skills that paths of the space belong to. Pure."""
    return sorted(
        {path.split("/")[1] for path in paths if path.startswith("skills/") and path.count("/") > 1}
    )


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
    with open(
        os.open(current, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb"
    ) as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
