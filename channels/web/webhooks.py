"""The platforms' own calls, at /hooks/ and a channel's name: bounded here, judged by the channel."""

import asyncio
from collections.abc import Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from channels.base import HasWebhook, WebhookReply, WebhookRequest
from channels.web.requests import HttpRefusal

HOOKS_PATH = "/hooks/"
MAX_BODY_BYTES = 1 << 20
MAX_BODY_SECONDS = 5.0
_CLOSE = {"connection": "close"}
# The channel of that name, None where none takes calls: then the address does not exist.
FindChannel = Callable[[str], HasWebhook | None]


async def handle_webhook(request: Request, find: FindChannel) -> ASGIApp:
    """What a platform's call is answered with.

    These calls know no session: they are let past the gate, whatever name the proxy in front goes by.

    Raises:
        HttpRefusal: 404 no such channel, 405, 413 more than 1 MiB, 408 slower than 5 s.
    """
    channel = find(request.scope["path"].removeprefix(HOOKS_PATH))
    if channel is None:
        raise HttpRefusal(404, "not_found", "not found")
    if request.method not in ("GET", "POST"):
        raise HttpRefusal(405, "method", "a platform calls with GET or POST")
    return _WebhookAnswer(channel, _webhook_request(request, await _read_body(request)))


def _webhook_request(request: Request, body: bytes) -> WebhookRequest:
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.scope["headers"])
    return WebhookRequest(
        method=request.method, query=tuple(request.query_params.multi_items()), headers=headers, body=body
    )


async def _read_body(request: Request) -> bytes:
    kept = bytearray()
    try:
        async with asyncio.timeout(MAX_BODY_SECONDS):
            async for piece in request.stream():
                kept += piece
                if len(kept) > MAX_BODY_BYTES:
                    raise HttpRefusal(413, "too_large", f"the body is larger than {MAX_BODY_BYTES} bytes", _CLOSE)
    except TimeoutError as err:
        raise HttpRefusal(408, "slow", f"the body did not arrive within {MAX_BODY_SECONDS:g} s", _CLOSE) from err
    except ClientDisconnect as err:
        raise HttpRefusal(400, "cut", "the body was cut off", _CLOSE) from err
    return bytes(kept)


class _WebhookAnswer:
    """Asks the channel while it listens for the platform hanging up: a passive reply counts only if it left us."""

    def __init__(self, channel: HasWebhook, asked: WebhookRequest) -> None:
        self._channel = channel
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_wait_for_hang_up(receive))
        try:
            reply = await self._channel.hook(self._asked)
            await self._send(reply, gone, scope, receive, send)
        finally:
            gone.cancel()

    async def _send(
        self, reply: WebhookReply, gone: asyncio.Task[None], scope: Scope, receive: Receive, send: Send
    ) -> None:
        whole = False
        try:
            if not gone.done():
                await Response(reply.body, reply.status, media_type=reply.media_type)(scope, receive, send)
                whole = True
        except OSError:
            return
        finally:
            reply.written(whole)


async def _wait_for_hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
