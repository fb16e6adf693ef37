"""APScheduler's cron by another clock than this machine's; imported where a scheduler starts, for it is heavy."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger


class Cron(BaseTrigger):  # type: ignore[misc]
    """Fires at that hour of each day by `now`, told in times of the machine's clock, by which APScheduler wakes.

    now: aware.
    """

    def __init__(self, hour: int, minute: int, zone: tzinfo, now: Callable[[], datetime]) -> None:
        self._inner = CronTrigger(hour=hour, minute=minute, timezone=zone)
        self._now = now

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> Any:
        """See BaseTrigger."""
        ahead = timedelta(seconds=round((self._now() - now).total_seconds()))
        before = previous_fire_time.astimezone(UTC) + ahead if previous_fire_time else None
        return self._inner.get_next_fire_time(before, now.astimezone(UTC) + ahead).astimezone(UTC) - ahead
