"""Which channels are configured, and what each of them is built with."""

from bot.config import Config
from bot.errors import ConfigError
from channels.base import Channel
from channels.registry import load

FIELDS = {"telegram": ("token", "base_url", "proxy")}
"""What of its section each channel is built with."""


def channels_of(config: Config) -> list[Channel]:
    """The channels that are configured, but for the page's.

    Raises:
        ConfigError: one is that this version does not have.
    """
    channels: list[Channel] = []
    for name, section in config.channels:
        if name == "web" or not section.on:
            continue
        if name == "telegram" and section.mode == "webhook":
            raise ConfigError(
                'channels.telegram.mode is "webhook", which this version does not have; it must be "polling"'
            )
        if name not in FIELDS:
            raise ConfigError(f"channels.{name} is on, but this version has no such channel; set its enabled to false")
        channels.append(load(name)(**{field: getattr(section, field) for field in FIELDS[name]}))
    return channels


def changed(before: Config, after: Config) -> list[str]:
    """The channels whose own settings differ; who may talk is read at each message and is none of them."""
    return [name for name in FIELDS if _opened_with(before, name) != _opened_with(after, name)]


def _opened_with(config: Config, name: str) -> tuple[object, ...]:
    section = getattr(config.channels, name)
    return (section.on, *(getattr(section, field) for field in FIELDS[name]))
