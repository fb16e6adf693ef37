"""The set-up of a model over HTTP: presets, lists, tests and use; a key goes only where it is meant
for.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.config.file import ConfigFile
from bot.console.administration.model_setup import ModelSetupRoutes
from bot.console.administration.settings import SettingsRoutes
from bot.console.wizards.model import ModelWizard
from bot.console.wizards.routes import wizard_routes
from bot.models.setup.presets import PRESETS
from channels.web.auth import FRESH_SECONDS
from tests.bot.console.wizards.walking import Walk
from tests.channels.web.server import TOKEN, ScriptedBot, running
from tests.emulators.model_host import ModelHost
from tests.memory.store.conftest import SqliteRecord, record  # noqa: F401  a fixture

KEY, OTHER_KEY = "sk-right-0123456789", "sk-other-0123456789"
MODELS = {"qwen3:8b": 8_192, "llama3.2:3b": 4_096}


@dataclass
class Bench:
    host: ModelHost
    client: httpx.AsyncClient
    file: ConfigFile
    now: list[float]

    async def post(self, call: str, lang: str = "en", **body: Any) -> httpx.Response:
        body = {"preset": "own", "base_url": self.host.base_url, **body}
        return await self.client.post(
            f"/api/v1/models/{call}", json=body, headers={"accept-language": lang}
        )

    async def use_chain(self, fallback: list[dict[str, Any]]) -> httpx.Response:
        return await self.client.post("/api/v1/models/use", json={"fallback": fallback})

    @property
    def written(self) -> dict[str, Any]:
        llm: dict[str, Any] = json.loads(self.file.path.read_text())["llm"]
        return llm


@pytest.fixture
async def bench(tmp_path: Path, record: SqliteRecord) -> AsyncIterator[Bench]:  # noqa: F811
    environ = {"ANTHROPIC_API_KEY": "sk-ant-0123456789", "OPENAI_API_KEY": "sk-env-0123456789"}
    file = ConfigFile(tmp_path / "config.json", environ)
    file.create()
    file.load()
    now = [0.0]
    async with ModelHost("vllm", MODELS, keys={KEY}, seeing=frozenset(MODELS)) as host:
        local = (
            replace(PRESETS["vllm"], base_url=host.base_url),
            replace(PRESETS["ollama"], base_url="http://127.0.0.1:9/v1"),
        )
        settings = SettingsRoutes(file, await record.open(), {})
        setup = ModelSetupRoutes(file, settings, local)
        wizards = [
            ModelWizard(file=file, setup=setup, is_fallback=is_fallback)
            for is_fallback in (False, True)
        ]
        routes = (*settings.calls(), *setup.calls(), *wizard_routes(wizards))
        async with (
            running(ScriptedBot(), routes, clock=lambda: now[0]) as site,
            site.nobody() as client,
        ):
            client.headers["origin"] = site.base
            client.headers["x-csrf-token"] = (
                await client.post("/login", json={"token": TOKEN})
            ).json()["csrf"]
            yield Bench(host, client, file, now)


async def test_presets_are_listed_and_servers_here_only_where_they_are_asked_for(
    bench: Bench,
) -> None:
    plain = (await bench.client.get("/api/v1/models/presets")).json()
    assert [preset["id"] for preset in plain["items"]] == list(PRESETS)
    assert (plain["found"], bench.host.asked) == ([], [])
    found = (await bench.client.get("/api/v1/models/presets", params={"local": 1})).json()["found"]
    assert found == [{"preset": "vllm", "base_url": bench.host.base_url}]


async def test_models_are_listed_tested_and_used(bench: Bench) -> None:
    before = bench.file.path.read_bytes()
    listed = (await bench.post("list", api_key=KEY)).json()
    assert listed["items"][0] == {"id": "qwen3:8b", "context_window": 8_192}
    assert "error" not in listed
    tested = (await bench.post("test", "zh-CN", api_key=KEY, model="qwen3:8b")).json()
    assert (tested["ok"], tested["window"], tested["window_source"]) == (True, 8_192, "server")
    assert {check["id"]: check["text"] for check in tested["checks"]}["tools"] == "它会用工具。"
    assert bench.file.path.read_bytes() == before
    used = await bench.post("use", api_key=KEY, model="qwen3:8b")
    assert used.json()["llm"]["api_key"] == "sk-r…(19)"
    assert used.headers["etag"]
    assert (bench.written["provider"], bench.written["base_url"]) == ("openai", bench.host.base_url)
    assert (bench.written["model"], bench.written["api_key"]) == ("qwen3:8b", KEY)


async def test_the_saved_key_goes_to_the_saved_address_alone(bench: Bench) -> None:
    assert (await bench.post("use", api_key=KEY, model="qwen3:8b")).status_code == 200
    assert "error" not in (await bench.post("list")).json()
    assert (await bench.post("test", model="qwen3:8b")).json()["ok"]
    masked = bench.file.masked()["llm"]["api_key"]
    assert "error" not in (await bench.post("list", api_key=masked)).json()
    async with ModelHost("vllm", MODELS, keys={KEY}) as other:
        for call, more in (
            ("list", {}),
            ("test", {"model": "qwen3:8b"}),
            ("list", {"api_key": masked}),
        ):
            await bench.post(call, base_url=other.base_url, **more)
        assert set(other.seen_keys) == {""}
        await bench.post("use", base_url=other.base_url, model="qwen3:8b")
    assert bench.written["api_key"] == ""


async def test_without_a_key_the_environments_goes_to_no_other_address(bench: Bench) -> None:
    bench.file.path.write_text('{"llm": {"provider": "offline"}}')
    bench.file.load()
    async with ModelHost("vllm", MODELS, seeing=frozenset(MODELS)) as open_host:
        address = {"base_url": open_host.base_url}
        assert "error" not in (await bench.post("list", **address)).json()
        assert (await bench.post("test", **address, model="qwen3:8b")).json()["ok"]
        assert (await bench.post("use", **address, model="qwen3:8b")).status_code == 200
        assert (await bench.post("test", **address, model="qwen3:8b")).json()["ok"]
        assert set(open_host.seen_keys) == {""}
    assert bench.written["api_key"] == ""


@pytest.mark.parametrize(
    "body",
    [
        {"api_key": "${ANTHROPIC_API_KEY}"},
        {"api_key": "${ANTHROPIC_API_KEY}", "preset": "anthropic"},
        {"base_url": "http://127.0.0.1:9/${ANTHROPIC_API_KEY}"},
        {"model": "${ANTHROPIC_API_KEY}"},
    ],
)
async def test_no_test_sends_what_the_environment_holds(bench: Bench, body: dict[str, str]) -> None:
    refused = await bench.post("test", **{"model": "qwen3:8b", **body})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "reference")
    assert bench.host.seen_keys == []


async def test_a_wrong_key_a_wrong_model_and_no_server_have_sentences_of_their_own(
    bench: Bench,
) -> None:
    wrong_key = (await bench.post("list", "zh", api_key=OTHER_KEY)).json()
    assert wrong_key["error"]["code"] == "key"
    assert wrong_key["error"]["message"] == "服务器不接受这个密钥（HTTP 401）。"
    assert "Incorrect API key" in wrong_key["error"]["server_words"]
    tested = (await bench.post("test", api_key=OTHER_KEY, model="qwen3:8b")).json()
    missing = (await bench.post("test", api_key=KEY, model="gpt-99")).json()
    closed = (await bench.post("test", base_url="http://127.0.0.1:9/v1", model="m")).json()
    ends = [
        (one["ok"], one["checks"][-1]["id"], one["checks"][-1]["state"])
        for one in (tested, missing, closed)
    ]
    assert ends == [
        (False, "key", "failed"),
        (False, "answer", "failed"),
        (False, "address", "failed"),
    ]
    assert "qwen3:8b" in missing["checks"][-1]["text"]
    assert OTHER_KEY not in json.dumps([wrong_key, tested, missing])


async def test_use_needs_a_login_of_the_last_ten_minutes_and_a_test_does_not(bench: Bench) -> None:
    bench.now[0] = FRESH_SECONDS + 1
    assert (await bench.post("test", api_key=KEY, model="qwen3:8b")).json()["ok"]
    assert (await bench.post("use", api_key=KEY, model="qwen3:8b")).status_code == 403
    bench.now[0] = FRESH_SECONDS
    assert (await bench.post("use", api_key=KEY, model="qwen3:8b")).status_code == 200


async def test_another_endpoint_takes_nothing_over_that_was_set_for_the_one_before(
    bench: Bench,
) -> None:
    bench.file.patch({"llm": {"fast_model": "claude-haiku-5-5", "context_window": 50_000}})
    await bench.post("use", preset="ollama", model="qwen3:8b")
    llm = bench.file.current.llm
    assert (llm.fast_model, llm.context_window, llm.background, llm.api_key) == ("", 0, "idle", "")
    bench.file.patch({"llm": {"fast_model": "small", "context_window": 16_384}})
    await bench.post("use", preset="ollama", model="qwen3:8b")
    llm = bench.file.current.llm
    assert (llm.fast_model, llm.context_window) == ("small", 16_384)


async def test_the_model_before_becomes_the_fallback_with_its_key(bench: Bench) -> None:
    bench.file.patch(
        {"llm": {"fallback": [{"provider": "openai", "model": "m", "api_key": OTHER_KEY}]}}
    )
    shown = bench.file.masked()["llm"]["fallback"][0]
    chain = [{"provider": "anthropic", "model": "claude-sonnet-5-5"}, shown]
    await bench.post("use", api_key=KEY, model="qwen3:8b", fallback=chain)
    keys = [(item["provider"], item["api_key"]) for item in bench.written["fallback"]]
    assert keys == [("anthropic", "${ANTHROPIC_API_KEY}"), ("openai", OTHER_KEY)]


async def test_two_keys_of_one_server_stay_with_their_models(bench: Bench) -> None:
    server = "http://127.0.0.1:9/v1"
    chain = [
        {"provider": "openai", "base_url": server, "model": model, "api_key": key}
        for model, key in (("a", KEY), ("b", OTHER_KEY))
    ]
    bench.file.patch({"llm": {"fallback": chain}})
    first, second = bench.file.masked()["llm"]["fallback"]
    without = {name: value for name, value in second.items() if name != "api_key"}
    other = {**first, "base_url": "http://127.0.0.1:10/v1", "api_key": ""}
    for sent, keys in (
        ([second, first], {"b": OTHER_KEY, "a": KEY}),
        ([without, first], {"b": OTHER_KEY, "a": KEY}),
        ([{**first, "model": "c"}, second], {"c": KEY, "b": OTHER_KEY}),
        ([other, second], {"a": "", "b": OTHER_KEY}),
    ):
        bench.file.patch({"llm": {"fallback": chain}})
        assert (await bench.use_chain(sent)).status_code == 200
        assert {item["model"]: item["api_key"] for item in bench.written["fallback"]} == keys


async def test_a_masked_key_goes_to_no_other_address(bench: Bench) -> None:
    saved = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key": KEY}
    bench.file.patch({"llm": {"fallback": [saved]}})
    [shown] = bench.file.masked()["llm"]["fallback"]
    moved = await bench.use_chain([{**shown, "base_url": "http://127.0.0.1:10/v1"}])
    assert moved.status_code == 400
    assert bench.written["fallback"] == [saved]


async def test_a_masked_proxy_of_the_chain_stays_what_it_is(bench: Bench) -> None:
    saved = {"provider": "anthropic", "api_key": KEY, "proxy": "http://ann:pass-word@127.0.0.1:9"}
    bench.file.patch({"llm": {"fallback": [saved]}})
    [shown] = bench.file.masked()["llm"]["fallback"]
    assert "pass-word" not in shown["proxy"]
    assert (await bench.use_chain([shown])).status_code == 200
    [written] = bench.written["fallback"]
    assert (written["proxy"], written["api_key"]) == (saved["proxy"], KEY)


async def test_another_chain_leaves_the_model_in_use_as_it_is(bench: Bench) -> None:
    bench.file.patch({"llm": {"background": "idle", "context_window": 50_000}})
    before = bench.written
    assert (await bench.use_chain([{"provider": "anthropic", "model": "m"}])).status_code == 200
    assert {**bench.written, "fallback": []} == {**before, "fallback": []}
    assert bench.written["fallback"][0]["model"] == "m"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"preset": "own", "fallback": []}, "model"),
        ({"model": "m", "fallback": []}, "preset"),
        ({}, "preset"),
    ],
)
async def test_a_model_is_used_with_its_server(
    bench: Bench, body: dict[str, Any], field: str
) -> None:
    refused = await bench.client.post("/api/v1/models/use", json=body)
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, field)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"preset": "nobody"}, "preset"),
        ({"base_url": ""}, "base_url"),
        ({"base_url": "ftp://x"}, None),
    ],
)
async def test_what_is_wrong_in_a_body_is_named(
    bench: Bench, body: dict[str, str], field: str | None
) -> None:
    refused = await bench.post("list", **body)
    assert refused.status_code == 400
    assert refused.json()["error"].get("field") == field


async def test_the_wizards_form_says_what_is_here_and_what_is_saved(bench: Bench) -> None:
    await bench.post("use", api_key=KEY, model="qwen3:8b")
    wizard = Walk(bench.client, "model")
    form = await wizard.form()
    assert form["kinds"][0]["id"] == "vllm"
    assert [kind["id"] for kind in form["kinds"] if kind["found"]] == ["vllm"]
    kinds = {kind["id"]: kind for kind in form["kinds"]}
    address, key, model = kinds["own"]["fields"]
    assert (address["value"], key["example"], key["required"], model["form"]) == (
        bench.host.base_url,
        "saved: sk-r…(19)",
        False,
        "found",
    )
    assert [field["required"] for field in kinds["kimi"]["fields"]] == [True, True, True]


async def test_a_wizard_finds_tests_and_puts_a_model_into_use_and_one_behind_it(
    bench: Bench,
) -> None:
    wizard, chain = Walk(bench.client, "model"), Walk(bench.client, "fallback-model")
    given = {"address": bench.host.base_url, "key": KEY}
    before = bench.file.path.read_bytes()
    found = await wizard.done("look", "own", **given)
    assert [item["value"] for item in found["items"]] == list(MODELS)
    assert (found["goes_on"], found["fault"]) == (True, "")
    refused = await wizard.done("look", "own", address=bench.host.base_url, key=OTHER_KEY)
    assert (refused["goes_on"], refused["field"]) == (False, "key")
    assert OTHER_KEY not in str(refused)
    assert (await wizard.done("test", "own", **given, model="qwen3:8b"))["ok"]
    assert bench.file.path.read_bytes() == before
    await wizard.done("finish", "own", **given, model="qwen3:8b")
    await chain.done("finish", "own", address=bench.host.base_url, model="llama3.2:3b")
    assert bench.written["model"] == "qwen3:8b"
    [behind] = bench.written["fallback"]
    assert (behind["model"], behind["api_key"]) == ("llama3.2:3b", KEY)
    error = await wizard.refused("look", "own", address="x" * 2_001)
    assert error["field"] == "base_url"
