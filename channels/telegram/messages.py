"""Telegram's updates as our messages. Pure."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from channels.errors import Rejected
from channels.message import Address, Attachment, InboundMessage, OutboundMessage, Quote, Sender
from channels.telegram.html import to_html, visible_text
from channels.toolkit.text import replace_unstorable, split_text, text_length

GENERAL_TOPIC = "1"  # a forum's first topic, which is the chat itself
# The kinds of updates that `parse` understands.
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
_MOVING_STICKERS = {
    "is_animated": ("sticker.tgs", "application/x-tgsticker"),
    "is_video": ("sticker.webm", "video/webm"),
}
_MEMBER_STATUSES = frozenset({"member", "administrator", "creator", "restricted"})
_SURROUNDING_SPACE = re.compile(r"^[\s,:，：]++|(?<!\s)\s++$")
_ADDRESSED_COMMAND = re.compile(r"(\s*+[/／][^\s@/／]++)@(\w++)(?=\s|\Z)")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BotIdentity:
    """Who we are there."""

    id: int
    #: Without the @.
    username: str
    #: Our id as text, for addresses.
    account: str


def parse(update: Json, me: BotIdentity, at: datetime) -> InboundMessage | None:
    """What a person did, or None for everything else: posts of channels, notes of the service, kinds not known.

    Args:
        update: one element of getUpdates' result, or the body of a webhook's call.
        at: when it reached us; a press of a button has no time of its own.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, OverflowError: not the form of an update.
    """
    found: InboundMessage | None = None
    if (message := update.get("message")) is not None:
        found = _parse_migration(message, me) or _parse_message(message, me)
    elif (message := update.get("edited_message")) is not None:
        found = _parse_edit(message, me)
    elif (press := update.get("callback_query")) is not None:
        found = _parse_press(press, me, at)
    elif (change := update.get("my_chat_member")) is not None:
        found = _parse_join(change, me)
    if found is None:
        return None
    return replace(found, order_key=f"{update['update_id']:020d}", raw=json.dumps(update))


def _parse_message(message: Json, me: BotIdentity) -> InboundMessage | None:
    text, files = _message_text(message), _attachments(message)
    if not text and not files:
        return None
    private, forwarded = message["chat"]["type"] == "private", "forward_origin" in message
    # The words of a forward are somebody else's: they name nobody, and are no command of whoever passed them on.
    mine, said = (False, "") if forwarded else _strip_mention(message, text, me)
    return InboundMessage(
        address=_address(message, me),
        kind="dm" if private else "group",
        key=_key(message, message.get("edit_date") or 0),
        sender=_sender(message),
        text=replace_unstorable(said),
        sent_at=datetime.fromtimestamp(message["date"], UTC),
        attachments=files,
        addressed=private or mine or _replied_message(message).get("from", {}).get("id") == me.id,
        album=str(message.get("media_group_id") or ""),
        quote=_quote(message, text, me),
    )


def _parse_edit(message: Json, me: BotIdentity) -> InboundMessage | None:
    said = _parse_message(message, me)
    return replace(said, act="edit", target=_key(message, 0)) if said else None


def _parse_migration(message: Json, me: BotIdentity) -> InboundMessage | None:
    """A group became a supergroup: told in both, and the same event in either."""
    here = message["chat"]["id"]
    old, new = message.get("migrate_from_chat_id") or here, message.get("migrate_to_chat_id") or here
    if old == new:
        return None
    return InboundMessage(
        address=Address(channel="telegram", account=me.account, chat_id=str(old)),
        kind="group",
        key=f"v:{old}:{new}",
        sender=_sender(message),
        text="",
        sent_at=datetime.fromtimestamp(message["date"], UTC),
        act="move",
        target=str(new),
    )


def _parse_press(press: Json, me: BotIdentity, at: datetime) -> InboundMessage | None:
    message, pressed = press.get("message"), press.get("data")
    if message is None or pressed is None:
        return None
    return InboundMessage(
        address=_address(message, me),
        kind="dm" if message["chat"]["type"] == "private" else "group",
        key=f"c:{press['id']}",
        sender=_person(press["from"]),
        text="",
        sent_at=at,
        act="press",
        target=replace_unstorable(pressed),
    )


def _parse_join(change: Json, me: BotIdentity) -> InboundMessage | None:
    """We were taken into a group; that we left one, or that a person blocked us, a send will tell."""
    chat, before, now = change["chat"], change["old_chat_member"], change["new_chat_member"]
    if chat["type"] not in ("group", "supergroup") or _is_member(before) or not _is_member(now):
        return None
    return InboundMessage(
        address=Address(channel="telegram", account=me.account, chat_id=str(chat["id"])),
        kind="group",
        key=f"j:{chat['id']}:{change['date']}",
        sender=_person(change["from"]),
        text="",
        sent_at=datetime.fromtimestamp(change["date"], UTC),
        act="joined",
    )


def _is_member(member: Json) -> bool:
    return member["status"] in _MEMBER_STATUSES and member.get("is_member", True)


def _address(message: Json, me: BotIdentity) -> Address:
    topic = str(message.get("message_thread_id", "")) if message.get("is_topic_message") else ""
    thread = "" if topic == GENERAL_TOPIC else topic
    return Address(channel="telegram", account=me.account, chat_id=str(message["chat"]["id"]), thread_id=thread)


def _key(message: Json, edited: int) -> str:
    return f"m:{message['chat']['id']}:{message['message_id']}:{edited}"


def _sender(message: Json) -> Sender:
    """Who wrote; a chat that writes as itself (a channel, an anonymous administrator) is no person."""
    behind = message.get("sender_chat")
    if behind is not None:
        return Sender(id=str(behind["id"]), name=replace_unstorable(behind.get("title") or ""), is_bot=True)
    return _person(message["from"])


def _person(user: Json) -> Sender:
    return Sender(id=str(user["id"]), name=_name(user), is_bot=bool(user.get("is_bot")))


def _name(user: Json) -> str:
    """What a user or a chat calls itself."""
    name = f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
    return replace_unstorable(name or user.get("title") or user.get("username") or "")


def _message_text(message: Json) -> str:
    """What a message says in words, whatever it is made of."""
    rich = (message.get("rich_message") or {}).get("blocks")
    return (
        message.get("text") or message.get("caption") or "\n".join(_rich_lines(rich)) or _location_or_contact(message)
    )


def _rich_lines(node: Any) -> Iterator[str]:
    """The lines of a rich message's blocks, as plain text."""
    if isinstance(node, list):
        for one in node:
            yield from _rich_lines(one)
    elif isinstance(node, dict):
        if line := _flat_text(node.get("text") or node.get("label")):
            yield line
        for name in ("blocks", "items", "cells"):
            yield from _rich_lines(node.get(name))


