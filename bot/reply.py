"""From the record's words to the platforms': an answer cut into parts, and a part as a channel sends it. Pure."""

from bot.texts import say
from channels.message import Address, Capabilities, OutboundMessage
from channels.text import clean, split
from memory.store.records import OutboxKind, OutboxRow, Outgoing, Place

MARK_ROOM = 40
"""Units kept free in each part for the repeat mark: a platform that takes a key forgets it in the end."""


def outgoing(text: str, kind: OutboxKind, capabilities: Capabilities) -> list[Outgoing]:
    """The parts of one answer, each within the platform's limit; never none."""
    text = clean(text).strip() or "…"
    limit = capabilities.limit
    pieces = split(text, limit - MARK_ROOM, capabilities.unit) if limit else [text]
    valid = capabilities.key_valid if capabilities.keyed else 0.0
    return [
        Outgoing(kind=kind, text=piece, part_no=number, parts=len(pieces), key_valid=valid)
        for number, piece in enumerate(pieces)
    ]


def address_of(place: Place) -> Address:
    """A conversation's place as its channel knows it."""
    return Address(channel=place.channel, account=place.account, chat_id=place.chat_id, thread_id=place.thread_id)


def outbound(row: OutboxRow, lang: str) -> OutboundMessage:
    """The row as its channel is to send it, marked when it may already have arrived."""
    text = row.text
    if row.repeats:
        text = f"{say(lang, 'repeated')}\n{text}"
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
    )
