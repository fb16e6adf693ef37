"""What the console is wired to: one value with a door or a function for each thing it shows."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from bot.pairing import Pairing
from channels.base import Channel, Hooked
from channels.web.backend import Allow, Probe
from memory.store.doors import Store
from memory.workspace import SpaceFiles

Told = Callable[[], Awaitable[Mapping[str, Any]]]
"""A page of facts as JSON values."""

Index = Callable[[str | None], Awaitable[Mapping[str, int]]]
"""Make the index of that space anew, of all of them for None; returns how many rows each space has now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search of the memory. space: "" the owner's; since, until: YYYY-MM-DD, both inclusive; "" for any."""

    query: str
    limit: int
    space: str = ""
    since: str = ""
    until: str = ""
    speaker: str = ""


Search = Callable[[Asked], Awaitable[Sequence[Mapping[str, Any]]]]
"""Results, best first, each as bot.found.told gives it; none of a space that there is not."""


class Settings(Protocol):
    """The configuration as the owner may see and change it."""

    def masked(self) -> Mapping[str, Any]:
        """The shape of config.json with secrets masked."""
        ...

    def patch(self, part: Mapping[str, Any], /) -> object:
        """Take over a part of that shape, after checking it; blocks, so it is called in a thread.

        Raises:
            ConfigError: what is wrong with it, and what would be right; nothing has changed.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everything behind the console. Conversations go by the store's ids here, not by the names in paths.

    files: the owner's part of the workspace. allow: whether the console may do the named action now.
    stop: end that conversation's running turn. context: the facts of its context.
    saved: called after one of the files was saved here. metrics: figures in the text format that Prometheus reads.
    commands: {name, usage, zh, en} of what may be typed here, for readers of "zh" or "en".
    hooked: the channel of that name, if it takes calls.
    channels: all of them by name. pairing: who may talk, None where nobody asks.
    now: where the owner is.
    """

    store: Store
    files: SpaceFiles
    saved: Callable[[], Awaitable[None]]
    allow: Allow
    stop: Callable[[str], Awaitable[None]]
    context: Callable[[str], Awaitable[Mapping[str, Any]]]
    search: Search
    index: Index
    settings: Settings
    status: Told
    usage: Told
    metrics: Callable[[], Awaitable[str]]
    commands: Callable[[str], Sequence[Mapping[str, str]]]
    healthy: Probe
    ready: Probe
    hooked: Callable[[str], Hooked | None] = lambda name: None
    channels: Callable[[], Mapping[str, Channel]] = dict
    pairing: Pairing | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
