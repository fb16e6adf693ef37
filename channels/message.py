"""The words that channels and the rest of the bot share: who wrote what where, and what goes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

ChatKind = Literal["dm", "group"]
OutboundKind = Literal["final", "notice", "media", "progress"]
Act = Literal["message", "edit", "delete", "press", "move", "joined"]
Shows = Literal["", "typing", "draft", "edits", "card", "stream"]
Kind = Literal["text", "picture", "file", "voice", "video", "album", "edit", "delete", "button", "quote"]
EventName = Literal["accepted", "started", "delta", "tool_started", "tool_ended", "reply", "fold", "notice", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One conversation's place on a platform."""

    #: Our name of the platform ("telegram").
    channel: str
    #: Our own id there.
    account: str
    #: The platform's ids as text, thread_id "" where there are no threads.
    chat_id: str
    #: The platform's ids as text, thread_id "" where there are no threads.
    thread_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who wrote."""

    #: The platform's immutable id as text.
    id: str
    #: What they call themselves, never an identity.
    name: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """One file that came with a message."""

    #: The sender's label, never a path.
    name: str
    #: As claimed.
    media_type: str
    #: The bytes where they came with the message, else empty.
    data: bytes = b""
    #: What the channel's `fetch` takes to get them, any text, else empty.
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a message answers or passes on: somebody's words, as data."""

    text: str
    #: What they call themselves, "" unknown.
    author: str = ""
    #: They are a message of ours.
    ours: bool = False
    #: Theirs as a sender, "" where the platform does not say it.
    author_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """Something to press under a message."""

    text: str
    #: At most 64 ASCII signs, comes back as the `target` of a press.
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundFile:
    """A file to be sent."""

    #: As people see it, no path.
    name: str
    media_type: str
    data: bytes
    #: To be shown rather than offered.
    picture: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """One thing a person did where we can see it; mostly, a message they wrote to us."""

    address: Address
    kind: ChatKind
    #: The platform's own id of this event, unique per channel and account, never empty; repeats are dropped by it.
    key: str
    sender: Sender
    text: str
    #: Timezone-aware, the platform's clock.
    sent_at: datetime
    attachments: tuple[Attachment, ...] = ()
    #: Meant for us (always true in a dm).
    addressed: bool = True
    #: What the platform orders its messages by, as sortable text, or "".
    order_key: str = ""
    #: The update as JSON text, for the store; "" where there is none.
    raw: str = ""
    #: Message, or edit (text is the new one) and delete of the message with key `target`; press of the button whose
    #: data is `target`; move of the chat at `address` to the chat id `target`; joined: we were taken into a group.
    act: Act = "message"
    target: str = ""
    #: Names the messages that a person sent as one, "" for none.
    album: str = ""
    quote: Quote | None = None
    #: The platform proves what was written and by whom; else its sender is a guest at most.
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What became of one delivered message: its id with us, and whether it was new (False: a repeat)."""

    id: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """One part of an answer, as it is to be seen."""

    #: The row this part is.
    id: str
    address: Address
    #: Equal for every attempt at this part.
    client_key: str
    #: Markdown, already within the channel's limit.
    text: str
    kind: OutboundKind = "final"
    #: Id of the message answered, "" for none.
    reply_to: str = ""
    #: The platform key of it. part_no counts from 0 among parts.
    reply_to_key: str = ""
    part_no: int = 0
    parts: int = 1
    #: May already have arrived; the text says so.
    repeated: bool = False
    #: Formatting was refused before; send the text as it is.
    plain: bool = False
    #: Place in the conversation's transcript.
    line: int = 0
    #: To be sent with the text as its caption.
    file: OutboundFile | None = None
    #: In rows of one, where the platform has them.
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The platform took it."""

    #: Its id of the new message, "" where it gives none.
    platform_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvent:
    """Something happened that a person may be shown at once; best effort, beside the durable path."""

    address: Address
    name: EventName
    #: The inbound message it is about, "" for none.
    message_id: str = ""
    #: For delta the new piece, for reply, notice and error the whole.
    text: str = ""
    #: Place in the conversation's transcript when a stored line stands behind it, else 0.
    line: int = 0
    #: Further fields by name (tool, step, fold's numbers), JSON values only.
    facts: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a platform can show, and what its channel hears."""

    #: Longest text of one message in `unit`, 0 for none.
    limit: int = 0
    #: What it may be where few messages are left to send (see channels.base.Rationed), 0 for no more.
    longest: int = 0
    unit: Literal["code_points", "utf16", "utf8"] = "code_points"
    #: A send carries an idempotency key.
    keyed: bool = False
    #: For how many seconds it holds.
    key_valid: float = 0.0
    #: The channel has `show` (see channels.base.Live).
    live: bool = False
    #: Most messages per second, 0 for no limit.
    per_chat_rate: float = 0.0
    #: Most messages per second, 0 for no limit.
    total_rate: float = 0.0
    #: How many a quiet chat may get at once, 0 for three seconds' worth.
    burst: int = 0
    #: Kinds of what people send that arrive.
    hears: frozenset[Kind] = frozenset({"text"})
    #: Whether it has them.
    groups: bool = False
    #: Whether it has them.
    threads: bool = False
    #: How an answer is seen while it is written.
    shows: Shows = ""
    #: The largest that can be sent, 0 for none.
    file_bytes: int = 0
    #: The largest that can be sent, 0 for none.
    picture_bytes: int = 0
    #: Longest text beside a file in `unit`, 0 for none.
    caption: int = 0
    #: Messages may have them.
    buttons: bool = False
    #: A person must have written before, and may have to write again before more arrives.
    asks_first: bool = False
    #: Messages come by HTTP (see channels.base.Hooked).
    hook: bool = False
    #: `send` reports when the part leaves (see channels.toolkit.sending); others leave when it is called.
    says_leaving: bool = False
