"""Servers over HTTP: faults are errors of ours, addresses are judged, nothing is followed
elsewhere.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.config.home import HomeFolder
from bot.config.sections.extensions import McpServerConfig
from bot.tools.mcp.connection import McpLost
from bot.tools.mcp.http import judge_server
from bot.tools.mcp.server import McpServer
from bot.tools.web.addresses import WebError
from memory.store.automation.mcp import ListedTool
from tests.bot.tools.mcp.test_server_faults import run
from tests.bot.tools.web.test_client import PUBLIC, PublicMachine
from tests.emulators.mcp_http import HttpServer, http_server
from tests.emulators.mcp_server import tool


@asynccontextmanager
async def connected(url: str, **settings: object) -> AsyncIterator[McpServer]:
    async def store(era: str, tools: Sequence[ListedTool]) -> None: ...

    config = McpServerConfig.model_validate({"url": url, "local": True, **settings})
    server = McpServer("remote", config, "legacy", store, home=HomeFolder(root=Path("/none")))
    try:
        yield server
    finally:
        await server.close()


@pytest.fixture
async def remote() -> AsyncIterator[HttpServer]:
    async with http_server([tool(name) for name in ("echo", "die", "big", "lose")]) as server:
        yield server


async def test_a_tool_is_called_with_the_configured_headers(remote: HttpServer) -> None:
    async with connected(remote.url, headers={"Authorization": "Bearer x"}) as server:
        assert await run(server, "echo") == "echo"
        assert set(remote.headers) == {"Bearer x"}


async def test_a_server_that_dies_in_a_call_is_no_stop_and_is_reached_again(
    remote: HttpServer,
) -> None:
    async with connected(remote.url) as server:
        with pytest.raises(McpLost) as lost:
            await run(server, "die")
        assert lost.value.sent
        assert not asyncio.current_task().cancelling()  # type: ignore[union-attr]
        assert remote.calls == ["die"]
        server._next_try = 0.0
        assert await run(server, "echo") == "echo"


async def test_an_answer_that_is_too_large_is_not_read(remote: HttpServer) -> None:
    async with connected(remote.url) as server:
        with pytest.raises(McpLost):
            await run(server, "big")


async def test_an_address_of_this_machine_is_dialled_only_if_it_is_allowed(
    remote: HttpServer,
) -> None:
    async with connected(remote.url, local=False) as server:
        with pytest.raises(McpLost, match="https"):
            await server.connect()
    async with connected(remote.url.replace("http:", "https:"), local=False) as server:
        with pytest.raises(McpLost, match="not a public address"):
            await server.connect()
    assert remote.headers == []


async def test_S39_our_own_public_address_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"https://{PUBLIC}/mcp"
    assert await judge_server(url, local=False), "of another machine it is one"
    monkeypatch.setattr(socket, "socket", PublicMachine)
    with pytest.raises(WebError, match="not a public address"):
        await judge_server(url, local=False)
    assert await judge_server(url, local=True)


async def test_a_redirect_to_another_origin_is_not_followed(remote: HttpServer) -> None:
    async with (
        http_server([], redirect=remote.url) as elsewhere,
        connected(elsewhere.url) as server,
    ):
        with pytest.raises(McpLost):
            await server.connect()
        assert remote.headers == []


async def test_a_lost_session_is_opened_anew(remote: HttpServer) -> None:
    async with connected(remote.url) as server:
        await run(server, "lose")
        with pytest.raises(McpLost):
            await run(server, "echo")
        server._next_try = 0.0
        assert await run(server, "echo") == "echo"
        assert remote.calls == ["lose", "echo"], "nothing is sent twice"


async def test_a_server_that_restarts_is_reached_again_and_nothing_is_sent_twice(
    remote: HttpServer,
) -> None:
    async with connected(remote.url) as server:
        assert await run(server, "echo") == "echo"
        port = int(remote.url.rsplit(":", 1)[1].partition("/")[0])
        await remote.stop()
        remote.session += 1
        with pytest.raises(McpLost):
            await run(server, "echo")
        await remote.start(port)
        server._next_try = 0.0
        assert await run(server, "echo") == "echo"
        assert remote.calls == ["echo", "echo"]


async def test_a_server_that_wants_other_credentials_says_so(remote: HttpServer) -> None:
    remote.status = 401
    async with connected(remote.url) as server:
        with pytest.raises(McpLost, match="401"):
            await server.connect()
    assert remote.calls == []
