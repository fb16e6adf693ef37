"""Scheduled work: snapshots by the hour; logs of ended days; each night idle conversations end, old
data is removed, and dreams.
"""

import asyncio
import importlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any

import structlog

from bot.access.audit import record_checkpoint
from bot.access.permissions import AccessScope, Actor, authorize
from bot.config.schema import Config
from bot.telemetry.faults import SNAPSHOT_SUBJECT, TroubleList
from memory.forgetting.blob_references import referenced_blobs
from memory.store.errors import StoreError
from memory.store.store import Store
from memory.workspace.blobs import Blobs

log = structlog.get_logger(__name__)
NIGHT_HOUR, NIGHT_MINUTE = 4, 10
RETRY_DELAY = timedelta(minutes=1)
# seconds: loading takes 25 ms of CPU, which the first messages after a start need more
LOAD_DELAY = 3.0
START_DELAY = timedelta(seconds=5)  # after that, a missed dream is made up for
QUARTER_HOUR = timedelta(minutes=15)
FIRST_MINUTE = datetime(2000, 1, 1, 0, 1, tzinfo=UTC)
# How far the machine's clock, by which timers fire, may be ahead of the clock that tells the day.
CLOCK_TOLERANCE = timedelta(seconds=5)
# Between two checks of the wall clock: timers stop while the machine sleeps, and do not notice a
# clock that is set.
CLOCK_CHECK_SECONDS = 60.0
DREAM_JOB_ID, NIGHTLY_JOB_ID, DAY_END_JOB_ID = "dream", "nightly", "day end"
SYSTEM_ACTOR = Actor(channel="", id="house", role="owner")
JOB_SCOPE = AccessScope(kind="job", space="")

SNAPSHOT_CHECK_SECONDS = 60.0  # between two looks whether a snapshot of the database is due
MAX_RETENTION_SECONDS = 600.0  # per night; the next one continues
# turns and rows per transaction, conversations per query
TURN_BATCH, ROW_BATCH, CONVERSATION_BATCH = 50, 500, 200
# An unreferenced file younger than this stays: its message may not be stored yet.
UNREFERENCED_AGE = timedelta(days=1)
SPENDING_AGE = timedelta(days=35)  # usage rows stay at least this long: /usage reports 30 days


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionJob:
    """Removes old conversations, rows of finished work, unreferenced files, and old copies of the
    database.
    """

    store: Store
    blobs: Blobs
    #: Folder of the database and its copies.
    data: Path
    #: Monotonic seconds.
    clock: Callable[[], float] = time.monotonic
    max_seconds: float = MAX_RETENTION_SECONDS

    async def run(self, days: int, now: datetime, views_days: int) -> dict[str, int]:
        """Remove what is older than `days` (0: nothing), and unreferenced files; return the counts.

        Args:
            views_days: age from which past views are removed; 0 removes all.
        """
        until = self.clock() + self.max_seconds
        removed = {"conversations": 0, "rows": 0, "copies": 0}
        if days:
            before = now - timedelta(days=days)
            removed["conversations"] = await self._remove_conversations(before.timestamp(), until)
            removed["rows"] = await self._remove_rows(
                before, min(before, now - SPENDING_AGE), until
            )
            removed["copies"] = await asyncio.to_thread(
                _remove_database_copies, self.data, before.timestamp()
            )
        removed["rows"] += await self.store.file_versions.delete_old()
        removed["views"] = await self._remove_views(
            (now - timedelta(days=views_days)).timestamp(), until
        )
        removed["files"] = await self._remove_files((now - UNREFERENCED_AGE).timestamp(), until)
        if any(removed.values()):
            log.info("old data removed", **removed)
        return removed

    async def _remove_conversations(self, before: float, until: float) -> int:
        removed, awake = 0, set[str]()
        while self.clock() < until:
            old = [
                id
                for id in await self.store.retention.old_conversations(before, CONVERSATION_BATCH)
                if id not in awake
            ]
            if not old:
                break
            for id in old:
                result = "left"
                while result == "left" and self.clock() < until:
                    result = await self.store.retention.delete_oldest_turns(id, before, TURN_BATCH)
                removed += result == "gone"
                if result != "gone":
                    awake.add(id)
        return removed

    async def _remove_rows(self, ended: datetime, spent: datetime, until: float) -> int:
        removed = 0
        for remove, before in (
            (self.store.retention.delete_ended, ended),
            (self.store.retention.delete_usage, spent),
        ):
            while self.clock() < until and (batch := await remove(before.timestamp(), ROW_BATCH)):
                removed += batch
        return removed

    async def _remove_views(self, before: float, until: float) -> int:
        removed = 0
        while self.clock() < until and (
            batch := await self.store.views.delete_old(before, ROW_BATCH)
        ):
            removed += batch
        return removed

    async def _remove_files(self, before: float, until: float) -> int:
        old = await asyncio.to_thread(self.blobs.older, before)
        if not old or self.clock() >= until:
            return 0
        unreferenced = old - await referenced_blobs(self.store)
        return sum(
            [
                await asyncio.to_thread(self.blobs.remove_older, name, before)
                for name in sorted(unreferenced)
            ]
        )


