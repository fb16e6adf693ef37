"""Start-up, memory and turns of a real process, which people write to by HTTP."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cpu_time import cpu_of_this
from benchmarks.floors import A_TURN, BareTurns, bare_server_start, bare_turns, python_with
from benchmarks.measurement import Measurement, median, median_ratio, rounds
from benchmarks.process import SHORT, Running, Writer, model_server, running, settings

STARTS = 5
WARM_UP, FIRST = 5, 3
TURNS = 40
PAUSE = 0.03  # seconds until what a turn does after its answer is over
MANY, EACH, ROUNDS = 100, 2, 4  # conversations, and messages of each in a round
ROUNDS_WITHIN = 30.0  # seconds
IDLE_AFTER = 8.0  # seconds until the background loading is done
# About 430 tokens; a hundred and five of them make a 45,000-token history.
LONG = "The archive of the town holds many letters from that year. " * 36
LIBRARIES = "starlette, uvicorn, sqlalchemy, pydantic"


async def start() -> list[Measurement]:
    """Measure starts on a home that exists, each beside a start of an empty server."""
    times: dict[str, list[tuple[float, float]]] = {"port open": [], "ready": [], "first answer": []}
    cpu = []
    async with model_server(reply=SHORT) as url:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(1 + STARTS):
                async with running(Path(folder) / "home", settings(url)) as bot:
                    used = bot.cpu().own
                    writer = Writer(bot, f"c{number}")
                    await writer.ask("hello")
                    first = time.perf_counter() - bot.began
                    await writer.close()
                if number:  # the first start creates the database and the byte code
                    floor = await bare_server_start()
                    times["port open"].append((bot.port_after, floor))
                    times["ready"].append((bot.ready_after, floor))
                    times["first answer"].append((first, floor))
                    cpu.append(used)
    targets = {"port open": (0.5, 0.5), "ready": (1.0, 0.8), "first answer": (2.0, 1.5)}
    return [
        Measurement(
            name=f"start → {name}",
            ours=median(ours for ours, _ in pairs),
            floor=median(floor for _, floor in pairs),
            unit="s",
            must=targets[name][0],
            aim=targets[name][1],
            floor_is="python + uvicorn + an empty Starlette app",
            pair_ratio=median_ratio(pairs),
            cpu=1000 * median(cpu) if name == "ready" else None,
        )
        for name, pairs in times.items()
    ]


async def memory() -> list[Measurement]:
    """Measure the memory of one process: idle, after its first messages, and after a hundred
    conversations.
    """
    async with model_server(reply=SHORT) as url:
        with tempfile.TemporaryDirectory() as folder:
            async with running(Path(folder) / "home", settings(url)) as bot:
                await asyncio.sleep(IDLE_AFTER)
                found = [("idle memory", bot.rss(), LIBRARIES, 95, 80)]
                await _say_each(bot, "first", FIRST)
                every = f"{LIBRARIES}, anthropic, tiktoken"
                found.append(("memory after the first messages", bot.rss(), every, 155, 130))
                await _say_each(bot, "more", MANY)
                found.append((f"memory after {MANY} conversations", bot.rss(), every, 165, 140))
    return [
        Measurement(
            name=name,
            ours=ours,
            floor=python_with(libraries),
            unit="MB",
            must=must,
            aim=aim,
            floor_is=f"python with {libraries}",
        )
        for name, ours, libraries, must, aim in found
    ]


async def turn_http() -> list[Measurement]:
    """Measure a turn by HTTP of a new conversation while nothing else happens."""
    async with model_server(reply=SHORT) as url, bare_turns(url) as bare:
        with tempfile.TemporaryDirectory() as folder:
            async with running(Path(folder) / "home", settings(url)) as bot:
                await _say_each(bot, "warm", WARM_UP)
                writers = [Writer(bot, f"fresh{number}") for number in range(TURNS)]
                return [await _quiet(bot, bare, "turn by HTTP, quiet, p50", writers, 3, 1.9)]


async def turn_http_history() -> list[Measurement]:
    """Measure a turn by HTTP with a history of twenty turns, and with one of 45,000 tokens."""
    found = []
    async with model_server(reply=SHORT) as url, bare_turns(url) as bare:
        with tempfile.TemporaryDirectory() as folder:
            async with running(Path(folder) / "home", settings(url)) as bot:
                for name, history in {
                    "20 turns": ["hello"] * 17,
                    "45k tokens": [LONG * 7] * 13,
                }.items():
                    writers = [Writer(bot, f"{name[:2]}-{number}") for number in range(8)]
                    for writer in writers:
                        for text in history:
                            await writer.ask(text)
                    name = f"turn by HTTP, {name}, p50"
                    found.append(await _quiet(bot, bare, name, writers * 4, 3, 2.5, history))
    return found


async def crowd() -> list[Measurement]:
    """Measure a hundred conversations of a real process at once, which are driven from this process
    beside it.
    """
    pairs, cpu, children = [], [], 0.0
    turns = MANY * EACH
    async with model_server(reply=SHORT) as url, bare_turns(url) as bare:
        with tempfile.TemporaryDirectory() as folder:
            async with running(Path(folder) / "home", {**settings(url), "concurrency": 128}) as bot:
                writers = [Writer(bot, f"m{number}") for number in range(MANY)]
                await _say_all(writers, 1)
                for _ in rounds(ROUNDS, ROUNDS_WITHIN):
                    used, began = bot.cpu(), time.perf_counter()
                    await _say_all(writers, EACH)
                    took, spent = time.perf_counter() - began, bot.cpu() - used
                    here, began = cpu_of_this(), time.perf_counter()
                    await bare.calls(MANY, EACH)
                    pairs.append((turns / took, turns / (time.perf_counter() - began)))
                    cpu.append(
                        (1000 * spent.own / turns, 1000 * (cpu_of_this() - here).own / turns)
                    )
                    children += 1000 * spent.children / turns
                await asyncio.gather(*(writer.close() for writer in writers))
    return [
        Measurement(
            name=f"{MANY} conversations, model at 0 ms, driver beside",
            ours=median(one for one, _ in pairs),
            floor=median(one for _, one in pairs),
            unit="turns/s",
            must=0.30,
            aim=0.40,
            targets_ratio=True,
            floor_is=(
                "bare SDK calls at the same concurrency; the ratio is the lower of those of "
                "turns/s and CPU"
            ),
            more=True,
            # a neighbour on the core slows what waits for it, and makes neither cheaper
            pair_ratio=min(median_ratio(pairs), median_ratio((floor, one) for one, floor in cpu)),
            cpu=median(one for one, _ in cpu),
            floor_cpu=median(one for _, one in cpu),
            cpu_children=children / len(pairs),
        )
    ]


async def _quiet(
    bot: Running,
    bare: BareTurns,
    name: str,
    writers: Sequence[Writer],
    must: float,
    aim: float,
    history: Sequence[str] = (),
) -> Measurement:
    """Measure one message of each writer, one at a time, each beside its floor. must, aim:
    ratios.
    """
    pairs, used, spent_bare = [], bot.cpu(), 0.0
    for writer in writers:
        took = await writer.ask("hello")
        await asyncio.sleep(PAUSE)
        here, began = cpu_of_this(), time.perf_counter()
        await bare.turn("hello", history)
        pairs.append((1000 * took, 1000 * (time.perf_counter() - began)))
        spent_bare += (cpu_of_this() - here).own
    spent = bot.cpu() - used
    for writer in dict.fromkeys(writers):
        await writer.close()
    return Measurement(
        name=name,
        ours=median(one for one, _ in pairs),
        floor=median(one for _, one in pairs),
        unit="ms",
        must=must,
        aim=aim,
        targets_ratio=True,
        floor_is=A_TURN,
        pair_ratio=median_ratio(pairs),
        cpu=1000 * spent.own / len(pairs),
        floor_cpu=1000 * spent_bare / len(pairs),
        cpu_children=1000 * spent.children / len(pairs),
    )


async def _say_each(bot: Running, name: str, count: int) -> None:
    """Say hello in so many conversations, one after the other."""
    for number in range(count):
        writer = Writer(bot, f"{name}{number}")
        await writer.ask("hello")
        await writer.close()


async def _say_all(writers: Sequence[Writer], each: int) -> None:
    """Let all writers write so many messages, each as soon as the one before is answered."""

    async def one(writer: Writer) -> None:
        for _ in range(each):
            await writer.ask("hello")

    await asyncio.gather(*(one(writer) for writer in writers))
