"""`/model` lists what the server has, from a list of its own that nobody else waits for."""

import asyncio
from pathlib import Path
from typing import Any

from tests.bot.wired import wired
from tests.emulators.model import Exchange
from tests.emulators.model_host import ModelHost

MODELS = {"llama3.2:3b": 4_096, "qwen3:8b": 200_000}
LLM = {"model": "qwen3:8b", "fast_model": "llama3.2:3b", "context_window": 200_000}


class Silent(ModelHost):
    """A server that never ends its list."""

    async def _answer(self, path: str, headers: dict[str, str], raw: bytes, out: Exchange) -> None:
        if path == "/v1/models":
            await asyncio.Event().wait()
        await super()._answer(path, headers, raw, out)


async def test_the_models_of_the_server_are_listed_with_their_use(tmp_path: Path) -> None:
    async with ModelHost("plain", MODELS) as host, wired(tmp_path, host, llm=LLM) as it:
        answer = await it.text("/model")
        assert answer.splitlines()[1:] == [
            "The server has:",
            "- llama3.2:3b (summaries)",
            "- qwen3:8b ● (here)",
        ]
        asked = host.asked.count("/v1/models")
        await it.text("/model llama3.2:3b")
        assert "- llama3.2:3b ● (here)" in await it.text("/model")
        assert host.asked.count("/v1/models") == asked, "a list is asked for once"


async def test_a_long_list_is_cut_after_those_in_use(tmp_path: Path) -> None:
    many = {**{f"model-{number:03}": 8_192 for number in range(60)}, **MODELS}
    async with ModelHost("plain", many) as host, wired(tmp_path, host, llm=LLM) as it:
        lines = (await it.text("/model")).splitlines()
    assert lines[2:4] == ["- llama3.2:3b (summaries)", "- qwen3:8b ● (here)"]
    assert (len(lines), lines[-1]) == (33, "And 32 more.")


async def test_a_silent_server_is_told_and_nobody_else_waits(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"llm": LLM}
    async with Silent("plain", MODELS) as host, wired(tmp_path, host, **settings) as it:
        asked = asyncio.create_task(it.text("/model"))
        await it.text("/whoami", chat="c2")
        assert not asked.done()
        answer = await asked
    assert answer.splitlines()[1].startswith(
        "The other models on the server are not known. 127.0.0.1:"
    )
    assert "did not answer in time" in answer
