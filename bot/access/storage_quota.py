"""Storage limits per person and for all people, checked before anything is stored."""

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
from channels.phrases import AnyPhrase, Phrase
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import SPACES_FOLDER, Workspace

log = structlog.get_logger(__name__)
MB = 1_000_000
# after which storage is counted again; until then only what this process stores is added
COUNT_SECONDS = 600.0
WARN_SHARE = 0.8
MAX_CACHED_SPACES = 10_000
OWNER_SPACE = ""
ALL_SPACES = "*"
QUOTA_TEXTS = {
    "mine": Phrase(
        "{name} was not saved: your storage is full ({used} of {most} MB used). Ask the bot's "
        "owner for more."
    ),
    "all": Phrase(
        "{name} was not saved: the storage shared by everyone is full ({most} MB). Ask the bot's "
        "owner."
    ),
}
QUOTA_WARNING = Phrase(
    "Stored files take up {used} of {most} MB (budgets.total.storage_mb). Once that is full, "
    "other people's files are no longer saved; yours still are."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaReached:
    """A storage limit is reached."""

    #: The limit of one person, or of all people.
    of: Literal["mine", "all"]
    #: Bytes.
    used: int
    #: Bytes.
    most: int

    def sentence(self, name: str, lang: str) -> str:
        """Say that a file was not stored, and why."""
        phrase = QUOTA_TEXTS[self.of].fill(
            name=name, used=_format_mb(self.used), most=_format_mb(self.most)
        )
        return phrase.text(lang)


class QuotaExceededError(OSError):
    """Something was not stored because a storage limit is reached."""

    def __init__(self, full: QuotaReached) -> None:
        super().__init__(full.sentence("it", "en"))
        self.full = full


@dataclass(slots=True)
class _CountedBytes:
    """Bytes counted at a time (monotonic seconds), plus what was stored since."""

    bytes: int
    at: float


class StorageQuota:
    """Checks the storage limits before anything is stored; warns the owner."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        workspace: Workspace,
        config: Callable[[], Config],
        now: Callable[[], datetime],
        notify_owner: Callable[[str, AnyPhrase, str], Awaitable[object]],
    ) -> None:
        self._store, self._blobs = store, blobs
        self._spaces_root = workspace.root / SPACES_FOLDER
        self._config = config
        self._now = now
        self._notify_owner = notify_owner
        self._counted: dict[str, _CountedBytes] = {}

    async def take(self, space: str, size: int) -> None:
        """Reserve `size` bytes before they are stored. The owner is never refused.

        Args:
            space: to which they are charged; linked accounts share a limit, as they share a memory.

        Raises:
            QuotaExceededError: a limit would be passed.
        """
        if size <= 0:
            return
        space = await self._store.links.linked_space(space)
        mine, total = (
            self._config().budgets.user.storage_mb * MB,
            self._config().budgets.total.storage_mb * MB,
        )
        if space != OWNER_SPACE and mine and (used := await self._used(space)) + size > mine:
            raise _refuse(QuotaReached(of="mine", used=used, most=mine))
        if total:
            used = await self._used(ALL_SPACES)
            if used + size > total * WARN_SHARE:
                await self._warn(used + size, total)
            if space != OWNER_SPACE and used + size > total:
                raise _refuse(QuotaReached(of="all", used=used, most=total))
        for name in (space, ALL_SPACES):
            if name in self._counted:
                self._counted[name].bytes += size

    def quota_error(self, space: str, size: int) -> QuotaExceededError:
        """Return the error of a file that was not stored on arrival: by whose limit, as far as that
        is still known.
        """
        mine, total = (
            self._config().budgets.user.storage_mb * MB,
            self._config().budgets.total.storage_mb * MB,
        )
        known = self._counted.get(space)
        if mine and (known is None or known.bytes + size > mine or not total):
            return QuotaExceededError(
                QuotaReached(of="mine", used=known.bytes if known else mine, most=mine)
            )
        return QuotaExceededError(QuotaReached(of="all", used=total, most=total))

    async def _used(self, space: str) -> int:
        known = self._counted.get(space)
        if known is None or time.monotonic() - known.at > COUNT_SECONDS:
            count = self._count_all() if space == ALL_SPACES else self._count_space(space)
            self._counted.pop(space, None)
            known = self._counted[space] = _CountedBytes(bytes=await count, at=time.monotonic())
            if len(self._counted) > MAX_CACHED_SPACES:  # drop the oldest, which would expire first
                del self._counted[next(name for name in self._counted if name != ALL_SPACES)]
        return known.bytes

    async def _count_space(self, space: str) -> int:
        """Count the files of a space and those linked to it, their versions, and their
        conversations' attachments.
        """
        members = await self._store.links.members(space)
        names = {name for member in members for name in await self._store.spending.files(member)}
        for member in members:
            names |= {row.sha256 for row in await self._store.file_versions.load_all(member)}
        roots = [self._spaces_root / member for member in members if member]
        return await asyncio.to_thread(
            lambda: self._blobs.size_of(names) + sum(map(folder_bytes, roots))
        )

    async def _count_all(self) -> int:
        """Count all attachments, the owner's too, and the files of all spaces except the
        owner's.
        """
        return await asyncio.to_thread(
            lambda: self._blobs.size_of() + folder_bytes(self._spaces_root)
        )

    async def _warn(self, used: int, most: int) -> None:
        warning = QUOTA_WARNING.fill(used=_format_mb(used), most=_format_mb(most))
        await self._notify_owner("", warning, f"budget:storage:{self._now():%Y-%m-%d}")


def _refuse(full: QuotaReached) -> QuotaExceededError:
    log.info("over budget", limit=f"{full.of} storage")
    return QuotaExceededError(full)


def folder_bytes(root: Path) -> int:
    """Return the size of all plain files below a folder; blocks. Links are not followed."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _format_mb(size: int) -> str:
    return f"{size / MB:,.1f}".removesuffix(".0")
