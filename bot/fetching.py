"""Files that platforms hold: fetched as soon as their message is stored, since some addresses live for minutes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from channels.base import Fetched
from channels.errors import ChannelError
from memory.blobs import Blobs
from memory.ending import end

AT_ONCE = 4
MOST_KEPT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """A file that is a blob now, and what the platform calls it ("": nothing new)."""

    sha256: str
    name: str = ""
    media_type: str = ""


class Fetching:
    """One fetch for each file, whoever asks first; what failed is tried anew by the next who asks."""

    def __init__(
        self,
        fetch: Callable[[str, str], Awaitable[Fetched]],
        blobs: Blobs,
        take: Callable[[str, int], Awaitable[None]],
    ) -> None:
        """take: asked for room before a file is stored; see Storage.take."""
        self._fetch = fetch
        self._blobs = blobs
        self._take = take
        self._places = asyncio.Semaphore(AT_ONCE)
        self._tasks: dict[tuple[str, str], asyncio.Task[Here]] = {}

    def begin(self, channel: str, ref: str, space: str) -> None:
        """Fetch it in the background. space: whose it will be."""
        while len(self._tasks) >= MOST_KEPT:
            self._tasks.pop(next(iter(self._tasks)))
        self._task(channel, ref, space).add_done_callback(_heard)

    async def get(self, channel: str, ref: str, space: str) -> Here:
        """The file, once it is here.

        Raises:
            ChannelError: it is not to be had. NoRoom: there is no room for it. OSError: it could not be stored.
        """
        try:
            return await asyncio.shield(self._task(channel, ref, space))
        except (ChannelError, OSError):
            self._tasks.pop((channel, ref), None)
            raise

    async def close(self) -> None:
        """Give up what goes on."""
        await end(self._tasks.values())

    def _task(self, channel: str, ref: str, space: str) -> asyncio.Task[Here]:
        task = self._tasks.get((channel, ref))
        if task is None:
            task = self._tasks[channel, ref] = asyncio.create_task(
                self._go(channel, ref, space), name=f"fetch {channel}"
            )
        return task

    async def _go(self, channel: str, ref: str, space: str) -> Here:
        async with self._places:
            got = await self._fetch(channel, ref)
            await self._take(space, len(got.data))
            sha256 = await asyncio.to_thread(self._blobs.put, got.data)
        return Here(sha256=sha256, name=got.name, media_type=got.media_type)


def _heard(task: asyncio.Task[Here]) -> None:
    """What failed is told to whoever asks for it; nobody else has to know."""
    if not task.cancelled():
        task.exception()
