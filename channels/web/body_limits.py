"""Time limits of request bodies: without progress and in all; none is waited for any more once the server stops."""

import asyncio
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.web.requests import HttpRefusal
from channels.web.routes import HOOKS_PATH

_CLOSE = {"connection": "close"}
_DISCONNECT: Message = {"type": "http.disconnect"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyTimes:
    """How long a body is waited for, in seconds; what the handler does in between does not count."""

    #: For the next bytes.
    stall: float = 30.0
    #: For all of it.
    total: float = 300.0
    #: For all of a platform's call.
    webhook: float = 5.0


class BodyLimiter:
    """ASGI app around another: its `receive` raises HttpRefusal once the body does not come in time.

    Where the response has begun by then, `receive` returns a disconnect.
    """

    def __init__(self, app: ASGIApp, times: BodyTimes) -> None:
        self._app = app
        self._times = times
        self._waits: set[asyncio.Timeout] = set()
        self._stopping = False

    def stop(self) -> None:
        """Wait for no body any more, nor for the rest of those that are under way."""
        self._stopping = True
        for wait in self._waits:
            wait.reschedule(0.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_hook = scope["path"].startswith(HOOKS_PATH) if scope["type"] == "http" else False
        total = self._times.webhook if is_hook else self._times.total
        left, has_begun, is_whole = total, False, False
        loop = asyncio.get_running_loop()

        async def receive_in_time() -> Message:
            nonlocal left, is_whole
            if is_whole:
                return await receive()
            limit, began = min(left, self._times.stall), loop.time()
            try:
                message = await self._wait(receive, limit)
            except TimeoutError as err:
                if has_begun:
                    return _DISCONNECT
                raise self._refusal(limit if limit < left else total, is_stalled=limit < left) from err
            left -= loop.time() - began
            is_whole = not message.get("more_body", False)
            return message

        async def send_and_see(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        await self._app(scope, receive_in_time, send_and_see)

    async def _wait(self, receive: Receive, seconds: float) -> Message:
        async with asyncio.timeout(0.0 if self._stopping else seconds) as wait:
            self._waits.add(wait)
            try:
                return await receive()
            finally:
                self._waits.discard(wait)

    def _refusal(self, seconds: float, *, is_stalled: bool) -> HttpRefusal:
        if self._stopping:
            why = "the server is stopping; send it again in a moment"
            return HttpRefusal(503, "stopping", why, {**_CLOSE, "retry-after": "5"})
        if is_stalled:
            return HttpRefusal(408, "slow", f"nothing more of the body arrived within {seconds:g} s", _CLOSE)
        return HttpRefusal(408, "slow", f"the body did not arrive within {seconds:g} s", _CLOSE)
