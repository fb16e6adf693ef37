"""The door to one platform, and what stands behind it as far as a channel can see."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from channels.message import Accepted, Address, Capabilities, InboundMessage, LiveEvent, OutboundMessage, Receipt

NO_NOTEBOOK_CHANGES: Mapping[str, str] = {}


class Deliver(Protocol):
    """Stores messages forever before it returns."""

    async def __call__(
        self, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
    ) -> list[Accepted]:
        """Store them, and in the same transaction put `keep` into the channel's notebook.

        Raises:
            OSError, RuntimeError: nothing was stored; do not ack.
        """
        ...


class Notebook(Protocol):
    """What a channel keeps between its lives (a cursor, a token): short texts by name, in the store."""

    async def read(self, start: str = "") -> dict[str, str]:
        """All whose names begin so."""
        ...

    async def write(self, values: Mapping[str, str]) -> None:
        """Keep these; "" takes one away. Raises OSError when the store cannot be written."""
        ...


class Channel(Protocol):
    """A door to one platform: hears with run, speaks with send."""

    name: str
    account: str
    capabilities: Capabilities

    async def run(self, deliver: Deliver) -> None:
        """Hear until cancelled; every message is confirmed to the platform only after `deliver` returned.

        Raises:
            LoggedOut: the owner has to act.
            ChannelError: anything else that ended it; it is started again after a pause.
        """
        ...

    async def send(self, message: OutboundMessage) -> Receipt:
        """Deliver one part; return the platform's id for it.

        Raises:
            Retryable: surely not delivered; see its retry_after (seconds). Waits: not before the person writes.
            Rejected: this message will never be accepted (BadFormat: as plain text it would).
            Ambiguous: the answer was lost.
            LoggedOut: the owner has to act.
        """
        ...


class HasLiveEvents(Protocol):
    """What a channel whose capabilities say `live` also has."""

    def show(self, event: LiveEvent) -> None:
        """Take one event; returns at once, never raises, may drop all but the newest."""
        ...


class HasNotebook(Protocol):
    """What a channel that keeps something between its lives also has."""

    def bind(self, notebook: Notebook) -> None:
        """Called once, before `run` and any `send`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedFile:
    """The bytes of a file that came with a message, and what the platform calls it now ("": nothing new)."""

    data: bytes
    name: str = ""
    media_type: str = ""


class HasAttachments(Protocol):
    """What a channel whose attachments have a `ref` also has."""

    async def fetch(self, ref: str, most: int) -> FetchedFile:
        """Get the bytes of an attachment, at most `most` of them; never more than that is read.

        Raises:
            AttachmentTooBig: there are more. Rejected: it is gone. Retryable, Ambiguous, LoggedOut: not now.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest:
    """One HTTP call of a platform."""

    method: str
    #: Every pair as it came, header names in lower case.
    query: tuple[tuple[str, str], ...]
    #: Every pair as it came, header names in lower case.
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReply:
    """What is answered."""

    status: int = 200
    body: bytes = b""
    media_type: str = "text/plain; charset=utf-8"
    #: Told afterwards whether the whole answer left us (False: they had hung up).
    written: Callable[[bool], None] = lambda whole: None


class HasWebhook(Protocol):
    """What a channel whose capabilities say `hook` also has; calls come to /hooks/ and its name."""

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        """Answer one call. A body over 1 MiB, or slower than 5 s, was refused before.

        Every failed check is a 401 with an empty body; what could not be stored, or comes before `run`, a 503.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginPrompt:
    """What a channel wants of its owner before it can work."""

    #: "qr" (text is what to draw as a QR code), "digits" (they are to be typed), "wait" (something goes on).
    kind: Literal["qr", "digits", "wait"]
    #: One sentence that says what to do.
    zh: str
    #: One sentence that says what to do.
    en: str
    text: str = ""


class HasLogin(Protocol):
    """What a channel that is logged in by a person also has."""

    def prompt(self) -> LoginPrompt | None:
        """What is wanted now, None for nothing."""
        ...

    def answer(self, text: str) -> None:
        """What the owner typed for a prompt of digits."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionStatus:
    """How a channel feels from inside."""

    #: Unix seconds of the last good answer or sign of the platform, 0 never.
    heard: float = 0.0
    #: What does not work at the moment though the channel goes on, "" for nothing.
    trouble: str = ""
    #: What is left of what the platform allows, in words, "" where it sets none.
    quota: str = ""


class HasStatus(Protocol):
    """What a channel that knows its vitals also has."""

    def vitals(self) -> ConnectionStatus:
        """As they are now."""
        ...


class HasQuota(Protocol):
    """What a channel also has whose platform lets us send so many messages for each that a person writes."""

    def allowance(self, address: Address) -> int | None:
        """How many may still be sent there now, None where that is not known."""
        ...


class HasProbe(Protocol):
    """What a channel that can be tried without hearing also has."""

    async def probe(self) -> str:
        """Ask the platform who we are and say it in a few words; nothing is received or sent.

        Raises:
            ChannelError: it does not work, and why.
        """
        ...
