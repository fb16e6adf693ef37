"""Web search is set up in the page: tried before it is saved; a key goes to its address alone."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.config.file import ConfigFile
from bot.console.administration.settings import SettingsRoutes
from bot.console.wizards.routes import wizard_routes
from bot.console.wizards.web_search import SEARCH_PRESETS, WebSearchWizard
from bot.tools.web.providers import PROVIDERS
from channels.web.auth import FRESH_SECONDS
from tests.bot.console.wizards.walking import Walk, browser, texts
from tests.channels.web.server import ScriptedBot, running
from tests.emulators.pages import PageServer, answer, serving
from tests.memory.store.conftest import SqliteRecord, record  # noqa: F401  a fixture

KEY = "tvly-0123456789abcdef"
HIT = {"title": "Sunny\u202e", "url": "https://weather.example/", "content": "Warm."}


@dataclass
class Bench:
    walk: Walk
    client: httpx.AsyncClient
    engine: PageServer
    file: ConfigFile
    now: list[float]

    @property
    def written(self) -> Any:
        return json.loads(self.file.path.read_text()).get("tools", {}).get("web")


@pytest.fixture
async def bench(tmp_path: Path, record: SqliteRecord) -> AsyncIterator[Bench]:  # noqa: F811
    file = ConfigFile(tmp_path / "config.json", {"BOCHA_KEY": "bocha-key-of-the-environment"})
    file.create()
    file.load()
    now = [0.0]
    settings = SettingsRoutes(file, await record.open(), {})
    wizard = WebSearchWizard(file=file, settings=settings)
    async with (
        serving() as engine,
        running(ScriptedBot(), wizard_routes([wizard]), clock=lambda: now[0]) as site,
        browser(site) as client,
    ):
        engine.page("/search", json.dumps({"results": [HIT]}), "application/json")
        yield Bench(Walk(client, "search"), client, engine, file, now)


async def test_every_provider_has_a_preset(bench: Bench) -> None:
    assert {preset.id for preset in SEARCH_PRESETS} == set(PROVIDERS)
    assert [kind["id"] for kind in (await bench.walk.form())["kinds"]] == [
        preset.id for preset in SEARCH_PRESETS
    ]


async def test_a_search_is_tried_and_saved_first_and_its_key_never_shown(bench: Bench) -> None:
    given = {"api_key": KEY, "base_url": bench.engine.url("")}
    report = await bench.walk.done("test", "tavily", **given)
    assert report["ok"]
    assert "Sunny" in texts(report)["search"]
    assert bench.engine.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert bench.written is None
    bocha = {"name": "bocha", "api_key": "${BOCHA_KEY}"}
    bench.file.patch({"tools": {"web": {"providers": [bocha]}}})
    ended = await bench.walk.done("finish", "tavily", **given)
    assert ended["path"] == "/tools"
    assert bench.written["providers"] == [
        {"name": "tavily", **given},
        bocha,
    ]
    form = await bench.client.get("/api/v1/wizards/search")
    assert KEY not in form.text
    tavily = form.json()["kinds"][0]
    assert (tavily["found"], tavily["fields"][0]["required"]) == (True, False)


async def test_a_saved_key_is_used_for_its_address_and_no_other(bench: Bench) -> None:
    address = bench.engine.url("")
    bench.file.patch(
        {"tools": {"web": {"providers": [{"name": "tavily", "api_key": KEY, "base_url": address}]}}}
    )
    assert (await bench.walk.done("test", "tavily", base_url=address))["ok"]
    assert bench.engine.seen[-1].headers["authorization"] == f"Bearer {KEY}"
    async with serving() as other:
        error = await bench.walk.refused("test", "tavily", base_url=other.url(""))
        assert error["field"] == "api_key"
        assert other.seen == []


@pytest.mark.parametrize(
    ("kind", "values", "field"),
    [
        ("tavily", {}, "api_key"),
        ("searxng", {}, "base_url"),
        ("searxng", {"base_url": "ftp://x"}, "base_url"),
        ("tavily", {"api_key": "${BOCHA_KEY}"}, "api_key"),
        ("tavily", {"api_key": "k", "base_url": "https://${BOCHA_KEY}/"}, "base_url"),
        ("yahoo", {}, "kind"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_field(
    bench: Bench, kind: str, values: dict[str, str], field: str
) -> None:
    for step in ("test", "finish"):
        assert (await bench.walk.refused(step, kind, **values))["field"] == field
    assert bench.written is None


async def test_what_goes_wrong_is_said(bench: Bench) -> None:
    address = bench.engine.url("")
    bench.engine.pages["/search"] = answer(b"{}", "application/json", "401 No")
    report = await bench.walk.done("test", "tavily", api_key=KEY, base_url=address)
    assert not report["ok"]
    assert "rejects the key" in texts(report)["search"]
    assert KEY not in json.dumps(report)
    report = await bench.walk.done("test", "searxng", base_url="http://127.0.0.1:9")
    assert "cannot be reached" in texts(report)["search"]


async def test_an_old_login_is_asked_for_again_before_a_key_is_saved(bench: Bench) -> None:
    bench.now[0] = FRESH_SECONDS + 1
    answer = await bench.walk.send("finish", "tavily", api_key=KEY)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "login_again")
    assert bench.written is None
