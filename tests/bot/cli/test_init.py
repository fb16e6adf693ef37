"""`mnema init` as a person sees it: its questions in their language, at a terminal and through a
pipe.
"""

import asyncio
import io
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main
from bot.cli.settings.model_questions import Dialog, ModelQuestions
from bot.config.file import ConfigFile
from bot.models.setup.presets import PRESETS
from tests.bot.forked_command import ForkedCommand, forked_command
from tests.emulators.model_host import ModelHost
from tests.emulators.personas import OLLAMA, OLLAMA_TOOLS

KEY, WRONG_KEY = "sk-right-0123456789", "sk-wrong-0123456789"
MODELS = {"qwen3:8b": 8_192, "llama3.2:3b": 4_096}
SECONDS = 30.0


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**kept, "LC_ALL": "en_US.UTF-8", "NO_PROXY": "*", **more}


@dataclass(kw_only=True)
class Typist:
    """A person at a real terminal: waits for a question, then answers it."""

    command: ForkedCommand
    shown: str = ""
    _read: int = 0

    async def see(self, pattern: str) -> None:
        """Wait until this appears after what was seen last."""
        async with asyncio.timeout(SECONDS):
            while (found := re.search(pattern, self.shown[self._read :])) is None:
                if not await self._more():
                    raise AssertionError(f"{pattern!r} never came:\n{self.shown}")
        self._read += found.end()

    async def answer(self, pattern: str, text: str) -> None:
        # The blank at the end of a question comes once the terminal no longer shows what is typed.
        await self.see(rf"{pattern}[^\n]*: \Z")
        self.command.write(f"{text}\n")

    async def interrupt(self) -> None:
        """Press Ctrl-C until the program ends, as a person does: one that is pressed just before it
        begins to read is heard with the next key only.
        """
        async with asyncio.timeout(SECONDS):
            while not self.command.has_ended:
                self.command.write("\x03")
                with suppress(TimeoutError):
                    await self.command.end(1)

    async def end(self) -> int:
        """Wait for the end, and return the exit code."""
        async with asyncio.timeout(SECONDS):
            while await self._more():
                pass
        return await self.command.end()

    async def _more(self) -> bool:
        piece = await self.command.read()
        self.shown += piece.replace("\r\n", "\n")
        return bool(piece)


@asynccontextmanager
async def typist(home: Path, **more: str) -> AsyncIterator[Typist]:
    """Somebody who runs init. more: variables of the environment."""
    known = environment(**more)
    async with forked_command(
        "--home", str(home), "init", environment=known, has_terminal=True
    ) as command:
        yield Typist(command=command)


@pytest.fixture
async def host() -> AsyncIterator[ModelHost]:
    async with ModelHost("vllm", MODELS, keys={KEY}, seeing=frozenset(MODELS)) as up:
        yield up


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def written(home: Path) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads((home / "config.json").read_text())
    return settings


async def test_a_model_is_chosen_from_the_servers_list_and_tested(
    home: Path, host: ModelHost
) -> None:
    async with typist(home) as person:
        await person.answer(r"1  Anthropic[\s\S]*Number or name \(", "own")
        await person.answer(r"Address", host.base_url)
        await person.answer(r"Key \(not shown; empty: no key\)", KEY)
        await person.answer(r"1  qwen3:8b  \(8,192 tokens\)[\s\S]*Number or name of the model", "2")
        for line in (
            "address is correct",
            "model answers",
            "uses tools",
            "can see pictures",
            "4,096 tokens",
        ):
            await person.see(line)
        await person.answer(r"Set up another model", "")
        await person.answer(r"Telegram bot token \(empty: none\)", "")
        assert await person.end() == 0
    assert KEY not in person.shown
    assert "http://127.0.0.1:8642" in person.shown
    llm = written(home)["llm"]
    assert (llm["provider"], llm["base_url"]) == ("openai", host.base_url)
    assert (llm["model"], llm["api_key"]) == ("llama3.2:3b", KEY)


async def test_it_asks_in_chinese_and_a_wrong_key_is_asked_for_again(
    home: Path, host: ModelHost
) -> None:
    async with typist(home, LC_ALL="zh_CN.UTF-8") as person:
        for key in (WRONG_KEY, KEY):
            await person.answer(r"使用哪里的模型？[\s\S]*编号或名称（", "own")
            await person.answer(r"地址", host.base_url)
            await person.answer(r"密钥（不显示；留空则不用密钥）", key)
            if key == WRONG_KEY:
                await person.see(
                    r"服务器不接受这个密钥（HTTP 401）。\n    服务器的原话：Incorrect API key"
                )
                await person.answer(r"重新填写？", "")
        await person.answer(r"模型的编号或名称（留空用 qwen3:8b）", "")
        await person.see("模型能回答")
        await person.answer(r"备用模型", "n")
        await person.answer(r"Telegram 机器人的令牌（留空则不用）", "123456:token-token")
        await person.answer(r"用户 id", "4242")
        assert await person.end() == 0
    assert "已创建" in person.shown
    assert "Which" not in person.shown
    assert WRONG_KEY not in person.shown
    settings = written(home)
    assert (settings["llm"]["model"], settings["llm"]["api_key"]) == ("qwen3:8b", KEY)
    assert settings["channels"]["telegram"] == {
        "token": "123456:token-token",
        "enabled": True,
        "owners": ["4242"],
    }
    assert "我" in (home / "workspace" / "SOUL.md").read_text("utf-8")


