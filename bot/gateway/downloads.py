"""Downloads attachments as soon as their message is stored: some addresses are valid for minutes only."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from channels.base import FetchedFile
from channels.errors import ChannelError
from memory.tasks import cancel_and_wait
from memory.workspace.blobs import Blobs

MAX_PARALLEL_DOWNLOADS = 4
MAX_CACHED_DOWNLOADS = 1_000
CACHE_SECONDS = 3_600.0  # a file is not downloaded twice within this time; unreferenced blobs live longer


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadedFile:
    """A downloaded file. Empty name and media type: as the message said."""

    sha256: str
    name: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Download:
    """One file, being downloaded or done."""

    task: asyncio.Task[DownloadedFile]
    #: Monotonic seconds when it began.
    since: float


# Channel, reference and space: each space has its own, for a file counts against the storage of whose it is.
DownloadKey = tuple[str, str, str]


class Downloads:
    """Downloads each file of a space once; after a failure the next request tries again."""

    def __init__(
        self,
        fetch: Callable[[str, str], Awaitable[FetchedFile]],
        blobs: Blobs,
        take: Callable[[str, int], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """take: reserves storage before a file is stored; see StorageQuota.take."""
        self._fetch = fetch
        self._blobs = blobs
        self._take = take
        self._places = asyncio.Semaphore(MAX_PARALLEL_DOWNLOADS)
        self._clock = clock
        self._fetches: dict[DownloadKey, _Download] = {}

    def begin(self, channel: str, ref: str, space: str) -> None:
        """Fetch it in the background. space: whose it will be.

        With too many under way nothing is begun: the turn that needs the file fetches it.
        """
        self._forget()
        if len(self._fetches) < MAX_CACHED_DOWNLOADS:
            self._fetch_of((channel, ref, space)).task.add_done_callback(_consume_exception)

    async def get(self, channel: str, ref: str, space: str) -> DownloadedFile:
        """The file, once it is here.

        Raises:
            ChannelError: it cannot be fetched.
            QuotaExceededError: the storage quota is used up.
            OSError: it could not be stored.
        """
        key = (channel, ref, space)
        here = await self._got(key)
        if not await asyncio.to_thread(self._blobs.has, here.sha256):  # removed since: somebody had it deleted
            self._fetches.pop(key, None)
            here = await self._got(key)
        return here

    async def close(self) -> None:
        """Cancel running downloads."""
        await cancel_and_wait(fetch.task for fetch in self._fetches.values())

    async def _got(self, key: DownloadKey) -> DownloadedFile:
        fetch = self._fetch_of(key)
        try:
            return await asyncio.shield(fetch.task)
        except (ChannelError, OSError):
            if self._fetches.get(key) is fetch:
                del self._fetches[key]
            raise

    def _fetch_of(self, key: DownloadKey) -> _Download:
        fetch = self._fetches.get(key)
        if fetch is None or (fetch.task.done() and self._clock() - fetch.since > CACHE_SECONDS):
            self._forget()
            task = asyncio.create_task(self._go(*key), name=f"fetch {key[0]}")
            fetch = self._fetches[key] = _Download(task=task, since=self._clock())
        return fetch

    def _forget(self) -> None:
        """Drop old results to make room. Running downloads stay, or their files would be fetched twice."""
        if (over := len(self._fetches) + 1 - MAX_CACHED_DOWNLOADS) > 0:
            for key in [key for key, fetch in self._fetches.items() if fetch.task.done()][:over]:
                del self._fetches[key]

    async def _go(self, channel: str, ref: str, space: str) -> DownloadedFile:
        async with self._places:
            got = await self._fetch(channel, ref)
            await self._take(space, len(got.data))
            sha256 = await asyncio.to_thread(self._blobs.put, got.data)
        return DownloadedFile(sha256=sha256, name=got.name, media_type=got.media_type)


def _consume_exception(task: asyncio.Task[DownloadedFile]) -> None:
    """Mark an error as seen: it is raised to those who wait for the file."""
    if not task.cancelled():
        task.exception()
