"""Turns of a bot in this process: their CPU under load, their time when it is quiet, and whether
they recall.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import httpx

from benchmarks.bot_in_process import BenchBot, open_bot, questions, realistic_texts
from benchmarks.cpu_time import CpuTime, cpu_of_this
from benchmarks.floors import A_TURN, COMMITS, BareTurns, bare_turns
from benchmarks.measurement import Measurement, median, median_ratio, rounds
from benchmarks.process import SHORT, model_server

WRITERS = 60  # conversations in parallel
EACH, ROUNDS = 2, 5  # messages of a conversation in a round
ROUNDS_WITHIN = 25.0  # seconds
LOG_ROWS = 1_000  # of the space's daily logs
QUIET_TURNS = 40
QUIET_MESSAGES, RECALL_MESSAGES = 52, 4
PAUSE = 0.03  # seconds until what a turn does after its answer is over
LONG = "The archive of the town holds many letters from that year. " * 36
# conversations, messages of each, and seconds that a slow model takes
MANY, MANY_EACH, SLOW = 100, 5, 0.2


async def turn_cpu() -> list[Measurement]:
    """Measure the CPU of a turn with recall and extraction, many conversations in parallel, until
    all is settled.
    """
    texts = realistic_texts(WRITERS * EACH * (ROUNDS + 1))
    pairs: list[tuple[float, float]] = []
    rates: list[tuple[float, float]] = []
    children = 0.0
    async with model_server() as url, open_bot(url, rows=LOG_ROWS) as bot, bare_turns(url) as bare:

        async def ours() -> None:
            said = [texts.pop() for _ in range(WRITERS * EACH)]
            await bot.converse(
                [(f"c{at}", said[at * EACH : (at + 1) * EACH]) for at in range(WRITERS)]
            )

        async def floor() -> None:
            await bare.calls(WRITERS, EACH)
            bare.commits(COMMITS * WRITERS * EACH)

        await ours()
        await bot.bot.settled()
        turns = WRITERS * EACH
        for _ in rounds(ROUNDS, ROUNDS_WITHIN):
            mine, took = await _spent(ours, bot.bot.settled)
            least, bare_took = await _spent(floor)
            pairs.append((1000 * mine.own / turns, 1000 * least.own / turns))
            rates.append((turns / took, turns / bare_took))
            children += 1000 * mine.children / turns
    floor_is = f"bare SDK calls in {WRITERS} lines + {COMMITS} bare durable commits each"
    return [
        Measurement(
            name=f"CPU a turn, {WRITERS} conversations",
            ours=median(one for one, _ in pairs),
            floor=median(one for _, one in pairs),
            unit="ms CPU",
            must=4.4,
            aim=3,
            targets_ratio=True,
            floor_is=floor_is,
            pair_ratio=median_ratio(pairs),
            cpu_children=children / len(pairs),
        ),
        Measurement(
            name="  their turns a second, in process",
            ours=median(one for one, _ in rates),
            floor=median(one for _, one in rates),
            unit="turns/s",
            floor_is=floor_is,
            more=True,
            pair_ratio=median_ratio(rates),
        ),
    ]


async def turn() -> list[Measurement]:
    """Measure a turn of a new conversation while nothing else happens."""
    async with model_server(reply=SHORT) as url, open_bot(url) as bot, bare_turns(url) as bare:
        for _ in range(10):
            await bot.ask("hello", "warm")
        return [
            await _quiet(
                bot,
                bare,
                "turn in process, quiet, p50",
                [("hello", f"c{at}") for at in range(QUIET_TURNS)],
                2.3,
                1.5,
            )
        ]


async def turn_history() -> list[Measurement]:
    """Measure a turn with a history of twenty turns, and with one of 45,000 tokens."""
    histories = {"20 turns": ["hello"] * 17, "45k tokens": [LONG * 7] * 13}
    found = []
    async with model_server(reply=SHORT) as url, open_bot(url) as bot, bare_turns(url) as bare:
        for name, history in histories.items():
            for at in range(8):
                for text in history:
                    await bot.ask(text, f"{name}{at}")
            asked = [("hello", f"{name}{at}") for _ in range(4) for at in range(8)]
            found.append(
                await _quiet(bot, bare, f"turn in process, {name}, p50", asked, 2.6, 2, history)
            )
    return found


async def recall_share() -> list[Measurement]:
    """Measure how many answers got their recall while many people of one space write at once.

    Only questions that recall something when it is quiet are asked.
    """
    async with model_server(reply=SHORT) as url, open_bot(url, rows=LOG_ROWS) as bot:
        await bot.ask("hello", "warm")
        await _counts(url)
        known = []
        for number, text in enumerate(questions()[:QUIET_MESSAGES]):
            await bot.ask(text, f"quiet{number}")
            if (await _counts(url))["recalled"]:
                known.append(text)
        count = WRITERS * RECALL_MESSAGES
        said = [known[at % len(known)] for at in range(count)]
        await bot.converse([(f"c{at}", said[at::WRITERS]) for at in range(WRITERS)])
        counts = await _counts(url)
    return [
        Measurement(
            name=f"answers with recall, {WRITERS} writers of one space",
            ours=100 * counts["recalled"] / counts["answers"],
            floor=100,
            unit="%",
            must=95,
            aim=100,
            floor_is=f"the same {len(known)} questions, one at a time",
            more=True,
        )
    ]


async def slow_model() -> list[Measurement]:
    """Measure a hundred conversations in parallel with a model that takes its time."""
    async with (
        model_server(seconds=SLOW, reply=SHORT) as url,
        open_bot(url) as bot,
        bare_turns(url) as bare,
    ):
        await bot.ask("hello", "warm")
        spent, took = await _spent(
            lambda: bot.converse([(f"c{at}", ["hello"] * MANY_EACH) for at in range(MANY)])
        )
        least, bare_took = await _spent(lambda: bare.calls(MANY, MANY_EACH))
    turns = MANY * MANY_EACH
    return [
        Measurement(
            name=f"{MANY} conversations, model at {1000 * SLOW:.0f} ms",
            ours=turns / took,
            floor=turns / bare_took,
            unit="turns/s",
            must=80,
            aim=120,
            floor_is="bare SDK calls at the same concurrency",
            more=True,
            cpu=1000 * spent.own / turns,
            floor_cpu=1000 * least.own / turns,
        )
    ]


async def _quiet(
    bot: BenchBot,
    bare: BareTurns,
    name: str,
    asked: Sequence[tuple[str, str]],
    must: float,
    aim: float,
    history: Sequence[str] = (),
) -> Measurement:
    """Measure turns one at a time, each beside its floor. must, aim: ratios."""
    pairs, cpu = [], []
    for text, conversation in asked:
        spent, took = await _spent(
            lambda: bot.ask(text, conversation),  # noqa: B023
            lambda: asyncio.sleep(PAUSE),  # noqa: B023, RUF100
        )  # noqa: B023, RUF100
        least, bare_took = await _spent(lambda: bare.turn(text, history))  # noqa: B023
        pairs.append((1000 * took, 1000 * bare_took))
        cpu.append((1000 * spent.own, 1000 * least.own))
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
        cpu=median(one for one, _ in cpu),
        floor_cpu=median(one for _, one in cpu),
    )


async def _spent(
    work: Callable[[], Awaitable[object]], settle: Callable[[], Awaitable[object]] | None = None
) -> tuple[CpuTime, float]:
    """Return the CPU time of some work until it is settled, and its seconds without settling."""
    before, began = cpu_of_this(), time.perf_counter()
    await work()
    took = time.perf_counter() - began
    if settle is not None:
        await settle()
    return cpu_of_this() - before, took


async def _counts(url: str) -> dict[str, int]:
    async with httpx.AsyncClient() as client:
        counts: dict[str, int] = (await client.get(f"{url}/times")).json()
    return counts