AnswerLines = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
def answer_lines(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> AnswerLines:
    """Runs init in this process with these lines on its input, and more variables in its
    environment; returns exit code, stdout and stderr.
    """

    async def run(*answers: str, **more: str) -> tuple[int, str, str]:
        known = environment(**more)
        for name in os.environ.keys() - known.keys():
            monkeypatch.delenv(name)
        for name, value in known.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in answers)))
        code = await asyncio.to_thread(main, ["--home", str(home), "init"])
        return code, *capsys.readouterr()

    return run


async def test_what_is_set_is_kept_by_empty_answers(
    home: Path, host: ModelHost, answer_lines: AnswerLines
) -> None:
    answers = ("own", host.base_url, KEY, "1", "n", "")
    assert (await answer_lines(*answers))[0] == 0
    before = (home / "config.json").read_bytes()
    code, out, err = await answer_lines("", "")
    assert (code, "Kept" in out) == (0, True)
    assert "empty: keep own qwen3:8b" in err
    assert (home / "config.json").read_bytes() == before
    code, _, err = await answer_lines("own", "", "", "2", "n", "")
    assert code == 0, err
    assert "leave empty to keep the current value" in err
    assert (written(home)["llm"]["model"], written(home)["llm"]["api_key"]) == ("llama3.2:3b", KEY)


async def test_a_number_is_no_address_and_a_region_can_be_changed(
    home: Path, answer_lines: AnswerLines
) -> None:
    closed = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}
    china, abroad = "https://api.moonshot.cn/v1", "https://api.moonshot.ai/v1"
    rest = ("sk-kimi-0123456789", "n", "kimi-k2", "y", "n", "")
    code, _, err = await answer_lines("kimi", "3", "2", *rest, **closed)
    assert code == 0, err
    assert "3 is not an address." in err
    assert written(home)["llm"]["base_url"] == abroad
    code, _, err = await answer_lines("kimi", "1", *rest, **closed)
    assert code == 0, err
    assert f"empty: {abroad}" in err
    assert written(home)["llm"]["base_url"] == china


async def test_no_model_yet_can_be_chosen_also_where_a_server_runs_here(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = ConfigFile(home / "config.json", {})
    file.load()
    async with ModelHost("vllm", MODELS) as host:
        local = (replace(PRESETS["vllm"], base_url=host.base_url),)
        questions = ModelQuestions(dialog=Dialog(lang="en"), file=file, environ={}, local=local)
        monkeypatch.setattr("sys.stdin", io.StringIO("0\n"))
        assert await asyncio.to_thread(questions.ask) is None
    shown = capsys.readouterr().err
    assert "vLLM (this machine), it is running" in shown
    assert " 0  no model yet" in shown


async def test_a_fallback_chain_is_set(
    home: Path, host: ModelHost, answer_lines: AnswerLines
) -> None:
    async with ModelHost("plain", {"small": 0}) as spare:
        answers = ("own", host.base_url, KEY, "1", "y", "own", spare.base_url, "", "small", "n", "")
        item = {"provider": "openai", "base_url": spare.base_url, "model": "small", "api_key": ""}
        code, _, err = await answer_lines(*answers)
    assert code == 0, err
    assert written(home)["llm"]["fallback"] == [item]
    assert set(spare.seen_keys) == {""}


async def test_a_model_without_tools_is_told_with_the_servers_words(
    home: Path, answer_lines: AnswerLines
) -> None:
    persona = replace(OLLAMA, without_tools=OLLAMA_TOOLS)
    async with ModelHost("plain", MODELS, persona=persona) as host:
        code, _, err = await answer_lines(
            "own", host.base_url, "", "gpt-99", "n", "own", host.base_url, "", "1", "n", ""
        )
    assert code == 0, err
    assert "✗ The server has no model gpt-99. It has qwen3:8b, llama3.2:3b." in err
    assert "– It supports no tools" in err
    assert "The server's words: registry.ollama.ai/library/qwen3:8b does not support tools" in err


async def test_a_key_of_the_environment_is_written_as_a_reference(
    home: Path, answer_lines: AnswerLines
) -> None:
    closed = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}
    answers = ("deepseek", "", "n", "deepseek-chat", "y", "n", "")
    code, _, err = await answer_lines(*answers, DEEPSEEK_API_KEY="sk-deep-0123456789", **closed)
    assert code == 0, err
    assert "empty: use DEEPSEEK_API_KEY from the environment" in err
    assert written(home)["llm"]["api_key"] == "${DEEPSEEK_API_KEY}"


async def test_without_a_known_language_it_is_asked_for_and_decides_the_persona(
    home: Path, answer_lines: AnswerLines
) -> None:
    code, out, err = await answer_lines("zh", "", "", LC_ALL="C.UTF-8")
    assert code == 0, err
    assert "用哪里的模型" in err
    assert "在这里聊天" in out
    assert "我" in (home / "workspace" / "SOUL.md").read_text("utf-8")


async def test_ctrl_c_in_the_middle_leaves_nothing(home: Path, host: ModelHost) -> None:
    async with typist(home) as person:
        await person.answer(r"Number or name \(", "own")
        await person.answer(r"Address", host.base_url)
        await person.answer(r"Key", KEY)
        await person.see(r"Number or name of the model")
        await person.interrupt()
        assert await person.end() == 130
    assert "Traceback" not in person.shown
    assert not home.exists()


def test_yes_asks_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "init", "--yes"]) == 0
    assert capsys.readouterr().err == ""
    assert written(home)["llm"]["provider"] == "anthropic"
