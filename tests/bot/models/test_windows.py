"""The window of a model: where it is learnt, what it changes, and that small ones work."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bot.errors import Overflow
from bot.models.providers.failures import read_failure, to_error
from bot.models.windows import ModelWindow, ModelWindows, ServedModel, answer_reserve
from tests.bot.inside import Inside
from tests.bot.wired import wired
from tests.cases import every_case
from tests.emulators.model import Exchange, Seen
from tests.emulators.model_replies import is_fold
from tests.emulators.model_rules import seen_by_model
from tests.emulators.windows import QWEN, REFUSALS, HomeServer, Refusal

PLAIN: dict[str, Any] = {"model": QWEN, "fast_model": QWEN, "max_output_tokens": 4_096}
WORDS = "the crane at the old harbour moved forty boxes of tea again today and nobody counted them "


def turns_of(server: HomeServer) -> list[Seen]:
    """The requests of people's turns."""
    return [seen for seen in server.requests if seen.body.get("tools")]


async def talk(it: Inside, turns: int, size: int = 5) -> list[str]:
    answers = []
    for number in range(turns):
        answers.append(await it.text(f"{number}: {WORDS * size}"))
        await it.bot.settled()
    return answers


def served(**fields: Any) -> ServedModel:
    known: dict[str, Any] = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "model": QWEN}
    return ServedModel(**{**known, **fields})


@every_case(("name", "refusal"), [(name, refusal) for name, refusal in REFUSALS.items()])
def test_the_numbers_of_every_refusal_are_read(name: str, refusal: Refusal) -> None:
    numbers = {"prompt": 3_620, "answer": 1_024, "window": 4_096, "left": 3_072, "whole": 4_644}
    error: dict[str, Any] = {"message": refusal.text.format(**numbers), "type": refusal.type, "code": refusal.status}
    if refusal.has_fields:
        error |= {"n_prompt_tokens": 3_620, "n_ctx": 4_096}
    for status in (refusal.status, 200, 500) if refusal.has_fields else (refusal.status,):
        found = to_error(read_failure(status, json.dumps({"error": error})))
        assert isinstance(found, Overflow), name
        assert (found.actual, found.limit) == (3_620, 4_096), name


@every_case(
    ("base_url", "model", "configured", "window"),
    [
        ("http://127.0.0.1:11434/v1", QWEN, 0, ModelWindow(tokens=8_192, source="default")),
        ("http://nas.local:8080/v1", QWEN, 0, ModelWindow(tokens=8_192, source="default")),
        ("https://models.example/v1", QWEN, 0, ModelWindow(tokens=128_000, source="default")),
        ("http://127.0.0.1:11434/v1", "gpt-6-luna", 0, ModelWindow(tokens=272_000, source="table")),
        ("http://127.0.0.1:11434/v1", QWEN, 16_384, ModelWindow(tokens=16_384, source="config")),
    ],
)
def test_a_window_that_nobody_named(base_url: str, model: str, configured: int, window: ModelWindow) -> None:
    assert ModelWindows().find(served(base_url=base_url, model=model, configured=configured)) == window


@every_case(
    ("window", "most", "reserve"),
    [(200_000, 4_096, 4_096), (8_192, 4_096, 2_048), (8_192, 300, 300), (1_500, 4_096, 512)],
)
def test_the_answer_gives_way_in_a_small_window(window: int, most: int, reserve: int) -> None:
    assert answer_reserve(window, most) == reserve


@pytest.mark.parametrize("window", [8_192, 4_096])
async def test_a_small_window_works_with_all_other_settings_as_they_are(tmp_path: Path, window: int) -> None:
    async with (
        HomeServer("vllm", window) as server,
        wired(tmp_path, server, llm={**PLAIN, "context_window": window}) as it,
    ):
        for number, answer in enumerate(await talk(it, 14)):
            assert answer.startswith(f"echo: {number}: the crane"), answer
        assert not [seen for seen in turns_of(server)[2:] if seen.refused]
        report = await it.text("/context")
        assert f"model window {window:,} tokens, from llm.context_window" in report


