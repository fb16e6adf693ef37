"""Parses Telegram's updates, and renders messages as parameters of the Bot API. Pure."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zlib import crc32

from channels.errors import Rejected
from channels.message import Address, Attachment, InboundMessage, OutboundMessage, Quote, Sender
from channels.phrases import AnyPhrase
from channels.telegram.html import to_html, visible_text
from channels.toolkit.text import replace_unstorable, split_text, text_length
from channels.toolkit.untrusted import parse_timestamp

GENERAL_TOPIC = "1"  # a forum's first topic, which is the chat itself
# Kinds of updates that `parse` understands.
UPDATE_TYPES = ("message", "edited_message", "callback_query", "my_chat_member")

_FILES = {
    "animation": ("animation.mp4", "video/mp4"),
    "document": ("file", "application/octet-stream"),
    "voice": ("voice.ogg", "audio/ogg"),
    "audio": ("audio.mp3", "audio/mpeg"),
    "video": ("video.mp4", "video/mp4"),
    "video_note": ("video.mp4", "video/mp4"),
    "sticker": ("sticker.webp", "image/webp"),
}
_ANIMATED_STICKERS = {
    "is_animated": ("sticker.tgs", "application/x-tgsticker"),
    "is_video": ("sticker.webm", "video/webm"),
}
_MEMBER_STATUSES = frozenset({"member", "administrator", "creator", "restricted"})
_SURROUNDING_SPACE = re.compile(r"^[\s,:，：]++|(?<!\s)\s++$")
_ADDRESSED_COMMAND = re.compile(r"(\s*+[/／][^\s@/／]++)@(\w++)(?=\s|\Z)")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BotIdentity:
    """The bot's own account."""

    id: int
    #: Without the @.
    username: str
    #: The id as text, for addresses.
    account: str


def parse(update: Json, me: BotIdentity, at: datetime) -> InboundMessage | None:
    """Parse a person's act; None for channel posts, service messages and unknown kinds.

    Args:
        update: an element of the result of getUpdates, or the body of a webhook call.
        at: when it arrived; a press of a button has no time of its own.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, OverflowError: the update is malformed.
    """
    parsed: InboundMessage | None = None
    if (message := update.get("message")) is not None:
        parsed = _parse_migration(message, me) or _parse_message(message, me)
    elif (message := update.get("edited_message")) is not None:
        parsed = _parse_message(message, me)
        parsed = parsed and replace(parsed, act="edit", target=_key(message, 0))
    elif (press := update.get("callback_query")) is not None:
        parsed = _parse_press(press, me, at)
    elif (change := update.get("my_chat_member")) is not None:
        parsed = _parse_join(change, me)
    return parsed and replace(
        parsed, order_key=f"{update['update_id']:020d}", raw=json.dumps(update)
    )


def _parse_message(message: Json, me: BotIdentity) -> InboundMessage | None:
    text, files = _message_text(message), _attachments(message)
    if not text and not files:
        return None
    private, forwarded = message["chat"]["type"] == "private", "forward_origin" in message
    # A forwarded text is another person's: it neither mentions the bot nor is a command of the one
    # who forwards it.
    mentioned, own_text = (False, "") if forwarded else _strip_mention(message, text, me)
    return InboundMessage(
        address=_address(message, me),
        kind="dm" if private else "group",
        key=_key(message, message.get("edit_date") or 0),
        sender=_sender(message),
        text=replace_unstorable(own_text),
        sent_at=parse_timestamp(message["date"]),
        attachments=files,
        addressed=private
        or mentioned
        or _replied_message(message).get("from", {}).get("id") == me.id,
        album=str(message.get("media_group_id") or ""),
        quote=_quote(message, text, me),
        chat_title=_chat_title(message["chat"]),
    )


def _parse_migration(message: Json, me: BotIdentity) -> InboundMessage | None:
    """A group became a supergroup: both chats report it, as the same event."""
    chat = message["chat"]["id"]
    old, new = (
        message.get("migrate_from_chat_id") or chat,
        message.get("migrate_to_chat_id") or chat,
    )
    if old == new:
        return None
    return InboundMessage(
        address=Address(channel="telegram", account=me.account, chat_id=str(old)),
        kind="group",
        key=f"v:{old}:{new}",
        sender=_sender(message),
        text="",
        sent_at=parse_timestamp(message["date"]),
        act="move",
        target=str(new),
    )


def _parse_press(press: Json, me: BotIdentity, at: datetime) -> InboundMessage | None:
    message, data = press.get("message"), press.get("data")
    if message is None or data is None:
        return None
    return InboundMessage(
        address=_address(message, me),
        kind="dm" if message["chat"]["type"] == "private" else "group",
        key=f"c:{press['id']}",
        sender=_person(press["from"]),
        text="",
        sent_at=at,
        act="press",
        target=replace_unstorable(data),
    )


