"""The Markdown files of a space or of the whole workspace."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.longterm.memory_file import MEMORY_PATH
from memory.store.rows import to_iso
from memory.store.store import Store
from memory.workspace import daily_log
from memory.workspace.files import SPACES_FOLDER, FileEntry, SpaceFiles, TextFile, Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

MEMORY_SUFFIX = ".md"


def files_to_json(files: SpaceFiles, under: str = "") -> list[dict[str, Any]]:
    """List the files of a space as JSON, sorted by path; blocks. under: prefix of their paths."""
    return [
        file_to_json(item, under)
        for item in files.list()
        if not item.is_dir and item.path.endswith(MEMORY_SUFFIX)
    ]


def file_to_json(item: FileEntry | TextFile, under: str = "") -> dict[str, Any]:
    """Return a file as JSON: path, size in bytes, updated_at."""
    written = to_iso(item.mtime)
    return {"path": under + item.path, "size": item.size, "updated_at": written}


def list_workspace(root: Path) -> list[dict[str, Any]]:
    """List the files of a whole workspace as JSON, the owner's first, then space by space;
    blocks.
    """
    if not root.exists():
        return []
    workspace = Workspace(root)
    others = [
        file
        for name in list_space_folders(workspace)
        for file in files_to_json(workspace.space(name), f"{SPACES_FOLDER}/{name}/")
    ]
    return [*files_to_json(workspace.space("")), *others]


def list_space_folders(workspace: Workspace) -> list[str]:
    """List the spaces with a folder, except the owner's; blocks."""
    try:
        names = sorted(
            item.name for item in (workspace.root / SPACES_FOLDER).iterdir() if item.is_dir()
        )
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in names if _is_space(workspace, name)]


def _is_space(workspace: Workspace, name: str) -> bool:
    try:
        workspace.space(name)
    except PathRefused:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceMemoryFile:
    """A memory file and its space."""

    space: str
    #: Relative to the workspace's root, as recall returns it; `file.path` is relative to the space.
    path: str
    file: TextFile


async def find_memory_file(
    store: Store, workspace: Workspace, space: str, path: str
) -> SpaceMemoryFile | None:
    """Find a memory file of a space, or of an account linked to it; None if there is none.

    Args:
        path: relative to the workspace, as recall returns it, or to the space itself.
    """
    for member in await store.links.members(space):
        inside = path.removeprefix(space_path_prefix(member))
        mine = path.startswith(space_path_prefix(member)) or member == space
        if mine and is_memory_path(inside):
            return await asyncio.to_thread(
                _read_memory_file, workspace.space(member), member, inside
            )
    return None


async def list_memory_files(
    store: Store, workspace: Workspace, space: str
) -> list[SpaceMemoryFile]:
    """List the memory files of a space and its linked accounts: MEMORY.md first, then logs, the
    newest first.
    """
    files: list[SpaceMemoryFile] = []
    for member in await store.links.members(space):
        files += await asyncio.to_thread(_list_files, workspace.space(member), member)
    facts = [item for item in files if item.file.path == MEMORY_PATH]
    logs = [item for item in files if item.file.path != MEMORY_PATH]
    return [*facts, *sorted(logs, key=lambda item: item.file.path, reverse=True)]


def space_path_prefix(space: str) -> str:
    """Return the path prefix of a space's files."""
    return f"{SPACES_FOLDER}/{space}/" if space else ""


def is_memory_path(path: str) -> bool:
    """Whether a path inside a space is one of long-term memory."""
    return path == MEMORY_PATH or (
        path.startswith(f"{daily_log.LOG_FOLDER}/") and path.endswith(".md")
    )


def _list_files(files: SpaceFiles, space: str) -> list[SpaceMemoryFile]:
    paths = [
        entry.path for entry in files.list() if not entry.is_dir and is_memory_path(entry.path)
    ]
    return [found for path in paths if (found := _read_memory_file(files, space, path))]


def _read_memory_file(files: SpaceFiles, space: str, inside: str) -> SpaceMemoryFile | None:
    try:
        return SpaceMemoryFile(
            space=space, path=space_path_prefix(space) + inside, file=files.read(inside)
        )
    except (PathRefused, FileTooBig, OSError):
        return None


async def list_spaces(store: Store, workspace: Workspace) -> list[str]:
    """List the spaces of all conversations and folders, sorted; the owner's, "", is always
    included.
    """
    stored = await store.dreams.spaces()
    return sorted({"", *stored, *await asyncio.to_thread(list_space_folders, workspace)})
