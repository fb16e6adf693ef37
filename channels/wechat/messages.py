"""iLink's messages as ours, and ours as its items. Pure."""

import hashlib
import json
from datetime import UTC, datetime
from mimetypes import MimeTypes
from typing import Any

from channels.message import Address, Attachment, InboundMessage, OutboundMessage, Quote, Sender
from channels.toolkit.markdown import to_plain
from channels.toolkit.text import replace_unstorable

LIMIT = 1800  # most code points of one message; nobody says what the platform takes, and 4000 is the most that was seen
MAX_TEXT = 3600  # what a part may have where few messages are left
USER = 1
TEXT, IMAGE, VOICE, FILE, VIDEO = 1, 2, 3, 4, 5
# What stands under the last part that a person can get before they write again.
MORE_TEXT = {
    "zh": "（还没说完：随便回我一句，我就接着发）",
    "en": "(more follows: send me anything)",
}

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
    """What a person wrote or sent, or None for everything else: our own messages, notes on tools, groups.

    Args:
        message: one element of msgs. account: our bot's id. now: unix seconds, for a message that has no time.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, OverflowError: not the form of a message.
    """
    # A group's message would be answered to one person in private: groups are not known to exist here.
    if message.get("message_type", USER) != USER or message.get("group_id"):
        return None
    items = [item for item in message.get("item_list") or () if item.get("type") in (TEXT, *_ITEM_FIELDS)]
    text = "\n".join(filter(None, map(_item_text, items)))
    quoted = next((item["ref_msg"] for item in items if item.get("ref_msg")), None)
    files = [item for item in (*items, (quoted or {}).get("message_item") or {}) if item.get("type") in _ITEM_FIELDS]
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
        sent_at=datetime.fromtimestamp(sent_ms(message) / 1000 or now, UTC),
        attachments=tuple(map(_attachment, files)),
        order_key=f"{seq:020d}" if seq else "",
        raw=json.dumps({name: value for name, value in message.items() if name != "context_token"}),
        quote=_quote(quoted) if quoted else None,
    )


def sent_ms(message: Json) -> int:
    """When it was sent, in milliseconds of Unix time, 0 unknown."""
    return int(message.get("create_time_ms") or 0)


def render(message: OutboundMessage, more: bool = False) -> str:
    """The text of one part as WeChat shows it: Markdown made readable where that fits, else as it is.

    Args:
        more: further parts wait until the person writes, and the text says so.
    """
    shown = message.text if message.plain else to_plain(message.text)
    text = shown if shown.strip() and len(shown) <= max(LIMIT, len(message.text)) else message.text
    text = text if text.strip() else "…"
    return f"{text}\n\n{MORE_TEXT[detect_language(text)]}" if more else text


def text_item(text: str) -> Json:
    """The item of a text."""
    return {"type": TEXT, "text_item": {"text": text}}


def detect_language(text: str) -> str:
    """zh where the text holds Chinese characters, else en."""
    return "zh" if any("\u4e00" <= sign <= "\u9fff" for sign in text) else "en"


def _key(message: Json, person: str, seq: int) -> str:
    """Ids and sequence numbers are kept apart by their first letter; a message without either is known by its bytes."""
    if message.get("message_id"):
        return f"m:{message['message_id']}"
    if seq:
        return f"s:{person}:{seq}"
    told = {name: message.get(name) for name in ("client_id", "create_time_ms", "item_list")}
    return f"h:{person}:{hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()}"


def _item_text(item: Json) -> str:
    """The words of an item: a text, or what the platform understood of a voice."""
    holder = item.get("text_item" if item["type"] == TEXT else "voice_item") or {}
    return str(holder.get("text") or "") if item["type"] in (TEXT, VOICE) else ""


def _attachment(item: Json) -> Attachment:
    """A file, to be fetched by what its media says; nothing of it is believed yet."""
    held = item.get(_ITEM_FIELDS[item["type"]]) or {}
    media = held.get("media") or {}
    name, media_type = _item_label(item["type"], held)
    ref = {
        "url": media.get("full_url"),
        "param": media.get("encrypt_query_param"),
        "hex": held.get("aeskey"),
        "key": media.get("aes_key"),
    }
    return Attachment(
        name=replace_unstorable(name),
        media_type=media_type,
        ref=json.dumps({name: str(value) for name, value in ref.items() if value}),
    )


def _item_label(kind: int, held: Json) -> tuple[str, str]:
    if kind == IMAGE:
        return "picture.jpg", "image/jpeg"
    if kind == VIDEO:
        return "video.mp4", "video/mp4"
    if kind == VOICE:
        ending, media_type = _VOICE_FORMATS.get(held.get("encode_type") or 6, ("bin", "application/octet-stream"))
        return f"voice.{ending}", media_type
    name = str(held.get("file_name") or "file")
    return name, _MEDIA_TYPES.guess_type("x." + name.rpartition(".")[2])[0] or "application/octet-stream"


def _quote(quoted: Json) -> Quote:
    """What is quoted: its words, else its title, else what kind of thing it is.

    `ref_msg` does not say whose words these are, and a title is no name that could be believed: nobody is named.
    """
    item = quoted.get("message_item") or {}
    words = _item_text(item) if item.get("type") in (TEXT, VOICE) else ""
    return Quote(
        text=replace_unstorable(words or str(quoted.get("title") or "") or _LABELS.get(item.get("type", 0), ""))
    )
