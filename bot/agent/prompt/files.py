"""Reads the memory files of a space for the system prompt; all conversations of the space share
what was read.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bot.agent.prompt.persona import UNREADABLE_STAMP, FileStamp, file_stamp
from bot.telemetry.faults import TroubleList
from channels.toolkit.delivery import BoundedDict
from memory.context.system_prompt import MEMORY
from memory.text.markdown import split_lines
from memory.workspace.daily_log import LOG_FOLDER, list_folds
from memory.workspace.files import SPACES_FOLDER, TextFile, Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused
from memory.workspace.templates import MEMORY_TEMPLATE

MAX_LOG_FILES = 9  # of one day
# MEMORY.md of so many spaces are kept: all conversations of a space read it after each change
MAX_KNOWN_FILES = 64
MAX_KNOWN_LOGS, MAX_KNOWN_LOG_CHARS = 16, 200_000  # the same for the day's log, unless it is longer
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """A MEMORY.md."""

    #: "" while it is still the template.
    text: str
    #: Of the file; "" if there is none.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLog:
    """A day's log."""

    #: Of all its files.
    text: str
    #: Ids of the folds that have a section in it.
    folds: tuple[str, ...]


NO_FILE, NO_LOG = MemoryFile(text="", sha256=""), DayLog(text="", folds=())


class UnreadableFile(Exception):
    """A file exists but cannot be read, which is not the same as no file."""


class PromptFiles:
    """Reads MEMORY.md and the day's log in a thread, and again only when they have changed."""

    def __init__(self, workspace: Workspace, troubles: TroubleList) -> None:
        """troubles: notified of files that cannot be read, and of those that can be again."""
        self._workspace = workspace
        self._troubles = troubles
        self._template = _normalize_lines(MEMORY_TEMPLATE.read_text("utf-8"))
        self._memories: BoundedDict[str, tuple[FileStamp, MemoryFile]] = BoundedDict(
            MAX_KNOWN_FILES
        )
        self._logs: BoundedDict[str, tuple[Mapping[str, FileStamp], DayLog]] = BoundedDict(
            MAX_KNOWN_LOGS
        )

    def memory_stamp(self, space: str) -> FileStamp:
        """Return the stamp of a space's MEMORY.md."""
        return file_stamp(self._folder(space) / MEMORY)

    async def memory_text(self, space: str) -> str:
        """Return the text of MEMORY.md as it stands; "" if there is none or it cannot be read."""
        file = await self._try_read(self.read, space, MEMORY)
        return file.text if file else ""

    async def load_memory(self, space: str, stamp: FileStamp) -> MemoryFile | None:
        """Return MEMORY.md as it is with this stamp; None if it cannot be read."""
        if not any(stamp):
            return NO_FILE
        known = self._memories.get(space)
        if known and known[0] == stamp:
            return known[1]
        file = await self._try_read(self._read_memory, space)
        if file is not None and stamp != UNREADABLE_STAMP:
            self._memories[space] = (stamp, file)
        return file

    async def load_log(self, space: str, day: str) -> DayLog | None:
        """Return the log of a day, "YYYY-MM-DD"; None if it cannot be read."""
        folder = self._folder(space)
        numbered = (f"{LOG_FOLDER}/{day}-{number}.md" for number in range(2, MAX_LOG_FILES + 1))
        stamps = {name: file_stamp(folder / name) for name in (f"{LOG_FOLDER}/{day}.md", *numbered)}
        existing = {name: stamp for name, stamp in stamps.items() if any(stamp)}
        if not existing:
            return NO_LOG
        known = self._logs.get(space)
        if known and known[0] == existing:
            return known[1]
        log = await self._try_read(self._read_log, space, tuple(existing))
        is_short = log is not None and len(log.text) <= MAX_KNOWN_LOG_CHARS
        if log is not None and is_short and UNREADABLE_STAMP not in existing.values():
            self._logs[space] = (existing, log)
        return log

    def drop(self) -> None:
        """Drop what was read."""
        self._memories.clear()
        self._logs.clear()

    def read(self, space: str, path: str) -> TextFile | None:
        """Read a file of a space; None if there is none. Blocks.

        Raises:
            UnreadableFile: it exists but cannot be read.
        """
        try:
            file = self._workspace.space(space).read(path)
        except FileNotFoundError:
            file = None
        except (PathRefused, FileTooBig, OSError) as err:
            self._troubles.unreadable(space, path, err)
            raise UnreadableFile from err
        self._troubles.readable(space, path)
        return file

    async def _try_read(self, read: Callable[..., T], *args: object) -> T | None:
        """Call `read` in a thread; None if the file exists but cannot be read."""
        try:
            return await asyncio.to_thread(read, *args)
        except UnreadableFile:
            return None

    def _folder(self, space: str) -> Path:
        return self._workspace.root / SPACES_FOLDER / space if space else self._workspace.root

    def _read_memory(self, space: str) -> MemoryFile:
        file = self.read(space, MEMORY)
        if file is None:
            return NO_FILE
        return MemoryFile(
            text="" if _normalize_lines(file.text) == self._template else file.text,
            sha256=file.sha256,
        )

    def _read_log(self, space: str, names: Sequence[str]) -> DayLog:
        files = [self.read(space, name) for name in names]
        text = "\n\n".join(file.text for file in files if file)
        return DayLog(text=text, folds=list_folds(text))


def _normalize_lines(text: str) -> str:
    return "\n".join(split_lines(text)).strip()