def _remove_database_copies(data: Path, before: float) -> int:
    """Remove old copies made before migrations, and damaged databases that were put aside."""
    copies = [*data.glob("*.db.before-*"), *data.glob("*.db.corrupt.*")]
    old = [path for path in copies if path.is_file() and path.stat().st_mtime < before]
    for path in old:
        path.unlink()
    return len(old)


async def run_nightly_cleanup(
    store: Store,
    end_idle: Callable[[int, datetime], Awaitable[object]],
    config: Callable[[], Config],
    retention: RetentionJob,
) -> None:
    """End idle conversations, remove old data, and record a checkpoint of the audit chain.

    Args:
        end_idle: ends the conversations that are idle for so many days at that time.
    """
    now, settings = datetime.fromtimestamp(store.now(), UTC), config()
    if authorize(SYSTEM_ACTOR, "session.expire", "", JOB_SCOPE).allowed:
        await end_idle(settings.session_max_idle_days, now)
        await retention.run(settings.retention_days, now, settings.console.views_days)
    await record_checkpoint(store, retention.data, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotJob:
    """Takes snapshots of the database when they are due; see Store.take_due_snapshot."""

    store: Store
    troubles: TroubleList
    #: Folder of the database.
    data: Path

    async def watch(self) -> None:
        """Look every minute until cancelled."""
        while True:
            await asyncio.sleep(SNAPSHOT_CHECK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Take a snapshot if one is due; the audit's checkpoint then reaches as far as it does."""
        try:
            taken = await self.store.take_due_snapshot()
        except (StoreError, OSError) as err:
            log.warning("no snapshot", error=str(err))
            self.troubles.snapshot_failed(err)
            return
        if taken:
            self.troubles.end(SNAPSHOT_SUBJECT)
            await record_checkpoint(
                self.store, self.data, datetime.fromtimestamp(self.store.now(), UTC)
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamSchedule:
    """When memories are consolidated."""

    #: Configured hour of the owner's day, HH:MM.
    at: Callable[[], str]
    #: The owner's local time, with a zone.
    now: Callable[[], datetime]
    #: Does the work of one day; nothing if it was done already.
    night: Callable[[date], Awaitable[object]]

    async def dream(self) -> None:
        """Run the newest night whose hour has come, however late it is by now."""
        if authorize(SYSTEM_ACTOR, "memory.dream", "", JOB_SCOPE).allowed:
            await self.night(latest_night(self.now() + CLOCK_TOLERANCE, self.at()))


def latest_night(now: datetime, at: str) -> date:
    """Return the day of the newest night whose hour has come by the wall clock, so that each day
    has one night.

    Args:
        now: in the zone of that clock.
        at: HH:MM; an hour that a day skips has come when the clock is past it.
    """
    return now.date() if f"{now:%H:%M}" >= at else now.date() - timedelta(days=1)


class DailyTrigger:
    """A trigger for APScheduler that fires at an hour of each day by the clock `now`.

    APScheduler asks and wakes by the machine's clock, which may differ. An hour that a day skips
    fires when the clock has been put forward, one that a day has twice fires the first time:
    APScheduler's CronTrigger leaves out a day that begins at one o'clock, and fires twice.
    """

    def __init__(self, hour: int, minute: int, zone: tzinfo, now: Callable[[], datetime]) -> None:
        self._hour, self._minute, self._zone = hour, minute, zone
        self._now = now

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """See BaseTrigger."""
        ahead = timedelta(
            seconds=round((self._now().astimezone(UTC) - now.astimezone(UTC)).total_seconds())
        )
        after = (
            previous_fire_time.astimezone(UTC) + timedelta(microseconds=1)
            if previous_fire_time
            else now
        )
        earliest = after.astimezone(UTC) + ahead
        day = earliest.astimezone(self._zone).replace(tzinfo=None, fold=0) - timedelta(days=1)
        first = day.replace(hour=self._hour, minute=self._minute, second=0, microsecond=0)
        hours = (
            (first + timedelta(days=n)).replace(tzinfo=self._zone).astimezone(UTC) for n in count()
        )
        return next(hour for hour in hours if hour >= earliest) - ahead


class QuarterHourTrigger:
    """A trigger for APScheduler that fires a minute after each quarter of an hour.

    Every zone's midnight is at one, whatever a day skips or has twice.
    """

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """See BaseTrigger."""
        after = max(previous_fire_time, now) if previous_fire_time else now
        passed = (after - FIRST_MINUTE) % QUARTER_HOUR
        return after - passed + QUARTER_HOUR


def run_until_stopped(
    job: Callable[[], Awaitable[object]], stopped: Callable[[], bool]
) -> Callable[[], Awaitable[None]]:
    """Wrap a job so that its cancellation at shutdown is no error: it continues at the next
    start.
    """

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
    """APScheduler with jobs in memory only: what they have done is in the store."""

    def __init__(
        self,
        zone: tzinfo,
        nightly: Callable[[], Awaitable[object]],
        dreams: DreamSchedule,
        day_end: Callable[[], Awaitable[object]],
    ) -> None:
        self._zone = zone
        self._nightly = nightly
        self._dreams = dreams
        self._day_end = day_end
        self._stopped = False
        self._scheduler: Any = None
        self._next_check: asyncio.TimerHandle | None = None

    async def start_later(self) -> None:
        """Start after `LOAD_DELAY`."""
        await asyncio.sleep(LOAD_DELAY)
        await self.start()

    async def start(self) -> None:
        """Load APScheduler in a thread, then schedule all jobs; a missed night is made up for
        soon.
        """
        for name in ("apscheduler.schedulers.asyncio", "apscheduler.triggers.date"):
            await asyncio.to_thread(importlib.import_module, name)
        from apscheduler.schedulers.asyncio import AsyncIOScheduler
        from apscheduler.triggers.base import BaseTrigger

        if self._stopped:
            return
        BaseTrigger.register(DailyTrigger)
        BaseTrigger.register(QuarterHourTrigger)
        scheduler = AsyncIOScheduler(timezone=self._zone)
        options = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        now = datetime.now(UTC)
        nightly = run_until_stopped(self._nightly, lambda: self._stopped)
        trigger = DailyTrigger(NIGHT_HOUR, NIGHT_MINUTE, self._zone, self._dreams.now)
        scheduler.add_job(nightly, trigger, id=NIGHTLY_JOB_ID, **options)
        scheduler.add_job(nightly, "date", run_date=now + RETRY_DELAY, **options)
        dream = run_until_stopped(self._dreams.dream, lambda: self._stopped)
        scheduler.add_job(dream, self._dream_trigger(), id=DREAM_JOB_ID, **options)
        scheduler.add_job(dream, "date", run_date=now + START_DELAY, **options)
        day_end = run_until_stopped(self._day_end, lambda: self._stopped)
        scheduler.add_job(day_end, QuarterHourTrigger(), id=DAY_END_JOB_ID, **options)
        scheduler.add_job(day_end, "date", run_date=now + START_DELAY, **options)
        scheduler.start()
        self._scheduler = scheduler
        self._schedule_check()

    def reschedule_dreams(self) -> None:
        """Apply a changed hour or zone of dreams."""
        if self._scheduler is not None:
            self._scheduler.reschedule_job(DREAM_JOB_ID, trigger=self._dream_trigger())

    def next_dream(self) -> datetime | None:
        """Return when the next dream runs; None unless started."""
        job = self._scheduler.get_job(DREAM_JOB_ID) if self._scheduler is not None else None
        return job.next_run_time if job else None

    def stop(self) -> None:
        """Run no more jobs, also if `start` has not finished."""
        self._stopped = True
        if self._next_check is not None:
            self._next_check.cancel()
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=False)
            self._scheduler = None

    def _schedule_check(self) -> None:
        self._next_check = asyncio.get_running_loop().call_later(
            CLOCK_CHECK_SECONDS, self._check_clock
        )

    def _check_clock(self) -> None:
        """Run what is due by the wall clock; after the clock was put back, move jobs to their new,
        nearer hour.
        """
        now = datetime.now(UTC)
        for name in (NIGHTLY_JOB_ID, DREAM_JOB_ID, DAY_END_JOB_ID):
            job = self._scheduler.get_job(name)
            if (
                job is not None
                and job.trigger.get_next_fire_time(None, now) < job.next_run_time - RETRY_DELAY
            ):
                self._scheduler.reschedule_job(name, trigger=job.trigger)
        self._scheduler.wakeup()
        self._schedule_check()

    def _dream_trigger(self) -> DailyTrigger:
        hour, minute = self._dreams.at().split(":")
        return DailyTrigger(
            int(hour), int(minute), self._dreams.now().tzinfo or self._zone, self._dreams.now
        )
