"""Shows a request as it arrived, so that `mnema doctor` can tell what a proxy in front has done to it."""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp

from channels.web.calls import Call, answer
from channels.web.errors import Refused
from channels.web.rules import every
from channels.web.stream import HEADERS as STREAM_HEADERS
from channels.web.strict import LARGE, read_body

PATH = "/proxy-check/"
VALID_SECONDS = 60.0
MOST_CHECKS = 8
STREAM_SECONDS = 4.0  # between the first and the last line of the stream; a proxy that buffers sends both at once
FIRST, LAST = b": first\n\n", b": last\n\n"


class ProxyCheck:
    """Addresses that only somebody with the token can ask for, each good for a minute.

    They need neither a login nor our Host: a proxy that changes it is to be told so. They show nothing but the request.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: OrderedDict[str, float] = OrderedDict()

    def calls(self) -> tuple[Call, ...]:
        """The call that begins a check."""
        return (Call(method="POST", path="/api/proxy-check", action="console.read", handler=self._begin),)

    async def _begin(self, _: Request) -> ASGIApp:
        nonce = secrets.token_urlsafe(24)
        self._until[nonce] = self._clock() + VALID_SECONDS
        while len(self._until) > MOST_CHECKS:  # the oldest; a check takes seconds
            self._until.popitem(last=False)
        return answer({"path": f"{PATH}{nonce}"})

    async def answer(self, request: Request) -> ASGIApp:
        """Answer a request below PATH.

        Raises:
            Refused: 404 for an address that nobody asked for, or no more.
        """
        nonce, _, what = request.scope["path"].removeprefix(PATH).partition("/")
        if self._until.get(nonce, float("-inf")) < self._clock():
            raise Refused(404, "not_found", "not found")
        if what == "stream":
            headers = {name.decode(): value.decode() for name, value in STREAM_HEADERS}
            return StreamingResponse(_stream(), headers=headers)
        if request.method == "POST":
            await read_body(request, limit=LARGE, seconds=5.0)
        return answer({"check": nonce, **_seen(request)})


def _seen(request: Request) -> dict[str, Any]:
    headers = request.scope["headers"]
    names = {"host": b"host", "origin": b"origin", "forwarded_for": b"x-forwarded-for"}
    told = {key: [value.decode("latin-1") for value in every(headers, name)] for key, name in names.items()}
    return {**told, "peer": request.client.host if request.client else ""}


async def _stream() -> AsyncIterator[bytes]:
    yield FIRST
    await asyncio.sleep(STREAM_SECONDS)
    yield LAST