@pytest.mark.parametrize("kind", ["llamacpp", "vllm", "lmstudio"])
async def test_a_window_that_a_refusal_named_holds_at_once_and_after_a_restart(tmp_path: Path, kind: str) -> None:
    async with HomeServer(kind, 6_000, speaks=False) as server:
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert (await it.text(WORDS * 260)).startswith("echo: the crane")
            assert [bool(seen.refused) for seen in turns_of(server)] == [True, False]
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=6_000, source="refusal")
            await talk(it, 6)
        before = len(server.requests)
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=6_000, source="refusal")
            await it.text(WORDS * 260)
            assert not [seen for seen in server.requests[before:] if seen.refused]
        async with wired(tmp_path, server, llm={**PLAIN, "context_window": 7_000}) as it:
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=7_000, source="config")
            await it.bot.models.windows.settled()
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert it.bot.models.window(QWEN).source == "default", "a changed configuration forgets what was learnt"


@pytest.mark.parametrize("kind", ["vllm", "llamacpp", "lmstudio", "ollama"])
async def test_the_server_says_its_window_in_its_own_way(tmp_path: Path, kind: str) -> None:
    async with HomeServer(kind, 5_120) as server:
        async with wired(tmp_path, server, llm=PLAIN) as it:
            await it.text("hello")
            await it.bot.models.windows.settled()
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=5_120, source="server")
            asked = len(server.asked)
            await talk(it, 3)
            assert len(server.asked) == asked, "it is asked once"
            assert "model window 5,120 tokens, as the server says" in await it.text("/context")
        async with wired(tmp_path, server, llm=PLAIN) as it:
            assert it.bot.models.window(QWEN) == ModelWindow(tokens=5_120, source="server")


class Secretive(HomeServer):
    """A server that never answers a question about itself."""

    async def _answer(self, path: str, headers: dict[str, str], raw: bytes, out: Exchange) -> None:
        if path.endswith("/chat/completions"):
            await super()._answer(path, headers, raw, out)
        else:
            self.asked.append(path)
            await out.left()


async def test_no_message_waits_for_what_a_server_says_of_itself(tmp_path: Path) -> None:
    async with Secretive("vllm", 8_192) as server, wired(tmp_path, server, llm=PLAIN) as it:
        began = asyncio.get_running_loop().time()
        assert (await it.text("hello")).startswith("echo: hello")
        assert asyncio.get_running_loop().time() - began < 1.5
        assert server.asked
        await it.bot.models.windows.settled()
        assert it.bot.models.window(QWEN).source == "default"


async def test_a_server_that_cuts_silently_is_found_out_and_the_owner_is_told_once(tmp_path: Path) -> None:
    llm = {**PLAIN, "context_window": 32_768}
    async with (
        HomeServer("ollama", 4_096, speaks=False) as server,
        wired(tmp_path, server, llm=llm, language="en") as it,
    ):
        await talk(it, 16)
        assert it.bot.models.window(QWEN) == ModelWindow(tokens=3_996, source="cut")
        told = [part.text for part in it.channel.sent if "silently drops" in part.text]
        assert len(told) == 1
        assert "3,996" in told[0]
        sizes = [server.counts(seen_by_model(seen.body)) for seen in turns_of(server)]
        assert max(sizes) > 4_096 > max(sizes[-4:]), "it was cut, and later requests are not"
        assert "the server cut more silently" in await it.text("/context")
        assert (await it.bot.report.facts(await it.conversation()))["folds"]


async def test_folds_and_extraction_fit_the_window_of_the_model_that_writes_them(tmp_path: Path) -> None:
    settings: Any = {"memory": {"extract": True}}
    async with HomeServer("vllm", 8_192) as server, wired(tmp_path, server, llm=PLAIN, **settings) as it:
        await talk(it, 30, size=8)
        background = [seen for seen in server.requests if not seen.body.get("tools")]
        assert any(is_fold(seen.body) for seen in background)
        assert not [seen.refused for seen in background if seen.refused]
        assert all(seen.body["max_tokens"] <= 2_048 for seen in background)
        folds = (await it.bot.report.facts(await it.conversation()))["folds"]
        assert {fold["method"] for fold in folds} == {"model"}
