"""Whether the indexes of recall are sound and say what the files say, looked at from outside; blocks."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memory.recall.index import SqliteIndex
from memory.recall.keeping import FILE, stamp_of
from memory.recall.rows import of_file
from memory.workspace import PathRefused, SpaceFiles, TooBig, Workspace

OWNER, OTHERS = "owner", "space-"
"""How the files of indexes are named, but for their ending."""
_ROWS = """
SELECT row.line, row.words FROM row JOIN source ON source.id = row.source WHERE source.name = ? ORDER BY row.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One space's index. fault: what is wrong with it, "" for nothing; behind: files that have changed since."""

    space: str
    rows: int = 0
    behind: int = 0
    fault: str = ""


def look(folder: Path, workspace: Workspace) -> list[Looked]:
    """Every index in the folder, the owner's first."""
    paths = sorted(folder.glob("*.db"), key=lambda path: (path.stem != OWNER, path.stem))
    return [_look(path, workspace) for path in paths]


def _look(path: Path, workspace: Workspace) -> Looked:
    space = "" if path.stem == OWNER else path.stem.removeprefix(OTHERS)
    try:
        with closing(SqliteIndex(path)) as index:
            fault, rows = index.check(), index.count()
            sources = index.sources()
        if fault:
            return Looked(space=space, rows=rows, fault=fault)
        behind, wrong = _compare(path, workspace.space(space), sources)
    except (sqlite3.Error, PathRefused) as err:
        return Looked(space=space, fault=str(err))
    return Looked(space=space, rows=rows, behind=behind, fault=wrong)


def _compare(path: Path, files: SpaceFiles, sources: dict[str, str]) -> tuple[int, str]:
    """How many files have changed since they were indexed; the first that has not, and yet is indexed otherwise."""
    behind, wrong = 0, ""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
        for name, stamp in sources.items():
            if not name.startswith(FILE):
                continue
            inside = name.removeprefix(FILE)
            if stamp != _stamp(files, inside):
                behind += 1
            elif base.execute(_ROWS, (name,)).fetchall() != _rows(files, inside):
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