def _flat_text(text: Any) -> str:
    if isinstance(text, list):
        return "".join(map(_flat_text, text))
    return _flat_text(text.get("text")) if isinstance(text, dict) else text if isinstance(text, str) else ""


def _location_or_contact(message: Json) -> str:
    """A place or a contact, which have no words of their own."""
    if venue := message.get("venue"):
        return f"📍 {venue['title']}, {venue['address']}"
    if place := message.get("location"):
        return f"📍 {place['latitude']}, {place['longitude']}"
    if contact := message.get("contact"):
        return f"👤 {_name(contact)} {contact['phone_number']}"
    return ""


def _attachments(message: Json) -> tuple[Attachment, ...]:
    """The files, to be fetched by their id; of a photo's sizes the largest."""
    if message.get("photo"):
        largest = max(message["photo"], key=lambda size: size["width"] * size["height"])
        return (Attachment(name="photo.jpg", media_type="image/jpeg", ref=largest["file_id"]),)
    found = [kind for kind in _FILES if message.get(kind)]
    if "animation" in found:
        found = ["animation"]  # the same file stands under `document` too
    return tuple(_attachment(kind, message[kind]) for kind in found)


def _attachment(kind: str, file: Json) -> Attachment:
    name, media_type = next((_MOVING_STICKERS[mark] for mark in _MOVING_STICKERS if file.get(mark)), _FILES[kind])
    label = (file.get("file_name") or "").replace("\\", "/").rpartition("/")[2]
    return Attachment(
        name=replace_unstorable(label or name), media_type=file.get("mime_type") or media_type, ref=file["file_id"]
    )


