"""Downloads attachments as soon as their message is stored: some addresses are valid for minutes
only.
"""

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
# a file is not downloaded twice within this time; unreferenced blobs live longer
CACHE_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadedFile:
    """A downloaded file."""

    sha256: str
    #: "" if only the message names it.
    name: str = ""
    #: "" if only the message names it.
    media_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Download:
    """A running or finished download."""

    task: asyncio.Task[DownloadedFile]
    #: Monotonic seconds when it began.
    since: float


# Channel, reference and space: a file counts against the storage of its space.
DownloadKey = tuple[str, str, str]


class Downloads:
    """Downloads each file of a space once; after a failure the next request tries again."""

    def __init__(
        self,
        fetch: Callable[[str, str], Awaitable[FetchedFile]],
        blobs: Blobs,
        reserve: Callable[[str, int], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """reserve: reserves storage before a file is stored; see StorageQuota.take."""
        self._fetch = fetch
        self._blobs = blobs
        self._reserve = reserve
        self._slots = asyncio.Semaphore(MAX_PARALLEL_DOWNLOADS)
        self._clock = clock
        self._downloads: dict[DownloadKey, _Download] = {}

    def begin(self, channel: str, ref: str, space: str) -> None:
        """Download a file in the background. space: to which it is charged.

        If too many downloads run, nothing happens: the turn that needs the file downloads it.
        """
        self._prune()
        if len(self._downloads) < MAX_CACHED_DOWNLOADS:
            self._download((channel, ref, space)).task.add_done_callback(_consume_exception)

    async def get(self, channel: str, ref: str, space: str) -> DownloadedFile:
        """Return the file once it is downloaded.

        Raises:
            ChannelError: it cannot be downloaded.
            QuotaExceededError: the storage quota is used up.
            OSError: it could not be stored.
        """
        key = (channel, ref, space)
        file = await self._wait_for(key)
        if not await asyncio.to_thread(self._blobs.has, file.sha256):  # deleted since
            self._downloads.pop(key, None)
            file = await self._wait_for(key)
        return file

    async def close(self) -> None:
        """Cancel running downloads."""
        await cancel_and_wait(download.task for download in self._downloads.values())

    async def _wait_for(self, key: DownloadKey) -> DownloadedFile:
        download = self._download(key)
        try:
            return await asyncio.shield(download.task)
        except (ChannelError, OSError):
            if self._downloads.get(key) is download:
                del self._downloads[key]
            raise

    def _download(self, key: DownloadKey) -> _Download:
        """Return the download of a key; start one if there is none, or only an expired one."""
        download = self._downloads.get(key)
        if download is None or (
            download.task.done() and self._clock() - download.since > CACHE_SECONDS
        ):
            self._prune()
            task = asyncio.create_task(self._run(*key), name=f"download {key[0]}")
            download = self._downloads[key] = _Download(task=task, since=self._clock())
        return download

    def _prune(self) -> None:
        """Drop old results, down to the limit.

        Running downloads stay, or their files would be downloaded twice.
        """
        if (over := len(self._downloads) + 1 - MAX_CACHED_DOWNLOADS) > 0:
            for key in [key for key, download in self._downloads.items() if download.task.done()][
                :over
            ]:
                del self._downloads[key]

    async def _run(self, channel: str, ref: str, space: str) -> DownloadedFile:
        async with self._slots:
            file = await self._fetch(channel, ref)
            await self._reserve(space, len(file.data))
            sha256 = await asyncio.to_thread(self._blobs.put, file.data)
        return DownloadedFile(sha256=sha256, name=file.name, media_type=file.media_type)


def _consume_exception(task: asyncio.Task[DownloadedFile]) -> None:
    """Mark an error as retrieved: `get` raises it, and asyncio need not log it."""
    if not task.cancelled():
        task.exception()
