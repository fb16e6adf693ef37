"""Builds the configured channels; starts, stops and replaces them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import structlog

from bot.config.file import ConfigFile
from bot.config.loader import default_settings
from bot.config.schema import Config
from bot.dispatch import Dispatcher
from bot.errors import ConfigError
from bot.gateway.gateway import Gateway
from channels.base import Channel
from channels.phrases import Phrase
from channels.registry import load_channel_class
from channels.toolkit.settings import ConfigSection, CredentialChannelSettings
from memory.store.conversations.delivery import Delivery

log = structlog.get_logger(__name__)
ACCESS_KEYS = {"owners", "allow", "pairing"}  # read at each message: a change needs no reconnection


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltChannels:
    """The channels that can be started, and why each other configured one cannot."""

    channels: tuple[Channel, ...]
    troubles: Mapping[str, str]


def build_channels(file: ConfigFile) -> BuiltChannels:
    """Build the configured channels except the page; one that fails does not prevent the others."""
    built: list[Channel] = []
    troubles: dict[str, str] = {}
    partly_configured = partly_configured_channels(file)
    for name, section in file.current.channels:
        try:
            if name != "web" and section.on:
                built.append(build_channel(file.current, name))
            elif name in partly_configured and (empty := missing_credentials(section)):
                troubles[name] = f"channels.{name} does not start: {' and '.join(empty)} is empty"
        except ConfigError as err:
            troubles[name] = str(err)
    return BuiltChannels(channels=tuple(built), troubles=troubles)


def partly_configured_channels(file: ConfigFile) -> set[str]:
    """Return the channels with more in config.json than `enabled`, be it only an empty variable."""
    written, defaults = file.masked()["channels"], default_settings()["channels"]
    return {
        name
        for name, keys in defaults.items()
        if {**written[name], "enabled": keys["enabled"]} != keys
    }


def missing_credentials(section: ConfigSection) -> list[str]:
    """Return the empty credentials of a channel; none if it is turned off."""
    if not isinstance(section, CredentialChannelSettings) or is_turned_off(section):
        return []
    return [key for key in section.needed if not getattr(section, key)]


def is_turned_off(section: ConfigSection) -> bool:
    """Tell whether config.json itself turns off a channel with credentials."""
    return (
        isinstance(section, CredentialChannelSettings)
        and "enabled" in section.model_fields_set
        and not section.enabled
    )


def build_channel(config: Config, name: str) -> Channel:
    """Build one channel.

    Raises:
        ConfigError: a package is missing, or its settings do not fit together.
    """
    section = getattr(config.channels, name)
    try:
        kind = load_channel_class(name)
        channel = cast(Channel, kind(section))
    except ImportError as err:
        raise ConfigError(
            f"channels.{name} is on, but the package {err.name} is missing: install mnema again "
            "(make setup), or set its enabled to false"
        ) from err
    except ValueError as err:
        raise ConfigError(f"channels.{name}: {err}") from err
    except Exception as err:  # of a channel of another distribution
        log.error("channel not built", channel=name, error=type(err).__name__, exc_info=err)
        raise ConfigError(f"channels.{name} cannot start: {type(err).__name__}: {err}") from err
    if channel.capabilities.hook and not config.channels.web.on:
        raise ConfigError(
            f"channels.{name} receives its platform's calls on the page's port, which is off: set "
            "channels.web.enabled to true, or choose another mode"
        )
    return channel


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelManager:
    """Starts, stops and replaces channels: at the start, and when config.json changes."""

    gateway: Gateway
    turn_dispatcher: Dispatcher
    outbox_dispatcher: Dispatcher
    delivery: Delivery
    #: Starts receiving from a registered channel, if this process receives from it.
    start_receiving: Callable[[Channel], object]
    #: Returns the command menu of a private chat: name, Chinese text, English text.
    command_menu: Callable[[], Sequence[tuple[str, Phrase]]]

    def register(self, channels: Sequence[Channel]) -> None:
        """Register channels for sending, and set the command menu of those that have one."""
        for channel in channels:
            if (set_commands := getattr(channel, "commands", None)) is not None:
                set_commands(self.command_menu())
            self.gateway.add(channel)

    async def add(self, channel: Channel) -> None:
        """Start a channel, send what waits for it, and resume what its predecessor received."""
        self.register([channel])
        self.start_receiving(channel)
        for conversation in await self.delivery.unsent():
            self.outbox_dispatcher.wake(conversation)
        for conversation in await self.delivery.waiting():
            self.turn_dispatcher.wake(conversation)

    async def apply(self, before: Config, file: ConfigFile) -> None:
        """Start, stop or replace the channels whose own settings changed."""
        built = build_channels(file)
        startable = {channel.name: channel for channel in built.channels}
        for name in changed_channels(before, file.current):
            if name in built.troubles:
                log.error("channel not started", why=built.troubles[name])
            await self.gateway.remove(name)
            if name in startable:
                await self.add(startable[name])


def changed_channels(before: Config, after: Config) -> list[str]:
    """Return the channels whose own settings differ, except the page."""
    old, new = dict(before.channels), dict(after.channels)
    return [
        name
        for name in new
        if name != "web" and _connection_settings(old[name]) != _connection_settings(new[name])
    ]


def _connection_settings(section: ConfigSection) -> dict[str, object]:
    return section.model_dump(exclude=ACCESS_KEYS)
