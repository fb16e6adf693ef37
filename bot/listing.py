"""The Markdown files of a home, listed: those of one space, or of everybody."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.workspace import SPACES, Entry, File, PathRefused, SpaceFiles, Workspace

SUFFIX = ".md"


def files_of(files: SpaceFiles, under: str = "") -> list[dict[str, Any]]:
    """The files of a space as JSON, sorted by path; blocks. under: what their paths begin with."""
    return [described(item, under) for item in files.list() if not item.is_dir and item.path.endswith(SUFFIX)]


def described(item: Entry | File, under: str = "") -> dict[str, Any]:
    """A file as JSON: path, size in bytes, updated_at."""
    written = datetime.fromtimestamp(item.mtime, UTC).isoformat()
    return {"path": under + item.path, "size": item.size, "updated_at": written}


def listing(root: Path) -> list[dict[str, Any]]:
    """The files of a whole workspace, the owner's first, then space by space; blocks."""
    if not root.exists():
        return []
    workspace = Workspace(root)
    others = [
        file for name in space_folders(workspace) for file in files_of(workspace.space(name), f"{SPACES}/{name}/")
    ]
    return [*files_of(workspace.space("")), *others]


def space_folders(workspace: Workspace) -> list[str]:
    """The spaces besides the owner's that have a folder; blocks."""
    try:
        names = sorted(item.name for item in (workspace.root / SPACES).iterdir() if item.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in names if _is_space(workspace, name)]


def _is_space(workspace: Workspace, name: str) -> bool:
    try:
        workspace.space(name)
    except PathRefused:
        return False
    return True
