"""Which channels are configured, and what each of them is built with."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import cast

from bot.config import Config, ConfigFile, defaults
from bot.config.channels import WithCredentials
from bot.config.forms import Section
from bot.errors import ConfigError
from channels.base import Channel
from channels.registry import load

NOT_ITS_OWN = {"owners", "allow", "pairing"}
"""Who may talk is read at each message: no channel is opened with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The channels that can be had as things are configured, and of each other that is wanted, why it cannot."""

    channels: tuple[Channel, ...]
    troubles: Mapping[str, str]


def channels_of(config: Config, begun: Collection[str] = ()) -> Opened:
    """The channels that are configured, but for the page's; one that cannot be built keeps no other from starting.

    Args:
        begun: names of those that somebody has begun to set up (see `begun_in`).
    """
    built: list[Channel] = []
    troubles: dict[str, str] = {}
    for name, section in config.channels:
        try:
            if name != "web" and section.on:
                built.append(channel_of(config, name))
            elif name in begun and (empty := lacking(section)):
                troubles[name] = f"channels.{name} does not start: {' and '.join(empty)} is empty"
        except ConfigError as err:
            troubles[name] = str(err)
    return Opened(channels=tuple(built), troubles=troubles)


def begun_in(file: ConfigFile) -> set[str]:
    """The channels of which more is written in config.json than `enabled`, if only a variable that is empty."""
    written, untouched = file.masked()["channels"], defaults()["channels"]
    return {name for name, keys in untouched.items() if {**written[name], "enabled": keys["enabled"]} != keys}


def lacking(section: Section) -> list[str]:
    """The credentials that a channel which is wanted still needs."""
    if not isinstance(section, WithCredentials) or turned_off(section):
        return []
    return [key for key in section.needed if not getattr(section, key)]


def turned_off(section: Section) -> bool:
    """Whether config.json itself says that a channel with credentials is off."""
    return isinstance(section, WithCredentials) and "enabled" in section.model_fields_set and not section.enabled


def channel_of(config: Config, name: str) -> Channel:
    """One channel by its name.

    Raises:
        ConfigError: it cannot be built: a package is missing, or its settings do not fit together.
    """
    section = getattr(config.channels, name)
    try:
        kind = load(name)
        settings = {one.name: getattr(section, one.name) for one in fields(kind.opened_with)}
        channel = cast(Channel, kind(kind.opened_with(**settings)))
    except ImportError as err:
        raise ConfigError(
            f"channels.{name} is on, but the package {err.name} is missing: install mnema anew (make setup), or set "
            "its enabled to false"
        ) from err
    except ValueError as err:
        raise ConfigError(f"channels.{name}: {err}") from err
    if channel.capabilities.hook and not config.channels.web.on:
        raise ConfigError(
            f"channels.{name} takes its platform's calls on the page's port, which is off: set channels.web.enabled to "
            "true, or take another mode"
        )
    return channel


def changed(before: Config, after: Config) -> list[str]:
    """The channels whose own settings differ."""
    own = [{name: _own(section) for name, section in config.channels if name != "web"} for config in (before, after)]
    return [name for name in own[1] if own[0][name] != own[1][name]]


def _own(section: Section) -> dict[str, object]:
    return section.model_dump(exclude=NOT_ITS_OWN)