def _quote(message: Json, text: str, me: BotIdentity) -> Quote | None:
    """What it answers or passes on: a forward's words, the passage that was picked, or the whole message answered."""
    if "forward_origin" in message:
        origin = message["forward_origin"]
        return Quote(
            text=replace_unstorable(text),
            author=_origin_author(origin),
            author_id=_sender_id(origin.get("sender_user")),
        )
    picked = (message.get("quote") or {}).get("text")
    if answered := _replied_message(message):
        said = picked or _message_text(answered) or " ".join(f"📎 {file.name}" for file in _attachments(answered))
        author = _name(answered.get("sender_chat") or answered.get("from") or {})
        ours = (answered.get("from") or {}).get("id") == me.id
        whose = "" if ours or answered.get("sender_chat") else _sender_id(answered.get("from"))
        return Quote(text=replace_unstorable(said), author=author, ours=ours, author_id=whose) if said else None
    origin = (message.get("external_reply") or {}).get("origin") or {}
    whose = _sender_id(origin.get("sender_user"))
    return Quote(text=replace_unstorable(picked), author=_origin_author(origin), author_id=whose) if picked else None


def _sender_id(user: Json | None) -> str:
    """A user's id as a sender has it, "" for none."""
    return str(user["id"]) if user else ""


def _origin_author(origin: Json) -> str:
    """Whose words a forward's or a foreign reply's origin says they are."""
    known = origin.get("sender_user") or origin.get("sender_chat") or origin.get("chat") or {}
    return _name(known) or replace_unstorable(origin.get("sender_user_name") or "")


def _replied_message(message: Json) -> Json:
    """The message it replies to, {} for none: what opened a topic is replied to by everything in it."""
    answered: Json = message.get("reply_to_message") or {}
    opener = message.get("is_topic_message") and answered.get("message_id") == message.get("message_thread_id")
    return {} if opener else answered


def _strip_mention(message: Json, text: str, me: BotIdentity) -> tuple[bool, str]:
    """Whether the text names us, and the text without our name (whole, where nothing else is left)."""
    units = text.encode("utf-16-le", "surrogatepass")
    mine, rest, done = False, b"", 0
    for entity in message.get("entities") or message.get("caption_entities") or ():
        start, end = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
        words = units[start:end].decode("utf-16-le", "replace")
        kept = _strip_entity(entity, words, me)
        if kept is None or start < done:
            continue
        mine, rest, done = True, rest + units[done:start] + kept.encode("utf-16-le"), end
    if not mine:
        # Telegram marks no command with other letters than a-z, nor a mention that follows a letter: `/帮助@bot`.
        command = _ADDRESSED_COMMAND.match(text)
        ours = command is not None and command[2].lower() == me.username.lower()
        return (True, command[1] + text[command.end() :]) if command and ours else (False, text)
    left = (rest + units[done:]).decode("utf-16-le", "surrogatepass")
    left = _SURROUNDING_SPACE.sub("", re.sub(r"(?<=\S) {2,}(?=\S)", " ", left))
    return True, left or text


def _strip_entity(entity: Json, words: str, me: BotIdentity) -> str | None:
    """What is left of an entity that names us; None for one that does not."""
    ours = f"@{me.username}".lower()
    kind = entity["type"]
    if kind == "mention" and words.lower() == ours:
        return ""
    if kind == "text_mention" and entity["user"]["id"] == me.id:
        return ""
    if kind == "bot_command" and words.lower().endswith(ours):
        return words[: -len(ours)]
    return None


# Our messages as the Bot API's parameters. Pure.

LIMIT = 4096  # most UTF-16 units of one message; the server counts code points, of which there are never more
CAPTION = 1024  # the same beside a file
MAX_HTML_BYTES = 32_768  # most UTF-8 bytes of one message before its markup is read
BUTTON_BYTES = 64
MAX_COMMANDS = 100
MAX_DESCRIPTION = 256
CONTINUATION_MARK = " …"

_KEY = re.compile(r"m:(-?\d+):(\d+):\d+")
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")


def render(message: OutboundMessage) -> Json:
    """The parameters of sendMessage. Formatted where that stays within the limits, else plain.

    Raises:
        Rejected: a button carries more than the platform takes.
    """
    return (
        _text_parameters(message.text, message.plain)
        | chat_parameters(message.address)
        | _reply_parameters(message)
        | _buttons(message)
    )


def render_edit(message: OutboundMessage, message_id: int) -> Json:
    """The parameters of editMessageText that turn a message of ours into this one."""
    return edit_parameters(message.address, message_id, message.text, message.plain) | _buttons(message)


def render_file(message: OutboundMessage) -> Json:
    """The parameters of sendDocument or sendPhoto, without the file itself.

    Raises:
        Rejected: the text is too long for a caption.
    """
    if text_length(message.text, "utf16") > CAPTION:
        raise Rejected(f"a caption of more than {CAPTION} characters: send the text as a message of its own")
    formed = _html_if_fits(message.text, message.plain, CAPTION) if message.text.strip() else {}
    if "text" in formed:
        formed["caption"] = formed.pop("text")
    return formed | chat_parameters(message.address) | _reply_parameters(message) | _buttons(message)


