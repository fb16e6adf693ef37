"""What has changed in the list of conversations, as server-sent events, and several sources in one stream.

The list is looked at once a second for as long as somebody follows it: one query over an index that reads only what
has changed since the last look. So nothing is registered where messages are stored, a slow reader delays nobody, and
what another process stored is seen as well.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from channels.web.backend import Changed, Conversation
from channels.web.calls import entry

PAUSE = 1.0  # seconds between two looks
OVERLAP = 5.0  # seconds that a transaction may take from its time stamp to its commit
MAX_CHANGES = 200  # entries of one look; more since the last one make a `reset`
LOOKS_PER_KEEP_ALIVE = 15
KEEP_ALIVE = b": keep-alive\n\n"
RETRY = b"retry: 1000\n\n"
RESET = b"event: reset\ndata: {}\n\n"


async def list_changes(
    changed: Callable[[float, int], Awaitable[Changed | None]],
    closed: Callable[[], bool],
    *,
    pause: float = PAUSE,
) -> AsyncGenerator[bytes]:
    """Frames until `closed`: `conversation` with an entry of the list, or `reset` when the list has to be read again.

    An empty frame (b"") says that nothing has changed.

    Args:
        changed: see Backend.changed.
    """
    yield RETRY
    since, sent, looks = float("inf"), dict[str, Conversation](), 0
    while not closed():
        found = await changed(since - OVERLAP, MAX_CHANGES)
        if found is not None:
            for frame in _frames([one for one in found.conversations if sent.get(one.id) != one]):
                yield frame
            sent = {one.id: one for one in found.conversations}
            since = found.at
        looks += 1
        yield b"" if looks % LOOKS_PER_KEEP_ALIVE else KEEP_ALIVE
        await asyncio.sleep(pause)


async def merged(*sources: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The frames of all sources, each as soon as it is there, until one of them ends."""
    waiting: dict[asyncio.Future[bytes], AsyncGenerator[bytes]] = {
        asyncio.ensure_future(anext(source)): source for source in sources
    }
    try:
        while (frames := await _next_frames(waiting)) is not None:
            for frame in frames:
                yield frame
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for source in sources:
            await source.aclose()


async def _next_frames(waiting: dict[asyncio.Future[bytes], AsyncGenerator[bytes]]) -> list[bytes] | None:
    """What is there first, of one source or several; None when one of them has ended."""
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    frames = []
    for task in done:
        source = waiting.pop(task)
        if isinstance(task.exception(), StopAsyncIteration):
            return None
        frames.append(task.result())
        waiting[asyncio.ensure_future(anext(source))] = source
    return frames


def _frames(new: Sequence[Conversation]) -> list[bytes]:
    """The oldest change first, so that the newest ends on top of the list."""
    return [RESET] if len(new) == MAX_CHANGES else [_frame(one) for one in reversed(new)]


def _frame(one: Conversation) -> bytes:
    text = json.dumps(entry(one), ensure_ascii=True, separators=(",", ":"))
    return f"event: conversation\ndata: {text}\n\n".encode()
