"""An answer that goes on for as long as its reader is there, may read it, and keeps up."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import structlog
from starlette.types import Receive, Scope, Send

from channels.web.calls import refusal
from channels.web.gate import Visitor

log = structlog.get_logger(__name__)
STALLED = 30.0
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx then passes each event on at once
]


class EventStream:
    """Server-sent events as an ASGI answer.

    alive: asked before each frame; when it says no, or one frame is not taken for `stalled` seconds, the stream ends
    and the client may come back with its Last-Event-ID. A login that has its most streams open already is answered 429.
    """

    def __init__(self, frames: AsyncGenerator[bytes], alive: Callable[[], bool], *, stalled: float = STALLED) -> None:
        self._frames = frames
        self._alive = alive
        self._stalled = stalled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visitor: Visitor = scope["state"]["visitor"]
        streams = visitor.streams
        if streams.count >= streams.most:
            why = f"{streams.most} event streams of this login are open; close one first"
            await refusal(429, "too_many_streams", why, {"retry-after": "5"})(scope, receive, send)
            return
        streams.count += 1
        try:
            await self._stream(scope, receive, send)
        finally:
            streams.count -= 1

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        tasks: list[asyncio.Task[None]] = [asyncio.create_task(_gone(receive))]
        if scope["method"] != "HEAD":
            tasks.append(asyncio.create_task(self._pump(send)))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, OSError):
                log.error("stream ended early", error=type(result).__name__, exc_info=result)
        await send({"type": "http.response.body", "body": b""})

    async def _pump(self, send: Send) -> None:
        async with aclosing(self._frames) as frames:  # whatever ends this, the conversation has one reader less at once
            async for frame in frames:
                if not self._alive():
                    return
                if frame:
                    await self._put(send, frame)

    async def _put(self, send: Send, frame: bytes) -> None:
        async with asyncio.timeout(self._stalled):
            await send({"type": "http.response.body", "body": frame, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
