"""Files that platforms hold: fetched as soon as their message is stored, since some addresses live for minutes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from channels.base import Fetched
from channels.errors import ChannelError
from memory.tasks import end
from memory.workspace.blobs import Blobs

AT_ONCE = 4
MOST_KEPT = 1_000
KEPT_SECONDS = 3_600.0  # for which a file that has come need not be asked for again; unnamed blobs are kept for longer


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """A file that is a blob now, and what the platform calls it ("": nothing new)."""

    sha256: str
    name: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetch:
    """One file on its way, or here. since: monotonic seconds of its beginning."""

    task: asyncio.Task[Here]
    since: float


Key = tuple[str, str, str]
"""Channel, reference and space: each space has its own, for a file counts against the storage of whose it is."""


class Fetching:
    """One fetch for each file of a space, whoever asks first; what failed is tried anew by the next who asks."""

    def __init__(
        self,
        fetch: Callable[[str, str], Awaitable[Fetched]],
        blobs: Blobs,
        take: Callable[[str, int], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """take: asked for room before a file is stored; see Storage.take."""
        self._fetch = fetch
        self._blobs = blobs
        self._take = take
        self._places = asyncio.Semaphore(AT_ONCE)
        self._clock = clock
        self._fetches: dict[Key, _Fetch] = {}

    def begin(self, channel: str, ref: str, space: str) -> None:
        """Fetch it in the background. space: whose it will be.

        With too many under way nothing is begun: the turn that needs the file fetches it.
        """
        self._forget()
        if len(self._fetches) < MOST_KEPT:
            self._fetch_of((channel, ref, space)).task.add_done_callback(_heard)

    async def get(self, channel: str, ref: str, space: str) -> Here:
        """The file, once it is here.

        Raises:
            ChannelError: it is not to be had. NoRoom: there is no room for it. OSError: it could not be stored.
        """
        key = (channel, ref, space)
        here = await self._got(key)
        if not await asyncio.to_thread(self._blobs.has, here.sha256):  # removed since: somebody had it deleted
            self._fetches.pop(key, None)
            here = await self._got(key)
        return here

    async def close(self) -> None:
        """Give up what goes on."""
        await end(fetch.task for fetch in self._fetches.values())

    async def _got(self, key: Key) -> Here:
        fetch = self._fetch_of(key)
        try:
            return await asyncio.shield(fetch.task)
        except (ChannelError, OSError):
            if self._fetches.get(key) is fetch:
                del self._fetches[key]
            raise

    def _fetch_of(self, key: Key) -> _Fetch:
        fetch = self._fetches.get(key)
        if fetch is None or (fetch.task.done() and self._clock() - fetch.since > KEPT_SECONDS):
            self._forget()
            task = asyncio.create_task(self._go(*key), name=f"fetch {key[0]}")
            fetch = self._fetches[key] = _Fetch(task=task, since=self._clock())
        return fetch

    def _forget(self) -> None:
        """Make place for one more. What is under way stays: its task would be lost, and the file be asked for twice."""
        if (over := len(self._fetches) + 1 - MOST_KEPT) > 0:
            for key in [key for key, fetch in self._fetches.items() if fetch.task.done()][:over]:
                del self._fetches[key]

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
