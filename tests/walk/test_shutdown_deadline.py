"""SIGTERM ends the process in its time, whatever its threads do: also while one of them holds the
interpreter.
"""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

import httpx
import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.walk.harness import Bot, Process, settings, until
from tests.walk.nest import hatch
from tests.walk.record import query
from tests.walk.speech import answer, asked

pytestmark = pytest.mark.kill
GRIP_OF_THE_LOOP = "recv.acked@1:grip"
GRIP_OF_A_THREAD = "claim.in_txn@1:grip"
HUNG_WRITER = "claim.in_txn@1:hang"
SILENT_CALLS = 3


class HurriedBot(Bot):
    """A bot with a short shutdown deadline."""

    seconds = 1.0

    async def born(self, known: dict[str, str], out: BinaryIO, errors: BinaryIO) -> Process:
        words = [str(self.home), str(self.seconds)]
        return await hatch(words, known, out, errors, "tests.walk.hurried")


@pytest.fixture
async def bots() -> AsyncIterator[list[Bot]]:
    """Bots that a test starts; those that live at its end, also where it failed, are killed."""
    started: list[Bot] = []
    yield started
    for bot in started:
        if bot.alive:
            await bot.kill()


@pytest.mark.parametrize(
    ("fp", "code"),
    [(GRIP_OF_A_THREAD, -9), (HUNG_WRITER, 75), pytest.param(GRIP_OF_THE_LOOP, -9, marks=by_night)],
)
async def test_a_process_that_cannot_end_is_ended_and_nothing_confirmed_is_lost(
    tmp_path: Path, bots: list[Bot], fp: str, code: int
) -> None:
    async with ModelEmulator(responder=answer) as model:
        bots.append(bot := HurriedBot(tmp_path, settings(model.url)))
        # time for the thread, which comes before the kill
        bot.seconds = 4.0 if fp == HUNG_WRITER else 1.0
        await bot.start(fp)
        await _stop_it_in_its_tracks(bot, fp)
        bot.send_signal(signal.SIGTERM)
        assert await bot.ended() == code
        bots.append(later := Bot(tmp_path, settings(model.url)))
        await later.start()
        assert (await later.web.answer("talk", await later.web.post("talk", asked("again"))))[
            "text"
        ] == "re «again»"
        await until(
            lambda: not query(later.db, "SELECT id FROM inbox WHERE state <> 'done'"),
            "all is answered",
        )
        assert len(await later.web.lines("talk")) == 4


async def test_the_process_that_watches_ends_with_the_one_that_it_watches(
    tmp_path: Path, bots: list[Bot]
) -> None:
    async with ModelEmulator(responder=answer) as model:
        bots.append(bot := HurriedBot(tmp_path, settings(model.url)))
        await bot.start()
        [watcher] = _children(bot.pid)
        await bot.kill()
        await until(lambda: not Path(f"/proc/{watcher}/cmdline").exists(), "the watcher has ended")


@by_night
async def test_the_deadline_of_the_program_is_28_seconds(tmp_path: Path, bots: list[Bot]) -> None:
    async with ModelEmulator(responder=answer) as model:
        bots.append(bot := Bot(tmp_path, settings(model.url)))
        await bot.start(GRIP_OF_THE_LOOP)
        await _stop_it_in_its_tracks(bot, GRIP_OF_THE_LOOP)
        began = time.monotonic()
        bot.send_signal(signal.SIGTERM)
        assert await bot.ended(60.0) == -9
        assert 27.5 < time.monotonic() - began < 30.0


async def _stop_it_in_its_tracks(bot: Bot, fp: str) -> None:
    """Send the message at which the failpoint acts, and wait until it has."""
    sending = asyncio.create_task(bot.web.send("talk", asked("first"), "first"))
    path = "/readyz" if fp == HUNG_WRITER else "/healthz"
    await until(lambda: query(bot.db, "SELECT id FROM inbox"), "the message is stored")
    await until(lambda: _is_silent(bot, path), "it does not answer any more")
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)


async def _is_silent(bot: Bot, path: str) -> bool:
    """Whether it answers none of several calls; a busy machine may be late with one."""
    url = (bot.home / "data" / "lock").read_text().split()[1]
    async with httpx.AsyncClient(base_url=url, timeout=0.5, trust_env=False) as client:
        for _ in range(SILENT_CALLS):
            try:
                await client.get(path)
            except httpx.TimeoutException:
                continue
            return False
    return True


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
