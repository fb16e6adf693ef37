"""What the console is wired to: one value with a door or a function for each thing it shows."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from channels.web.backend import Allow, Probe
from memory.store.doors import Store
from memory.workspace import SpaceFiles

Told = Callable[[], Awaitable[Mapping[str, Any]]]
"""A page of facts as JSON values."""

Search = Callable[[str, int, str], Awaitable[Sequence[Mapping[str, Any]]]]
"""(query, limit, space) -> results, best first: text, path?, line?, lines?, turn?, date?, score."""


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
    metrics: figures in the text format that Prometheus reads.
    commands: {name, usage, zh, en} of what may be typed here.
    """

    store: Store
    files: SpaceFiles
    allow: Allow
    stop: Callable[[str], Awaitable[None]]
    context: Callable[[str], Awaitable[Mapping[str, Any]]]
    search: Search
    settings: Settings
    status: Told
    usage: Told
    metrics: Callable[[], Awaitable[str]]
    commands: Callable[[], Sequence[Mapping[str, str]]]
    healthy: Probe
    ready: Probe
