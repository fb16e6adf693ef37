"""What takes long is told of at growing intervals, a few times, and /tasks shows how it gets on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.jobs.progress import due_minute, quote_line
from bot.models.base import Request
from channels.testing import ScriptedChannel
from tests.bot.agent.subagents.test_subagents_in_bot import answering, delegated, once, task_of
from tests.bot.inside import TERMINAL, Inside, inside
from tests.bot.jobs.clock import Clock, notices
from tests.bot.talk import call, results
from tests.cases import every_case

SETTINGS: dict[str, Any] = {"delegate": {"enabled": True, "wait_seconds": 0}, "language": "en"}


@asynccontextmanager
async def at_work(
    folder: Path, clock: Clock, channel: ScriptedChannel | None = None
) -> AsyncIterator[Inside]:
    """A sub-agent that has read a file, and now ponders without end."""
    gate = asyncio.Event()
    child = lambda goal, request: (  # noqa: E731
        "done" if results(request) else call("read_file", id="c1", path="SOUL.md")
    )  # noqa: E731, RUF100
    script = answering(
        once(delegated("look", tools=("read_file",)), "it runs on", "it is done"), child
    )
    async with inside(folder, script, SETTINGS, channel, clock) as it:
        stream = it.model.stream
        pondering = asyncio.Event()

        async def held(request: Request) -> Any:
            if task_of(request) and results(request):
                pondering.set()
                await gate.wait()
            async for event in stream(request):
                yield event

        it.model.stream = held  # type: ignore[method-assign]
        assert await it.text("please") == "it runs on"
        await pondering.wait()
        yield it
        gate.set()
        await it.channel.until(lambda: it.channel.sent[-1].text == "it is done")


async def test_a_task_is_told_of_after_2_4_8_16_and_32_minutes_and_never_twice(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with at_work(tmp_path, clock) as it:
        began = clock.at
        for seconds in range(0, 7_200, 30):
            clock.at = began + seconds
            await it.bot.progress.send_due_notices()
            await it.bot.progress.send_due_notices()
        await it.channel.until(lambda: len(notices(it, "⏳")) == 5)
        assert notices(it, "⏳") == [
            f"⏳ w1 · sub-agent · {span} · tool calls: 1"
            for span in ("2 min", "4 min", "8 min", "16 min", "32 min")
        ]
        clock.at = began + 32 * 60
        assert await replace(it.bot.progress, _noticed={}).send_due_notices() == 1
        assert "▶ w1 · sub-agent · look · 32 min · tool calls: 1" in await it.text("/tasks")
        await it.bot.outbox_dispatcher.settled()
        assert len(notices(it, "⏳")) == 5, "not even by another process"
        clock.at = began + 7_190
        assert "▶ w1 · sub-agent · look · 1 h 59 min · tool calls: 1" in await it.text("/tasks")


async def test_where_messages_can_be_edited_there_is_one_notice_that_gets_the_newer_texts(
    tmp_path: Path,
) -> None:
    clock = Clock()
    channel = ScriptedChannel(
        name="terminal", account="local", capabilities=replace(TERMINAL, edits=True)
    )
    async with at_work(tmp_path, clock, channel) as it:
        began = clock.at
        for minute in (2, 4, 16):  # away at the third one
            clock.at = began + minute * 60
            assert await replace(it.bot.progress, _noticed={}).send_due_notices() == 1, (
                "which no process remembers"
            )
            await it.bot.outbox_dispatcher.settled()
        sent = [one for one in channel.sent if one.text.startswith("⏳")]
        assert [one.text.split(" · ")[2] for one in sent] == ["2 min", "4 min", "16 min"]
        first = str(channel.sent.index(sent[0]) + 1)
        assert [one.replaces for one in sent] == ["", first, str(channel.sent.index(sent[1]) + 1)]


async def test_a_channel_that_counts_its_messages_is_left_alone(tmp_path: Path) -> None:
    clock = Clock()
    channel = ScriptedChannel(
        name="terminal", account="local", capabilities=replace(TERMINAL, user_writes_first=True)
    )
    async with at_work(tmp_path, clock, channel) as it:
        clock.at += 120
        assert await it.bot.progress.send_due_notices() == 0
        assert notices(it, "⏳") == []


@every_case(
    ("seconds", "minute"),
    [(119.9, 0), (120, 2), (229.9, 2), (230, 0), (240, 4), (1_920, 32), (2_030, 0), (3_840, 0)],
)
def test_a_moment_that_was_missed_is_not_made_up_for(seconds: float, minute: int) -> None:
    assert due_minute(seconds) == minute


def test_the_last_line_of_a_command_is_one_line_of_code() -> None:
    assert quote_line(" \n ") == ""
    assert quote_line("**a** `b`\n# c") == "`**a** 'b' # c`"
    assert len(quote_line("x" * 120)) == len(quote_line("x" * 121)) == 122
    assert quote_line("x" * 121).endswith("…`")
