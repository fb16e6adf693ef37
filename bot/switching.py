"""Starts, stops and replaces channels: at the start, and as config.json changes."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import structlog

from bot.access import Actor, Where, authorize
from bot.commands.router import COMMANDS
from bot.config import Config
from bot.connecting import changed, channels_of
from bot.dispatch.lanes import Lanes
from bot.gateway import Gateway
from channels.base import Channel
from memory.store.doors import Delivery

log = structlog.get_logger(__name__)
USER = Actor(channel="", id="", role="user")
PRIVATE = Where(kind="dm", space="someone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Every channel's on and off. hear: how one begins to be heard."""

    gateway: Gateway
    outbox: Lanes
    lanes: Lanes
    delivery: Delivery
    hear: Callable[[Channel], object]

    def know(self, channels: Sequence[Channel]) -> None:
        """From now on they can be spoken through; those that have a menu of commands are told what is in it."""
        for channel in channels:
            if (menu := getattr(channel, "commands", None)) is not None:
                menu(menu_of_commands())
            self.gateway.add(channel)

    def listen(self, channels: Sequence[Channel]) -> None:
        """Hear them."""
        for channel in channels:
            self.hear(channel)

    async def add(self, channel: Channel) -> None:
        """Start one more, send what waits for it, and go on with what its forerunner heard."""
        self.know([channel])
        self.listen([channel])
        for conversation in await self.delivery.unsent():
            self.outbox.wake(conversation)
        for conversation in await self.delivery.waiting():
            self.lanes.wake(conversation)

    async def follow(self, before: Config, after: Config, begun: Collection[str] = ()) -> None:
        """Start, stop or replace those whose own settings changed; who may talk is read at each message."""
        opened = channels_of(after, begun)
        wanted = {channel.name: channel for channel in opened.channels}
        for name in changed(before, after):
            if name in opened.troubles:
                log.error("channel not started", why=opened.troubles[name])
            await self.gateway.remove(name)
            if name in wanted:
                await self.add(wanted[name])


def menu_of_commands() -> list[tuple[str, str, str]]:
    """What a person who is let in may type in private: name, in Chinese, in English."""
    return [
        (command.name, command.zh, command.en)
        for command in COMMANDS.values()
        if authorize(USER, command.action, "", PRIVATE).allowed
    ]
