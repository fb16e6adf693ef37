"""The words that channels and the rest of the house share: who wrote what where, and what goes back."""

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
    """One conversation's place on a platform.

    channel: our name of the platform ("telegram"); account: our own id there; chat_id and thread_id: the
    platform's ids as text, thread_id "" where there are no threads.
    """

    channel: str
    account: str
    chat_id: str
    thread_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who wrote. id: the platform's immutable id as text; name: what they call themselves, never an identity."""

    id: str
    name: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """One file that came with a message.

    name: the sender's label, never a path. media_type: as claimed. data: the bytes where they came with the
    message, else empty. ref: what the channel's `fetch` takes to get them, any text, else empty.
    """

    name: str
    media_type: str
    data: bytes = b""
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a message answers or passes on: somebody's words, as data. author: what they call themselves, "" unknown.

    ours: they are a message of ours. author_id: theirs as a sender, "" where the platform does not say it.
    """

    text: str
    author: str = ""
    ours: bool = False
    author_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """Something to press under a message. data: at most 64 ASCII signs, comes back as the `target` of a press."""

    text: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundFile:
    """A file to be sent. name: as people see it, no path; picture: to be shown rather than offered."""

    name: str
    media_type: str
    data: bytes
    picture: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """One thing a person did where we can see it; mostly, a message they wrote to us.

    key: the platform's own id of this event, unique per channel and account, never empty; repeats are dropped by it.
    order_key: what the platform orders its messages by, as sortable text, or "".
    sent_at: timezone-aware, the platform's clock. addressed: meant for us (always true in a dm).
    act: message, or edit (text is the new one) and delete of the message with key `target`; press of the button whose
    data is `target`; move of the chat at `address` to the chat id `target`; joined: we were taken into a group.
    album: names the messages that a person sent as one, "" for none.
    raw: the update as JSON text, for the record; "" where there is none.
    proven: the platform proves what was written and by whom; else its sender is a guest at most.
    """

    address: Address
    kind: ChatKind
    key: str
    sender: Sender
    text: str
    sent_at: datetime
    attachments: tuple[Attachment, ...] = ()
    addressed: bool = True
    order_key: str = ""
    raw: str = ""
    act: Act = "message"
    target: str = ""
    album: str = ""
    quote: Quote | None = None
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What became of one delivered message: its id with us, and whether it was new (False: a repeat)."""

    id: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """One part of an answer, as it is to be seen.

    id: the row this part is; client_key: equal for every attempt at this part. text: Markdown, already within
    the channel's limit. reply_to: id of the message answered, "" for none; reply_to_key: the platform key of it.
    part_no counts from 0 among parts. repeated: may already have arrived; the text says so.
    plain: formatting was refused before; send the text as it is. line: place in the conversation's transcript.
    file: to be sent with the text as its caption. buttons: in rows of one, where the platform has them.
    """

    id: str
    address: Address
    client_key: str
    text: str
    kind: OutboundKind = "final"
    reply_to: str = ""
    reply_to_key: str = ""
    part_no: int = 0
    parts: int = 1
    repeated: bool = False
    plain: bool = False
    line: int = 0
    file: OutboundFile | None = None
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The platform took it. platform_id: its id of the new message, "" where it gives none."""

    platform_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvent:
    """Something happened that a person may be shown at once; best effort, beside the durable path.

    message_id: the inbound message it is about, "" for none. text: for delta the new piece, for reply, notice and
    error the whole. line: place in the conversation's transcript when a stored line stands behind it, else 0.
    facts: further fields by name (tool, step, fold's numbers), JSON values only.
    """

    address: Address
    name: EventName
    message_id: str = ""
    text: str = ""
    line: int = 0
    facts: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a platform can show, and what its channel hears.

    limit: longest text of one message in `unit`, 0 for none; longest: what it may be where few messages are left to
    send (see channels.base.Rationed), 0 for no more. keyed: a send carries an idempotency key;
    key_valid: for how many seconds it holds. live: the channel has `show` (see channels.base.Live).
    per_chat_rate, total_rate: most messages per second, 0 for no limit; burst: how many a quiet chat may get at once, 0
    for three seconds' worth.
    hears: kinds of what people send that arrive. groups, threads: whether it has them. shows: how an answer is seen
    while it is written. file_bytes, picture_bytes: the largest that can be sent, 0 for none. caption: longest text
    beside a file in `unit`, 0 for none. buttons: messages may have them. asks_first: a person must have written
    before, and may have to write again before more arrives. hook: messages come by HTTP (see channels.base.Hooked).
    says_leaving: `send` reports when the part leaves (see channels.toolkit.sending); others leave when it is called.
    """

    limit: int = 0
    longest: int = 0
    unit: Literal["code_points", "utf16", "utf8"] = "code_points"
    keyed: bool = False
    key_valid: float = 0.0
    live: bool = False
    per_chat_rate: float = 0.0
    total_rate: float = 0.0
    burst: int = 0
    hears: frozenset[Kind] = frozenset({"text"})
    groups: bool = False
    threads: bool = False
    shows: Shows = ""
    file_bytes: int = 0
    picture_bytes: int = 0
    caption: int = 0
    buttons: bool = False
    asks_first: bool = False
    hook: bool = False
    says_leaving: bool = False