def _parse_join(change: Json, me: BotIdentity) -> InboundMessage | None:
    """The bot was added to a group. That it was removed or blocked shows when it sends."""
    chat, before, after = change["chat"], change["old_chat_member"], change["new_chat_member"]
    if chat["type"] not in ("group", "supergroup") or _is_member(before) or not _is_member(after):
        return None
    return InboundMessage(
        address=Address(channel="telegram", account=me.account, chat_id=str(chat["id"])),
        kind="group",
        key=f"j:{chat['id']}:{change['date']}",
        sender=_person(change["from"]),
        text="",
        sent_at=parse_timestamp(change["date"]),
        act="joined",
        chat_title=_chat_title(chat),
    )


def _is_member(member: Json) -> bool:
    return member["status"] in _MEMBER_STATUSES and member.get("is_member", True)


def _address(message: Json, me: BotIdentity) -> Address:
    topic = str(message.get("message_thread_id", "")) if message.get("is_topic_message") else ""
    thread = "" if topic == GENERAL_TOPIC else topic
    return Address(
        channel="telegram", account=me.account, chat_id=str(message["chat"]["id"]), thread_id=thread
    )


def _key(message: Json, edited_at: int) -> str:
    return f"m:{message['chat']['id']}:{message['message_id']}:{edited_at}"


def _sender(message: Json) -> Sender:
    """A chat as the author (a channel, an anonymous administrator) counts as a bot, since it is not
    a person.
    """
    chat = message.get("sender_chat")
    if chat is not None:
        return Sender(
            id=str(chat["id"]), name=replace_unstorable(chat.get("title") or ""), is_bot=True
        )
    return _person(message["from"])


def _person(user: Json) -> Sender:
    return Sender(id=str(user["id"]), name=_name(user), is_bot=bool(user.get("is_bot")))


def _name(user: Json) -> str:
    """Return the display name of a user or chat."""
    name = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
    return replace_unstorable(name or user.get("title") or user.get("username") or "")


def _chat_title(chat: Json) -> str:
    return replace_unstorable(str(chat.get("title") or ""))


def _message_text(message: Json) -> str:
    """Return the text of a message of any kind."""
    rich = (message.get("rich_message") or {}).get("blocks")
    text: str = message.get("text") or message.get("caption") or "\n".join(_rich_lines(rich))
    return text or _location_or_contact(message)


def _rich_lines(node: Any) -> Iterator[str]:
    """Yield the lines of a rich message as plain text."""
    if isinstance(node, list):
        for child in node:
            yield from _rich_lines(child)
    elif isinstance(node, dict):
        if line := _flat_text(node.get("text") or node.get("label")):
            yield line
        for name in ("blocks", "items", "cells"):
            yield from _rich_lines(node.get(name))


def _flat_text(text: Any) -> str:
    if isinstance(text, list):
        return "".join(map(_flat_text, text))
    return (
        _flat_text(text.get("text"))
        if isinstance(text, dict)
        else text
        if isinstance(text, str)
        else ""
    )


def _location_or_contact(message: Json) -> str:
    """Describe a place or a contact in words."""
    if venue := message.get("venue"):
        return f"📍 {venue['title']}, {venue['address']}"
    if location := message.get("location"):
        return f"📍 {location['latitude']}, {location['longitude']}"
    if contact := message.get("contact"):
        return f"👤 {_name(contact)} {contact['phone_number']}"
    return ""


def _attachments(message: Json) -> tuple[Attachment, ...]:
    """Return the files with their ids; of a photo the largest size."""
    if message.get("photo"):
        largest = max(message["photo"], key=lambda size: size["width"] * size["height"])
        return (Attachment(name="photo.jpg", media_type="image/jpeg", ref=largest["file_id"]),)
    kinds = [kind for kind in _FILES if message.get(kind)]
    if "animation" in kinds:
        kinds = ["animation"]  # `document` repeats the same file
    return tuple(_attachment(kind, message[kind]) for kind in kinds)


def _attachment(kind: str, file: Json) -> Attachment:
    name, media_type = next(
        (_ANIMATED_STICKERS[mark] for mark in _ANIMATED_STICKERS if file.get(mark)), _FILES[kind]
    )
    label = (file.get("file_name") or "").replace("\\", "/").rpartition("/")[2]
    return Attachment(
        name=replace_unstorable(label or name),
        media_type=file.get("mime_type") or media_type,
        ref=file["file_id"],
    )


