"""The Channel protocol, its optional capabilities, and what the bot passes to a channel."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from channels.message import (
    Accepted,
    Address,
    Capabilities,
    InboundMessage,
    LiveEvent,
    OutboundMessage,
    Receipt,
)
from channels.phrases import NO_PHRASE, AnyPhrase

NO_NOTEBOOK_CHANGES: Mapping[str, str] = {}


class Deliver(Protocol):
    """Stores messages durably before it returns."""

    async def __call__(
        self, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
    ) -> list[Accepted]:
        """Store the messages, and write `keep` to the channel's notebook in the same transaction.

        Raises:
            OSError, RuntimeError: the messages may not be stored; do not acknowledge them. Repeats
                are dropped by key.
        """
        ...


class Notebook(Protocol):
    """A channel's durable key-value store for short texts, such as a cursor or a token."""

    async def read(self, start: str = "") -> dict[str, str]:
        """Return all entries whose names begin with `start`."""
        ...

    async def write(self, values: Mapping[str, str]) -> None:
        """Store the entries; "" deletes one. Raises OSError when the store cannot be written."""
        ...


class Channel(Protocol):
    """A connection to one platform: `run` receives, `send` sends."""

    name: str
    account: str
    capabilities: Capabilities

    async def run(self, deliver: Deliver) -> None:
        """Receive until cancelled.

        Acknowledge a message to the platform only after `deliver` returned.

        Raises:
            LoggedOut: the owner has to act.
            ChannelError: any other end; the channel is restarted after a pause.
        """
        ...

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send one part and return the platform's id of it.

        Raises:
            Retryable: certainly not delivered; see `retry_after`. AwaitsUser: not before the user
                writes again.
            Rejected: never accepted. BadFormat: accepted as plain text.
            Ambiguous: possibly delivered.
            LoggedOut: the owner has to act.
        """
        ...


class HasLiveEvents(Protocol):
    """A channel whose capabilities say `live`."""

    def show(self, event: LiveEvent) -> None:
        """Take one event without waiting or raising; all but the newest may be dropped."""
        ...


class HasReadiness(Protocol):
    """A channel that may have to wait before it can send: for a connection, or for a request to
    answer.
    """

    async def wait_until_ready(self, address: Address, reply_to_key: str) -> None:
        """Wait, before the part is marked as sending.

        Args:
            reply_to_key: key of the message that the part answers, "" for none.

        Raises:
            ChannelError: it cannot be sent now; nothing was sent.
        """
        ...


class HasNotebook(Protocol):
    """A channel that stores state between runs of the program."""

    def bind(self, notebook: Notebook) -> None:
        """Set the notebook; called once, before `run` and `send`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedFile:
    """A downloaded file."""

    data: bytes
    #: The platform's current name and type of it; "" if it gives none.
    name: str = ""
    media_type: str = ""


class HasAttachments(Protocol):
    """A channel whose attachments have a `ref`."""

    async def fetch(self, ref: str, max_bytes: int) -> FetchedFile:
        """Download an attachment; stops reading beyond `max_bytes`.

        Raises:
            AttachmentTooBig: it is larger. Rejected: it no longer exists. Retryable, Ambiguous,
                LoggedOut: not now.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest:
    """One HTTP call by a platform. Repeated query and header names stay separate pairs."""

    method: str
    query: tuple[tuple[str, str], ...]
    #: Names in lower case.
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReply:
    """The response to a webhook call."""

    status: int = 200
    body: bytes = b""
    media_type: str = "text/plain; charset=utf-8"
    #: Called afterwards: whether the whole response was sent before the platform closed the
    #: connection.
    written: Callable[[bool], None] = lambda whole: None


class HasWebhook(Protocol):
    """A channel whose capabilities say `hook`; it is called at /hooks/ and its name."""

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        """Answer one call. The server has already refused bodies over 1 MiB or slower than 5 s.

        Every failed check is a 401 with an empty body. A call that cannot be stored, or precedes
        `run`, is a 503.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginPrompt:
    """What the owner has to do before the channel can work."""

    #: "qr": scan `text` as a QR code. "digits": type digits. "wait": nothing, the login is in
    #: progress.
    kind: Literal["qr", "digits", "wait"]
    #: The instruction in one sentence.
    about: AnyPhrase
    text: str = ""
    #: When a QR code is replaced by a new one, unix seconds; 0 if that is not known.
    expires: float = 0.0


class HasLogin(Protocol):
    """A channel that a person logs in."""

    def prompt(self) -> LoginPrompt | None:
        """Return the current prompt, None if there is nothing to do."""
        ...

    def answer(self, text: str) -> None:
        """Take what the owner typed for a prompt of digits."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionStatus:
    """A channel's view of its own connection."""

    #: Unix seconds of the platform's last good response or sign of life, 0 for none.
    last_contact: float = 0.0
    #: What fails at the moment although the channel runs, "" for nothing.
    trouble: str = ""
    #: What remains of the platform's sending quota, as text; "" where there is no quota.
    quota: str = ""


class HasStatus(Protocol):
    """A channel that reports on its connection."""

    def connection_status(self) -> ConnectionStatus:
        """Return the current status."""
        ...


class HasQuota(Protocol):
    """A channel that may send only so many messages for each one a user writes."""

    def allowance(self, address: Address) -> int | None:
        """Return how many messages may still be sent there, None if unknown."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFinding:
    """What one step of a test of a channel's settings found."""

    step: Literal["credentials", "sdk", "rights", "webhook", "message"]
    state: Literal["ok", "failed", "skipped"]
    #: One sentence.
    text: AnyPhrase
    #: What to do.
    hint: AnyPhrase = NO_PHRASE


class HasSetupCheck(Protocol):
    """A channel whose settings can be tested step by step before they are saved."""

    def check_setup(self, owner: str) -> AsyncIterator[SetupFinding]:
        """Try the credentials and all that follows from them; receives nothing, and leaves the
        platform as it is.

        Args:
            owner: gets a message, "" for nobody.
        """
        ...


class HasProbe(Protocol):
    """A channel that can be tested without receiving or sending."""

    async def probe(self) -> str:
        """Ask the platform for the bot's own account and describe it in a few words.

        Raises:
            ChannelError: it does not work; the text says why.
        """
        ...
