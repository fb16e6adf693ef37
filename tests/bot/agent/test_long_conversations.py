"""A conversation with thousands of messages in view, as an import makes one: what is worked out of
it is not on the loop.

Measured as the share of the event loop's thread in the CPU time of the process, so that a busy
machine decides nothing.
"""

import json
import time
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from bot.cli.replay.importing import read_import
from bot.cli.replay.recording import count_recording
from memory.store.conversations.sessions import MAX_LIGHT_MESSAGES, load_session_rows
from memory.store.rows import Place
from tests.bot.inside import Inside, inside

TURNS = 1_000  # of two messages
# of the CPU time; nearly all of it where the loop does the work. PostgreSQL's rows arrive on the
# loop
MOST = 0.9


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Inside]:
    messages = [
        {
            "role": role,
            "content": (
                f"{role} {number}: the garden of plan {number % 97} takes {number % 31} days"
            ),
        }
        for number in range(TURNS)
        for role in ("user", "assistant")
    ]
    file = tmp_path / "long.json"
    file.write_text(json.dumps(messages))
    place = Place(
        channel="terminal", account="local", chat_id="long", thread_id="", kind="dm", space=""
    )
    async with inside(tmp_path / "home", ["an answer"]) as opened:
        counted = count_recording(read_import(file), await opened.bot.fitter.counter())
        await opened.bot.store.sessions.import_conversation(place, counted.turns)
        await opened.text("/context", chat="long")  # loads what the first command loads
        yield opened


async def loop_share(work: Awaitable[object]) -> float:
    """The share of this thread in the CPU time of some work."""
    began, all_began = time.thread_time(), time.process_time()
    await work
    return (time.thread_time() - began) / (time.process_time() - all_began)


async def test_of_thousands_of_messages_the_loop_reads_what_shows_that_they_are_many(
    it: Inside,
) -> None:
    """And a report on them holds up nobody."""
    id = await it.conversation("long")
    assert (await it.bot.report.facts(id))["turns"] == TURNS
    assert await loop_share(it.bot.report.facts(id)) < MOST
    assert await loop_share(it.bot.report.segments(id)) < MOST
    assert await loop_share(it.bot.store.sessions.load(id)) < MOST
    assert f"{TURNS:,} / 20 turns" in await it.text("/context", chat="long")
    rows = await it.bot.store.database.read(load_session_rows, id)
    assert len(rows.messages) == MAX_LIGHT_MESSAGES + 1
    session = await it.bot.store.sessions.load(id)
    assert [turn.number for turn in session.turns] == list(range(1, TURNS + 1))
    newest = await it.bot.store.sessions.load(id, turns=3)
    assert newest.turns == session.turns[-3:]
    assert (await it.bot.store.sessions.load(id, turns=TURNS)).turns == session.turns
