"""Telegram's updates as our messages, and our messages as its parameters. Pure."""

import json
import re
from datetime import UTC, datetime
from typing import Any

from channels.message import Address, Attachment, InboundMessage, OutboundMessage, Sender
from channels.telegram_format import to_html, visible
from channels.text import clean, length

LIMIT = 4096
"""Most UTF-16 units of one message; the server counts code points, of which there are never more."""
MOST_BYTES = 32_768
"""Most UTF-8 bytes of one message before its markup is read."""
GENERAL_TOPIC = "1"
"""A forum's first topic, which a send must not name."""

_FILES = {
    "document": ("file", "application/octet-stream"),
    "voice": ("voice.ogg", "audio/ogg"),
    "audio": ("audio.mp3", "audio/mpeg"),
    "video": ("video.mp4", "video/mp4"),
    "video_note": ("video.mp4", "video/mp4"),
    "sticker": ("sticker.webp", "image/webp"),
}
_KEY = re.compile(r"m:(-?\d+):(\d+):\d+")
_AROUND = re.compile(r"^[\s,:，：]+|\s+$")

Json = dict[str, Any]


def parse(update: Json, bot_id: int, username: str, account: str = "") -> InboundMessage | None:
    """What a person wrote, or None for everything else: edits, posts of channels, notes of the service.

    Args:
        update: one element of getUpdates' result.
        bot_id: our own id; `account` where the owner named it otherwise.
        username: ours, without the @.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: not the form of an update.
    """
    message = update.get("message")
    if message is None:
        return None
    text = message.get("text") or message.get("caption") or ""
    files = _attachments(message)
    if not text and not files:
        return None
    private = message["chat"]["type"] == "private"
    mine, said = _meant(message, text, bot_id, username)
    return InboundMessage(
        address=_address(message, account or str(bot_id)),
        kind="dm" if private else "group",
        key=_key(update, message),
        sender=_sender(message),
        text=clean(said),
        sent_at=datetime.fromtimestamp(message["date"], UTC),
        attachments=files,
        addressed=private or mine or _answers_us(message, bot_id),
        order_key=f"{update['update_id']:020d}",
        raw=json.dumps(update),
    )


def render(message: OutboundMessage) -> Json:
    """The parameters of sendMessage. Formatted where that stays within the limits, else plain."""
    address = message.address
    html = "" if message.plain else to_html(message.text)
    fits = length(visible(html), "utf16") <= LIMIT and len(html.encode()) <= MOST_BYTES
    parameters: Json = {
        "chat_id": int(address.chat_id),
        # An address in a model's text must not be fetched for a preview: the fetch alone would carry words away.
        "link_preview_options": {"is_disabled": True},
    }
    if html and fits:
        parameters |= {"text": html, "parse_mode": "HTML"}
    else:
        parameters["text"] = message.text if message.text.strip() else "…"
    parameters |= place(address)
    answered = _KEY.fullmatch(message.reply_to_key)
    if answered and answered[1] == address.chat_id.strip() and address.chat_id.startswith("-") and not message.part_no:
        parameters["reply_parameters"] = {"message_id": int(answered[2]), "allow_sending_without_reply": True}
    return parameters


def place(address: Address) -> Json:
    """The parameter that names a topic, where there is one."""
    return {"message_thread_id": int(address.thread_id)} if address.thread_id not in ("", GENERAL_TOPIC) else {}


def _address(message: Json, account: str) -> Address:
    topic = str(message.get("message_thread_id", "")) if message.get("is_topic_message") else ""
    return Address(channel="telegram", account=account, chat_id=str(message["chat"]["id"]), thread_id=topic)


def _key(update: Json, message: Json) -> str:
    if "message_id" not in message:
        return f"u:{update['update_id']}"
    return f"m:{message['chat']['id']}:{message['message_id']}:{message.get('edit_date') or 0}"


def _sender(message: Json) -> Sender:
    """Who wrote; a chat that writes as itself (a channel, an anonymous administrator) is no person."""
    behind = message.get("sender_chat")
    if behind is not None:
        return Sender(id=str(behind["id"]), name=clean(behind.get("title") or ""), is_bot=True)
    user = message["from"]
    name = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip() or user.get("username") or ""
    return Sender(id=str(user["id"]), name=clean(name), is_bot=bool(user.get("is_bot")))


def _attachments(message: Json) -> tuple[Attachment, ...]:
    """The files, to be fetched by their id; of a photo's sizes the largest."""
    if message.get("photo"):
        largest = max(message["photo"], key=lambda size: size["width"] * size["height"])
        return (Attachment(name="photo.jpg", media_type="image/jpeg", ref=largest["file_id"]),)
    found = [(kind, message[kind]) for kind in _FILES if message.get(kind)]
    return tuple(
        Attachment(
            name=clean(file.get("file_name") or _FILES[kind][0]),
            media_type=file.get("mime_type") or _FILES[kind][1],
            ref=file["file_id"],
        )
        for kind, file in found
    )


def _meant(message: Json, text: str, bot_id: int, username: str) -> tuple[bool, str]:
    """Whether the text names us, and the text without our name (whole, where nothing else is left)."""
    units = text.encode("utf-16-le", "surrogatepass")
    mine, rest, done = False, b"", 0
    for entity in message.get("entities") or message.get("caption_entities") or ():
        start, end = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
        words = units[start:end].decode("utf-16-le", "replace")
        kept = _without_us(entity, words, bot_id, username)
        if kept is None or start < done:
            continue
        mine, rest, done = True, rest + units[done:start] + kept.encode("utf-16-le"), end
    if not mine:
        return False, text
    left = (rest + units[done:]).decode("utf-16-le", "surrogatepass")
    left = _AROUND.sub("", re.sub(r"(?<=\S) {2,}(?=\S)", " ", left))
    return True, left or text


def _without_us(entity: Json, words: str, bot_id: int, username: str) -> str | None:
    """What is left of an entity that names us; None for one that does not."""
    ours = f"@{username}".lower()
    kind = entity["type"]
    if kind == "mention" and words.lower() == ours:
        return ""
    if kind == "text_mention" and entity["user"]["id"] == bot_id:
        return ""
    if kind == "bot_command" and words.lower().endswith(ours):
        return words[: -len(ours)]
    return None


def _answers_us(message: Json, bot_id: int) -> bool:
    """Whether it replies to a message of ours; what opened a topic is replied to by everything in it."""
    answered = message.get("reply_to_message") or {}
    if message.get("is_topic_message") and answered.get("message_id") == message.get("message_thread_id"):
        return False
    return bool((answered.get("from") or {}).get("id") == bot_id)
