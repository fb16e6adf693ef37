"""Interface between the web channel and the bot: the transcript, and the services that its routes
use.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from channels.base import HasWebhook
from channels.message import Address, InboundMessage, WrittenOn
from channels.phrases import AnyPhrase

EntryRole = Literal["user", "assistant", "notice"]
# Of a message what is still to come, of a reply how its sending stands; "" where there is nothing
# to tell. Those of an answer that was shown in part, UNFINISHED_STATES, stay.
LineState = Literal[
    "", "queued", "at_work", "given_up", "sending", "unsent", "unknown", "stopped", "cut"
]
UNFINISHED_STATES = frozenset[LineState]({"stopped", "cut"})
# Whose conversation: the owner's own, a group's, or another person's private one.
ConversationOwner = Literal["own", "group", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine:
    """One line of a conversation's transcript."""

    id: str
    #: Position in the transcript, from 1, in the order of commits.
    number: int
    role: EntryRole
    text: str
    #: Timezone-aware.
    at: datetime
    #: Id of the user's line it replies to, or "".
    reply_to: str = ""
    state: LineState = ""
    #: Of the outcome of a call, a notice: the tool.
    tool: str = ""
    #: How that call ended, where a person decided over it.
    call_end: str = ""
    #: In a group: who wrote it, by the platform's name.
    speaker: str = ""
    #: In a chat of another channel: "page" where the person typed it here.
    written_on: WrittenOn = ""
    #: JSON values by name that the versioned API shows beside it: files, steps, recalled, usage.
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationEntry:
    """One entry of the list of conversations."""

    #: Its name in URLs.
    id: str
    title: str
    channel: str
    updated: datetime
    #: Turns in the view.
    turns: int
    whose: ConversationOwner = "own"
    #: Of another person's private chat: their name, as they were let in or as the platform has it.
    person: str = ""
    #: Id of a chat on its channel, beside a name of the platform.
    chat_id: str = ""
    #: Why one cannot write in it here; None where one can.
    no_reply: AnyPhrase | None = None
    #: The title was given by the owner.
    is_named: bool = False
    pinned: bool = False
    archived: bool = False
    #: Lines that were not read in the page.
    unread: int = 0
    #: It is about to be deleted, and in no list.
    is_deleting: bool = False
    #: ETag, without quotes, of what the owner chooses for it.
    etag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFilter:
    """Which conversations of the list are wanted, and in which order."""

    #: Only the owner's private ones.
    own: bool = False
    #: Only those whose title contains this; of other people's private chats, whose id does.
    words: str = ""
    channel: str = ""
    #: Only the chat with this id on its channel.
    person: str = ""
    #: "archived", "unread" or "all"; "" leaves out what is archived.
    state: str = ""
    #: The pinned ones come first; else what is archived is among the others, and channel, person
    #: and state have no say.
    by_pin: bool = False


ANY_CONVERSATION = ConversationFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """A page of the list."""

    conversations: Sequence[ConversationEntry]
    #: Cursor of the next page, "" after the last one.
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationChanges:
    """Changed entries of the list, newest first."""

    #: When they were read: unix seconds of the store's clock.
    at: float
    conversations: Sequence[ConversationEntry]
    #: Numbers of the acts that deleted conversations meanwhile; their entries are gone.
    deletions: Collection[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeySite:
    """Where a passkey is valid."""

    #: The relying party's id: a host without its port.
    host: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """Result of a health probe."""

    ok: bool
    #: JSON values by name.
    reasons: Mapping[str, Any] = field(default_factory=dict)


def web_address(conversation: str) -> Address:
    """Return the address of a conversation of the page."""
    return Address(channel="web", account="console", chat_id=conversation)


Probe = Callable[[], Awaitable[HealthReport]]
Allow = Callable[[str], bool]  # whether the owner at the page may do the named action now


class Backend(Protocol):
    """Reads conversations for the page. `conversation` is always the name used in URLs.

    reader: `Visitor.id` of the reader. Every method that reads another person's private chat raises
    as `begin_reading`.
    """

    async def exists(self, conversation: str) -> bool: ...

    async def conversation(self, conversation: str) -> ConversationEntry | None:
        """Return its entry in the list."""
        ...

    async def address(self, message: InboundMessage) -> InboundMessage:
        """Return a message of the page as one of the conversation that it names.

        Raises:
            HttpRefusal: one cannot write there.
        """
        ...

    async def begin_reading(self, conversation: str, reader: str, *, pressed: bool = False) -> None:
        """Check that a conversation may be read, and record it. pressed: the user opened it by a
        click.

        Raises:
            HttpRefusal: it may not be read, or the audit list could not be written.
        """
        ...

    async def lines(
        self,
        conversation: str,
        *,
        reader: str = "",
        before: int = 0,
        after: int | None = None,
        limit: int = 50,
        details: bool = False,
    ) -> list[TranscriptLine]:
        """Return up to `limit` lines, oldest first.

        Args:
            after: return the first lines after this number. before: else the last ones before this,
                0 for the end.
            details: with the `details` of each line.
        """
        ...

    async def number(self, conversation: str, id: str, *, reader: str = "") -> int:
        """Return the number of the line with that id, 0 if there is none."""
        ...

    async def search(
        self, conversation: str, words: str, *, reader: str = "", before: int = 0, limit: int = 50
    ) -> list[TranscriptLine]:
        """Return the newest lines that hold these words, newest first. before: below this number, 0
        for the end.
        """
        ...

    async def conversations(
        self, cursor: str = "", limit: int = 200, wanted: ConversationFilter = ANY_CONVERSATION
    ) -> ConversationPage:
        """Return a page of the list, newest first.

        Raises:
            ValueError: the cursor is invalid.
        """
        ...

    async def changed(self, since: float, limit: int) -> ConversationChanges | None:
        """Return the newest `limit` with a message at or after `since` (unix seconds); None if
        unreadable now.
        """
        ...

    async def context_stamp(self, conversation: str) -> str:
        """Return a text that changes with a fold, a clear, an undo and the policy; "" if it is
        unknown now.
        """
        ...

    async def stop(self, conversation: str) -> None:
        """Request the end of the running turn, if any."""
        ...


# By topic of the event stream: yields its frames until the given function tells that the stream is
# closed.
EventSources = Mapping[str, Callable[[Callable[[], bool]], AsyncGenerator[bytes]]]


async def _no_sources() -> EventSources:
    return {}


async def _no_options(site: PasskeySite) -> None:
    return None


async def _no_passkey(site: PasskeySite, answer: Mapping[str, Any]) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebServices:
    """Services of a running bot that the site uses."""

    backend: Backend
    allow: Allow
    healthy: Probe
    ready: Probe
    #: Returns the channel of this name if it takes calls of its platform.
    find_webhook: Callable[[str], HasWebhook | None] = lambda name: None
    #: Returns the options of a login by passkey at a site; None if there is no passkey for it.
    passkey_options: Callable[[PasskeySite], Awaitable[Mapping[str, Any] | None]] = _no_options
    #: Returns the id of the passkey that a browser's answer is signed with, "" for none.
    verify_passkey: Callable[[PasskeySite, Mapping[str, Any]], Awaitable[str]] = _no_passkey
    #: Loads the topics of the event stream beside the conversations.
    load_sources: Callable[[], Awaitable[EventSources]] = _no_sources
