"""What was shown of an answer that ends early is stored as such, whatever ended it, and only what
was shown.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.agent.timeouts import TurnTimeouts
from bot.errors import ModelError, Transient
from bot.models.base import (
    Answer,
    ModelEvent,
    Request,
    Restarted,
    TextDelta,
    ThinkingDelta,
    TokensUsed,
    ToolStarted,
)
from channels.message import Capabilities
from channels.testing import ScriptedChannel
from memory.conversation import Message, Text
from tests.bot.commands.test_forget import code_of, holds
from tests.bot.inside import TERMINAL, Inside, inside
from tests.bot.talk import call, results, words

LIVE = replace(TERMINAL, live_display="stream")
BEGINNING = "The garden lies"
STEP = "I look into the folder."


def channel(capabilities: Capabilities = LIVE, name: str = "terminal") -> ScriptedChannel:
    return ScriptedChannel(name=name, account="local", capabilities=capabilities)


class Writing:
    """A model that shows these events for a message with "garden", and then fails or stays silent;
    else it answers.
    """

    name = "writing"

    def __init__(self, *events: ModelEvent, error: Exception | None = None) -> None:
        self._events, self._error = events, error
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        if "garden" in str(request.messages[-1]) or results(request):
            for event in self._events:
                yield event
            if self._error is not None:
                raise self._error
            await asyncio.Event().wait()
        yield Answer(parts=(Text(text="fine"),), stop="end", usage=TokensUsed(), model="m")

    async def close(self) -> None: ...


class Looking(Writing):
    """The same, after a first step that calls a tool."""

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if "garden" in str(request.messages[-1]) and not self.requests:
            self.requests.append(request)
            yield TextDelta(text=STEP)
            yield Answer(
                parts=(Text(text=STEP), call("list_files")),
                stop="tools",
                usage=TokensUsed(),
                model="m",
            )
            return
        async for event in super().stream(request):
            yield event


async def end(it: Inside) -> Message:
    """The last stored message."""
    return (await it.bot.store.sessions.messages(await it.conversation()))[-1]


async def stopped(it: Inside, key: str, **who: str) -> list[str]:
    """Stop the answer to a message once its beginning is shown; the texts that were sent."""
    it.channel.hear("where is my garden?", key=key, **who)
    await it.channel.until(lambda: any(event.text == BEGINNING for event in it.channel.shown))
    await it.text("/stop", **who)
    return [part.text for part in await it.answer(key)]


async def test_what_was_shown_of_a_stopped_answer_is_stored_without_thoughts(
    tmp_path: Path,
) -> None:
    model = Writing(ThinkingDelta(text="secret"), TextDelta(text=BEGINNING))
    async with inside(tmp_path, [], channel=channel()) as it:
        it.bot.models.use(model)
        assert await stopped(it, "k") == [f"{BEGINNING}\n\n⏹ Stopped. /retry answers again."]
        said = await end(it)
        assert said.origin == "stopped"
        assert [part.text for part in said.parts if isinstance(part, Text)] == [
            BEGINNING,
            "[stopped by the person]",
        ]
        await it.text("and now?")
        assert BEGINNING in words(model.requests[-1])
        assert "secret" not in str(model.requests[-1])


async def test_a_stop_during_a_later_step_stores_the_words_before_the_tool_once(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, [], channel=channel()) as it:
        it.bot.models.use(Looking(TextDelta(text=BEGINNING)))
        [text] = await stopped(it, "k")
        assert text.startswith(f"{STEP}\n\n{BEGINNING}\n\n")
        stored = await it.bot.store.sessions.messages(await it.conversation())
        assert [str(message.parts).count(STEP) for message in stored] == [0, 1, 0, 0]
        assert stored[-1].parts[0] == Text(text=BEGINNING)


async def test_where_nothing_is_shown_before_the_end_nothing_is_sent_or_stored_of_it(
    tmp_path: Path,
) -> None:
    async with inside(
        tmp_path, [], channel=channel(replace(TERMINAL, live_display="typing"))
    ) as it:
        it.bot.models.use(Writing(TextDelta(text=BEGINNING)))
        assert await stopped(it, "k") == ["Stopped."]
        assert BEGINNING not in str(await end(it))


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ((Restarted(why=""),), BEGINNING),
        ((Restarted(why=""), TextDelta(text="A lake "), TextDelta(text="lies")), "A lake lies"),
        ((ToolStarted(name="list_files"),), BEGINNING),
    ],
)
async def test_of_a_repeated_request_the_last_text_that_was_shown_counts(
    tmp_path: Path, events: tuple[ModelEvent, ...], shown: str
) -> None:
    model = Writing(TextDelta(text=BEGINNING), *events, error=Transient("overloaded", status=529))
    async with inside(tmp_path, [], channel=channel()) as it:
        it.bot.models.use(model)
        answer, notice = await it.say("where is my garden?")
        assert (answer.text, answer.kind) == (f"{shown}\n\n(cut off)", "final")
        assert ("/retry" in notice.text, notice.kind) == (True, "notice")
        said = await end(it)
        assert (said.origin, said.parts[0]) == ("cut", Text(text=shown))
        assert all(isinstance(part, Text) for part in said.parts)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (None, "This answer took more than 0 minutes"),
        (ModelError("418", status=418), "it refused the request"),
        (RuntimeError("a bug"), "I was interrupted several times"),
    ],
)
async def test_whatever_ends_an_answer_what_was_shown_stays(
    tmp_path: Path, error: Exception | None, told: str
) -> None:
    times = TurnTimeouts() if error else TurnTimeouts(cancel_after=0.5)
    async with inside(tmp_path, [], channel=channel(), times=times) as it:
        it.bot.models.use(Writing(TextDelta(text=BEGINNING), error=error))
        answer, notice = await it.say("where is my garden?")
        assert answer.text == f"{BEGINNING}\n\n(cut off)"
        assert told in notice.text
        assert (await end(it)).origin == "cut"
        assert await it.text("and now?") == "fine"


async def test_the_text_in_a_code_block_is_marked_behind_it(tmp_path: Path) -> None:
    model = Writing(TextDelta(text="```python\nprint("), error=Transient("overloaded", status=529))
    async with inside(tmp_path, [], channel=channel()) as it:
        it.bot.models.use(model)
        answer, _ = await it.say("where is my garden?")
        assert answer.text == "```python\nprint(\n```\n\n(cut off)"


async def test_S56_what_was_shown_in_a_tainted_turn_is_tainted(tmp_path: Path) -> None:
    people = {"language": "en", "channels": {"telegram": {"owners": ["1"], "allow": ["-100"]}}}
    group = channel(replace(LIVE, groups=True), name="telegram")
    async with inside(tmp_path, [], people, group) as it:
        it.bot.models.use(Writing(TextDelta(text=BEGINNING)))
        await stopped(it, "k", chat="-100", sender="1", kind="group")
        [row] = await it.bot.store.sessions.conversations()
        said = (await it.bot.store.sessions.messages(row.id))[-1]
        assert (said.origin, said.tainted) == ("stopped", True)


async def test_I18_nothing_of_an_answer_that_a_clear_ended_is_in_the_new_epoch(
    tmp_path: Path,
) -> None:
    model = Writing(TextDelta(text=BEGINNING))
    async with inside(tmp_path, [], channel=channel()) as it:
        it.bot.models.use(model)
        it.channel.hear("where is my garden?", key="k")
        await it.channel.until(lambda: any(event.text == BEGINNING for event in it.channel.shown))
        await it.bot.store.sessions.clear(await it.conversation())
        await it.text("/stop")
        assert await it.text("and now?") == "fine"
        assert BEGINNING not in str(model.requests[-1])
        session = await it.bot.store.sessions.load(await it.conversation())
        assert [turn.messages[-1].origin for turn in session.turns] == ["model"]
        assert it.parts("k") == []


async def test_I44_what_was_shown_of_an_answer_is_forgotten_with_the_rest(tmp_path: Path) -> None:
    async with inside(tmp_path, ["Fine."] * 9, channel=channel()) as it:
        await it.say("I keep a garten near the lake at Xanadu")
        it.bot.models.use(Writing(TextDelta(text=BEGINNING), TextDelta(text=" at Xanadu")))
        it.channel.hear("where is my garden?", chat="c2", key="k")
        await it.channel.until(
            lambda: any(event.text == " at Xanadu" for event in it.channel.shown)
        )
        code = code_of(await it.text("/forget Xanadu"))
        assert (await it.text(f"/forget yes {code}")).startswith("**Forgotten.**")
        await it.bot.settled()
        assert holds(tmp_path, "Xanadu") == []
