"""File descriptors that run out: the page, the API and the record go on, and the log has room for
the cause.
"""

import asyncio
import json
import os
import resource
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import httpx

from tests.emulators.model import ModelEmulator
from tests.walk.harness import ROOT, Bot, Process, command, settings, until
from tests.walk.nest import hatch
from tests.walk.speech import answer, asked

SOFT, HARD = 100, 300
ADVICE = "; raise the limit of open files"


class PoorBot(Bot):
    """A bot that is started with few descriptors."""

    async def born(self, known: dict[str, str], out: BinaryIO, errors: BinaryIO) -> Process:
        words = [str(SOFT), str(HARD), "--home", str(self.home), *self.words]
        return await hatch(words, known, out, errors, "tests.walk.poor")


class ColdPoorBot(Bot):
    """The same, started from nothing: it imports when it needs to."""

    async def born(self, known: dict[str, str], out: BinaryIO, errors: BinaryIO) -> Process:
        return await asyncio.create_subprocess_exec(
            *command("--home", str(self.home), *self.words),
            cwd=ROOT, env=known, stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=errors,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_NOFILE, (SOFT, HARD)),
        )  # fmt: skip


async def test_idle_connections_and_a_descriptor_limit_stop_nobody(tmp_path: Path) -> None:
    bot = PoorBot(tmp_path, settings("http://127.0.0.1:9"))
    async with AsyncExitStack() as held:
        held.push_async_callback(_end, bot)
        await bot.start()
        assert resource.prlimit(bot.pid, resource.RLIMIT_NOFILE) == (HARD, HARD)
        url = httpx.URL((tmp_path / "data" / "lock").read_text().split()[1])
        for _ in range(HARD + 50):
            _, writer = await asyncio.open_connection(url.host, url.port)
            held.callback(writer.close)
        assert await _is_answered(bot)
        assert "Too many open files" not in _log(tmp_path)

        resource.prlimit(
            bot.pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{bot.pid}/fd")), HARD)
        )
        writers = [(await asyncio.open_connection(url.host, url.port))[1] for _ in range(70)]
        await until(lambda: "connections cannot be accepted" in _log(tmp_path), "it says so")
        resource.prlimit(bot.pid, resource.RLIMIT_NOFILE, (HARD, HARD))
        assert await _is_answered(bot)
        lines = [
            json.loads(line)
            for line in _log(tmp_path).splitlines()
            if "connections cannot be" in line
        ]
        assert [(line["level"], line["error"]) for line in lines] == [
            ("error", "[Errno 24] Too many open files")
        ]
        assert "socket.accept()" not in _log(tmp_path)
        for writer in writers:
            writer.close()
        assert await bot.term() == 0


async def _end(bot: Bot) -> None:
    """Also where the test failed: nothing outlives it."""
    if bot.alive:
        await bot.kill()


async def _is_answered(bot: Bot) -> bool:
    """A message is stored and its command answered."""
    told = await bot.web.answer("talk", await bot.web.post("talk", "/whoami"))
    return bool(told["role"] == "notice")


def _log(home: Path) -> str:
    return (home / "data" / "log" / "mnema.log").read_text()


def _at_the_limit(home: Path) -> list[dict[str, Any]]:
    """What it logged of descriptors that it did not get."""
    return [
        line
        for line in map(json.loads, _log(home).splitlines())
        if "Too many open files" in json.dumps(line)
    ]


async def test_what_is_imported_at_the_limit_is_told_in_one_sentence_and_tried_again(
    tmp_path: Path,
) -> None:
    """What the first message loads finds no descriptor left; something else may meet the limit
    first.
    """
    async with AsyncExitStack() as held:
        model = await held.enter_async_context(ModelEmulator(responder=answer))
        bot = ColdPoorBot(tmp_path, settings(model.url))
        held.push_async_callback(_end, bot)
        await bot.start()
        # its connection stays open
        assert (await bot.web.ask("GET", "/healthz")).status_code == 200
        resource.prlimit(bot.pid, resource.RLIMIT_NOFILE, (0, HARD))
        id = await bot.web.post("talk", asked("one"))
        await until(
            lambda: [
                line for line in _at_the_limit(tmp_path) if line.get("why", "").endswith(ADVICE)
            ],
            "it says so",
        )
        resource.prlimit(bot.pid, resource.RLIMIT_NOFILE, (HARD, HARD))
        assert (await bot.web.answer("talk", id))["text"] == "re «one»"
        assert (await bot.web.answer("talk", await bot.web.post("talk", asked("two"))))[
            "text"
        ] == "re «two»"
        assert [line for line in _at_the_limit(tmp_path) if "exception" in line] == []
        assert await bot.term() == 0