def _quote_reply(replied: Json, passage: str | None, me: BotIdentity) -> Quote | None:
    """Quote the selected passage of a message that was replied to, or its text, or the names of its
    files.
    """
    quoted = (
        passage
        or _message_text(replied)
        or " ".join(f"📎 {file.name}" for file in _attachments(replied))
    )
    if not quoted:
        return None
    person, chat = replied.get("from") or {}, replied.get("sender_chat")
    ours = person.get("id") == me.id
    author_id = "" if ours or chat else _user_id(replied.get("from"))
    return Quote(
        text=replace_unstorable(quoted),
        author=_name(chat or person),
        ours=ours,
        author_id=author_id,
    )


def _quote(message: Json, text: str, me: BotIdentity) -> Quote | None:
    """Quote the forwarded text, or the selected passage or whole text of the message replied to."""
    if "forward_origin" in message:
        return _quote_origin(text, message["forward_origin"])
    passage = (message.get("quote") or {}).get("text")
    if replied := _replied_message(message):
        return _quote_reply(replied, passage, me)
    return (
        _quote_origin(passage, (message.get("external_reply") or {}).get("origin") or {})
        if passage
        else None
    )


def _quote_origin(text: str, origin: Json) -> Quote:
    """Quote a text with the author named by the origin of a forward or of a reply to another
    chat.
    """
    author = origin.get("sender_user") or origin.get("sender_chat") or origin.get("chat") or {}
    name = _name(author) or replace_unstorable(origin.get("sender_user_name") or "")
    return Quote(
        text=replace_unstorable(text), author=name, author_id=_user_id(origin.get("sender_user"))
    )


def _user_id(user: Json | None) -> str:
    return str(user["id"]) if user else ""


def _replied_message(message: Json) -> Json:
    """Return the message replied to, {} for none.

    Every message of a topic replies to the one that opened it.
    """
    replied: Json = message.get("reply_to_message") or {}
    is_opener = message.get("is_topic_message") and replied.get("message_id") == message.get(
        "message_thread_id"
    )
    return {} if is_opener else replied


def _strip_mention(message: Json, text: str, me: BotIdentity) -> tuple[bool, str]:
    """Whether the text mentions the bot, and the text without the mention unless nothing else is
    left.
    """
    units = text.encode("utf-16-le", "surrogatepass")  # entities count in UTF-16
    mentioned, kept, end = False, b"", 0
    for entity in message.get("entities") or message.get("caption_entities") or ():
        entity_start, entity_end = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
        rest = _strip_entity(
            entity, units[entity_start:entity_end].decode("utf-16-le", "replace"), me
        )
        if rest is not None and entity_start >= end:
            mentioned, kept, end = (
                True,
                kept + units[end:entity_start] + rest.encode("utf-16-le"),
                entity_end,
            )
    if not mentioned:
        # Telegram has no entities for commands with other letters than a-z, nor for mentions after
        # them: `/帮助@bot`.
        command = _ADDRESSED_COMMAND.match(text)
        if command and command[2].lower() == me.username.lower():
            return True, command[1] + text[command.end() :]
        return False, text
    stripped = (kept + units[end:]).decode("utf-16-le", "surrogatepass")
    return True, _SURROUNDING_SPACE.sub("", re.sub(r"(?<=\S) {2,}(?=\S)", " ", stripped)) or text


def _strip_entity(entity: Json, text: str, me: BotIdentity) -> str | None:
    """Return the rest of an entity that mentions the bot, None for another entity."""
    mention = f"@{me.username}".lower()
    match entity["type"]:
        case "mention" if text.lower() == mention:
            return ""
        case "text_mention" if entity["user"]["id"] == me.id:
            return ""
        case "bot_command" if text.lower().endswith(mention):
            return text[: -len(mention)]
    return None


# Rendering.

# UTF-16 units of one message; the server counts code points, of which there are never more
LIMIT = 4096
CAPTION = 1024  # UTF-16 units of the text beside a file
MAX_HTML_BYTES = 32_768  # UTF-8 bytes of one message with its markup
BUTTON_BYTES = 64
MAX_COMMANDS = 100
MAX_DESCRIPTION = 256
CONTINUATION_MARK = " …"

_KEY = re.compile(r"m:(-?\d+):(\d+):\d+")
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")


def render(message: OutboundMessage) -> Json:
    """Return the parameters of sendMessage: formatted if that stays within the limits, else plain.

    Raises:
        Rejected: the data of a button are too long.
    """
    return _text_parameters(message.text, message.plain) | _target_parameters(message)


def render_edit(message: OutboundMessage, message_id: int) -> Json:
    """Return the parameters of editMessageText that turn a message of the bot into this one."""
    return edit_parameters(message.address, message_id, message.text, message.plain) | _buttons(
        message
    )


