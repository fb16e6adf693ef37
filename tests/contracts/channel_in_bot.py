"""A complete bot on a channel: a delayed chat delays no other, and repeats are marked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.config.home import HomeFolder
from bot.models.base import Request
from memory.store.open import open_store
from tests.bot.inside import QUIET, Inside, inside
from tests.bot.talk import words
from tests.contracts.channel_cases import Cases, needs
from tests.contracts.channel_stage import Stage, eventually

REPEATED = "(possibly repeated)"
LONG = 3_600.0


def answer(request: Request) -> str:
    """Repeat the person's last message."""
    return f"re: {[text for text in words(request) if not text.startswith('[')][-1]}"


@asynccontextmanager
async def run_bot(stage: Stage, folder: Path) -> AsyncIterator[Inside]:
    """Run a bot on the stage's channel, with the stage's notebook in its store."""
    home, name = HomeFolder(root=folder), stage.channel.name
    home.ensure()
    store = await open_store(home.db)
    known = await store.notes.load(name, "")
    await store.notes.put(name, {key: value for key, value in stage.notebook.values.items() if key not in known})
    await store.close()
    mine: dict[str, Any] = {**stage.config(), "owners": [stage.person], "allow": [stage.other_person]}
    settings = {**QUIET, "language": "en", "channels": {name: mine}}
    async with inside(folder, answer, json.loads(json.dumps(settings)), channel=stage.channel) as it:  # type: ignore[arg-type]
        yield it


class InBot(Cases):
    """The channel with gateway, outbox and store."""

    @needs("config", "flood", "another_says")
    async def test_I09_a_flooded_chat_delays_no_other(self, stage: Stage, tmp_path: Path) -> None:
        async with run_bot(stage, tmp_path):
            stage.flood(LONG)
            stage.say("first")
            stage.another_says("second")
            await stage.until(lambda: stage.another_sees() == ["re: second"])
            stage.another_says("third")
            await stage.until(lambda: stage.another_sees() == ["re: second", "re: third"])
            assert stage.seen() == []

    @needs("config", "lose_next")
    async def test_I05_an_answer_whose_fate_is_unknown_is_seen_once_or_says_that_it_is_a_repeat(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        async with run_bot(stage, tmp_path) as it:
            stage.lose_next()
            stage.say("hello")
            await eventually(lambda: stage.seen() and (stage.channel.capabilities.keyed or len(stage.seen()) == 2))
            await it.bot.outbox_dispatcher.settled()
            first, *more = stage.seen()
        assert first == "re: hello"
        assert len(more) == (0 if stage.channel.capabilities.keyed else 1)
        assert all(REPEATED in text for text in more)

    @needs("config", "say_again")
    async def test_I02_a_repeat_is_answered_once_even_in_the_next_life(self, stage: Stage, tmp_path: Path) -> None:
        async with run_bot(stage, tmp_path) as it:
            stage.say("hello")
            await stage.until(lambda: stage.seen() == ["re: hello"])
            stage.say_again()
            await stage.until(lambda: stage.confirmed() == 2)
            await it.bot.turn_dispatcher.settled()
        assert stage.seen() == ["re: hello"]

    @needs("config", "restart")
    async def test_I01_two_lives_on_one_record_answer_everything_once(self, stage: Stage, tmp_path: Path) -> None:
        for number in range(3):
            async with run_bot(stage, tmp_path):
                stage.say(f"number {number}")
                await stage.until(lambda due=number + 1: len(stage.seen()) >= due)  # type: ignore[misc]
            await stage.restart()
        assert stage.seen() == [f"re: number {number}" for number in range(3)]
