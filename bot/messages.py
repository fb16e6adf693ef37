"""From the platforms' words to the record's: what a message says, and what row it becomes. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.access.permissions import space_of
from bot.commands.names import command_of
from bot.texts import say
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
from channels.toolkit.text import clean, split
from memory.context.taint import EDITED, MEANWHILE, OURS, QUOTED
from memory.conversation import Text
from memory.store.rows import ALBUM_SECONDS, Arrival, InboxKind, InboxRow, OutboxKind, OutboxRow, Outgoing, Place
from memory.text.speakers import speaker

PRESS = "press"
"""The command that a pressed button is."""
LONGEST_QUOTE = 2_000
URGENT = frozenset({PRESS, "approve", "deny", "stop", "status", "help", "whoami", "usage", "trace"})
"""Commands that overtake the queue: they read only, or they are there to end what runs."""
_KINDS: dict[str, InboxKind] = {"edit": "edit", "delete": "delete", "move": "move"}
ENDS_TURN = frozenset({"new", "context clear"})
"""Commands that end the running turn at once, then take their place in the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an inbox row's body holds. files: raw attachments. name: the sender's own. quote: what it answers.

    proven: see InboundMessage.
    """

    text: str
    name: str = ""
    files: tuple["KeptFile", ...] = ()
    quote: Quote | None = None
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A raw attachment: blob hash ("" when the platform still holds it), label, claimed type, size in bytes.

    ref: what its channel fetches it by, "" where it came with the message.
    """

    sha256: str
    name: str
    media_type: str
    size: int
    ref: str = ""


def ends_turn(text: str) -> bool:
    """Whether this command ends the turn that runs now."""
    command = command_of(text)
    if command is None:
        return False
    name, rest = command
    return name in ENDS_TURN or f"{name} {rest.lower()}" in ENDS_TURN


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What was decided of a message before it is stored. space: of its place; ignored: why it is not taken, or "".

    aside: it is kept as background. to_space: of a chat that moves, the space of its new id.
    """

    space: str
    ignored: str = ""
    aside: bool = False
    to_space: str = ""


def arrival(message: InboundMessage, files: Sequence[KeptFile], taken: Taken, now: float) -> Arrival:
    """The row that one message becomes. now: unix seconds."""
    text = f"/{PRESS} {message.target}" if message.act == "press" else message.text
    command = command_of(text) if message.act in ("message", "press") and not taken.aside else None
    said = Said(text=text, name=message.sender.name, files=tuple(files), quote=message.quote, proven=message.proven)
    return Arrival(
        place=_place(message, taken.space),
        key=clean(message.key),
        kind=_kind(message, taken, command is not None),
        sender_id=clean(message.sender.id),
        body="" if taken.ignored or message.act in ("delete", "move") else dump_said(said),
        order_key=message.order_key,
        ignored=taken.ignored,
        urgent=command is not None and command[0] in URGENT,
        not_before=now + ALBUM_SECONDS if message.album and not taken.aside else 0.0,
        target=clean(message.target),
        to_space=taken.to_space,
        album="" if taken.aside else message.album,
    )


def moved(place: Place, chat_id: str) -> Arrival:
    """What a send that was told of a chat's new id has to say to the record."""
    to_space = space_of("guest", place.channel, place.account, "", chat_id, place.kind)
    return Arrival(
        place=place, key=f"moved:{chat_id}", kind="move", sender_id="", body="", target=chat_id, to_space=to_space
    )


def _kind(message: InboundMessage, taken: Taken, command: bool) -> InboxKind:
    if message.act in ("edit", "delete", "move"):
        return _KINDS[message.act]
    if taken.aside:
        return "aside"
    return "command" if command else "message"


def _place(message: InboundMessage, space: str) -> Place:
    address = message.address
    return Place(
        channel=address.channel,
        account=address.account,
        chat_id=address.chat_id,
        thread_id=address.thread_id,
        kind=message.kind,
        space=space,
    )


def dump_said(said: Said) -> str:
    """A body as JSON text; `shown` is what a transcript has of a message with files."""
    record: dict[str, Any] = {"text": said.text}
    if said.name:
        record["name"] = said.name
    if not said.proven:
        record["unproven"] = True
    if said.quote:
        quote = said.quote
        record["quote"] = [quote.text[:LONGEST_QUOTE], quote.author, quote.ours, quote.author_id]
    if said.files:
        names = " ".join(f"📎 {file.name}" for file in said.files)
        record["shown"] = "\n".join(filter(None, (said.text, names)))
        record["files"] = [[file.sha256, file.name, file.media_type, file.size, file.ref] for file in said.files]
    return clean(json.dumps(record, ensure_ascii=False))


