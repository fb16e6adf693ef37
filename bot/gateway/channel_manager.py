"""Builds the configured channels; starts, stops and replaces them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import structlog

from bot.access.permissions import AccessScope, Actor, authorize
from bot.commands.router import COMMANDS
from bot.config.file import ConfigFile
from bot.config.loader import default_settings
from bot.config.schema import Config
from bot.dispatch import Dispatcher
from bot.errors import ConfigError
from bot.gateway.gateway import Gateway
from channels.base import Channel
from channels.registry import load_channel_class
from channels.toolkit.settings import ConfigSection, CredentialChannelSettings
from memory.store.conversations.delivery import Delivery

ACCESS_KEYS = {"owners", "allow", "pairing"}  # who may talk is read at each message: no channel is opened with it


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltChannels:
    """The channels that can be had as things are configured, and of each other that is wanted, why it cannot."""

    channels: tuple[Channel, ...]
    troubles: Mapping[str, str]


def build_channels(config: Config, begun: Collection[str] = ()) -> BuiltChannels:
    """The channels that are configured, but for the page's; one that cannot be built keeps no other from starting.

    Args:
        begun: names of those that somebody has begun to set up (see `partly_configured_channels`).
    """
    built: list[Channel] = []
    troubles: dict[str, str] = {}
    for name, section in config.channels:
        try:
            if name != "web" and section.on:
                built.append(build_channel(config, name))
            elif name in begun and (empty := missing_credentials(section)):
                troubles[name] = f"channels.{name} does not start: {' and '.join(empty)} is empty"
        except ConfigError as err:
            troubles[name] = str(err)
    return BuiltChannels(channels=tuple(built), troubles=troubles)


def partly_configured_channels(file: ConfigFile) -> set[str]:
    """The channels of which more is written in config.json than `enabled`, if only a variable that is empty."""
    written, untouched = file.masked()["channels"], default_settings()["channels"]
    return {name for name, keys in untouched.items() if {**written[name], "enabled": keys["enabled"]} != keys}


def missing_credentials(section: ConfigSection) -> list[str]:
    """The credentials that a channel which is wanted still needs."""
    if not isinstance(section, CredentialChannelSettings) or is_turned_off(section):
        return []
    return [key for key in section.needed if not getattr(section, key)]


def is_turned_off(section: ConfigSection) -> bool:
    """Whether config.json itself says that a channel with credentials is off."""
    return (
        isinstance(section, CredentialChannelSettings) and "enabled" in section.model_fields_set and not section.enabled
    )


def build_channel(config: Config, name: str) -> Channel:
    """One channel by its name.

    Raises:
        ConfigError: it cannot be built: a package is missing, or its settings do not fit together.
    """
    section = getattr(config.channels, name)
    try:
        kind = load_channel_class(name)
        channel = cast(Channel, kind(section))
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


def changed_channels(before: Config, after: Config) -> list[str]:
    """The channels whose own settings differ."""
    own = [
        {name: _connection_settings(section) for name, section in config.channels if name != "web"}
        for config in (before, after)
    ]
    return [name for name in own[1] if own[0][name] != own[1][name]]


def _connection_settings(section: ConfigSection) -> dict[str, object]:
    return section.model_dump(exclude=ACCESS_KEYS)


# Starts, stops and replaces channels: at the start, and as config.json changes.

log = structlog.get_logger(__name__)
MENU_ACTOR = Actor(channel="", id="", role="user")
PRIVATE = AccessScope(kind="dm", space="someone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelManager:
    """Every channel's on and off."""

    gateway: Gateway
    outbox: Dispatcher
    lanes: Dispatcher
    delivery: Delivery
    #: How one begins to be heard.
    hear: Callable[[Channel], object]

    def know(self, channels: Sequence[Channel]) -> None:
        """Register channels for sending, and set the command menu of those that have one."""
        for channel in channels:
            if (menu := getattr(channel, "commands", None)) is not None:
                menu(command_menu())
            self.gateway.add(channel)

    def listen(self, channels: Sequence[Channel]) -> None:
        """Start receiving from the channels."""
        for channel in channels:
            self.hear(channel)

    async def add(self, channel: Channel) -> None:
        """Start a channel, send what waits for it, and resume what its predecessor received."""
        self.know([channel])
        self.listen([channel])
        for conversation in await self.delivery.unsent():
            self.outbox.wake(conversation)
        for conversation in await self.delivery.waiting():
            self.lanes.wake(conversation)

    async def follow(self, before: Config, after: Config, begun: Collection[str] = ()) -> None:
        """Start, stop or replace those whose own settings changed; who may talk is read at each message."""
        opened = build_channels(after, begun)
        wanted = {channel.name: channel for channel in opened.channels}
        for name in changed_channels(before, after):
            if name in opened.troubles:
                log.error("channel not started", why=opened.troubles[name])
            await self.gateway.remove(name)
            if name in wanted:
                await self.add(wanted[name])


def command_menu() -> list[tuple[str, str, str]]:
    """Return the commands of a private chat: name, Chinese text, English text."""
    return [
        (command.name, command.zh, command.en)
        for command in COMMANDS.values()
        if authorize(MENU_ACTOR, command.action, "", PRIVATE).allowed
    ]
