"""Whether the indexes of recall are sound and say what the files say, looked at from outside; all of it blocks."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memory.recall.documents import rows_of_file
from memory.recall.index import WritableIndex
from memory.recall.sqlite_index import SqliteIndex
from memory.recall.sync import FILE_PREFIX, file_stamp
from memory.workspace.files import FileTooBig, SpaceFiles, Workspace
from memory.workspace.safe_path import PathRefused

OWNER_STEM, SPACE_STEM_PREFIX = "owner", "space-"  # how the files of indexes are named, but for their ending


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCheck:
    """One space's index."""

    space: str
    rows: int = 0
    #: Files that have changed since.
    behind: int = 0
    #: What is wrong with it, "" for nothing.
    fault: str = ""


def check_index_files(folder: Path, workspace: Workspace) -> list[IndexCheck]:
    """Every index that is a file in this folder, the owner's first."""
    paths = sorted(folder.glob("*.db"), key=lambda path: (path.stem != OWNER_STEM, path.stem))
    return [_check_file(path, workspace) for path in paths]


def _check_file(path: Path, workspace: Workspace) -> IndexCheck:
    space = "" if path.stem == OWNER_STEM else path.stem.removeprefix(SPACE_STEM_PREFIX)
    try:
        with closing(SqliteIndex(path)) as index:
            return check_index(index, workspace, space)
    except (sqlite3.Error, PathRefused) as err:
        return IndexCheck(space=space, fault=str(err))


def check_index(index: WritableIndex, workspace: Workspace, space: str) -> IndexCheck:
    """One space's index.

    Raises:
        PathRefused: the space has no folder that may be read.
    """
    if fault := index.check():
        return IndexCheck(space=space, rows=index.count(), fault=fault)
    behind, wrong = _compare_with_files(index, workspace.space(space))
    return IndexCheck(space=space, rows=index.count(), behind=behind, fault=wrong)


def _compare_with_files(index: WritableIndex, files: SpaceFiles) -> tuple[int, str]:
    """How many files have changed since they were indexed; the first that has not, and yet is indexed otherwise."""
    behind, wrong = 0, ""
    for name, stamp in index.sources().items():
        if not name.startswith(FILE_PREFIX):
            continue
        inside = name.removeprefix(FILE_PREFIX)
        if stamp != _file_stamp(files, inside):
            behind += 1
        elif _without_nul(index.lines(name)) != _without_nul(_rows_of_file(files, inside)):
            wrong = wrong or f"{inside} stands in it otherwise than on the disk"
    return behind, wrong


def _file_stamp(files: SpaceFiles, path: str) -> str:
    try:
        return file_stamp((files.root / path).lstat())
    except OSError:
        return ""


def _rows_of_file(files: SpaceFiles, path: str) -> list[tuple[int, str]]:
    try:
        text = files.read(path).text
    except (OSError, PathRefused, FileTooBig):
        text = ""
    return [(row.line, row.words) for row in rows_of_file(path, text)]


def _without_nul(rows: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Rows without what not every index can hold."""
    return [(line, words.replace("\x00", "\ufffd")) for line, words in rows]