def load_said(body: str) -> Said:
    """The inverse of `dump_said`."""
    record = json.loads(body)
    files = tuple(
        KeptFile(sha256=file[0], name=file[1], media_type=file[2], size=file[3], ref=file[4] if len(file) > 4 else "")
        for file in record.get("files", ())
    )
    quoted = record.get("quote")
    quote = Quote(text=quoted[0], author=quoted[1], ours=quoted[2], author_id="".join(quoted[3:])) if quoted else None
    proven = not record.get("unproven", False)
    return Said(text=record["text"], name=record.get("name", ""), files=files, quote=quote, proven=proven)


# A message as the model will see it: who says it, what it answers, what was said beside it. Pure.

MOST_BACKGROUND = 4_000
"""Characters of a group's background that one message may bring along; older talk is left out."""
LONGEST_ASIDE = 1_000


def name_of(said: Said, row: InboxRow, kind: str) -> str:
    """What the sender of a row goes by where several people are; "" in private."""
    return speaker(said.name, row.sender_id, row.conversation) if kind == "group" else ""


def quoted(said: Said, row: InboxRow, kind: str) -> list[Text]:
    """What the message of a row answers or passes on."""
    quote = said.quote
    if quote is None or not quote.text.strip():
        return []
    if quote.ours:
        return [Text(text=quote.text, aside=OURS)]
    whose = quote.author_id if kind == "group" else ""
    return [Text(text=quote.text, by=speaker(quote.author, whose, row.conversation), aside=QUOTED)]


def background(rows: Sequence[tuple[InboxRow, Said]], kind: str) -> list[Text]:
    """What was said aside since the last turn, the newest that has room, oldest first."""
    kept: list[Text] = []
    room = MOST_BACKGROUND
    for row, said in reversed(rows):
        text = said.text.strip()[:LONGEST_ASIDE]
        room -= len(text)
        if room < 0:
            break
        if text:
            aside = EDITED if row.kind == "edit" else MEANWHILE
            kept.append(Text(text=text, by=name_of(said, row, kind), aside=aside))
    return kept[::-1]


def own_words(texts: Iterable[str]) -> str:
    """The words of all parts of an album: its caption, mostly."""
    return "\n".join(filter(None, (text.strip() for text in texts)))


# From the record's words to the platforms': an answer cut into parts, and a part as a channel sends it. Pure.

MARK_ROOM = 40
"""Units kept free in each part for the repeat mark: a platform that takes a key forgets it in the end."""


def outgoing(text: str, kind: OutboxKind, capabilities: Capabilities, left: int | None = None) -> list[Outgoing]:
    """The parts of one answer, each within the platform's limit; never none.

    left: how many messages may still be sent; where there are more parts, they are made as long as they may be.
    """
    text = clean(text).strip() or "…"
    limit, longest = capabilities.limit, capabilities.longest
    pieces = split(text, limit - MARK_ROOM, capabilities.unit) if limit else [text]
    if left is not None and len(pieces) > left and longest > limit:
        pieces = split(text, longest - MARK_ROOM, capabilities.unit)
    valid = capabilities.key_valid if capabilities.keyed else 0.0
    return [
        Outgoing(kind=kind, text=piece, part_no=number, parts=len(pieces), key_valid=valid)
        for number, piece in enumerate(pieces)
    ]


def seen(message: OutboundMessage) -> LiveEvent:
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


def address_of(place: Place) -> Address:
    """A conversation's place as its channel knows it."""
    return Address(channel=place.channel, account=place.account, chat_id=place.chat_id, thread_id=place.thread_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What goes out with a text: a file kept as a blob (sha256 "" for none), and buttons as (words, data)."""

    sha256: str = ""
    name: str = ""
    media_type: str = ""
    picture: bool = False
    buttons: tuple[tuple[str, str], ...] = ()


def dump_beside(beside: Beside) -> str:
    """As an outbox row keeps it."""
    return json.dumps(asdict(beside), ensure_ascii=False)


def load_beside(payload: str) -> Beside:
    """The inverse of `dump_beside`; nothing for ""."""
    if not payload:
        return Beside()
    record = json.loads(payload)
    return Beside(**{**record, "buttons": tuple((words, data) for words, data in record["buttons"])})


def outbound(row: OutboxRow, lang: str, data: bytes | None = None) -> OutboundMessage:
    """The row as its channel is to send it, marked when it may already have arrived. data: its file's bytes."""
    beside = load_beside(row.payload)
    file = None
    if beside.sha256 and data is not None:
        file = OutboundFile(name=beside.name, media_type=beside.media_type, data=data, picture=beside.picture)
    text = row.text
    if row.repeats:
        text = f"{say(lang, 'repeated')}\n{text}".rstrip()
    return OutboundMessage(
        id=row.id,
        address=address_of(row.place),
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
