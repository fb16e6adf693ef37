"""The door to a tool: what it is, whose effect it has, and one method that runs it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from memory.conversation import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """The message that a turn answers. words: the person's own; said: when, UTC.

    tainted: words from outside (files, tools, what such words were folded into) are among what the model sees.
    """

    message_id: str = ""
    channel: str = ""
    words: str = ""
    said: datetime | None = None
    tainted: bool = True


async def nobody() -> Occasion:
    """Nothing is known of it, so nothing rests on it."""
    return Occasion()


async def enough(_: int) -> None:
    """There is room for anything."""


async def unlabelled() -> frozenset[str]:
    """No name is known to have been given in a tainted turn."""
    return frozenset()


async def keep_no_label(_: Sequence[str]) -> None:
    """Nobody asks for it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """For whom a tool runs. root: the folder of the space; now: timezone-aware, in the person's zone.

    idem_key: equal for every run of the same call. conversation, space: ids of the record. occasion: looked up when
    it is asked for. room: for so many bytes more; raises ToolFailed where there is none. labelled: paths of the space
    that were given their names in a tainted turn; label: adds some.
    """

    conversation: str
    space: str
    root: Path
    now: Callable[[], datetime]
    idem_key: str
    occasion: Callable[[], Awaitable[Occasion]] = nobody
    room: Callable[[int], Awaitable[None]] = enough
    labelled: Callable[[], Awaitable[frozenset[str]]] = unlabelled
    label: Callable[[Sequence[str]], Awaitable[None]] = keep_no_label


class Tool(Protocol):
    """One thing a model may do."""

    spec: ToolSpec

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> str:
        """Do it; return what the model is told, whole (the view shortens it, the record does not).

        Raises:
            ToolFailed: it could not be done; the text says why and what would work.
        """
        ...
