"""From the platforms' words to the record's: what a message says, and what row it becomes. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.access.permissions import conversation_space
from bot.commands.names import parse_command
from bot.texts import format_text
from channels.message import (
    Address,
    Button,
    Capabilities,
    EventName,
    InboundMessage,
    LiveEvent,
    OutboundFile,
    OutboundMessage,
    Quote,
)
from channels.toolkit.text import replace_unstorable, split_text
from memory.context.taint import EDITED_LABEL, MEANWHILE_LABEL, OURS_LABEL, QUOTED_LABEL
from memory.conversation import Text
from memory.store.rows import (
    ALBUM_SECONDS,
    InboxKind,
    InboxRow,
    NewInboxRow,
    NewOutboxRow,
    OutboxKind,
    OutboxRow,
    Place,
)
from memory.text.speakers import speaker_name

PRESS_COMMAND = "press"  # the command that a pressed button is
MAX_QUOTE_CHARS = 2_000
# Commands that overtake the queue: they read only, or they are there to end what runs.
URGENT_COMMANDS = frozenset({PRESS_COMMAND, "approve", "deny", "stop", "status", "help", "whoami", "usage", "trace"})
_INBOX_KINDS: dict[str, InboxKind] = {"edit": "edit", "delete": "delete", "move": "move"}
# Commands that end the running turn at once, then take their place in the queue.
TURN_ENDING_COMMANDS = frozenset({"new", "context clear"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBody:
    """What an inbox row's body holds."""

    text: str
    #: The sender's own.
    name: str = ""
    #: Raw attachments.
    files: tuple["StoredAttachment", ...] = ()
    #: What it answers.
    quote: Quote | None = None
    #: See InboundMessage.
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAttachment:
    """A raw attachment: blob hash ("" when the platform still holds it), label, claimed type, size in bytes."""

    sha256: str
    name: str
    media_type: str
    size: int
    #: What its channel fetches it by, "" where it came with the message.
    ref: str = ""


def ends_turn(text: str) -> bool:
    """Whether this command ends the turn that runs now."""
    command = parse_command(text)
    if command is None:
        return False
    name, rest = command
    return name in TURN_ENDING_COMMANDS or f"{name} {rest.lower()}" in TURN_ENDING_COMMANDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What was decided of a message before it is stored."""

    #: Of its place.
    space: str
    #: Why it is not taken, or "".
    ignored: str = ""
    #: It is kept as background.
    aside: bool = False
    #: Of a chat that moves, the space of its new id.
    to_space: str = ""


def to_inbox_row(
    message: InboundMessage, files: Sequence[StoredAttachment], taken: Admission, now: float
) -> NewInboxRow:
    """The row that one message becomes. now: unix seconds."""
    text = f"/{PRESS_COMMAND} {message.target}" if message.act == "press" else message.text
    command = parse_command(text) if message.act in ("message", "press") and not taken.aside else None
    said = MessageBody(
        text=text, name=message.sender.name, files=tuple(files), quote=message.quote, proven=message.proven
    )
    return NewInboxRow(
        place=_conversation_place(message, taken.space),
        key=replace_unstorable(message.key),
        kind=_inbox_kind(message, taken, command is not None),
        sender_id=replace_unstorable(message.sender.id),
        body="" if taken.ignored or message.act in ("delete", "move") else dump_body(said),
        order_key=message.order_key,
        ignored=taken.ignored,
        urgent=command is not None and command[0] in URGENT_COMMANDS,
        not_before=now + ALBUM_SECONDS if message.album and not taken.aside else 0.0,
        target=replace_unstorable(message.target),
        to_space=taken.to_space,
        album="" if taken.aside else message.album,
    )


def to_chat_move(place: Place, chat_id: str) -> NewInboxRow:
    """What a send that was told of a chat's new id has to say to the record."""
    to_space = conversation_space("guest", place.channel, place.account, "", chat_id, place.kind)
    return NewInboxRow(
        place=place, key=f"moved:{chat_id}", kind="move", sender_id="", body="", target=chat_id, to_space=to_space
    )


def _inbox_kind(message: InboundMessage, taken: Admission, command: bool) -> InboxKind:
    if message.act in ("edit", "delete", "move"):
        return _INBOX_KINDS[message.act]
    if taken.aside:
        return "aside"
    return "command" if command else "message"


def _conversation_place(message: InboundMessage, space: str) -> Place:
    address = message.address
    return Place(
        channel=address.channel,
        account=address.account,
        chat_id=address.chat_id,
        thread_id=address.thread_id,
        kind=message.kind,
        space=space,
    )


def dump_body(said: MessageBody) -> str:
    """A body as JSON text; `shown` is what a transcript has of a message with files."""
    record: dict[str, Any] = {"text": said.text}
    if said.name:
        record["name"] = said.name
    if not said.proven:
        record["unproven"] = True
    if said.quote:
        quote = said.quote
        record["quote"] = [quote.text[:MAX_QUOTE_CHARS], quote.author, quote.ours, quote.author_id]
    if said.files:
        names = " ".join(f"📎 {file.name}" for file in said.files)
        record["shown"] = "\n".join(filter(None, (said.text, names)))
        record["files"] = [[file.sha256, file.name, file.media_type, file.size, file.ref] for file in said.files]
    return replace_unstorable(json.dumps(record, ensure_ascii=False))


