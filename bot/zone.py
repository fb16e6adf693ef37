"""The zone that days and hours are told in."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from bot.config import Config


class MachineZone(tzinfo):
    """The machine's zone with its rules, so that a moment before a change of clocks is told as it was told then."""

    def fromutc(self, dt: datetime) -> datetime:
        """See tzinfo."""
        here = datetime.fromtimestamp(dt.replace(tzinfo=UTC).timestamp())
        return here.replace(microsecond=dt.microsecond, tzinfo=self)

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """See tzinfo."""
        return dt.replace(tzinfo=None).astimezone().utcoffset() if dt else None

    def dst(self, dt: datetime | None) -> timedelta | None:
        """Not known apart from the offset."""
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        """See tzinfo."""
        return dt.replace(tzinfo=None).astimezone().tzname() if dt else None


MACHINE = MachineZone()


def zone_of(config: Config) -> tzinfo:
    """As configured, else the machine's."""
    return ZoneInfo(config.timezone) if config.timezone else MACHINE
