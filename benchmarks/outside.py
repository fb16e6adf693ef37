"""Start-up, memory, first answer, turns by HTTP and conversations beside each other, of a real process."""

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.figure import Figure, median
from benchmarks.floors import bare_server_start, python_with, turn_floor
from benchmarks.process import Listener, Running, emulator, running, settings

WARM_UP = 5
TURNS = 40
MANY = 100
# About 430 tokens; a hundred and five of them make a 45,000-token history.
LONG = "The archive of the town holds many letters from that year. " * 36


async def figures() -> list[Figure]:
    """All of them; takes about two minutes."""
    found = await _starts()
    async with emulator() as url:
        found += await _turns(url)
        found.append(await _memory(url))
    return found


async def _starts() -> list[Figure]:
    ports, readies, firsts, idles = [], [], [], []
    async with emulator() as url:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(6):
                async with running(Path(folder) / "home", settings(url)) as bot:
                    listener = Listener(bot, f"c{number}")
                    await listener.ask("hello")
                    first = time.perf_counter() - bot.began
                    await listener.close()
                    if number:  # the first start made the database and the byte code
                        ports.append(bot.port_after)
                        readies.append(bot.ready_after)
                        firsts.append(first)
        with tempfile.TemporaryDirectory() as folder:
            async with running(Path(folder) / "home", settings(url)) as bot:
                await asyncio.sleep(8)  # until what is loaded in the background is there
                idles.append(bot.rss())
    floor = await bare_server_start()
    return [
        Figure(name="start → port open", ours=median(ports), floor=floor, unit="s", reach=0.5, aim=0.5,
               floor_is="python + uvicorn + an empty Starlette app"),
        Figure(name="start → ready", ours=median(readies), floor=floor, unit="s", reach=1.8, aim=1.0,
               floor_is="the same"),
        Figure(name="start → first answer", ours=median(firsts), floor=floor, unit="s", reach=3, aim=3,
               floor_is="the same"),
        Figure(name="idle RSS", ours=median(idles), floor=python_with("starlette, uvicorn, sqlalchemy, pydantic"),
               unit="MB", reach=90, aim=70, floor_is="python with starlette, uvicorn, sqlalchemy, pydantic"),
    ]  # fmt: skip


async def _turns(url: str) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder) / "home", settings(url)) as bot:
            empty = await _fresh(bot)
            twenty = await _at_length(bot, "twenty", ["hello"] * 15)
            long = await _at_length(bot, "long", [LONG * 7] * 13)
    what = "bare SDK call with that history + 4 bare durable commits"
    named = {
        "history 0": (empty, []),
        "20 turns": (twenty, ["hello"] * 17),
        "45k tokens": (long, [LONG * 7] * 13),
    }
    return [
        Figure(name=f"turn by HTTP, {name}", ours=1000 * value, floor=1000 * await turn_floor(url, history), unit="ms",
               reach=18, aim=15, floor_is=what)
        for name, (value, history) in named.items()
    ]  # fmt: skip


async def _fresh(bot: Running) -> float:
    warm = Listener(bot, "warm")
    for _ in range(WARM_UP):
        await warm.ask("hello")
    await warm.close()
    times = []
    for number in range(TURNS):
        listener = Listener(bot, f"fresh{number}")
        times.append(await listener.ask("hello"))
        await listener.close()
    return median(times)


async def _at_length(bot: Running, name: str, history: list[str]) -> float:
    times = []
    for number in range(8):
        listener = Listener(bot, f"{name}{number}")
        for text in history:
            await listener.ask(text)
        times += [await listener.ask("hello") for _ in range(4)]
        await listener.close()
    return median(times)


async def _memory(url: str) -> Figure:
    """Memory after a hundred conversations, each written to and listened to by HTTP."""
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder) / "home", settings(url)) as bot:
            for number in range(MANY):
                listener = Listener(bot, f"m{number}")
                await listener.ask("hello")
                await listener.close()
            rss = bot.rss()
    return Figure(
        name=f"RSS after {MANY} conversations", ours=rss,
        floor=python_with("starlette, uvicorn, sqlalchemy, pydantic, anthropic, tiktoken"), unit="MB",
        reach=240, aim=175, floor_is="python with those and anthropic, tiktoken",
    )  # fmt: skip
