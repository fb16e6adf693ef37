"""A server that passes calls to a channel's hook, as the web channel does."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from channels.base import WebhookReply, WebhookRequest


@asynccontextmanager
async def serve_hook(
    name: str, hook: Callable[[WebhookRequest], Awaitable[WebhookReply]]
) -> AsyncIterator[str]:
    """Serve /hooks/NAME at a free port; yields the URL."""

    async def answer(request: web.Request) -> web.Response:
        headers = tuple((header.lower(), value) for header, value in request.headers.items())
        call = WebhookRequest(
            method=request.method, query=(), headers=headers, body=await request.read()
        )
        reply = await hook(call)
        return web.Response(status=reply.status, body=reply.body)

    app = web.Application()
    app.router.add_post(f"/hooks/{name}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/hooks/{name}"
    finally:
        await runner.cleanup()
