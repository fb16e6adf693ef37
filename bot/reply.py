"""From the record's words to the platforms': an answer cut into parts, and a part as a channel sends it. Pure."""

import json
from dataclasses import asdict, dataclass

from bot.texts import say
from channels.message import Address, Button, Capabilities, EventName, LiveEvent, OutboundFile, OutboundMessage
from channels.text import clean, split
from memory.store.records import OutboxKind, OutboxRow, Outgoing, Place

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