def render_file(message: OutboundMessage) -> Json:
    """Return the parameters of sendDocument or sendPhoto, without the file itself.

    Raises:
        Rejected: the text is too long for a caption.
    """
    if text_length(message.text, "utf16") > CAPTION:
        raise Rejected(
            f"a caption of more than {CAPTION} characters: send the text as a message of its own"
        )
    text = _html_if_fits(message.text, message.plain, CAPTION) if message.text.strip() else {}
    if "text" in text:
        text["caption"] = text.pop("text")
    return text | _target_parameters(message)


def edit_parameters(address: Address, message_id: int, text: str, plain: bool = False) -> Json:
    """Return the parameters of editMessageText."""
    return _text_parameters(text, plain) | {
        "chat_id": int(address.chat_id),
        "message_id": message_id,
    }


def opening_parameters(address: Address, text: str, question: str) -> Json:
    """Return the parameters of a live reply's first message in a group. question: key of the
    message replied to.
    """
    return (
        _text_parameters(text, False)
        | chat_parameters(address)
        | _reply_parameters(address, question)
    )


def draft_parameters(address: Address, text: str, id: str) -> Json:
    """Return the parameters of sendMessageDraft. id: of the reply; it is not displayed."""
    return (
        _html_if_fits(text, False, LIMIT)
        | chat_parameters(address)
        | {"draft_id": crc32(id.encode()) >> 1 or 1}
    )


def preview_text(text: str, address: Address) -> str:
    """Return the text shown of an unfinished reply: in a group its first part, which remains; else
    its last.
    """
    group = address.chat_id.startswith("-")
    parts = split_text(text, LIMIT - len(CONTINUATION_MARK), "utf16")
    shown = (parts[:1] if group else parts[-1:]) or [""]
    return shown[0].rstrip() + CONTINUATION_MARK if group and shown[0].strip() else shown[0]


def chat_parameters(address: Address) -> Json:
    """Return the parameters of the chat, and of the topic if there is one."""
    chat: Json = {"chat_id": int(address.chat_id)}
    return chat | (
        {"message_thread_id": int(address.thread_id)}
        if address.thread_id not in ("", GENERAL_TOPIC)
        else {}
    )


def reaction_parameters(key: str, emoji: str) -> Json | None:
    """Return the parameters of setMessageReaction, None if the key is not a message's. emoji: ""
    removes it.
    """
    found = _KEY.fullmatch(key)
    if not found:
        return None
    reaction = [{"type": "emoji", "emoji": emoji}] if emoji else []
    return {"chat_id": int(found[1]), "message_id": int(found[2]), "reaction": reaction}


def menu_parameters(commands: Sequence[tuple[str, AnyPhrase]]) -> list[Json]:
    """Return the parameters of setMyCommands in English for all clients, and in Chinese for Chinese
    ones.

    Args:
        commands: name and description; names that Telegram refuses are left out.
    """
    fitting = [one for one in commands if _COMMAND.fullmatch(one[0])][:MAX_COMMANDS]
    en, zh = (
        [
            {"command": name, "description": about.text(lang)[:MAX_DESCRIPTION]}
            for name, about in fitting
        ]
        for lang in ("en", "zh")
    )
    return [{"commands": en}, {"commands": zh, "language_code": "zh"}] if fitting else []


def _reply_parameters(address: Address, key: str) -> Json:
    """Return the parameter that makes a message a reply in a group; {} elsewhere."""
    found = _KEY.fullmatch(key)
    if not found or found[1] != address.chat_id or not address.chat_id.startswith("-"):
        return {}
    return {"reply_parameters": {"message_id": int(found[2]), "allow_sending_without_reply": True}}


def _target_parameters(message: OutboundMessage) -> Json:
    """Return the parameters common to texts and files: chat, reply and buttons."""
    reply = {} if message.part_no else _reply_parameters(message.address, message.reply_to_key)
    return chat_parameters(message.address) | reply | _buttons(message)


def _buttons(message: OutboundMessage) -> Json:
    if not message.buttons:
        return {}
    if any(not 0 < len(button.data.encode()) <= BUTTON_BYTES for button in message.buttons):
        raise Rejected(f"a button's data must have 1 to {BUTTON_BYTES} bytes")
    rows = [[{"text": button.text, "callback_data": button.data}] for button in message.buttons]
    return {"reply_markup": {"inline_keyboard": rows}}


def _text_parameters(text: str, plain: bool) -> Json:
    # Telegram must not fetch a URL of the model for a preview: the URL alone can leak data to its
    # server.
    return _html_if_fits(text, plain, LIMIT) | {"link_preview_options": {"is_disabled": True}}


def _html_if_fits(text: str, plain: bool, limit: int) -> Json:
    html = "" if plain else to_html(text)
    if (
        html
        and text_length(visible_text(html), "utf16") <= limit
        and len(html.encode()) <= MAX_HTML_BYTES
    ):
        return {"text": html, "parse_mode": "HTML"}
    return {"text": text if text.strip() else "…"}
