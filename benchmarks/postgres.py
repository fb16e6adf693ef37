"""A message on PostgreSQL, and idle workers there; the floor is the bare engine, on a database of
its own beside.

Needs a server, see tests/postgres.py. `python -m benchmarks scale` measures larger loads.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from benchmarks.measurement import Measurement, median, median_ratio
from benchmarks.scale import REST, Engine, Watch, less, send_all, send_paced, watching
from benchmarks.scale_bare import bare
from benchmarks.scale_ours import ours
from benchmarks.scale_shape import Name, Shape, now, share
from tests.postgres import database, why_not

SHAPE = Shape(conversations=100, seconds=0.3, rate=10.0, places=128)
FEW = replace(SHAPE, conversations=6)  # so few that the pools of connections stay small
PACED, BURSTS = 20, 3  # messages at a fixed rate, and how often
CROWDS = 3  # times that all conversations write one message at once
COUNTED = 2  # messages of each conversation whose transactions are counted
WINDOW, IDLE_WINDOW = 12.0, 15.0  # seconds in which transactions of idle processes are counted
ENDED = 1.0  # second until the server has noticed that connections have ended
IDLE_WORKERS = 3
BARE = "bare Procrastinate: a row and a job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One engine on its database."""

    engine: Engine
    watch: Watch
    #: Ends the engine's processes; its database stays.
    end: Callable[[], Awaitable[None]]

    async def burst(self, names: list[Name]) -> float:
        """Send messages at a fixed rate; returns the median milliseconds that each took without its
        model.
        """
        await send_paced(self.engine, names, SHAPE.rate)
        await self.engine.settle()
        return 1000 * share(self.engine.course.added(names), 0.5)

    async def crowd(self, names: list[Name]) -> tuple[float, dict[str, float]]:
        """Send messages all at once; returns messages a second, and CPU milliseconds of each by
        process.
        """
        before = self.watch.cpu()
        await send_all(self.engine, names)
        spent = less(self.watch.cpu(), before)
        return len(names) / self.engine.course.took(names), {
            who: 1000 * seconds / len(names) for who, seconds in spent.items()
        }


async def turns() -> list[Measurement]:
    """Measure what a message adds to its model's time, its CPU, and messages a second when all
    write at once.
    """
    if why_not():
        return [_unmeasured("PostgreSQL, a message")]
    added, rates, spent = [], [], []
    async with _both(SHAPE, workers=1) as (mine, least):
        for number in range(1, 1 + BURSTS):
            names = [(who, number) for who in range(PACED)]
            added.append((await mine.burst(names), await least.burst(names)))
        for number in range(1, 1 + CROWDS):
            names = [(who, BURSTS + number) for who in range(SHAPE.conversations)]
            (rate, cpu), (bare_rate, bare_cpu) = await mine.crowd(names), await least.crowd(names)
            rates.append((rate, bare_rate))
            spent.append((cpu, bare_cpu))
    cpu_pairs = [(sum(one.values()), sum(other.values())) for one, other in spent]
    return [
        _measurement("PostgreSQL, added to a message, p50", added, "ms", 60, 30),
        _measurement("PostgreSQL, CPU a message, all processes", cpu_pairs, "ms CPU", 35, 20),
        *(
            _measurement(
                f"  of that, {who}", [(one[who], other[who]) for one, other in spent], "ms CPU"
            )
            for who in spent[0][0]
        ),
        Measurement(
            name="PostgreSQL, all at once",
            ours=median(one for one, _ in rates),
            floor=median(one for _, one in rates),
            unit="msgs/s",
            must=0.2,
            aim=0.4,
            targets_ratio=True,
            more=True,
            floor_is=BARE,
            pair_ratio=median_ratio(rates),
        ),
    ]


async def transactions() -> list[Measurement]:
    """Measure the transactions of a message, without those that idle processes make anyway.

    The server publishes its counters late, except those of connections that end: so all end before
    the last count.
    """
    if why_not():
        return [_unmeasured("PostgreSQL, transactions a message")]
    names = [
        (who, number) for number in range(1, 1 + COUNTED) for who in range(SHAPE.conversations)
    ]
    async with _both(SHAPE, workers=1) as sides:
        await asyncio.sleep(REST)
        earlier = [await side.watch.transactions() for side in sides]
        await asyncio.sleep(WINDOW)
        before, began = [await side.watch.transactions() for side in sides], now()
        await asyncio.gather(*(send_all(side.engine, names) for side in sides))
        took = now() - began
        await asyncio.gather(*(side.end() for side in sides))
        await asyncio.sleep(ENDED)
        after = [await side.watch.transactions() for side in sides]
    made = [
        (last - first - (first - other) / WINDOW * took) / len(names)
        for last, first, other in zip(after, before, earlier, strict=True)
    ]
    return [_measurement("PostgreSQL, transactions a message", [(made[0], made[1])], "", 45, 25)]


async def idle() -> list[Measurement]:
    """Measure the transactions a second of a gateway and three workers that have nothing to do."""
    if why_not():
        return [_unmeasured("PostgreSQL, three idle workers")]
    async with _both(FEW, workers=IDLE_WORKERS) as sides:
        await asyncio.sleep(REST)
        before = [await side.watch.transactions() for side in sides]
        await asyncio.sleep(IDLE_WINDOW)
        rates = [
            (await side.watch.transactions() - first) / IDLE_WINDOW
            for side, first in zip(sides, before, strict=True)
        ]
    return [_measurement("PostgreSQL, three idle workers", [(rates[0], rates[1])], "/s", 40, 20)]


@asynccontextmanager
async def _both(shape: Shape, workers: int) -> AsyncIterator[tuple[Side, Side]]:
    """Run both engines, warmed; the one that gets no messages only looks for work now and then."""
    async with AsyncExitStack() as stack:
        sides = []
        for opens in (ours, bare):
            url = stack.enter_context(database())
            processes = await stack.enter_async_context(AsyncExitStack())
            engine: Engine = await processes.enter_async_context(opens(url, shape, workers))
            watch = await stack.enter_async_context(watching(url, engine))
            sides.append(Side(engine=engine, watch=watch, end=processes.aclose))
        for side in sides:
            await send_all(side.engine, shape.warm_names())
            await side.engine.settle()
        yield sides[0], sides[1]


def _measurement(
    name: str,
    pairs: list[tuple[float, float]],
    unit: str,
    must: float | None = None,
    aim: float | None = None,
) -> Measurement:
    return Measurement(
        name=name,
        ours=median(one for one, _ in pairs),
        floor=median(one for _, one in pairs),
        unit=unit,
        must=must,
        aim=aim,
        floor_is=BARE if must else "",
        pair_ratio=median_ratio(pairs) if all(floor for _, floor in pairs) else None,
    )


def _unmeasured(name: str) -> Measurement:
    return Measurement(name=f"{name}: {why_not()}", ours=float("nan"), unit="")
