"""An hour of each day by another clock than this machine's; imported where a scheduler starts, for it is heavy."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count

from apscheduler.triggers.base import BaseTrigger

ONE_DAY = timedelta(days=1)
ONE_MICROSECOND = timedelta(microseconds=1)


class DailyTrigger(BaseTrigger):  # type: ignore[misc]
    """Fires at that hour of each day by `now`, told in times of the machine's clock, by which APScheduler wakes.

    An hour that a day skips comes as late as the clock was put forward, one that a day has twice comes once, the first
    time: APScheduler's own trigger leaves out a day that begins at one o'clock, and fires twice.

    now: aware.
    """

    def __init__(self, hour: int, minute: int, zone: tzinfo, now: Callable[[], datetime]) -> None:
        self._hour, self._minute, self._zone = hour, minute, zone
        self._now = now

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """See BaseTrigger."""
        ahead = timedelta(seconds=round((self._now().astimezone(UTC) - now.astimezone(UTC)).total_seconds()))
        after = (
            previous_fire_time.astimezone(UTC) + ONE_MICROSECOND if previous_fire_time else now.astimezone(UTC)
        ) + ahead
        day = after.astimezone(self._zone).replace(tzinfo=None, fold=0) - ONE_DAY
        hours = (
            day.replace(hour=self._hour, minute=self._minute, second=0, microsecond=0) + ONE_DAY * n for n in count()
        )
        there = (hour.replace(tzinfo=self._zone).astimezone(UTC) for hour in hours)
        return next(moment for moment in there if moment >= after) - ahead
