"""How much is kept for each person and for all but the owner, held against the budgets before more is stored."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import structlog

from bot.config.schema import Config
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import SPACES, Workspace

log = structlog.get_logger(__name__)
MB = 1_000_000
COUNTED_FOR = 600.0
"""Seconds after which what is kept is counted anew; until then what this process stores is added."""
WARN_AT = 0.8
MOST_KNOWN = 10_000
OWNER = ""
ALL = "*"
TEXTS = {
    "mine": (
        "{name} 没有保存：你的存储空间满了（已用 {used} MB，上限 {most} MB）。需要更多请找这里的所有者。",
        "{name} was not kept: your storage is full ({used} of {most} MB are used). Ask the bot's owner for more.",
    ),
    "all": (
        "{name} 没有保存：大家的存储空间满了（上限 {most} MB）。请找这里的所有者。",
        "{name} was not kept: everybody's storage is full ({most} MB). Ask the bot's owner.",
    ),
}
WARNING = (
    "保存的文件已有 {used} MB，上限是 {most} MB（budgets.total.storage_mb）；满了就不再保存别人的文件，你的不受影响。",
    "The files that are kept come to {used} MB, of {most} (budgets.total.storage_mb). Once it is full, files of others "
    "are not kept any more; yours are.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Full:
    """There is no room. of: one person's or everybody's; used, most: bytes."""

    of: Literal["mine", "all"]
    used: int
    most: int

    def sentence(self, name: str, lang: str) -> str:
        """What the person is told of the file that was not kept."""
        zh, en = TEXTS[self.of]
        return (zh if lang == "zh" else en).format(name=name, used=_mb(self.used), most=_mb(self.most))


class NoRoom(OSError):
    """Something was not stored, for there is no room for it."""

    def __init__(self, full: Full) -> None:
        super().__init__(full.sentence("it", "en"))
        self.full = full


@dataclass(slots=True)
class _Counted:
    """Bytes, as they were added up at that time (monotonic seconds) and added to since."""

    bytes: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where it is kept."""

    store: Store
    blobs: Blobs
    workspace: Workspace


class Storage:
    """Asked before anything is stored for somebody. config, now: as they are then. tell_owner: see OwnersChat."""

    def __init__(
        self,
        kept: Kept,
        config: Callable[[], Config],
        now: Callable[[], datetime],
        tell_owner: Callable[[str, str, str, str], Awaitable[None]],
    ) -> None:
        self._kept = kept
        self._config = config
        self._now = now
        self._tell_owner = tell_owner
        self._counted: dict[str, _Counted] = {}

    async def take(self, space: str, size: int) -> None:
        """Room for so many bytes more; asked before they are stored. The owner is never refused.

        Args:
            space: whose they are; linked accounts share what there is, as they share a memory.

        Raises:
            NoRoom: a limit would be passed.
        """
        if size <= 0:
            return
        space = await self._kept.store.links.home(space)
        mine, total = self._config().budgets.user.storage_mb * MB, self._config().budgets.total.storage_mb * MB
        if space != OWNER and mine and (used := await self._used(space)) + size > mine:
            raise self._refused(Full(of="mine", used=used, most=mine))
        if total:
            used = await self._used(ALL)
            if used + size > total * WARN_AT:
                await self._warn(used + size, total)
            if space != OWNER and used + size > total:
                raise self._refused(Full(of="all", used=used, most=total))
        for name in (space, ALL):
            if name in self._counted:
                self._counted[name].bytes += size

    def no_room(self, space: str, size: int) -> NoRoom:
        """Of something that was not stored when it came: for whose limit, as far as that is known by now."""
        mine, total = self._config().budgets.user.storage_mb * MB, self._config().budgets.total.storage_mb * MB
        known = self._counted.get(space)
        if mine and (known is None or known.bytes + size > mine or not total):
            return NoRoom(Full(of="mine", used=known.bytes if known else mine, most=mine))
        return NoRoom(Full(of="all", used=total, most=total))

    async def _used(self, space: str) -> int:
        known = self._counted.get(space)
        if known is None or time.monotonic() - known.at > COUNTED_FOR:
            count = self._of_all() if space == ALL else self._of(space)
            self._counted.pop(space, None)
            known = self._counted[space] = _Counted(bytes=await count, at=time.monotonic())
            if len(self._counted) > MOST_KNOWN:  # the oldest count, which would be made anew soon
                del self._counted[next(name for name in self._counted if name != ALL)]
        return known.bytes

    async def _of(self, space: str) -> int:
        """The files of a space and of those linked to it, and the attachments in their conversations."""
        members = await self._kept.store.links.members(space)
        names = {name for member in members for name in await self._kept.store.spending.files(member)}
        roots = [self._kept.workspace.root / SPACES / member for member in members if member]
        return await asyncio.to_thread(lambda: self._kept.blobs.size_of(names) + sum(map(bytes_below, roots)))

    async def _of_all(self) -> int:
        """Every attachment, the owner's too, and the files of all spaces but the owner's."""
        root = self._kept.workspace.root / SPACES
        return await asyncio.to_thread(lambda: self._kept.blobs.size_of() + bytes_below(root))

    async def _warn(self, used: int, most: int) -> None:
        zh, en = (text.format(used=_mb(used), most=_mb(most)) for text in WARNING)
        await self._tell_owner("", zh, en, f"budget:storage:{self._now():%Y-%m-%d}")

    @staticmethod
    def _refused(full: Full) -> NoRoom:
        log.info("over budget", limit=f"{full.of} storage")
        return NoRoom(full)


def bytes_below(root: Path) -> int:
    """Of all plain files below a folder; links are not followed. Blocks."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _mb(size: int) -> str:
    return f"{size / MB:,.1f}".removesuffix(".0")
