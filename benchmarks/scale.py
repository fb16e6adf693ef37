"""Many conversations on several processes; the floor is bare Procrastinate under the same load.

`python -m benchmarks.scale --conversations 1000 --turns 5`; a PostgreSQL is needed, see
tests/postgres.py.
"""

import argparse
import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import psutil
import psycopg

from benchmarks.scale_bare import bare
from benchmarks.scale_ours import ours
from benchmarks.scale_shape import Course, Name, RunResult, Shape, marked, now, report
from tests.postgres import database, why_not

WRITERS = 16  # messages that are being accepted in parallel in the unpaced part
# until the server has published its counters: idle connections do it after 10 s, and 11 were too
# few
REST = 21.0
IDLE = 5.0
LONGEST = 900.0
WORDS = (
    "The harbour survey took three days and cost 4,200 crowns; which of its two reports should I "
    "read first? "
)
SIZES = (
    "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND "
    "relnamespace = %s::regnamespace"
)
COUNTED = (
    "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
)


class Engine(Protocol):
    """What is measured."""

    name: str
    course: Course
    #: Ids of the processes that answer.
    workers: list[int]

    async def say(self, name: Name, text: str) -> None: ...

    async def settle(self) -> int: ...


Opens = Callable[[str, Shape, int], AbstractAsyncContextManager[Engine]]


@dataclass(slots=True)
class Watch:
    """Reads counters of the machine and the server."""

    server: psycopg.AsyncConnection[Any]
    workers: list[psutil.Process]
    rss: dict[str, float] = field(default_factory=dict)

    async def transactions(self) -> float:
        """Return the number of transactions of this database so far."""
        row = await (await self.server.execute(COUNTED)).fetchone()
        return float(row[0]) if row else 0.0

    async def sizes(self) -> dict[str, int]:
        """Return the bytes of each table with its indexes."""
        rows = await (await self.server.execute(SIZES, ["public"])).fetchall()
        return {str(name): int(size) for name, size in rows}

    def cpu(self) -> dict[str, float]:
        """Return the CPU seconds so far of the workers, of the process that accepts and sends, and
        of the server.
        """
        name = self.server.info.dbname
        theirs = [
            one
            for one in psutil.process_iter(["cmdline"])
            if name in " ".join(one.info["cmdline"] or ())[:200]
        ]
        servers = [one for one in theirs if one.info["cmdline"][0].startswith("postgres:")]
        return {
            "workers": sum(map(_seconds, self.workers)),
            "gateway": _seconds(psutil.Process()),
            "postgres": sum(map(_seconds, servers)),
        }

    def note(self, when: str) -> None:
        """Record the memory of the largest worker, if it has grown."""
        largest = max(worker.memory_info().rss for worker in self.workers) / 1e6
        self.rss[when] = max(largest, self.rss.get(when, 0.0))


async def measure(opens: Opens, shape: Shape, workers: int) -> RunResult:
    """Measure one engine under both parts of the load, on a database of its own."""
    with database() as url:
        async with opens(url, shape, workers) as engine, watching(url, engine) as watch:
            await send_all(engine, shape.warm_names())
            await engine.settle()
            await send_paced(engine, shape.paced_names(), shape.rate)
            await engine.settle()
            watch.note("idle")
            await asyncio.sleep(REST)
            before = await watch.transactions()
            await asyncio.sleep(IDLE)
            sizes, cpu, counted, began = (
                await watch.sizes(),
                watch.cpu(),
                await watch.transactions(),
                now(),
            )
            idle = (counted - before) / IDLE
            await send_all(engine, shape.crowd_names(), watch)
            spent = less(watch.cpu(), cpu)
            most = await engine.settle()
            await asyncio.sleep(REST)
            made = await watch.transactions() - counted - idle * (now() - began)
            grown = less(await watch.sizes(), sizes)
        names = [*shape.warm_names(), *shape.paced_names(), *shape.crowd_names()]
        return RunResult(
            engine=engine.name,
            workers=workers,
            shape=shape,
            course=engine.course,
            faults=tuple(engine.course.faults(names)),
            cpu=spent,
            transactions=made / shape.messages,
            idle=idle,
            rss=watch.rss,
            bytes={name: size / shape.messages for name, size in grown.items()},
            most_open=most,
        )


async def send_paced(engine: Engine, names: Sequence[Name], rate: float) -> None:
    """Send messages, so many a second, then wait until all are answered."""
    began, said = now(), []
    for at, name in enumerate(names):
        await asyncio.sleep(max(0.0, began + at / rate - now()))
        said.append(asyncio.create_task(engine.say(name, _text(name))))
    await asyncio.gather(*said)
    await _all_done(engine, names)


async def send_all(engine: Engine, names: Sequence[Name], watch: Watch | None = None) -> None:
    """Send messages as fast as they are accepted, and wait until all are answered; watch: notes the
    memory.
    """
    waiting = iter(names)

    async def write() -> None:
        for name in waiting:
            await engine.say(name, _text(name))

    going = asyncio.create_task(_all_done(engine, names))
    await asyncio.gather(*(write() for _ in range(WRITERS)))
    while not going.done():
        if watch is not None:
            watch.note("crowd")
        await asyncio.wait({going}, timeout=0.25)
    going.result()


async def _all_done(engine: Engine, names: Sequence[Name]) -> None:
    until, wanted = now() + LONGEST, set(names)
    while not wanted <= engine.course.done.keys():
        if now() > until:
            left = len(wanted - engine.course.done.keys())
            raise TimeoutError(
                f"{left} of {len(names)} messages are not answered after {LONGEST:.0f} s"
            )
        await asyncio.sleep(0.05)


@asynccontextmanager
async def watching(url: str, engine: Engine) -> AsyncIterator[Watch]:
    """Read the counters of an engine's workers, and of its database."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as server:
        yield Watch(server, [psutil.Process(pid) for pid in engine.workers])


def _text(name: Name) -> str:
    return f"{WORDS}{marked(name)}"


def _seconds(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)


def less(after: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """Subtract value by value."""
    return {name: value - before.get(name, 0.0) for name, value in after.items()}


async def run(shape: Shape, workers: Sequence[int]) -> str:
    """Measure both engines, one after the other, for each number of workers."""
    found = [await measure(opens, shape, count) for count in workers for opens in (bare, ours)]
    return report(found)


def main(words: Sequence[str]) -> str:
    """Return the report, or why there is none."""
    options = argparse.ArgumentParser(prog="python -m benchmarks scale", description=__doc__)
    options.add_argument("--conversations", type=int, default=100)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--seconds", type=float, default=1.5, help="that the model takes")
    options.add_argument(
        "--rate", type=float, default=10.0, help="messages a second of the paced part"
    )
    options.add_argument("--paced", type=int, default=100, help="messages of the paced part")
    options.add_argument("--workers", type=int, nargs="+", default=[1, 3])
    options.add_argument(
        "--facts", action="store_true", help="let ours extract lasting facts of each turn too"
    )
    given = options.parse_args(words)
    if why := why_not():
        return f"scale: {why}"
    shape = Shape(
        conversations=given.conversations,
        turns=given.turns,
        seconds=given.seconds,
        rate=given.rate,
        paced=given.paced,
        places=max(64, given.conversations),
        facts=given.facts,
    )
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    return asyncio.run(run(shape, given.workers))


if __name__ == "__main__":
    import sys

    print(main(sys.argv[1:]))
