"""Logins at MCP servers, against an authorization server over real sockets: `mnema mcp login`,
renewal, refusals.
"""

import asyncio
import json
import os
import re
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from bot.config.home import HomeFolder
from bot.config.sections.extensions import McpServerConfig
from bot.tools.mcp.connection import McpLost
from bot.tools.mcp.oauth import LoginFiles, McpLoginError, log_in
from bot.tools.mcp.server import McpServer
from bot.tools.mcp.stored_login import create_auth
from memory.store.automation.mcp import ListedTool
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS
from tests.bot.forked_command import forked_command
from tests.bot.tools.mcp.test_server_faults import run
from tests.emulators.mcp_http import HttpServer, http_server
from tests.emulators.mcp_server import tool
from tests.emulators.oauth import Issuer, issuer

AUTHORIZE = re.compile(r"http\S+/authorize\S*(?=\s)")
BACK = "http://127.0.0.1:9/callback"


class World:
    """A server that wants logins, who issues them, and the files of one home."""

    def __init__(self, folder: Path, server: HttpServer, issuer: Issuer) -> None:
        self.folder, self.server, self.issuer = folder, server, issuer
        self.files = LoginFiles(folder / "data" / "mcp", LOCAL_WRITE_LOCKS)
        (folder / "data").mkdir()
        self.needed = 0

    def settings(self, **more: Any) -> McpServerConfig:
        return McpServerConfig.model_validate(
            {"url": self.server.url, "local": True, "auth": "oauth", **more}
        )

    async def log_in(self, ask: Callable[[str], Awaitable[str]] | None = None, **more: Any) -> str:
        return await log_in("remote", self.settings(**more), self.files, BACK, ask or consent)

    def expire(self) -> None:
        path = self.folder / "data" / "mcp" / "remote.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "expires": 1.0}))

    @asynccontextmanager
    async def connected(self, **more: Any) -> AsyncIterator[McpServer]:
        async def store(era: str, tools: Sequence[ListedTool]) -> None: ...

        settings = self.settings(**more)

        def need(told: Callable[[], None]) -> None:
            told()
            self.needed += 1

        server = McpServer(
            "remote",
            settings,
            "legacy",
            store,
            create_auth=lambda told: create_auth(
                "remote", settings, self.files, lambda: need(told)
            ),
            home=HomeFolder(root=self.folder),
        )
        try:
            yield server
        finally:
            await server.close()


async def consent(url: str) -> str:
    """Consent like a browser, up to the address that it is sent back to."""
    async with (
        aiohttp.ClientSession() as browser,
        browser.get(url, allow_redirects=False) as answer,
    ):
        return answer.headers["Location"]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with http_server([tool("echo")]) as server, issuer() as issued:
        server.issuer = issued
        yield World(tmp_path, server, issued)


async def test_without_a_login_the_owner_is_told_which_command_helps(world: World) -> None:
    async with world.connected() as server:
        with pytest.raises(McpLost, match="mnema mcp login remote"):
            await run(server, "echo")
    assert world.needed == 1
    assert world.server.headers == [], "nothing was sent without a login"


async def test_a_login_is_used_and_renewed_by_one_of_many_at_a_time(world: World) -> None:
    assert (await world.log_in()).rstrip("/") == world.issuer.url
    async with world.connected() as one, world.connected() as other:
        assert await run(one, "echo") == "echo"
        assert world.issuer.grants == ["authorization_code"]
        world.expire()
        assert (
            await asyncio.gather(run(one, "echo"), run(other, "echo"), run(one, "echo"))
            == ["echo"] * 3
        )
        assert world.issuer.grants == ["authorization_code", "refresh_token"]
        world.issuer.valid.clear()  # before its time: it is renewed when the server refuses it
        assert await run(one, "echo") == "echo"
        assert world.issuer.grants.count("refresh_token") == 2
        world.issuer.revoke()
        with pytest.raises(McpLost, match="mnema mcp login remote"):
            await run(other, "echo")
    assert world.needed
    assert len(world.issuer.clients) == 1


