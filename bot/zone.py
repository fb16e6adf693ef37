"""The zone that days and hours are told in."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from bot.config import Config


def zone_of(config: Config) -> tzinfo:
    """As configured, else the machine's."""
    if config.timezone:
        return ZoneInfo(config.timezone)
    local = datetime.now().astimezone().tzinfo
    return local if local is not None else UTC
