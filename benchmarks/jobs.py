"""Reminders: how late they are while a hundred are due in a row, and how many fire in a second."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

import psycopg

from benchmarks.measurement import Measurement
from bot.access.roles import RoleResolver
from bot.config.schema import Config
from bot.jobs.schedule import Schedule
from bot.jobs.ticker import JobTicker, RunSettler
from bot.jobs.times import JobTimes
from bot.telemetry.recorder import Telemetry
from channels.testing import ScriptedChannel
from memory.store.automation.jobs import NewJob
from memory.store.open import open_store
from memory.store.postgres.open import open_postgres
from memory.store.rows import NewInboxRow, Place
from memory.store.store import Store
from tests.postgres import database, why_not

LATE_JOBS, LATE_SECONDS = 100, 6.0  # reminders that come due one after the other, and in how long
MANY = 2_000  # that are due at once
CHATS = 50
_BARE = "CREATE TABLE {} (id TEXT PRIMARY KEY, text TEXT)"
_INSERTS = ("occurrence", "outbox", "moved")  # rows that a reminder writes


async def jobs() -> list[Measurement]:
    """Measure lag and rate on SQLite, and the rate on PostgreSQL, where one process fires for all,
    if there is one.
    """
    with TemporaryDirectory() as folder:
        store = await open_store(Path(folder) / "mnema.db")
        lags = await _lags(store)
        await store.close()
        store = await open_store(Path(folder) / "many.db")
        rate = await _rate(store)
        await store.close()
        floor = _bare_sqlite(Path(folder) / "bare.db")
    cuts = quantiles(lags, n=100)
    is_one = "a bare durable commit of such rows"
    rows = [
        Measurement(
            name="job lag p50",
            ours=cuts[49],
            floor=1e3 / floor,
            unit="ms",
            must=300,
            floor_is=is_one,
        ),
        Measurement(
            name="job lag p99",
            ours=cuts[98],
            floor=1e3 / floor,
            unit="ms",
            must=2_000,
            floor_is=is_one,
        ),
        _rate_row("reminders fired, SQLite", rate, floor, 500),
    ]
    if not why_not():
        with database() as url:
            store = await open_postgres(url, connections=16)
            rate = await _rate(store)
            await store.close()
            rows.append(_rate_row("reminders fired, PostgreSQL", rate, _bare_postgres(url), 1_000))
    return rows


def _rate_row(name: str, ours: float, floor: float, must: float) -> Measurement:
    floor_is = "bare durable commits of such rows, one after the other"
    return Measurement(
        name=name, ours=ours, floor=floor, unit="/s", must=must, floor_is=floor_is, more=True
    )


async def _lags(store: Store) -> list[float]:
    """Return for each reminder the milliseconds from its moment to its commit."""
    began = time.time() + 1.0
    dues = [began + LATE_SECONDS * number / LATE_JOBS for number in range(LATE_JOBS)]
    await _set_up(store, dues)
    async with _running(_ticker(store)):
        await asyncio.sleep(dues[-1] - time.time() + 0.5)
    rows = await store.jobs.of_space("")
    ended = [one for row in rows for one in await store.jobs.occurrences(row.id, 1)]
    assert len(ended) == LATE_JOBS
    return [1e3 * (one.at - one.due) for one in ended]


async def _rate(store: Store) -> float:
    """Return how many reminders that are due at once are fired in a second."""
    await _set_up(store, [time.time() - 1.0] * MANY)
    began = time.perf_counter()
    ticker = _ticker(store)
    while await ticker.fire_due():
        pass
    took = time.perf_counter() - began
    assert (await store.jobs.totals(time.time())).open == 0
    return MANY / took


@asynccontextmanager
async def _running(ticker: JobTicker) -> AsyncIterator[None]:
    task = asyncio.create_task(ticker.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _set_up(store: Store, dues: Sequence[float]) -> None:
    places = [
        Place(
            channel="terminal",
            account="local",
            chat_id=f"c{number}",
            thread_id="",
            kind="dm",
            space="",
        )
        for number in range(CHATS)
    ]
    arrivals = [
        NewInboxRow(
            place=place, key=f"k{number}", kind="aside", sender_id="me", body='{"text": "hello"}'
        )
        for number, place in enumerate(places)
    ]
    chats = [row.conversation for row in await store.delivery.accept(arrivals)]
    at = datetime.fromtimestamp(max(dues), UTC)
    schedule = Schedule(zone="UTC", at=f"{at:%Y-%m-%dT%H:%M}").to_json()
    for number, due in enumerate(dues):
        await store.jobs.add(
            NewJob(
                space="",
                conversation=chats[number % CHATS],
                channel="terminal",
                account="local",
                person="me",
                kind="say",
                body=f"Water plant {number}.",
                schedule=schedule,
                next_at=due,
                runs_left=0,
                tainted=False,
                norm=f"{number}",
            )
        )


def _ticker(store: Store) -> JobTicker:
    config = Config.model_validate({"timezone": "UTC"})
    channels = {"terminal": ScriptedChannel(name="terminal")}

    async def language(_: str) -> str:
        return "en"

    def now() -> datetime:
        return datetime.now(UTC)

    return JobTicker(
        store=store,
        roles=RoleResolver(lambda: config, store.access),
        times=JobTimes(jobs=store.jobs, config=lambda: config),
        channels=channels,
        language=language,
        now=now,
        telemetry=Telemetry(),
        runs=RunSettler(store=store, channels=channels, language=language, now=now),
    )


def _bare_sqlite(path: Path) -> float:
    """Return how many commits of the rows of one reminder SQLite makes in a second."""
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("PRAGMA journal_mode=WAL")
    held.execute("PRAGMA synchronous=FULL")
    for name in _INSERTS:
        held.execute(_BARE.format(name))
    began = time.perf_counter()
    for number in range(MANY):
        held.execute("BEGIN IMMEDIATE")
        for name in _INSERTS:
            held.execute(f"INSERT INTO {name} VALUES (?, ?)", (f"{number}", "Water the plants."))
        held.execute("COMMIT")
    rate = MANY / (time.perf_counter() - began)
    held.close()
    return rate


def _bare_postgres(url: str) -> float:
    """Return how many commits of the rows of one reminder PostgreSQL makes in a second."""
    with psycopg.connect(url) as held:
        for name in _INSERTS:
            held.execute(_BARE.format(f"bare_{name}"))
        held.commit()
        began = time.perf_counter()
        for number in range(MANY):
            for name in _INSERTS:
                held.execute(
                    f"INSERT INTO bare_{name} VALUES (%s, %s)", (f"{number}", "Water the plants.")
                )
            held.commit()
        return MANY / (time.perf_counter() - began)
