"""The test of a model: what works is shown, and each fault ends it with its own sentence."""

import json
from dataclasses import replace

import pytest

from bot.models.providers.accounts import ProviderAccount
from bot.models.setup.checks import RED_PICTURE, ModelReport, check_model
from tests.bot.models.setup.test_listing import closed_url
from tests.cases import every_case
from tests.emulators.model_host import ModelHost
from tests.emulators.personas import (
    LLAMACPP,
    OLLAMA,
    OLLAMA_TOOLS,
    VLLM,
    VLLM_TOOLS,
    Persona,
    Refusal,
)

KEY = "sk-right-0123456789"
MODELS = {"qwen3:8b": 8_192, "llama3.2:3b": 4_096}


async def tried(host: ModelHost, model: str = "qwen3:8b", key: str = KEY) -> ModelReport:
    return await check_model(
        ProviderAccount(provider="openai", base_url=host.base_url, api_key=key), model
    )


def states(report: ModelReport) -> dict[str, str]:
    return {check.id: check.state for check in report.checks}


async def test_all_that_a_model_can_do_is_found() -> None:
    async with ModelHost("vllm", MODELS, keys={KEY}, seeing=frozenset(MODELS)) as host:
        report = await tried(host)
    assert states(report) == {
        **dict.fromkeys(
            ("address", "key", "answer", "streaming", "tools", "sight", "window"), "ok"
        ),
        "thinking": "no",
    }
    assert report.is_usable
    assert report.window is not None
    assert (report.window.tokens, report.window.source) == (8_192, "server")
    assert all(
        zh.endswith(("。", "384")) and en.endswith((".", "384"))
        for zh, en in (check.text for check in report.checks)
    )


@every_case(
    "persona",
    [
        replace(OLLAMA, thought="Hm."),
        replace(LLAMACPP, thought="Hm."),
        replace(VLLM, thought="Hm."),
    ],
)
async def test_thinking_is_found_in_each_form(persona: Persona) -> None:
    async with ModelHost("plain", MODELS, persona=persona) as host:
        assert states(await tried(host))["thinking"] == "ok"


@every_case("persona, refusal", [(OLLAMA, OLLAMA_TOOLS), (VLLM, VLLM_TOOLS)])
async def test_a_model_without_tools_is_usable_and_the_servers_words_are_shown(
    persona: Persona, refusal: Refusal
) -> None:
    async with ModelHost("plain", MODELS, persona=replace(persona, without_tools=refusal)) as host:
        report = await tried(host)
    assert (states(report)["tools"], states(report)["answer"]) == ("no", "ok")
    assert report.is_usable
    assert "tool" in report.server_words


async def test_a_wrong_key_ends_it_and_is_shown_nowhere() -> None:
    async with ModelHost("plain", MODELS, keys={KEY}) as host:
        report = await tried(host, key="wrong-key-of-no-known-form")
    assert states(report) == {"address": "ok", "key": "failed"}
    assert not report.is_usable
    assert "Incorrect API key" in report.server_words
    assert "wrong-key" not in repr(report)


async def test_a_wrong_model_is_told_with_those_that_there_are() -> None:
    async with ModelHost("plain", MODELS) as host:
        report = await tried(host, "gpt-99")
    assert states(report) == {"address": "ok", "key": "ok", "answer": "failed"}
    assert (
        report.checks[-1].text[1] == "The server has no model gpt-99. It has qwen3:8b, llama3.2:3b."
    )


async def test_a_wrong_path_and_a_closed_port_are_faults_of_the_address() -> None:
    async with ModelHost("plain", MODELS) as host:
        account = ProviderAccount(provider="openai", base_url=f"{host.url}/v2")
        wrong = await check_model(account, "qwen3:8b")
        closed = await check_model(replace(account, base_url=closed_url()), "qwen3:8b")
    assert states(wrong) == states(closed) == {"address": "failed"}
    assert "usually ends in /v1" in wrong.checks[0].text[1]
    assert "Nothing listens at" in closed.checks[0].text[1]


async def test_a_picture_is_not_sent_to_a_model_that_says_it_is_blind() -> None:
    class Blind(ModelHost):
        def _describe(self, path: str) -> dict[str, object] | None:
            if path == "/api/show":
                return {"capabilities": ["completion", "tools"], "parameters": ""}
            return super()._describe(path)

    async with (
        ModelHost("plain", MODELS) as unsaid,
        Blind("plain", MODELS, seeing=frozenset(MODELS)) as blind,
    ):
        reports = [await tried(host) for host in (unsaid, blind)]
        pictures = ["image_url" in json.dumps(seen.body) for seen in blind.requests]
    assert [states(report)["sight"] for report in reports] == ["no", "no"]
    assert "mmproj" in reports[0].server_words
    assert not any(pictures)


async def test_an_unknown_window_at_home_is_told_with_what_to_set() -> None:
    async with ModelHost("plain", MODELS, seeing=frozenset(MODELS)) as host:
        report = await tried(host)
    check = report.checks[-1]
    assert (check.id, check.state) == ("window", "unknown")
    assert "llm.context_window" in check.text[1]


async def test_without_a_key_nothing_is_sent() -> None:
    report = await check_model(ProviderAccount(provider="anthropic"), "claude-sonnet-5-5")
    assert states(report) == {"key": "failed"}
    assert not report.is_usable


def test_the_picture_is_a_png() -> None:
    image = pytest.importorskip("PIL.Image")
    import io

    with image.open(io.BytesIO(RED_PICTURE)) as picture:
        assert picture.convert("RGB").getpixel((5, 5)) == (255, 0, 0)
