"""Values that channels and the bot exchange: who wrote what and where, and what is sent back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

ChatKind = Literal["dm", "group"]
OutboundKind = Literal["final", "notice", "media", "progress"]
Act = Literal["message", "edit", "delete", "press", "move", "joined"]
WrittenOn = Literal["", "page"]
LiveDisplay = Literal["", "typing", "draft", "edits", "card", "stream"]
Kind = Literal[
    "text", "picture", "file", "voice", "video", "album", "edit", "delete", "button", "quote"
]
EventName = Literal[
    "accepted",
    "started",
    "delta",
    "waiting",  # for the model, which is called again
    "tool_started",
    "tool_ended",
    "reply",
    "fold",
    "notice",
    "failed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a conversation takes place; ids are the platform's, as text."""

    #: Name of the channel, such as "telegram".
    channel: str
    #: Id of the bot's account.
    account: str
    chat_id: str
    #: "" where there are no threads.
    thread_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The author of a message."""

    #: The platform's immutable id as text.
    id: str
    #: Display name, never an identity.
    name: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message."""

    #: The sender's label, never a path.
    name: str
    #: As claimed by the sender.
    media_type: str
    #: The bytes if they came with the message, else empty.
    data: bytes = b""
    #: Argument for the channel's `fetch`, which downloads the bytes; else empty.
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The text that a message replies to or forwards; data, not instructions."""

    text: str
    #: Display name of its author, "" if unknown.
    author: str = ""
    #: The bot wrote it.
    ours: bool = False
    #: The author's id as a Sender, "" if the platform does not give it.
    author_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button under a message."""

    text: str
    #: At most 64 ASCII characters; returned as the `target` of a press.
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundFile:
    """A file to send."""

    #: Shown to people; not a path.
    name: str
    media_type: str
    data: bytes
    #: Display it as a picture instead of a download.
    picture: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """One event caused by a person; usually a message to the bot."""

    address: Address
    kind: ChatKind
    #: The platform's id of the event, unique per channel and account, never empty; repeats are
    #: dropped by it.
    key: str
    sender: Sender
    text: str
    #: Timezone-aware, by the platform's clock.
    sent_at: datetime
    attachments: tuple[Attachment, ...] = ()
    #: Directed at the bot; always true in a dm.
    addressed: bool = True
    #: Sortable text by which the platform orders its messages, or "".
    order_key: str = ""
    #: The update as JSON text, for the store; "" if there is none.
    raw: str = ""
    #: "edit" replaces the text of the message with key `target`, "delete" deletes it; "press" is of
    #: the button with data `target`; "move" gives the chat the id `target`; "joined": the bot was
    #: added to a group.
    act: Act = "message"
    target: str = ""
    #: Shared by messages that were sent as one album, "" for none.
    album: str = ""
    quote: Quote | None = None
    #: The platform proves content and sender; otherwise the sender gets the rights of a guest at
    #: most.
    proven: bool = True
    #: Where the person typed it: "" on the channel itself, "page" in the console.
    written_on: WrittenOn = ""
    #: The platform's name of a group, "" where it gives none.
    chat_title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The inbox row of a delivered message."""

    id: str
    #: False: the message had already been delivered.
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """One part of a reply."""

    #: Id of its outbox row.
    id: str
    address: Address
    #: Equal for every attempt to send this part.
    client_key: str
    #: Markdown, already within the channel's limit.
    text: str
    kind: OutboundKind = "final"
    #: Inbox id of the message replied to, "" for none.
    reply_to: str = ""
    #: The platform's key of that message.
    reply_to_key: str = ""
    #: Counts from 0.
    part_no: int = 0
    parts: int = 1
    #: May already have been delivered; the text says so.
    repeated: bool = False
    #: Send without formatting: the platform refused it before.
    plain: bool = False
    #: Line in the conversation's transcript.
    line: int = 0
    #: Sent with the text as its caption.
    file: OutboundFile | None = None
    #: One in each row, on platforms with rows.
    buttons: tuple[Button, ...] = ()
    #: The platform's id of the sent message that gets this text, where it can be edited; "" for a
    #: new message.
    replaces: str = ""

    @property
    def ends_live_reply(self) -> bool:
        """Whether it is the first part of the reply itself; files, buttons and progress are sent
        beside it.
        """
        beside = self.file is not None or self.buttons or self.kind == "progress"
        return bool(self.reply_to) and not self.part_no and not beside


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The platform accepted a message."""

    #: The platform's id of the new message, "" if it gives none.
    platform_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvent:
    """Progress of a turn that a channel may show at once; best effort."""

    address: Address
    name: EventName
    #: Inbox id of the message it is about, "" for none.
    message_id: str = ""
    #: The new piece for a delta, the whole text for reply, notice and failed.
    text: str = ""
    #: Line in the conversation's transcript, 0 if the event is not stored.
    line: int = 0
    #: Other fields by name (tool, step, numbers of a fold).
    facts: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a platform supports."""

    #: Maximum length of one message in `unit`, 0 for none.
    limit: int = 0
    #: The higher maximum used when few messages are left to send (see channels.base.HasQuota), 0
    #: for the same.
    longest: int = 0
    unit: Literal["code_points", "utf16", "utf8"] = "code_points"
    #: A send carries an idempotency key.
    keyed: bool = False
    #: Seconds for which the platform remembers the key.
    key_valid: float = 0.0
    #: See channels.base.HasLiveEvents.
    live: bool = False
    #: Maximum messages per second, 0 for no limit.
    per_chat_rate: float = 0.0
    total_rate: float = 0.0
    #: Messages an idle chat may get at once, 0 for three seconds' worth.
    burst: int = 0
    #: Kinds of messages that arrive.
    receives: frozenset[Kind] = frozenset({"text"})
    groups: bool = False
    threads: bool = False
    #: How a reply is displayed while it is written.
    live_display: LiveDisplay = ""
    #: Maximum size of a sent file or picture, 0 for none.
    file_bytes: int = 0
    picture_bytes: int = 0
    #: Maximum length of the text beside a file in `unit`, 0 for none.
    caption: int = 0
    buttons: bool = False
    #: A sent text can be replaced (OutboundMessage.replaces); where it is gone, `send` sends a new
    #: message.
    edits: bool = False
    #: The bot may send only after a user has written, perhaps again and again.
    user_writes_first: bool = False
    #: Messages arrive by webhook (see channels.base.HasWebhook).
    hook: bool = False