def edit_parameters(address: Address, message_id: int, text: str, plain: bool = False) -> Json:
    """The parameters of editMessageText."""
    return _text_parameters(text, plain) | {"chat_id": int(address.chat_id), "message_id": message_id}


def opening_parameters(address: Address, text: str, asked: str) -> Json:
    """The parameters of the message that an answer in a group begins with. asked: key of the message it answers."""
    return _text_parameters(text, False) | chat_parameters(address) | reply_parameters(address, asked)


def draft_parameters(address: Address, text: str, answer: str) -> Json:
    """The parameters of sendMessageDraft. answer: names the draft, and is never shown."""
    return _html_if_fits(text, False, LIMIT) | chat_parameters(address) | {"draft_id": crc32(answer.encode()) >> 1 or 1}


def preview_text(text: str, address: Address) -> str:
    """What is shown of an answer in the making: of a group's the first part, which stays; else the newest."""
    group = address.chat_id.startswith("-")
    parts = split_text(text, LIMIT - len(CONTINUATION_MARK), "utf16")
    shown = (parts[:1] if group else parts[-1:]) or [""]
    return shown[0].rstrip() + CONTINUATION_MARK if group and shown[0].strip() else shown[0]


def chat_parameters(address: Address) -> Json:
    """The parameters that name a chat, and a topic where there is one."""
    chat: Json = {"chat_id": int(address.chat_id)}
    return chat | (
        {"message_thread_id": int(address.thread_id)} if address.thread_id not in ("", GENERAL_TOPIC) else {}
    )


def reply_parameters(address: Address, key: str) -> Json:
    """The parameter that shows a message as the answer to one in the same group; {} elsewhere."""
    found = _KEY.fullmatch(key)
    if not found or found[1] != address.chat_id or not address.chat_id.startswith("-"):
        return {}
    return {"reply_parameters": {"message_id": int(found[2]), "allow_sending_without_reply": True}}


def reaction_parameters(key: str, emoji: str) -> Json | None:
    """The parameters of setMessageReaction for the message with this key, "" for no emoji; None for no message."""
    found = _KEY.fullmatch(key)
    if not found:
        return None
    shown = [{"type": "emoji", "emoji": emoji}] if emoji else []
    return {"chat_id": int(found[1]), "message_id": int(found[2]), "reaction": shown}


def menu_parameters(commands: Sequence[tuple[str, str, str]]) -> list[Json]:
    """The parameters of setMyCommands, once for everybody (English) and once for Chinese clients.

    Args:
        commands: name, description in Chinese, description in English; names that Telegram refuses are left out.
    """
    fitting = [one for one in commands if _COMMAND.fullmatch(one[0]) and one[1] and one[2]][:MAX_COMMANDS]
    zh = [{"command": name, "description": zh[:MAX_DESCRIPTION]} for name, zh, _ in fitting]
    en = [{"command": name, "description": en[:MAX_DESCRIPTION]} for name, _, en in fitting]
    return [{"commands": en}, {"commands": zh, "language_code": "zh"}] if fitting else []


def _reply_parameters(message: OutboundMessage) -> Json:
    return {} if message.part_no else reply_parameters(message.address, message.reply_to_key)


def _buttons(message: OutboundMessage) -> Json:
    if not message.buttons:
        return {}
    if any(not 0 < len(button.data.encode()) <= BUTTON_BYTES for button in message.buttons):
        raise Rejected(f"a button's data must have 1 to {BUTTON_BYTES} bytes")
    rows = [[{"text": button.text, "callback_data": button.data}] for button in message.buttons]
    return {"reply_markup": {"inline_keyboard": rows}}


def _text_parameters(text: str, plain: bool) -> Json:
    # An address in a model's text must not be fetched for a preview: the fetch alone would carry words away.
    return _html_if_fits(text, plain, LIMIT) | {"link_preview_options": {"is_disabled": True}}


def _html_if_fits(text: str, plain: bool, limit: int) -> Json:
    html = "" if plain else to_html(text)
    if html and text_length(visible_text(html), "utf16") <= limit and len(html.encode()) <= MAX_HTML_BYTES:
        return {"text": html, "parse_mode": "HTML"}
    return {"text": text if text.strip() else "…"}
