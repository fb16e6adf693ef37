"""Whether the indexes of recall are sound and say what the files say, looked at from outside; all of it blocks."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memory.recall.documents import of_file
from memory.recall.index import Rows
from memory.recall.sqlite_index import SqliteIndex
from memory.recall.sync import FILE, stamp_of
from memory.workspace.files import SpaceFiles, TooBig, Workspace
from memory.workspace.safe_path import PathRefused

OWNER, OTHERS = "owner", "space-"
"""How the files of indexes are named, but for their ending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One space's index. fault: what is wrong with it, "" for nothing; behind: files that have changed since."""

    space: str
    rows: int = 0
    behind: int = 0
    fault: str = ""


def look(folder: Path, workspace: Workspace) -> list[Looked]:
    """Every index that is a file in this folder, the owner's first."""
    paths = sorted(folder.glob("*.db"), key=lambda path: (path.stem != OWNER, path.stem))
    return [_look(path, workspace) for path in paths]


def _look(path: Path, workspace: Workspace) -> Looked:
    space = "" if path.stem == OWNER else path.stem.removeprefix(OTHERS)
    try:
        with closing(SqliteIndex(path)) as index:
            return looked(index, workspace, space)
    except (sqlite3.Error, PathRefused) as err:
        return Looked(space=space, fault=str(err))


def looked(index: Rows, workspace: Workspace, space: str) -> Looked:
    """One space's index.

    Raises:
        PathRefused: the space has no folder that may be read.
    """
    if fault := index.check():
        return Looked(space=space, rows=index.count(), fault=fault)
    behind, wrong = _compare(index, workspace.space(space))
    return Looked(space=space, rows=index.count(), behind=behind, fault=wrong)


def _compare(index: Rows, files: SpaceFiles) -> tuple[int, str]:
    """How many files have changed since they were indexed; the first that has not, and yet is indexed otherwise."""
    behind, wrong = 0, ""
    for name, stamp in index.sources().items():
        if not name.startswith(FILE):
            continue
        inside = name.removeprefix(FILE)
        if stamp != _stamp(files, inside):
            behind += 1
        elif _plain(index.lines(name)) != _plain(_rows(files, inside)):
            wrong = wrong or f"{inside} stands in it otherwise than on the disk"
    return behind, wrong


def _stamp(files: SpaceFiles, path: str) -> str:
    try:
        return stamp_of((files.root / path).lstat())
    except OSError:
        return ""


def _rows(files: SpaceFiles, path: str) -> list[tuple[int, str]]:
    try:
        text = files.read(path).text
    except (OSError, PathRefused, TooBig):
        text = ""
    return [(row.line, row.words) for row in of_file(path, text)]


def _plain(rows: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Rows without what not every index can hold."""
    return [(line, words.replace("\x00", "\ufffd")) for line, words in rows]