def load_body(body: str) -> MessageBody:
    """The inverse of `dump_said`."""
    record = json.loads(body)
    files = tuple(
        StoredAttachment(
            sha256=file[0], name=file[1], media_type=file[2], size=file[3], ref=file[4] if len(file) > 4 else ""
        )
        for file in record.get("files", ())
    )
    quoted = record.get("quote")
    quote = Quote(text=quoted[0], author=quoted[1], ours=quoted[2], author_id="".join(quoted[3:])) if quoted else None
    proven = not record.get("unproven", False)
    return MessageBody(text=record["text"], name=record.get("name", ""), files=files, quote=quote, proven=proven)


# A message as the model will see it: who says it, what it answers, what was said beside it. Pure.

# Characters of a group's background that one message may bring along; older talk is left out.
MAX_BACKGROUND_CHARS = 4_000
MAX_CONTEXT_MESSAGE_CHARS = 1_000


def sender_name(said: MessageBody, row: InboxRow, kind: str) -> str:
    """What the sender of a row goes by where several people are; "" in private."""
    return speaker_name(said.name, row.sender_id, row.conversation) if kind == "group" else ""


def format_quote(said: MessageBody, row: InboxRow, kind: str) -> list[Text]:
    """What the message of a row answers or passes on."""
    quote = said.quote
    if quote is None or not quote.text.strip():
        return []
    if quote.ours:
        return [Text(text=quote.text, aside=OURS_LABEL)]
    whose = quote.author_id if kind == "group" else ""
    return [Text(text=quote.text, by=speaker_name(quote.author, whose, row.conversation), aside=QUOTED_LABEL)]


def format_background(rows: Sequence[tuple[InboxRow, MessageBody]], kind: str) -> list[Text]:
    """What was said aside since the last turn, the newest that has room, oldest first."""
    kept: list[Text] = []
    room = MAX_BACKGROUND_CHARS
    for row, said in reversed(rows):
        text = said.text.strip()[:MAX_CONTEXT_MESSAGE_CHARS]
        room -= len(text)
        if room < 0:
            break
        if text:
            aside = EDITED_LABEL if row.kind == "edit" else MEANWHILE_LABEL
            kept.append(Text(text=text, by=sender_name(said, row, kind), aside=aside))
    return kept[::-1]


def album_caption(texts: Iterable[str]) -> str:
    """The words of all parts of an album: its caption, mostly."""
    return "\n".join(filter(None, (text.strip() for text in texts)))


# From the record's words to the platforms': an answer cut into parts, and a part as a channel sends it. Pure.

# Units kept free in each part for the repeat mark: a platform that takes a key forgets it in the end.
REPEAT_MARK_CHARS = 40


def split_reply(text: str, kind: OutboxKind, capabilities: Capabilities, left: int | None = None) -> list[NewOutboxRow]:
    """The parts of one answer, each within the platform's limit; never none.

    left: how many messages may still be sent; where there are more parts, they are made as long as they may be.
    """
    text = replace_unstorable(text).strip() or "…"
    limit, longest = capabilities.limit, capabilities.longest
    pieces = split_text(text, limit - REPEAT_MARK_CHARS, capabilities.unit) if limit else [text]
    if left is not None and len(pieces) > left and longest > limit:
        pieces = split_text(text, longest - REPEAT_MARK_CHARS, capabilities.unit)
    valid = capabilities.key_valid if capabilities.keyed else 0.0
    return [
        NewOutboxRow(kind=kind, text=piece, part_no=number, parts=len(pieces), key_valid=valid)
        for number, piece in enumerate(pieces)
    ]


def message_seen_event(message: OutboundMessage) -> LiveEvent:
    """What tells others that a stored line may be shown."""
    name: EventName = "notice" if message.kind == "notice" else "reply"
    return LiveEvent(
        address=message.address,
        name=name,
        message_id=message.reply_to,
        text="",
        line=message.line,
        facts={"id": message.id},
    )


def to_address(place: Place) -> Address:
    """A conversation's place as its channel knows it."""
    return Address(channel=place.channel, account=place.account, chat_id=place.chat_id, thread_id=place.thread_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartExtras:
    """What goes out with a text: a file kept as a blob (sha256 "" for none), and buttons as (words, data)."""

    sha256: str = ""
    name: str = ""
    media_type: str = ""
    picture: bool = False
    buttons: tuple[tuple[str, str], ...] = ()


def dump_extras(beside: PartExtras) -> str:
    """As an outbox row keeps it."""
    return json.dumps(asdict(beside), ensure_ascii=False)


def load_extras(payload: str) -> PartExtras:
    """The inverse of `dump_beside`; nothing for ""."""
    if not payload:
        return PartExtras()
    record = json.loads(payload)
    return PartExtras(**{**record, "buttons": tuple((words, data) for words, data in record["buttons"])})


def to_outbound_message(row: OutboxRow, lang: str, data: bytes | None = None) -> OutboundMessage:
    """The row as its channel is to send it, marked when it may already have arrived. data: its file's bytes."""
    beside = load_extras(row.payload)
    file = None
    if beside.sha256 and data is not None:
        file = OutboundFile(name=beside.name, media_type=beside.media_type, data=data, picture=beside.picture)
    text = row.text
    if row.repeats:
        text = f"{format_text(lang, 'repeated')}\n{text}".rstrip()
    return OutboundMessage(
        id=row.id,
        address=to_address(row.place),
        client_key=row.client_key,
        text=text,
        kind=row.kind,
        reply_to=row.reply_to,
        reply_to_key=row.reply_to_key,
        part_no=row.part_no,
        parts=row.parts,
        repeated=row.repeats > 0,
        plain=row.plain,
        line=row.line,
        file=file,
        buttons=tuple(Button(text=words, data=pressed) for words, pressed in beside.buttons),
    )
