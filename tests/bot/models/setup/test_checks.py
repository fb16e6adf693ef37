"""The test of a model: what works is shown, and each fault ends it with its own sentence."""

import asyncio
import json
from dataclasses import replace

import pytest

from bot.models.providers.accounts import ProviderAccount
from bot.models.setup.checks import RED_PICTURE, ModelReport, check_model
from tests.bot.models.setup.test_listing import closed_url
from tests.cases import every_case
from tests.emulators.model import Exchange
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
        for zh, en in ((check.text.text("zh"), check.text.text("en")) for check in report.checks)
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
        report.checks[-1].text.text("en")
        == "The server has no model gpt-99. It has qwen3:8b, llama3.2:3b."
    )


async def test_a_wrong_path_and_a_closed_port_are_faults_of_the_address() -> None:
    async with ModelHost("plain", MODELS) as host:
        account = ProviderAccount(provider="openai", base_url=f"{host.url}/v2")
        wrong = await check_model(account, "qwen3:8b")
        closed = await check_model(replace(account, base_url=closed_url()), "qwen3:8b")
    assert states(wrong) == states(closed) == {"address": "failed"}
    assert "usually ends in /v1" in wrong.checks[0].text.text("en")
    assert "Nothing listens at" in closed.checks[0].text.text("en")


@every_case(
    "status, body, shown",
    [
        (502, b"<html>Bad Gateway</html>", ("unknown", "unknown")),
        (500, b'{"error": {"message": "out of memory"}}', ("unknown", "unknown")),
        (405, b"", ("unknown", "unknown")),
        (400, b"<html>Bad Request</html>", ("unknown", "unknown")),
        (400, b'{"error": {"message": "the chat template is broken"}}', ("ok", "unknown")),
        (429, b'{"error": {"code": "insufficient_quota", "message": "pay"}}', ("ok", "ok")),
    ],
)
async def test_a_failure_says_of_address_and_key_what_it_shows(
    status: int, body: bytes, shown: tuple[str, str]
) -> None:
    class Failing(ModelHost):
        async def _answer(
            self, path: str, headers: dict[str, str], raw: bytes, out: Exchange
        ) -> None:
            await out.send(status if path.endswith("/completions") else 503, body, {})

    async with Failing("plain", MODELS) as host:
        report = await tried(host)
    assert states(report) == {"address": shown[0], "key": shown[1], "answer": "failed"}
    assert not report.is_usable


async def test_a_web_page_in_place_of_the_api_is_a_fault_of_the_address() -> None:
    class Website(ModelHost):
        async def _answer(
            self, path: str, headers: dict[str, str], raw: bytes, out: Exchange
        ) -> None:
            await out.send(200, b"<html>Welcome</html>", {"content-type": "text/html"})

    async with Website("plain", MODELS) as host:
        assert states(await tried(host)) == {"address": "failed"}


async def test_a_refused_key_without_words_of_the_api_says_nothing_of_the_address() -> None:
    class Portal(ModelHost):
        async def _answer(
            self, path: str, headers: dict[str, str], raw: bytes, out: Exchange
        ) -> None:
            await out.send(403, b"<html>Sign in</html>", {"content-type": "text/html"})

    async with Portal("plain", MODELS) as host:
        assert states(await tried(host)) == {"address": "unknown", "key": "failed"}


class Silent(ModelHost):
    """Answers no chat, or none with a picture."""

    everything = True

    async def _answer(self, path: str, headers: dict[str, str], raw: bytes, out: Exchange) -> None:
        if path.endswith("/completions") and (self.everything or b"image_url" in raw):
            self.arrived.set()
            await out.left()
        else:
            await super()._answer(path, headers, raw, out)


async def test_the_test_ends_after_its_limit_with_what_it_has_found() -> None:
    limit = 0.5
    for everything, found in (
        (True, {"address": "unknown", "key": "unknown", "answer": "failed"}),
        (False, {"answer": "ok", "tools": "ok", "sight": "unknown"}),
    ):
        async with Silent("plain", MODELS) as host:
            host.everything = everything
            account = ProviderAccount(provider="openai", base_url=host.base_url)
            async with asyncio.timeout(30):
                report = await check_model(account, "qwen3:8b", limit)
        assert states(report) == {**states(report), **found}
    assert report.is_usable


async def test_a_test_that_breaks_leaves_no_task_behind() -> None:
    async with Silent("plain", MODELS) as host:
        account = ProviderAccount(provider="openai", base_url=host.base_url)
        before = asyncio.all_tasks()
        test = asyncio.create_task(check_model(account, "qwen3:8b"))
        await host.arrived.wait()
        test.cancel()
        with pytest.raises(asyncio.CancelledError):
            await test
        left = {task for task in asyncio.all_tasks() - before if "_ask_facts" in repr(task)}
        assert left == set()


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
    assert "llm.context_window" in check.text.text("en")


async def test_without_a_key_nothing_is_sent() -> None:
    report = await check_model(ProviderAccount(provider="anthropic"), "claude-sonnet-5-5")
    assert states(report) == {"key": "failed"}
    assert not report.is_usable


def test_the_picture_is_a_png() -> None:
    image = pytest.importorskip("PIL.Image")
    import io

    with image.open(io.BytesIO(RED_PICTURE)) as picture:
        assert picture.convert("RGB").getpixel((5, 5)) == (255, 0, 0)
