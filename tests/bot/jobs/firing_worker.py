"""A process that fires the due jobs of a PostgreSQL store
(`python -m tests.bot.jobs.firing_worker URL`).
"""

import asyncio
import os
import sys
from datetime import UTC, datetime

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


async def main(url: str) -> None:
    store = await open_postgres(url, clock=NOW.timestamp)
    try:
        clock = ticker(store)
        print("ready", flush=True)
        sys.stdin.readline()
        while await clock.fire_due():
            pass
    finally:
        await store.close()


if __name__ == "__main__":
    arm(dict(os.environ))
    asyncio.run(main(sys.argv[1]))
