"""Turns in process and restoring, with nothing but the parts that do it."""

import tempfile
import time
from pathlib import Path

from benchmarks import planning
from benchmarks.figure import Figure, median
from benchmarks.floors import bare_calls, turn_floor
from benchmarks.inside import one_turn, opened, said
from benchmarks.process import emulator, settings
from memory.conversation import Text
from memory.store.open import open_store
from memory.store.rows import NewInboxRow, NewMessage, Place

LONG = "The archive of the town holds many letters from that year. " * 36
STORED = 100_000
MANY, EACH = 100, 5


async def figures() -> list[Figure]:
    """All of them."""
    async with emulator() as url:
        found = await _turns(url)
        found.append(await _many(url, 0, 90, 150))
    async with emulator(200) as url:
        found.append(await _many(url, 200, 80, 120))
    return [*found, *planning.figures(), await _restoring()]


async def _many(url: str, latency: int, reach: float, aim: float) -> Figure:
    """A hundred conversations with five messages each, all written at once."""
    wanted = {**{key: value for key, value in settings(url).items() if key == "llm"}, "concurrency": 128}
    async with opened(wanted) as (house, channel):
        await one_turn(house, channel, 0, "hello", "warm")
        began = time.perf_counter()
        for number in range(EACH):
            await house.receiver.deliver_for("web")([said("hello", number, f"m{at}") for at in range(MANY)])
        await channel.until(lambda: len(channel.sent) > MANY * EACH, seconds=60)
        took = time.perf_counter() - began
    return Figure(
        name=f"{MANY} conversations, model at {latency} ms", ours=MANY * EACH / took,
        floor=await bare_calls(url, MANY, EACH), unit="turns/s", reach=reach, aim=aim,
        floor_is="bare SDK calls at the same concurrency", more=True,
    )  # fmt: skip


async def _turns(url: str) -> list[Figure]:
    wanted = {key: value for key, value in settings(url).items() if key == "llm"}
    async with opened(wanted) as (house, channel):
        number = 0
        for _ in range(10):
            await one_turn(house, channel, number := number + 1, "hello", "warm")
        empty = [await one_turn(house, channel, 1, "hello", f"fresh{at}") for at in range(40)]
        twenty, long = [], []
        for at in range(8):
            for step in range(15):
                await one_turn(house, channel, step, "hello", f"twenty{at}")
            twenty += [await one_turn(house, channel, 50 + step, "hello", f"twenty{at}") for step in range(4)]
            for step in range(13):
                await one_turn(house, channel, step, LONG * 7, f"long{at}")
            long += [await one_turn(house, channel, 50 + step, "hello", f"long{at}") for step in range(4)]
    named = {
        "history 0": (empty, []),
        "20 turns": (twenty, ["hello"] * 17),
        "45k tokens": (long, [LONG * 7] * 13),
    }
    figures = []
    for name, (times, history) in named.items():
        floor = await turn_floor(url, history)
        figures.append(
            Figure(name=f"turn in process, {name}", ours=1000 * median(times), floor=1000 * floor, unit="ms", reach=12,
                   aim=9, floor_is="bare SDK call with that history + 4 bare durable commits")
        )  # fmt: skip
    return figures


async def _restoring() -> Figure:
    """One conversation of 100,000 messages, folded but for its newest ten turns, loaded as after a restart."""
    import sqlite3

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
    return Figure(
        name=f"restore from {STORED:,} stored messages", ours=1000 * median(times), floor=1000 * median(floor),
        unit="ms", reach=5, aim=5, floor_is="a bare SELECT of the rows it shows",
    )  # fmt: skip


async def fill(path: Path, messages: int) -> str:
    """A conversation of so many messages, all cleared but the newest twenty turns; its id."""
    store = await open_store(path)
    place = Place(channel="web", account="console", chat_id="big", thread_id="", kind="dm", space="")
    conversation = ""
    draft = NewMessage(role="user", parts=(Text(text="words " * 30),), tokens=40, counter="tiktoken", origin="person")
    answer = NewMessage(
        role="assistant", parts=(Text(text="words " * 30),), tokens=40, counter="tiktoken", origin="model"
    )
    for start in range(0, messages // 2, 500):
        rows = await store.delivery.accept(
            [NewInboxRow(place=place, key=f"k{start + at}", kind="message", sender_id="owner", body='{"text":"x"}')
             for at in range(500)]
        )  # fmt: skip
        conversation = rows[0].conversation
        for number, row in enumerate(rows):
            if start + number == messages // 2 - 20:
                await store.sessions.clear(conversation)
            turn = await store.delivery.claim(row.id, draft, "owner")
            await store.delivery.finish(turn, "done", answer, [])  # parts never sent would be a heap that no bot has
    await store.close()
    return conversation
