"""What the web channel needs to know of the bot behind it, as values and one door."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from channels.base import HasWebhook
from channels.message import Address

EntryRole = Literal["user", "assistant", "notice"]
# Whose conversation: the owner's own, a group's, or another person's private one.
ConversationOwner = Literal["own", "group", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine:
    """One line of a conversation as a person sees it."""

    id: str
    #: Its place, rising by commit, from 1.
    number: int
    role: EntryRole
    text: str
    #: Timezone-aware.
    at: datetime
    #: Id of the user line it answers, or "".
    reply_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationEntry:
    """One entry of the list of conversations."""

    #: The name it goes by in paths.
    id: str
    title: str
    channel: str
    updated: datetime
    #: In the view now.
    turns: int
    whose: ConversationOwner = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """A page of the list."""

    conversations: Sequence[ConversationEntry]
    #: The cursor of the page after it, "" after the last.
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationChanges:
    """What has changed in the list, newest first."""

    #: Unix seconds of the look, by the store's clock.
    at: float
    conversations: Sequence[ConversationEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """Whether the bot is well, and why (JSON values by name)."""

    ok: bool
    reasons: Mapping[str, Any] = field(default_factory=dict)


def web_address(conversation: str) -> Address:
    """The address of a conversation of the page."""
    return Address(channel="web", account="console", chat_id=conversation)


Probe = Callable[[], Awaitable[HealthReport]]
Allow = Callable[[str], bool]  # whether the person at the console may do the named action now


class Backend(Protocol):
    """The transcript and the acts of the page. `conversation` is always the name used in paths.

    reader: who reads (`Visitor.id`). Whatever reads another person's private chat raises as `begin_reading`.
    """

    async def exists(self, conversation: str) -> bool: ...

    async def conversation(self, conversation: str) -> ConversationEntry | None:
        """Its entry in the list."""
        ...

    async def begin_reading(self, conversation: str, reader: str, *, pressed: bool = False) -> None:
        """Called before a conversation is read. pressed: a person has asked for this very one.

        Raises:
            HttpRefusal: it may not be read, or that could not be written to the audit list.
        """
        ...

    async def lines(
        self, conversation: str, *, reader: str = "", before: int = 0, after: int | None = None, limit: int = 50
    ) -> list[TranscriptLine]:
        """Oldest first: the first `limit` above `after` where it is given, else the newest below `before` (0: all)."""
        ...

    async def number(self, conversation: str, id: str, *, reader: str = "") -> int:
        """The number of the line with that id, 0 when there is none."""
        ...

    async def conversations(self, cursor: str = "", limit: int = 200, *, own: bool = False) -> ConversationPage:
        """A page of the list, newest first. own: only the owner's, in private.

        Raises:
            ValueError: the cursor is none.
        """
        ...

    async def changed(self, since: float, limit: int) -> ConversationChanges | None:
        """The newest `limit` with a message at or after `since`; None when that cannot be read now."""
        ...

    async def stop(self, conversation: str) -> None:
        """End the running turn, if any; returns once that is asked for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebServices:
    """All that the site asks of the bot once it is open."""

    backend: Backend
    allow: Allow
    healthy: Probe
    ready: Probe
    #: Where a conversation of that name really is.
    place: Callable[[str], Address] = web_address
    #: The channel of that name, if it takes calls of its platform.
    hooked: Callable[[str], HasWebhook | None] = lambda name: None
