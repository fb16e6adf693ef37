"""An MCP server over HTTP that misbehaves to order.

Tools: echo, die (drops the connection), big (answers with 8 MB), lose (forgets the session).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.emulators.oauth import Issuer

BIG = 8 * 2**20


class HttpServer:
    """One server; `url` is its address while it runs."""

    def __init__(self, tools: list[dict[str, Any]], redirect: str = "") -> None:
        self.tools = tools
        self.redirect = redirect
        #: A status that everything is answered with; 0 for none.
        self.status = 0
        self.url = ""
        self.session = 0
        self.calls: list[str] = []
        self.headers: list[str] = []
        self.tenants: list[str] = []
        #: Who issues the tokens that it wants; None: it wants none.
        self.issuer: Issuer | None = None
        self._runner: web.AppRunner | None = None

    async def start(self, port: int = 0) -> int:
        app = web.Application()
        app.router.add_route("*", "/mcp", self.handle)
        app.router.add_get("/.well-known/oauth-protected-resource/mcp", self.describe)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/mcp"
        return int(port)

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def describe(self, request: web.Request) -> web.StreamResponse:
        if self.issuer is None:
            raise web.HTTPNotFound
        return web.json_response({"resource": self.url, "authorization_servers": [self.issuer.url]})

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(request.headers.get("Authorization", ""))
        self.tenants.append(request.headers.get("X-Tenant", ""))
        if self.redirect:
            raise web.HTTPTemporaryRedirect(self.redirect)
        if self.status:
            return web.json_response({"error": "no"}, status=self.status)
        if (
            self.issuer is not None
            and self.headers[-1].removeprefix("Bearer ") not in self.issuer.valid
        ):
            about = self.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
            raise web.HTTPUnauthorized(
                headers={"WWW-Authenticate": f'Bearer resource_metadata="{about}"'}
            )
        if request.method != "POST":
            raise web.HTTPMethodNotAllowed(request.method, ["POST"])
        message = await request.json()
        method = message.get("method")
        if "id" not in message:
            return web.Response(status=202)
        if method != "initialize" and request.headers.get("Mcp-Session-Id") not in (
            None,
            f"s{self.session}",
        ):
            return web.json_response({}, status=404)
        result: dict[str, Any]
        if method == "initialize":
            info = {"name": "emulator", "version": "1"}
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        elif method == "tools/list":
            result = {"tools": self.tools}
        elif method == "tools/call":
            name = message["params"]["name"]
            self.calls.append(name)
            if name == "die":
                assert request.transport is not None
                request.transport.abort()
            if name == "lose":
                self.session += 1
            result = {"content": [{"type": "text", "text": "x" * BIG if name == "big" else name}]}
        else:
            return web.json_response(
                {
                    "jsonrpc": "2.0",
                    "id": message["id"],
                    "error": {"code": -32601, "message": f"no {method}"},
                }
            )
        headers = {"Mcp-Session-Id": f"s{self.session}"} if method == "initialize" else {}
        return web.json_response(
            {"jsonrpc": "2.0", "id": message["id"], "result": result}, headers=headers
        )


@asynccontextmanager
async def http_server(tools: list[dict[str, Any]], redirect: str = "") -> AsyncIterator[HttpServer]:
    """Run one."""
    server = HttpServer(tools, redirect)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
