"""A server of tools is added in the page: connected to first, by an address and never a program."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.config.file import ConfigFile
from bot.config.messages import ConfigRejected
from bot.config.sections.extensions import McpServerConfig
from bot.console.wizards.mcp import MCP_PRESETS, McpPreset, McpWizard
from bot.console.wizards.routes import wizard_routes
from channels.phrases import Phrase
from channels.web.auth import FRESH_SECONDS
from tests.bot.console.wizards.walking import Walk, browser, texts
from tests.bot.inside import inside
from tests.channels.web.server import ScriptedBot, running
from tests.emulators.mcp_http import HttpServer, http_server
from tests.emulators.mcp_server import tool

TOKEN = "ghp_0123456789abcdef0123"
NEEDY = McpPreset(
    id="needy",
    title=Phrase("GitHub"),
    about=Phrase("GitHub"),
    url="https://127.0.0.1:9/mcp",
    key_page="https://example.org/key",
    needs_token=True,
)


@dataclass
class Bench:
    walk: Walk
    remote: HttpServer
    file: ConfigFile
    now: list[float]

    @property
    def own(self) -> dict[str, str]:
        return {"name": "notes", "url": self.remote.url, "local": "on", "token": TOKEN}

    @property
    def written(self) -> Any:
        return json.loads(self.file.path.read_text()).get("mcp")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    now = [0.0]
    async with (
        http_server([tool("echo"), tool("search")]) as remote,
        inside(tmp_path, []) as it,
    ):
        bot = it.bot
        wizard = McpWizard(file=bot.file, home=bot.home, store=bot.store, presets=(NEEDY,))
        async with (
            running(ScriptedBot(), wizard_routes([wizard]), clock=lambda: now[0]) as site,
            browser(site) as client,
        ):
            yield Bench(Walk(client, "mcp"), remote, bot.file, now)


def test_every_preset_is_a_valid_server_at_an_address() -> None:
    for preset in MCP_PRESETS:
        settings = McpServerConfig.model_validate({"url": preset.url})
        assert settings.url.startswith("https://")
        assert not settings.command
    assert len({preset.id for preset in MCP_PRESETS}) == len(MCP_PRESETS)


async def test_a_server_is_tried_and_added_and_offers_nothing_before_its_review(
    bench: Bench,
) -> None:
    report = await bench.walk.done("test", "own", **bench.own)
    assert report["ok"]
    assert texts(report)["tools"] == "2 tools: echo, search"
    assert set(bench.remote.headers) == {f"Bearer {TOKEN}"}
    assert bench.written is None
    ended = await bench.walk.done("finish", "own", **bench.own)
    assert ended["path"] == "/mcp"
    assert bench.written == {
        "notes": {
            "url": bench.remote.url,
            "headers": {"Authorization": f"Bearer {TOKEN}"},
            "local": True,
        }
    }
    assert TOKEN not in json.dumps(bench.file.masked())
    assert TOKEN not in json.dumps(await bench.walk.form())


async def test_a_server_that_refuses_is_told_without_its_token(bench: Bench) -> None:
    bench.remote.status = 401
    report = await bench.walk.done("test", "own", **bench.own)
    assert not report["ok"]
    assert "mnema mcp login notes" in report["items"][0]["hint"]
    assert TOKEN not in json.dumps(report)
    assert bench.written is None


@pytest.mark.parametrize(
    ("kind", "values", "field"),
    [
        ("own", {}, "name"),
        ("own", {"name": "a b"}, "name"),
        ("own", {"name": "notes", "url": ""}, "url"),
        ("own", {"name": "notes", "url": "file:///etc"}, "url"),
        ("own", {"name": "notes", "url": "http://tools.example.org/mcp"}, "url"),
        ("own", {"name": "notes", "token": "a\r\nHost: b"}, "token"),
        ("own", {"name": "notes", "token": "${HOME}"}, "token"),
        ("needy", {"token": ""}, "token"),
        ("npx", {}, "kind"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_field(
    bench: Bench, kind: str, values: dict[str, str], field: str
) -> None:
    given = {**({"url": "https://tools.example.org/mcp"} if kind == "own" else {}), **values}
    for step in ("test", "finish"):
        assert (await bench.walk.refused(step, kind, **given))["field"] == field
    assert bench.written is None


async def test_an_address_of_this_machine_is_dialled_only_where_that_is_said(bench: Bench) -> None:
    report = await bench.walk.done("test", "needy", token=TOKEN)
    assert not report["ok"]
    assert "denied" in report["items"][0]["text"] or "public" in report["items"][0]["text"]


async def test_a_program_or_another_address_of_the_name_stays(bench: Bench) -> None:
    with pytest.raises(ConfigRejected):
        bench.file.set_mcp_address("run", {"command": ["/bin/sh"]})
    await bench.walk.done("finish", "own", **bench.own)
    other = {**bench.own, "url": bench.remote.url + "2"}
    assert (await bench.walk.refused("finish", "own", **other))["field"] == "name"
    with pytest.raises(ConfigRejected):
        bench.file.set_mcp_address("notes", {"url": "https://other.example.org/mcp"})
    again = {**bench.own, "token": "another-token-0123"}
    await bench.walk.done("finish", "own", **again)
    assert bench.written["notes"]["headers"] == {"Authorization": "Bearer another-token-0123"}


async def test_an_old_login_is_asked_for_again_before_a_server_is_saved(bench: Bench) -> None:
    bench.now[0] = FRESH_SECONDS + 1
    answer: httpx.Response = await bench.walk.send("finish", "own", **bench.own)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "login_again")
    assert bench.written is None
