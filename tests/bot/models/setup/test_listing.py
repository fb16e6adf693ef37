"""The list of a server's models, and a sentence of its own for each thing that keeps it from us."""

import socket
from dataclasses import replace

import pytest

from bot.models.providers.accounts import ProviderAccount
from bot.models.setup.listing import ListingCache, ModelListing, find_local_servers, list_models
from bot.models.setup.presets import PRESETS
from channels.phrases import Phrase
from tests.cases import every_case
from tests.emulators.model import Exchange
from tests.emulators.model_host import ModelHost

MODELS = {"qwen3:8b": 8_192, "llama3.2:3b": 4_096}


async def listed(base_url: str, key: str = "", provider: str = "openai") -> ModelListing:
    return await list_models(ProviderAccount(provider=provider, base_url=base_url, api_key=key))


def closed_url() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@every_case(
    "kind, windows",
    [("plain", (0, 0)), ("vllm", (8_192, 4_096)), ("lmstudio", (8_192,)), ("ollama", (0, 0))],
)
async def test_a_list_has_the_models_that_chat_with_the_windows_that_are_named(
    kind: str, windows: tuple[int, ...]
) -> None:
    async with ModelHost(kind, MODELS) as host:
        listing = await listed(host.base_url)
    assert listing.fault is None
    assert [model.id for model in listing.models] == list(MODELS)[: len(windows)]
    assert tuple(model.window for model in listing.models) == windows


async def test_a_server_with_one_model_names_the_window_of_a_slot() -> None:
    async with ModelHost("llamacpp", {"qwen.gguf": 16_384}) as host:
        listing = await listed(host.base_url)
    assert [(model.id, model.window) for model in listing.models] == [("qwen.gguf", 16_384)]


async def test_a_key_is_sent_and_a_refused_one_is_told_without_it() -> None:
    async with ModelHost("plain", MODELS, keys={"sk-right-0123456789"}) as host:
        assert (await listed(host.base_url, "sk-right-0123456789")).fault is None
        refused = (await listed(host.base_url, "wrong-key-of-no-known-form")).fault
        none = (await listed(host.base_url)).fault
        strange = (await listed(host.base_url, "sk-中文")).fault
    assert refused is not None
    assert none is not None
    assert strange is not None
    assert (refused.code, refused.text.text("en")) == (
        "key",
        "The server refuses this key (HTTP 401).",
    )
    assert "Incorrect API key" in refused.words
    assert "wrong-key" not in refused.words
    assert none.text == Phrase("The server needs a key.")
    assert (strange.code, host.seen_keys.count("")) == ("key", 1)


async def test_nothing_listens_no_host_and_a_wrong_path_are_told_apart() -> None:
    async with ModelHost("plain", MODELS) as host:
        urls = {
            "nothing_listens": closed_url(),
            "no_host": "http://no-such-host.invalid/v1",
            "path": f"{host.url}/v2",
        }
        faults = {code: (await listed(url)).fault for code, url in urls.items()}
        meant, right = (await listed(host.url)).fault, host.base_url
        elsewhere = (await listed(f"{host.url}/else/v1")).fault
    for code, fault in faults.items():
        assert fault is not None
        assert fault.code == code
    assert faults["nothing_listens"] is not None
    assert faults["nothing_listens"].text.text("en").startswith("Nothing listens at 127.0.0.1:")
    assert meant is not None
    assert f"there is one at {right}" in meant.text.text("en")
    assert elsewhere is not None
    assert elsewhere.code == "path"
    assert "/v1 结尾" not in elsewhere.text.text("zh")
    assert "ends in /v1" not in elsewhere.text.text("en")


async def test_another_program_at_the_port_is_no_server_of_models() -> None:
    async with (
        ModelHost("plain", MODELS, speaks=False) as silent,
        ModelHost("plain", MODELS) as host,
    ):
        presets = tuple(
            replace(PRESETS[id], base_url=server.base_url)
            for id, server in (("ollama", host), ("vllm", silent))
        )
        closed = replace(PRESETS["lmstudio"], base_url=closed_url())
        found = await find_local_servers((*presets, closed))
    assert [preset.id for preset in found] == ["ollama"]
    assert host.seen_keys == [""] * len(host.seen_keys)


@every_case(
    "body, is_server",
    [
        (b'{"error": {"message": "Invalid API Key", "code": 401}}', True),
        (b'{"error": "Unauthorized"}', True),
        (b"<html><h1>Router login</h1></html>", False),
        (b'{"status": 401, "error": "Unauthorized", "path": "/v1/models"}', False),
        (b"", False),
    ],
)
async def test_a_refusal_without_the_form_of_the_api_is_no_server_of_models(
    body: bytes, is_server: bool
) -> None:
    class Guarded(ModelHost):
        async def _answer(
            self, path: str, headers: dict[str, str], raw: bytes, out: Exchange
        ) -> None:
            await out.send(401, body, {})

    async with Guarded("plain", MODELS) as host:
        preset = replace(PRESETS["llamacpp"], base_url=host.base_url)
        assert bool(await find_local_servers((preset,))) is is_server


async def test_the_list_of_anthropic_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {
        "type": "model",
        "id": "claude-x",
        "display_name": "Claude X",
        "max_input_tokens": 200_000,
    }

    class Anthropic(ModelHost):
        def _describe(self, path: str) -> dict[str, object] | None:
            capable = {"capabilities": {"image_input": {"supported": True}}}
            return (
                {"data": [{**entry, **capable}], "has_more": False}
                if path == "/v1/models"
                else None
            )

    async with Anthropic("plain", MODELS, keys={"sk-ant-0123456789"}) as host:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", host.url)
        listing = await listed("", "sk-ant-0123456789", provider="anthropic")
    (model,) = listing.models
    assert (model.id, model.window, model.sees) == ("claude-x", 200_000, True)


async def test_a_list_is_asked_for_once_and_a_fault_is_not_remembered() -> None:
    cache = ListingCache()
    async with ModelHost("plain", MODELS, keys={"sk-right-0123456789"}) as host:
        right = ProviderAccount(
            provider="openai", base_url=host.base_url, api_key="sk-right-0123456789"
        )
        wrong = replace(right, api_key="sk-wrong-0123456789")
        for account in (right, right, replace(right, model="x"), wrong, wrong):
            await cache.find(account)
        assert host.asked.count("/v1/models") == 1
        assert host.seen_keys.count("sk-wrong-0123456789") == 2
        cache.forget_others([wrong])
        await cache.find(right)
        assert host.asked.count("/v1/models") == 2
