"""The memory files that somebody may read: those of a space, and of the accounts that have joined it."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from memory import daily_log
from memory.longterm.editing import PATH
from memory.store.doors import Store
from memory.workspace import SPACES, File, PathRefused, SpaceFiles, TooBig, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """A file with whose it is. path: relative to the workspace's root, as recall gives it; file.path: to its space."""

    space: str
    path: str
    file: File


async def memory_file(store: Store, workspace: Workspace, space: str, path: str) -> MemoryFile | None:
    """The file that a path means to somebody of this space; None for what is no memory of theirs.

    Args:
        path: as recall gives it, or as it stands in the space itself.
    """
    for member in await store.links.members(space):
        inside = path.removeprefix(root_of(member))
        mine = path.startswith(root_of(member)) or member == space
        if mine and is_memory(inside):
            return await asyncio.to_thread(_read, workspace.space(member), member, inside)
    return None


async def memory_files(store: Store, workspace: Workspace, space: str) -> list[MemoryFile]:
    """All of them: MEMORY.md before the logs, the newest log first."""
    found: list[MemoryFile] = []
    for member in await store.links.members(space):
        found += await asyncio.to_thread(lambda: list(_all(workspace.space(member), member)))  # noqa: B023
    logs = sorted((one for one in found if one.file.path != PATH), key=lambda one: one.file.path, reverse=True)
    return [*(one for one in found if one.file.path == PATH), *logs]


def root_of(space: str) -> str:
    """What the paths of a space's files begin with."""
    return f"{SPACES}/{space}/" if space else ""


def is_memory(path: str) -> bool:
    """Whether a path inside a space is one of long-term memory."""
    return path == PATH or (path.startswith(f"{daily_log.FOLDER}/") and path.endswith(".md"))


def _all(files: SpaceFiles, space: str) -> Iterator[MemoryFile]:
    for entry in files.list():
        if not entry.is_dir and is_memory(entry.path) and (found := _read(files, space, entry.path)):
            yield found


def _read(files: SpaceFiles, space: str, inside: str) -> MemoryFile | None:
    try:
        return MemoryFile(space=space, path=root_of(space) + inside, file=files.read(inside))
    except (PathRefused, TooBig, OSError):
        return None
