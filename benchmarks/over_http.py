"""Start-up, memory, first answer and turns by HTTP of a real process."""

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.floors import bare_server_start, python_with, turn_floor
from benchmarks.measurement import Measurement, median
from benchmarks.process import Listener, Running, emulator, running, settings

WARM_UP = 5
TURNS = 40
MANY = 100
# About 430 tokens; a hundred and five of them make a 45,000-token history.
LONG = "The archive of the town holds many letters from that year. " * 36


async def figures() -> list[Measurement]:
    """Measure all of them, in about two minutes."""
    found = await _starts()
    async with emulator() as url:
        found += await _turns(url)
        found.append(await _memory(url))
    return found


async def _starts() -> list[Measurement]:
    ports, readies, firsts, idles = [], [], [], []
    async with emulator() as url:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(6):
                async with running(Path(folder) / "home", settings(url)) as bot:
                    listener = Listener(bot, f"c{number}")
                    await listener.ask("hello")
                    first = time.perf_counter() - bot.began
                    await listener.close()
                    if number:  # the first start creates the database and the byte code
                        ports.append(bot.port_after)
                        readies.append(bot.ready_after)
                        firsts.append(first)
        with tempfile.TemporaryDirectory() as folder:
            async with running(Path(folder) / "home", settings(url)) as bot:
                await asyncio.sleep(8)  # until the background loading is done
                idles.append(bot.rss())
    floor = await bare_server_start()
    empty_server = "python + uvicorn + an empty Starlette app"
    starts = (("port open", ports, 0.5, 0.5), ("ready", readies, 1.8, 1.0), ("first answer", firsts, 3, 3))
    libraries = "starlette, uvicorn, sqlalchemy, pydantic"
    return [
        *(
            Measurement(
                name=f"start → {name}",
                ours=median(times),
                floor=floor,
                unit="s",
                target=target,
                goal=goal,
                floor_is=empty_server,
            )
            for name, times, target, goal in starts
        ),
        Measurement(
            name="idle RSS",
            ours=median(idles),
            floor=python_with(libraries),
            unit="MB",
            target=90,
            goal=70,
            floor_is=f"python with {libraries}",
        ),
    ]


async def _turns(url: str) -> list[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder) / "home", settings(url)) as bot:
            empty = await _fresh(bot)
            twenty = await _with_history(bot, "twenty", ["hello"] * 15)
            long = await _with_history(bot, "long", [LONG * 7] * 13)
    what = "bare SDK call with that history + 4 bare durable commits"
    named = {
        "history 0": (empty, []),
        "20 turns": (twenty, ["hello"] * 17),
        "45k tokens": (long, [LONG * 7] * 13),
    }
    return [
        Measurement(
            name=f"turn by HTTP, {name}",
            ours=1000 * value,
            floor=1000 * await turn_floor(url, history),
            unit="ms",
            target=18,
            goal=15,
            floor_is=what,
        )
        for name, (value, history) in named.items()
    ]


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


async def _with_history(bot: Running, name: str, history: list[str]) -> float:
    times = []
    for number in range(8):
        listener = Listener(bot, f"{name}{number}")
        for text in history:
            await listener.ask(text)
        times += [await listener.ask("hello") for _ in range(4)]
        await listener.close()
    return median(times)


async def _memory(url: str) -> Measurement:
    """Measure the memory after a hundred conversations by HTTP."""
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder) / "home", settings(url)) as bot:
            for number in range(MANY):
                listener = Listener(bot, f"m{number}")
                await listener.ask("hello")
                await listener.close()
            rss = bot.rss()
    return Measurement(
        name=f"RSS after {MANY} conversations",
        ours=rss,
        floor=python_with("starlette, uvicorn, sqlalchemy, pydantic, anthropic, tiktoken"),
        unit="MB",
        target=240,
        goal=175,
        floor_is="python with these and anthropic, tiktoken",
    )
