"""What happens by the clock: every night idle conversations end by themselves, and memories are put in order."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import partial, wraps
from typing import Any

import structlog

from bot.access.audit import record_checkpoint
from bot.access.permissions import AccessScope, Actor, authorize
from bot.agent.context_fitter import fold_range_of_first
from bot.agent.folding import FoldManager
from bot.config.schema import Config
from bot.runtime.retention import RetentionJob
from memory.store.store import Store

log = structlog.get_logger(__name__)
NIGHT_HOUR, NIGHT_MINUTE = 4, 10
RETRY_DELAY = timedelta(minutes=1)
START_DELAY = timedelta(seconds=5)  # after the start: when a night that was slept through is made up for
# How far the clock that wakes us may be ahead of the one that is asked for the time.
CLOCK_TOLERANCE = timedelta(seconds=5)
# Between two looks at the clock: a timer stands still while the machine sleeps, and knows nothing of a clock that is
# set.
LOOK_SECONDS = 60.0
DREAM_JOB_ID, NIGHTLY = "dream", "nightly"
SYSTEM_ACTOR = Actor(channel="", id="house", role="owner")


async def end_idle_conversations(store: Store, folding: FoldManager, config: Config, now: datetime) -> int:
    """End every conversation idle for `session_max_idle_days` as /new does; returns how many."""
    if not authorize(SYSTEM_ACTOR, "session.expire", "", AccessScope(kind="job", space="")).allowed:
        return 0
    ended = 0
    for conversation in await store.sessions.idle(now - timedelta(days=config.session_max_idle_days)):
        session = await store.sessions.load(conversation)
        if not session.turns or session.running:
            continue
        plan = fold_range_of_first(session, "idle", config.context_policy)
        await store.sessions.clear(conversation, plan, by=SYSTEM_ACTOR.id)
        await folding.let_go(conversation)
        await folding.write_logs(conversation)
        ended += 1
    if ended:
        log.info("idle conversations ended", count=ended)
    return ended


async def remove_old_rows(retaining: RetentionJob, config: Config, now: datetime) -> dict[str, int]:
    """Remove what is older than `retention_days` (0: never), and files that nothing names; returns how many."""
    if not authorize(SYSTEM_ACTOR, "session.expire", "", AccessScope(kind="job", space="")).allowed:
        return {}
    return await retaining.night(config.retention_days, now)


async def run_nightly_cleanup(
    store: Store, folding: FoldManager, settings: Callable[[], Config], retaining: RetentionJob
) -> None:
    """The night's work on conversations: the idle ones end, the old ones go; where the chain of acts ends is noted."""
    now, config = datetime.fromtimestamp(store.now(), UTC), settings()
    await end_idle_conversations(store, folding, config, now)
    await remove_old_rows(retaining, config, now)
    await record_checkpoint(store, retaining.data, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamSchedule:
    """When memories are put in order."""

    #: HH:MM, where the owner is, as configured now.
    at: Callable[[], str]
    #: Aware, there.
    now: Callable[[], datetime]
    #: Does the work of one day, and nothing where that was done already.
    night: Callable[[date], Awaitable[object]]

    async def dream(self) -> None:
        """The newest night whose hour has come, however late it is by now."""
        if authorize(SYSTEM_ACTOR, "memory.dream", "", AccessScope(kind="job", space="")).allowed:
            await self.night(latest_night(self.now() + CLOCK_TOLERANCE, self.at()))


def latest_night(now: datetime, at: str) -> date:
    """The day of the newest night whose hour has come on the clock on the wall, so that each day has one of them.

    Args:
        now: in the zone whose clock it is.
        at: HH:MM; an hour that a day skips has come when the clock is past it.
    """
    return now.date() if f"{now:%H:%M}" >= at else now.date() - timedelta(days=1)


def run_until_stopped(
    job: Callable[[], Awaitable[object]], stopped: Callable[[], bool]
) -> Callable[[], Awaitable[None]]:
    """The job, which may be cut off by the end of the program: it goes on at the next start, so that is no fault."""

    @wraps(job)
    async def run() -> None:
        try:
            await job()
        except asyncio.CancelledError:
            if not stopped():
                raise
            log.info("job cut off by the end of the program")

    return run


class Scheduler:
    """APScheduler over our own tables: its jobs live in memory, what they do is in the store."""

    def __init__(
        self, zone: tzinfo, nightly: Callable[[], Awaitable[object]], dreams: DreamSchedule | None = None
    ) -> None:
        self._zone = zone
        self._nightly = nightly
        self._dreams = dreams
        self._stopped = False
        self._running: Any = None
        self._next_look: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Load the library beside the loop, then keep time; the night that was slept through is caught up soon."""
        await asyncio.to_thread(_import)
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        from bot.runtime.cron import DailyTrigger

        if self._stopped:
            return
        running = AsyncIOScheduler(timezone=self._zone)
        options = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        soon = datetime.now(UTC) + RETRY_DELAY
        now = self._dreams.now if self._dreams is not None else partial(datetime.now, UTC)
        nightly = run_until_stopped(self._nightly, lambda: self._stopped)
        running.add_job(nightly, DailyTrigger(NIGHT_HOUR, NIGHT_MINUTE, self._zone, now), id=NIGHTLY, **options)
        running.add_job(nightly, "date", run_date=soon, **options)
        if self._dreams is not None:
            dream = run_until_stopped(self._dreams.dream, lambda: self._stopped)
            running.add_job(dream, self._hour(self._dreams), id=DREAM_JOB_ID, **options)
            running.add_job(dream, "date", run_date=datetime.now(UTC) + START_DELAY, **options)
        running.start()
        self._running = running
        self._wait_for_look()

    def retime(self) -> None:
        """The hour or the zone of dreams has changed: the next one comes by the new one."""
        if self._running is not None and self._dreams is not None:
            self._running.reschedule_job(DREAM_JOB_ID, trigger=self._hour(self._dreams))

    def next_dream(self) -> datetime | None:
        """When memories are put in order next; None while no time is kept."""
        job = self._running.get_job(DREAM_JOB_ID) if self._running is not None else None
        return job.next_run_time if job else None

    def stop(self) -> None:
        """Keep no more time, also where `start` has not come so far yet."""
        self._stopped = True
        if self._next_look is not None:
            self._next_look.cancel()
        if self._running is not None:
            self._running.shutdown(wait=False)
            self._running = None

    def _wait_for_look(self) -> None:
        self._next_look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Run what is due by the clock as it is now; after it was put back, the next hour is one that is nearer."""
        now = datetime.now(UTC)
        for name in (NIGHTLY, DREAM_JOB_ID):
            job = self._running.get_job(name)
            if job is not None and job.trigger.get_next_fire_time(None, now) < job.next_run_time - RETRY_DELAY:
                self._running.reschedule_job(name, trigger=job.trigger)
        self._running.wakeup()
        self._wait_for_look()

    def _hour(self, dreams: DreamSchedule) -> Any:
        from bot.runtime.cron import DailyTrigger

        hour, minute = dreams.at().split(":")
        return DailyTrigger(int(hour), int(minute), dreams.now().tzinfo or self._zone, dreams.now)


def _import() -> None:
    import apscheduler.schedulers.asyncio
    import apscheduler.triggers.date  # noqa: F401

    import bot.runtime.cron  # noqa: F401
