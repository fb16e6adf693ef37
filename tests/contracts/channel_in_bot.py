"""A complete bot on a channel: a delayed chat delays no other, and repeats are marked."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.config.home import HomeFolder
from bot.errors import ModelError, Transient
from bot.models.base import ModelEvent, Request, TextDelta
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
    await store.notes.put(
        name, {key: value for key, value in stage.notebook.values.items() if key not in known}
    )
    await store.close()
    mine: dict[str, Any] = {
        **stage.config(),
        "owners": [stage.person],
        "allow": [stage.other_person],
    }
    settings = {**QUIET, "language": "en", "channels": {name: mine}}
    async with inside(
        folder, answer, json.loads(json.dumps(settings)), channel=stage.channel
    ) as it:  # type: ignore[arg-type]
        yield it


class Breaking:
    """A model that writes a few words, and then nothing more, or fails."""

    name = "breaking"

    def __init__(self, error: ModelError | None = None) -> None:
        self.error = error
        self.go_on = asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See ModelClient.stream."""
        yield TextDelta(text="Hello, ")
        yield TextDelta(text="wor")
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        await asyncio.Event().wait()

    async def close(self) -> None:
        """Nothing is open."""


class InBot(Cases):
    """The channel with gateway, outbox and store."""

    @needs("config", "live")
    async def test_what_was_shown_of_a_stopped_answer_stays_with_a_mark(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        async with run_bot(stage, tmp_path) as it:
            it.bot.models.use(Breaking())
            stage.say("hello")
            await stage.until(lambda: "Hello, wor" in stage.live())
            stage.say("/stop")
            await stage.until(lambda: len(stage.seen()) == 2)
            await it.bot.outbox_dispatcher.settled()
            assert stage.live() == ""
            answer, told = sorted(stage.seen(), key=len, reverse=True)
        assert answer.split() == [
            "Hello,",
            "wor",
            "⏹",
            *["Stopped.", "/retry", "answers", "again."],
        ]
        assert told == "Stopping."

    @needs("config", "live")
    async def test_what_was_shown_of_an_answer_that_broke_off_stays_with_a_mark(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        async with run_bot(stage, tmp_path) as it:
            model = Breaking(Transient("overloaded", status=529))
            it.bot.models.use(model)
            stage.say("hello")
            await stage.until(lambda: "Hello, wor" in stage.live())
            model.go_on.set()
            await stage.until(lambda: len(stage.seen()) == 2)
            await it.bot.outbox_dispatcher.settled()
            assert stage.live() == ""
            answer, notice = stage.seen()
        assert answer.split() == ["Hello,", "wor", "(cut", "off)"]
        assert "/retry" in notice

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
            await eventually(
                lambda: (
                    stage.seen() and (stage.channel.capabilities.keyed or len(stage.seen()) == 2)
                )
            )
            await it.bot.outbox_dispatcher.settled()
            first, *more = stage.seen()
        assert first == "re: hello"
        assert len(more) == (0 if stage.channel.capabilities.keyed else 1)
        assert all(REPEATED in text for text in more)

    @needs("config", "say_again")
    async def test_I02_a_repeat_is_answered_once_even_in_the_next_life(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        async with run_bot(stage, tmp_path) as it:
            stage.say("hello")
            await stage.until(lambda: stage.seen() == ["re: hello"])
            stage.say_again()
            await stage.until(lambda: stage.confirmed() == 2)
            await it.bot.turn_dispatcher.settled()
        assert stage.seen() == ["re: hello"]

    @needs("config", "restart")
    async def test_I01_two_lives_on_one_record_answer_everything_once(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        for number in range(3):
            async with run_bot(stage, tmp_path):
                stage.say(f"number {number}")
                await stage.until(lambda due=number + 1: len(stage.seen()) >= due)  # type: ignore[misc]
            await stage.restart()
        assert stage.seen() == [f"re: number {number}" for number in range(3)]
