"""Conversion between iLink's message items and channel messages. Pure."""

import hashlib
import json
from mimetypes import MimeTypes
from typing import Any

from channels.message import Address, Attachment, InboundMessage, OutboundMessage, Quote, Sender
from channels.phrases import Phrase
from channels.toolkit.markdown import to_plain
from channels.toolkit.text import replace_unstorable
from channels.toolkit.untrusted import parse_timestamp

# code points of one message; the platform documents no limit, and up to 4000 were accepted
LIMIT = 1800
MAX_TEXT = 3600  # code points of one message when few are left to send
USER = 1
TEXT, IMAGE, VOICE, FILE, VIDEO = 1, 2, 3, 4, 5
# Appended to the last part that a person can receive before they write again.
MORE_TEXT = Phrase("(more follows: send me anything)")

_ITEM_FIELDS = {IMAGE: "image_item", VOICE: "voice_item", FILE: "file_item", VIDEO: "video_item"}
_LABELS = {IMAGE: "[picture]", VOICE: "[voice]", FILE: "[file]", VIDEO: "[video]"}
_VOICE_FORMATS = {
    1: ("pcm", "audio/l16"),
    2: ("adpcm", "audio/adpcm"),
    4: ("spx", "audio/speex"),
    5: ("amr", "audio/amr"),
    6: ("silk", "audio/silk"),
    7: ("mp3", "audio/mpeg"),
    8: ("ogg", "audio/ogg"),
}
_MEDIA_TYPES = MimeTypes()

Json = dict[str, Any]


def parse(message: Json, account: str, now: float) -> InboundMessage | None:
    """Parse a person's message; None for anything else: our own messages, tool notes, groups.

    Args:
        message: one element of msgs. account: the bot's id. now: unix seconds, for a message
            without a time.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, OverflowError: malformed.
    """
    # The API has no known group chats; a reply to one would reach its sender in private.
    if message.get("message_type", USER) != USER or message.get("group_id"):
        return None
    items = _known_items(message)
    text = "\n".join(filter(None, map(_item_text, items)))
    quoted = next((item["ref_msg"] for item in items if item.get("ref_msg")), None)
    files = _file_items(items, quoted)
    if not text and not files:
        return None
    person = str(message["from_user_id"])
    seq = int(message.get("seq") or 0)
    return InboundMessage(
        address=Address(channel="wechat", account=account, chat_id=person),
        kind="dm",
        key=_key(message, person, seq),
        sender=Sender(id=person),
        text=replace_unstorable(text),
        sent_at=parse_timestamp(sent_ms(message) / 1000 or now),
        attachments=tuple(map(_attachment, files)),
        order_key=f"{seq:020d}" if seq else "",
        raw=json.dumps({name: value for name, value in message.items() if name != "context_token"}),
        quote=_quote(quoted) if quoted else None,
    )


def _known_items(message: Json) -> list[Json]:
    """Return the items of the kinds that are understood."""
    return [
        item for item in message.get("item_list") or () if item.get("type") in (TEXT, *_ITEM_FIELDS)
    ]


def _file_items(items: list[Json], quoted: Json | None) -> list[Json]:
    """Return the items that are files, and the quoted one if it is a file."""
    quoted_item = (quoted or {}).get("message_item") or {}
    return [item for item in (*items, quoted_item) if item.get("type") in _ITEM_FIELDS]


def sent_ms(message: Json) -> int:
    """Return when it was sent: ms of unix time, 0 for unknown."""
    return int(message.get("create_time_ms") or 0)


def render(message: OutboundMessage, more: bool = False) -> str:
    """Render one part as plain text; as written if that would be too long.

    Args:
        more: further parts wait until the person writes, so the text says so.
    """
    plain = message.text if message.plain else to_plain(message.text)
    text = plain if plain.strip() and len(plain) <= max(LIMIT, len(message.text)) else message.text
    text = text if text.strip() else "…"
    return f"{text}\n\n{MORE_TEXT.text(detect_language(text))}" if more else text


def text_item(text: str) -> Json:
    """Build the item of a text."""
    return {"type": TEXT, "text_item": {"text": text}}


def detect_language(text: str) -> str:
    """Return "zh" if the text has Chinese characters, else "en"."""
    return "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en"


def _key(message: Json, person: str, seq: int) -> str:
    """Return the deduplication key: from id or sequence number, else a hash of the message."""
    if message.get("message_id"):
        return f"m:{message['message_id']}"
    if seq:
        return f"s:{person}:{seq}"
    fields = {name: message.get(name) for name in ("client_id", "create_time_ms", "item_list")}
    return f"h:{person}:{hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()}"


def _item_text(item: Json) -> str:
    """Return the text of a text item, or the platform's transcript of a voice item."""
    content = item.get("text_item" if item["type"] == TEXT else "voice_item") or {}
    return str(content.get("text") or "") if item["type"] in (TEXT, VOICE) else ""


def _attachment(item: Json) -> Attachment:
    """Build the attachment of a file item; URL and keys are checked when it is downloaded."""
    content = item.get(_ITEM_FIELDS[item["type"]]) or {}
    media = content.get("media") or {}
    name, media_type = _name_and_type(item["type"], content)
    ref = {
        "url": media.get("full_url"),
        "param": media.get("encrypt_query_param"),
        "hex": content.get("aeskey"),
        "key": media.get("aes_key"),
    }
    return Attachment(
        name=replace_unstorable(name),
        media_type=media_type,
        ref=json.dumps({name: str(value) for name, value in ref.items() if value}),
    )


def _name_and_type(kind: int, content: Json) -> tuple[str, str]:
    if kind == IMAGE:
        return "picture.jpg", "image/jpeg"
    if kind == VIDEO:
        return "video.mp4", "video/mp4"
    if kind == VOICE:
        ending, media_type = _VOICE_FORMATS.get(
            content.get("encode_type") or 6, ("bin", "application/octet-stream")
        )
        return f"voice.{ending}", media_type
    name = str(content.get("file_name") or "file")
    return name, _MEDIA_TYPES.guess_type("x." + name.rpartition(".")[2])[
        0
    ] or "application/octet-stream"


def _quote(quoted: Json) -> Quote:
    """Build a quote from the quoted text, else its title, else its kind.

    `ref_msg` does not name the author, and the title is not reliable, so the quote has none.
    """
    item = quoted.get("message_item") or {}
    text = _item_text(item) if item.get("type") in (TEXT, VOICE) else ""
    text = text or str(quoted.get("title") or "") or _LABELS.get(item.get("type", 0), "")
    return Quote(text=replace_unstorable(text))