async def test_a_login_is_for_one_address_and_one_issuer(world: World) -> None:
    await world.log_in()
    assert world.files.load("remote", world.server.url)
    assert world.files.load("remote", f"{world.server.url}/other") is None
    async with http_server([tool("echo")]) as elsewhere:
        elsewhere.issuer = world.issuer
        async with world.connected(url=elsewhere.url) as server:
            with pytest.raises(McpLost, match="mnema mcp login"):
                await server.connect()
        assert elsewhere.headers == [], "the token of one address is not sent to another"


async def test_a_redirect_to_another_origin_gets_no_token(world: World) -> None:
    await world.log_in()
    async with http_server([]) as elsewhere, world.connected() as server:
        world.server.redirect = elsewhere.url
        with pytest.raises(McpLost):
            await server.connect()
        assert elsewhere.headers == []


async def test_the_headers_of_a_server_are_for_it_alone(world: World) -> None:
    own = {"headers": {"X-Tenant": "t-123"}}
    await world.log_in(**own)
    world.expire()
    async with world.connected(**own) as server:
        assert await run(server, "echo") == "echo"
    assert world.issuer.grants == ["authorization_code", "refresh_token"]
    assert {headers.get("X-Tenant") for headers in world.issuer.headers} == {None}
    assert world.server.tenants[-1] == "t-123"


@pytest.mark.parametrize("wrong", ["metadata", "answer", "state", "denied"])
async def test_a_login_that_is_not_what_it_says_is_not_stored(world: World, wrong: str) -> None:
    async def ask(url: str) -> str:
        address = await consent(url)
        if wrong == "state":
            return address.replace("state=", "state=x")
        return f"{BACK}?error=access_denied" if wrong == "denied" else address

    if wrong == "metadata":
        world.issuer.claimed = "https://evil.example"
    elif wrong == "answer":
        world.issuer.answered = "https://evil.example"
    with pytest.raises(McpLoginError):
        await world.log_in(ask)
    assert world.files.load("remote", world.server.url) is None
    assert world.issuer.grants == [], "no code was redeemed"


async def test_a_server_that_wants_no_login_gets_none(world: World) -> None:
    world.server.issuer = None
    with pytest.raises(McpLoginError, match="no login"):
        await world.log_in()


async def test_a_client_with_a_secret_needs_nobody(world: World) -> None:
    world.issuer.secrets["bot"] = "s3cret"
    own = {
        "auth": "client",
        "client_id": "bot",
        "client_secret": "s3cret",
        "issuer": f"{world.issuer.url}/",
    }
    async with world.connected(**own) as server:
        assert await run(server, "echo") == "echo"
    assert world.issuer.grants == ["client_credentials"]
    async with world.connected(**{**own, "issuer": "https://other.example"}) as server:
        with pytest.raises(McpLost):
            await server.connect()
    assert world.issuer.grants == ["client_credentials"], "the secret goes to its issuer alone"


@pytest.mark.parametrize("pasted", [False, True])
async def test_the_command_logs_in_by_the_browser_or_by_what_is_pasted(
    world: World, pasted: bool
) -> None:
    config = {"mcp": {"remote": {"url": world.server.url, "local": True, "auth": "oauth"}}}
    (world.folder / "config.json").write_text(json.dumps(config))
    words = ("--home", str(world.folder), "mcp", "login", "remote")
    async with forked_command(*words, environment=os.environ) as command:
        shown = ""
        while (address := AUTHORIZE.search(shown)) is None:
            piece = await command.read()
            assert piece, shown
            shown += piece
        back = await consent(address[0])
        assert urlsplit(back).hostname == "127.0.0.1"
        if pasted:
            command.write(f"{back}\n")
        else:
            async with aiohttp.ClientSession() as browser, browser.get(back) as answer:
                assert answer.status == 200
        while piece := await command.read():
            shown += piece
        assert await command.end() == 0, shown
    stored = world.folder / "data" / "mcp" / "remote.json"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    async with world.connected() as server:
        assert await run(server, "echo") == "echo"
