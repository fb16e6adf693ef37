"""Turns of a whole bot in this process, conversations in parallel, and loading a long conversation."""

import json
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import planning
from benchmarks.floors import bare_calls, turn_floor
from benchmarks.measurement import Measurement, median
from benchmarks.process import emulator, settings
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.runtime.bot import Bot
from bot.runtime.wiring import BotDependencies
from channels.message import Address, InboundMessage, Sender
from channels.testing import ScriptedChannel
from memory.conversation import Text
from memory.store.open import open_store
from memory.store.rows import NewInboxRow, NewMessage, Place

LONG = "The archive of the town holds many letters from that year. " * 36
STORED = 100_000
MANY, EACH = 100, 5


@asynccontextmanager
async def open_bot(settings: dict[str, object]) -> AsyncIterator[tuple[Bot, ScriptedChannel]]:
    """Run a bot on a temporary home, with one scripted channel whose user is an owner."""
    with tempfile.TemporaryDirectory() as folder:
        home = HomeFolder(root=Path(folder))
        home.ensure()
        home.config.write_text(json.dumps(settings))
        home.config.chmod(0o600)
        file = ConfigFile(home.config)
        file.load()
        store = await open_store(home.db)
        bot = Bot(BotDependencies(home=home, file=file, store=store))
        channel = ScriptedChannel(name="terminal", account="local")
        await bot.open([channel])
        try:
            yield bot, channel
        finally:
            await bot.close(patience=1.0)


def make_message(text: str, number: int, conversation: str = "bench") -> InboundMessage:
    """Make the message with this number of a conversation."""
    return InboundMessage(
        address=Address(channel="terminal", account="local", chat_id=conversation),
        kind="dm",
        key=f"{conversation}:{number}",
        sender=Sender(id="owner"),
        text=text,
        sent_at=datetime.now(UTC),
    )


async def one_turn(bot: Bot, channel: ScriptedChannel, number: int, text: str, conversation: str = "bench") -> float:
    """Measure the seconds from a message's arrival to its sent answer, durable commits included."""
    began = time.perf_counter()
    before = len(channel.sent)
    await bot.receiver.deliver_for("web")([make_message(text, number, conversation)])
    await channel.until(lambda: len(channel.sent) > before)
    return time.perf_counter() - began


async def figures() -> list[Measurement]:
    """Measure all of them."""
    async with emulator() as url:
        found = await _turns(url)
        found.append(await _many(url, 0, 90, 150))
    async with emulator(200) as url:
        found.append(await _many(url, 200, 80, 120))
    return [*found, *planning.figures(), await _restore()]


async def _many(url: str, latency: int, target: float, goal: float) -> Measurement:
    """Measure a hundred conversations with five messages each, all in parallel."""
    async with open_bot({"llm": settings(url)["llm"], "concurrency": 128}) as (bot, channel):
        await one_turn(bot, channel, 0, "hello", "warm")
        began = time.perf_counter()
        for number in range(EACH):
            await bot.receiver.deliver_for("web")([make_message("hello", number, f"m{at}") for at in range(MANY)])
        await channel.until(lambda: len(channel.sent) > MANY * EACH, seconds=60)
        took = time.perf_counter() - began
    return Measurement(
        name=f"{MANY} conversations, model at {latency} ms",
        ours=MANY * EACH / took,
        floor=await bare_calls(url, MANY, EACH),
        unit="turns/s",
        target=target,
        goal=goal,
        floor_is="bare SDK calls at the same concurrency",
        more=True,
    )


async def _turns(url: str) -> list[Measurement]:
    async with open_bot({"llm": settings(url)["llm"]}) as (bot, channel):
        number = 0
        for _ in range(10):
            await one_turn(bot, channel, number := number + 1, "hello", "warm")
        empty = [await one_turn(bot, channel, 1, "hello", f"fresh{at}") for at in range(40)]
        twenty, long = [], []
        for at in range(8):
            for step in range(15):
                await one_turn(bot, channel, step, "hello", f"twenty{at}")
            twenty += [await one_turn(bot, channel, 50 + step, "hello", f"twenty{at}") for step in range(4)]
            for step in range(13):
                await one_turn(bot, channel, step, LONG * 7, f"long{at}")
            long += [await one_turn(bot, channel, 50 + step, "hello", f"long{at}") for step in range(4)]
    named = {
        "history 0": (empty, []),
        "20 turns": (twenty, ["hello"] * 17),
        "45k tokens": (long, [LONG * 7] * 13),
    }
    figures = []
    for name, (times, history) in named.items():
        floor = await turn_floor(url, history)
        figures.append(
            Measurement(
                name=f"turn in process, {name}",
                ours=1000 * median(times),
                floor=1000 * floor,
                unit="ms",
                target=12,
                goal=9,
                floor_is="bare SDK call with that history + 4 bare durable commits",
            )
        )
    return figures


async def _restore() -> Measurement:
    """Measure loading a conversation of 100,000 messages, all but the newest turns cleared."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.db"
        conversation = await fill(path, STORED)
        store = await open_store(path)
        times = []
        for _ in range(100):
            began = time.perf_counter()
            session = await store.sessions.load(conversation)
            times.append(time.perf_counter() - began)
        await store.close()
        first, last = session.turns[0].first_seq, session.turns[-1].last_seq
        bare = sqlite3.connect(path)
        floor = []
        for _ in range(100):
            began = time.perf_counter()
            bare.execute(
                "SELECT * FROM message WHERE conversation = ? AND seq BETWEEN ? AND ?", (conversation, first, last)
            ).fetchall()
            floor.append(time.perf_counter() - began)
        bare.close()
    return Measurement(
        name=f"restore from {STORED:,} stored messages",
        ours=1000 * median(times),
        floor=1000 * median(floor),
        unit="ms",
        target=5,
        goal=5,
        floor_is="a bare SELECT of the rows in view",
    )


async def fill(path: Path, messages: int) -> str:
    """Store a conversation of so many messages, all but the newest twenty turns cleared; returns its id."""
    store = await open_store(path)
    place = Place(channel="web", account="console", chat_id="big", thread_id="", kind="dm", space="")
    conversation = ""
    draft = NewMessage(role="user", parts=(Text(text="words " * 30),), tokens=40, counter="tiktoken", origin="person")
    answer = NewMessage(
        role="assistant", parts=(Text(text="words " * 30),), tokens=40, counter="tiktoken", origin="model"
    )
    for start in range(0, messages // 2, 500):
        rows = await store.delivery.accept(
            [
                NewInboxRow(place=place, key=f"k{start + at}", kind="message", sender_id="owner", body='{"text":"x"}')
                for at in range(500)
            ]
        )
        conversation = rows[0].conversation
        for number, row in enumerate(rows):
            if start + number == messages // 2 - 20:
                await store.sessions.clear(conversation)
            turn = await store.delivery.claim(row.id, draft, "owner")
            await store.delivery.finish(
                turn, "done", answer, []
            )  # no parts: unsent ones would pile up as in no real bot
    await store.close()
    return conversation
