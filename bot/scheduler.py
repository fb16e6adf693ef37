"""What happens by the clock: conversations that nobody wrote in for long end by themselves, every night."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, tzinfo

import structlog

from bot.access import Actor, Where, authorize
from bot.agent.fit import whole_range
from bot.config import Config
from bot.folding import Folding
from memory.store.doors import Store

log = structlog.get_logger(__name__)
NIGHT_HOUR, NIGHT_MINUTE = 4, 10
MOST_CONVERSATIONS = 100_000
LATE_SECONDS = 3_600
SOON = timedelta(minutes=1)
HOUSE = Actor(channel="", id="house", role="owner")


async def end_idle(store: Store, folding: Folding, config: Config, now: datetime) -> int:
    """End every conversation idle for `session_max_idle_days` as /new does; returns how many."""
    if not authorize(HOUSE, "session.expire", "", Where(kind="job", space="")).allowed:
        return 0
    ended = 0
    for conversation in await store.sessions.idle(now - timedelta(days=config.session_max_idle_days)):
        session = await store.sessions.load(conversation)
        if not session.turns or session.running:
            continue
        plan = whole_range(session, "idle", config.context_policy)
        await store.sessions.clear(conversation, plan)
        await folding.let_go(conversation)
        await folding.write_logs(conversation)
        ended += 1
    if ended:
        log.info("idle conversations ended", count=ended)
    return ended


async def drop_old(store: Store, config: Config, now: datetime) -> int:
    """Delete conversations nobody wrote in for `retention_days` (0: never), rows and all; returns how many."""
    if not config.retention_days or not authorize(HOUSE, "session.expire", "", Where(kind="job", space="")).allowed:
        return 0
    before = now - timedelta(days=config.retention_days)
    old = [row for row in await store.sessions.conversations(limit=MOST_CONVERSATIONS) if row.updated < before]
    for row in old:
        await store.sessions.delete(row.id)
    if old:
        log.info("old conversations deleted", count=len(old))
    return len(old)


class Scheduler:
    """APScheduler over our own tables: its jobs live in memory, what they do is in the record."""

    def __init__(self, zone: tzinfo, nightly: Callable[[], Awaitable[object]]) -> None:
        self._zone = zone
        self._nightly = nightly
        self._stopped = False
        self._stop: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Load the library beside the loop, then keep time; the night that was slept through is caught up soon."""
        await asyncio.to_thread(_import)
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        if self._stopped:
            return
        scheduler = AsyncIOScheduler(timezone=self._zone)
        options = {"coalesce": True, "max_instances": 1, "misfire_grace_time": LATE_SECONDS}
        scheduler.add_job(self._nightly, "cron", hour=NIGHT_HOUR, minute=NIGHT_MINUTE, **options)
        scheduler.add_job(self._nightly, "date", run_date=datetime.now(self._zone) + SOON, **options)
        scheduler.start()
        self._stop = lambda: scheduler.shutdown(wait=False)

    def stop(self) -> None:
        """Keep no more time, also where `start` has not come so far yet."""
        self._stopped = True
        self._stop()


def _import() -> None:
    import apscheduler.schedulers.asyncio
    import apscheduler.triggers.cron
    import apscheduler.triggers.date  # noqa: F401
