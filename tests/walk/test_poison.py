"""A message that the process dies of is found, whoever writes beside it, and is given up after
three deaths alone.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply
from tests.walk.harness import Scene, scene, until
from tests.walk.record import query, unended
from tests.walk.speech import answer, asked

OTHERS = ("garden", "work", "home")
INTERRUPTED = (
    "I was interrupted several times while working on this and gave up. /retry tries again."
)
GIVEN_UP = (
    "I was interrupted several times while opening this message and gave up. If you still need an "
    "answer, send it again; if it had files, leave them out."
)


class Poison:
    """A model whose answer to one message kills the bot, once `together` conversations have asked
    at the same time.
    """

    def __init__(self, together: int) -> None:
        self.together = together
        self.bot: Callable[[], int] = lambda: 0
        self.asking: set[str] = set()

    def __call__(self, body: dict[str, Any]) -> Reply:
        reply = answer(body)
        self.asking.add(reply.text)
        # at first whoever asks last completes the four; afterwards the message alone kills
        sought = self.asking if self.together > 1 else {reply.text}
        if len(self.asking) >= self.together and any("«poison»" in text for text in sought):
            os.kill(self.bot(), signal.SIGKILL)
        return reply if len(self.asking) >= self.together else Reply(text=reply.text, wait=3.0)


async def deaths_until(talk: Scene, done: Callable[[], Awaitable[bool]], most: int) -> int:
    """Start the bot again after each death until everything is done; how often it died."""
    for deaths in range(most + 1):
        await talk.bot.start()
        ended = asyncio.create_task(talk.bot.ended())
        finished = asyncio.create_task(until(done, "everything is done", 60))
        await asyncio.wait({ended, finished}, return_when=asyncio.FIRST_COMPLETED)
        if finished.done():
            finished.result()
            ended.cancel()
            return deaths
        finished.cancel()
    raise AssertionError(f"it died more than {most} times")


async def test_a_message_that_kills_the_process_is_given_up_and_everybody_else_is_answered(
    tmp_path: Path,
) -> None:
    poison = Poison(together=len(OTHERS) + 1)
    async with scene(tmp_path, ModelEmulator(responder=poison), provider="openai") as talk:
        poison.bot = lambda: talk.bot.pid
        await talk.bot.start()
        ids = {name: await talk.web.post(name, asked(name)) for name in (*OTHERS, "poison")}
        assert await talk.bot.ended() == -signal.SIGKILL
        poison.asking.clear()

        async def all_quiet() -> bool:
            return not unended(talk.bot.db)

        poison.together = 1
        assert await deaths_until(talk, all_quiet, 9) <= 4
        for name in OTHERS:
            assert (await talk.web.answer(name, ids[name]))["text"] == f"re «{name}»"
        told = await talk.web.answer("poison", ids["poison"])
        assert (told["role"], told["text"]) == ("notice", INTERRUPTED)
        assert query(
            talk.bot.db, "SELECT attempts > 0, deaths_alone FROM inbox WHERE state = 'dead'"
        ) == [(1, 3)]
        assert query(talk.bot.db, "SELECT MAX(deaths_alone) FROM inbox WHERE state <> 'dead'") == [
            (0,)
        ]
        assert await talk.say("poison", asked("after")) == "re «after»"


async def test_a_message_that_kills_while_it_is_opened_is_given_up_too(tmp_path: Path) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer), provider="openai") as talk:
        await talk.bot.start("claim.in_txn@1:kill9")
        id = await talk.web.post("talk", asked("poison"))
        deaths = 0
        while await _dies(talk):
            deaths += 1
            assert deaths < 6
            await talk.bot.start("claim.in_txn@1:kill9")
        assert deaths == 4
        told = await talk.web.answer("talk", id)
        assert (told["role"], told["text"]) == ("notice", GIVEN_UP)
        await talk.bot.restart()
        assert await talk.say("talk", asked("after")) == "re «after»"


async def _dies(talk: Scene) -> bool:
    """Whether this life ends before everything is at rest."""
    await until(
        lambda: not talk.bot.alive or not unended(talk.bot.db), "the process dies, or all is done"
    )
    if talk.bot.alive:
        return False
    await talk.bot.ended()
    return True
