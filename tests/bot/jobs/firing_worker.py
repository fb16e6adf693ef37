"""Fires the due jobs of a PostgreSQL store, in a process of its own."""

import asyncio
from datetime import UTC, datetime
from multiprocessing.synchronize import Event

from bot.access.roles import RoleResolver
from bot.config.schema import Config
from bot.jobs.ticker import JobTicker, RunSettler
from bot.jobs.times import JobTimes
from bot.telemetry.recorder import Telemetry
from channels.testing import ScriptedChannel
from memory.failpoints import arm
from memory.store.postgres.open import open_postgres
from memory.store.store import Store

NOW = datetime(2026, 11, 26, 9, 1, tzinfo=UTC)


def ticker(store: Store, now: datetime = NOW, **limits: int) -> JobTicker:
    """A clock over a store, whose people all are the owner on a terminal that is never read."""
    config = Config.model_validate(
        {"timezone": "UTC", "jobs": {"do_a_day": 0, "quiet": [], **limits}}
    )

    async def language(_: str) -> str:
        return "en"

    channels = {"terminal": ScriptedChannel(name="terminal")}
    return JobTicker(
        store=store,
        roles=RoleResolver(lambda: config, store.access),
        times=JobTimes(jobs=store.jobs, config=lambda: config),
        channels=channels,
        language=language,
        now=lambda: now,
        telemetry=Telemetry(),
        runs=RunSettler(store=store, channels=channels, language=language, now=lambda: now),
    )


async def fire(url: str, ready: Event, begin: Event) -> None:
    store = await open_postgres(url, clock=NOW.timestamp)
    try:
        clock = ticker(store)
        ready.set()
        begin.wait()
        while await clock.fire_due():
            pass
    finally:
        await store.close()


def run_worker(url: str, failpoint: str, ready: Event, begin: Event) -> None:
    """What such a process does: it fires once `begin` is set."""
    arm({"MNEMA_TEST": "1", "MNEMA_FP": failpoint})
    asyncio.run(fire(url, ready, begin))
