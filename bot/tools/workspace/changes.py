"""Writes files for tools: the former contents are kept as versions, and several files change
together or not at all.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

import structlog

from bot.errors import ToolFailed
from bot.tools.base import ToolContext
from memory.store.automation.file_versions import FileVersionRow, FileVersions, NewFileVersion
from memory.store.errors import StoreError
from memory.workspace.atomic_write import FileConflict
from memory.workspace.blobs import Blobs
from memory.workspace.files import SpaceFiles, TextFile, Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file's content before and after."""

    path: str
    data: bytes
    #: None if there is no file.
    former: bytes | None


class HalfWritten(OSError):
    """Some files of a patch were written and could not be taken back; this is done at the next
    start.
    """


class FileChanges:
    """Writes of all tools in all spaces."""

    def __init__(self, workspace: Workspace, versions: FileVersions, blobs: Blobs) -> None:
        self._workspace = workspace
        self._versions = versions
        self._blobs = blobs
        self._running: set[asyncio.Task[list[TextFile]]] = set()

    async def write(self, context: ToolContext, changes: Sequence[FileChange]) -> list[TextFile]:
        """Write all of these files, or none; each one's former content becomes a version.

        What has begun is brought to its end, also if the caller is cancelled. After a kill,
        `resume` takes back what was written of several files.

        Raises:
            ToolFailed: nothing was written.
        """
        if kept := sum(len(change.former or b"") for change in changes):
            await context.reserve_storage(kept)
        task = asyncio.create_task(self._write(context.space, context.idem_key, changes))
        self._running.add(task)
        task.add_done_callback(self._end)
        return await asyncio.shield(task)

    async def history(self, space: str, path: str) -> list[FileVersionRow]:
        """Load the versions of a file, newest first."""
        rows = await self._versions.load(space, path)
        return [row for row in rows if row.sha256]

    async def content(self, row: FileVersionRow) -> bytes:
        """Read the content of a version."""
        return await run_in_tool_thread(lambda: self._blobs.get(row.sha256))

    async def resume(self, until: float) -> None:
        """Take back the unfinished patches that began before `until` (unix seconds) and have no
        running process.
        """
        rows = await self._versions.load_pending(until)
        rows.sort(key=lambda row: (row.space, row.call))
        for (space, call), group in groupby(rows, key=lambda row: (row.space, row.call)):
            try:
                await self._take_back(space, [row for row in group if await self._is_newest(row)])
                await self._versions.drop_pending(space, call)
            except (StoreError, OSError, PathRefused, FileTooBig) as err:
                log.warning(
                    "an unfinished patch is taken back at the next start", error=type(err).__name__
                )

    def _end(self, task: asyncio.Task[list[TextFile]]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # nobody else asks for it if the caller was cancelled

    async def _write(self, space: str, call: str, changes: Sequence[FileChange]) -> list[TextFile]:
        is_patch = len(changes) > 1
        kept = await run_in_tool_thread(
            lambda: [self._keep(one, is_patch=is_patch) for one in changes]
        )
        versions = [version for version in kept if version is not None]
        if versions:
            await self._versions.keep(space, call, versions)
        try:
            written = await run_in_tool_thread(
                lambda: write_together(self._workspace.space(space), changes)
            )
        except HalfWritten as err:
            raise ToolFailed(f"{err}.") from err
        except Exception:
            if is_patch:
                await self._versions.drop_pending(space, call)
            raise
        if is_patch:
            await self._versions.settle(space, call)
        return written

    def _keep(self, change: FileChange, *, is_patch: bool) -> NewFileVersion | None:
        pending = _sha256(change.data) if is_patch else ""
        if change.former is None:
            return (
                NewFileVersion(path=change.path, sha256="", size=0, pending=pending)
                if is_patch
                else None
            )
        sha256 = self._blobs.put(change.former)
        return NewFileVersion(
            path=change.path, sha256=sha256, size=len(change.former), pending=pending
        )

    async def _is_newest(self, row: FileVersionRow) -> bool:
        """Whether no tool has written the file since."""
        return (await self._versions.load(row.space, row.path))[0].id == row.id

    async def _take_back(self, space: str, rows: Sequence[FileVersionRow]) -> None:
        def take_back() -> None:
            files = self._workspace.space(space)
            for row in rows:
                _take_back(
                    files,
                    row.path,
                    row.pending,
                    self._blobs.get(row.sha256) if row.sha256 else None,
                )

        await asyncio.to_thread(take_back)


def write_together(files: SpaceFiles, changes: Sequence[FileChange]) -> list[TextFile]:
    """Write these files; if one cannot be written, those before it get their former contents.

    Blocks.

    Raises:
        HalfWritten: these could not be taken back either.
    """
    written: list[TextFile] = []
    try:
        for change in changes:
            expected = None if change.former is None else _sha256(change.former)
            written.append(files.write_bytes(change.path, change.data, expected))
    except Exception as err:
        try:
            # with the one that failed: it may be in place, and only not known to be on the disk
            for change in changes[: len(written) + 1]:
                _take_back(files, change.path, _sha256(change.data), change.former)
        except (OSError, PathRefused, FileTooBig):
            raise HalfWritten(
                "some of the files were written; they are taken back at the next start"
            ) from err
        raise
    return written


def former_content(files: SpaceFiles, file: TextFile) -> bytes:
    """The bytes of a file that was read as text.

    Raises:
        FileConflict: it has changed since.
    """
    data = file.text.encode("utf-8", "replace")
    if _sha256(data) == file.sha256:
        return data
    data = files.read_bytes(file.path)
    if _sha256(data) != file.sha256:
        raise FileConflict(f"{file.path} was changed in the meantime")
    return data


def _take_back(files: SpaceFiles, path: str, written: str, former: bytes | None) -> None:
    """Bring the former content back, unless somebody else has changed the file."""
    with suppress(FileNotFoundError, FileConflict):
        if _sha256(files.read_bytes(path)) != written:
            return
        if former is None:
            files.remove(path, written)
        else:
            files.write_bytes(path, former, written)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def run_in_tool_thread(act: Callable[[], T]) -> T:
    """Run `act` in a thread; file errors become ToolFailed."""
    try:
        return await asyncio.to_thread(act)
    except FileConflict as err:
        raise ToolFailed(f"{err}; nothing was written. Read it again.") from err
    except (PathRefused, FileTooBig) as err:
        raise ToolFailed(f"{err}.") from err
    except FileNotFoundError as err:
        raise ToolFailed("There is no such file. list_files shows what there is.") from err
    except (IsADirectoryError, NotADirectoryError) as err:
        raise ToolFailed("The path takes a folder for a file, or a file for a folder.") from err
    except HalfWritten:
        raise
    except OSError as err:
        raise ToolFailed(f"It could not be done: {err.strerror or type(err).__name__}.") from err
