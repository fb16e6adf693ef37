"""Our messages as the Bot API's parameters. Pure."""

import re
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from channels.errors import Rejected
from channels.message import Address, OutboundMessage
from channels.telegram.format import to_html, visible
from channels.telegram.words import GENERAL_TOPIC
from channels.text import length, split

LIMIT = 4096
"""Most UTF-16 units of one message; the server counts code points, of which there are never more."""
CAPTION = 1024
"""The same beside a file."""
MOST_BYTES = 32_768
"""Most UTF-8 bytes of one message before its markup is read."""
BUTTON_BYTES = 64
MOST_COMMANDS = 100
LONGEST_DESCRIPTION = 256
GOES_ON = " …"

_KEY = re.compile(r"m:(-?\d+):(\d+):\d+")
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")

Json = dict[str, Any]


def render(message: OutboundMessage) -> Json:
    """The parameters of sendMessage. Formatted where that stays within the limits, else plain.

    Raises:
        Rejected: a button carries more than the platform takes.
    """
    return _words(message.text, message.plain) | place(message.address) | _answer(message) | _buttons(message)


def render_edit(message: OutboundMessage, message_id: int) -> Json:
    """The parameters of editMessageText that turn a message of ours into this one."""
    return edit(message.address, message_id, message.text, message.plain) | _buttons(message)


def render_file(message: OutboundMessage) -> Json:
    """The parameters of sendDocument or sendPhoto, without the file itself.

    Raises:
        Rejected: the text is too long for a caption.
    """
    if length(message.text, "utf16") > CAPTION:
        raise Rejected(f"a caption of more than {CAPTION} characters: send the text as a message of its own")
    formed = _formed(message.text, message.plain, CAPTION) if message.text.strip() else {}
    if "text" in formed:
        formed["caption"] = formed.pop("text")
    return formed | place(message.address) | _answer(message) | _buttons(message)


def edit(address: Address, message_id: int, text: str, plain: bool = False) -> Json:
    """The parameters of editMessageText."""
    return _words(text, plain) | {"chat_id": int(address.chat_id), "message_id": message_id}


def opening(address: Address, text: str, asked: str) -> Json:
    """The parameters of the message that an answer in a group begins with. asked: key of the message it answers."""
    return _words(text, False) | place(address) | reply(address, asked)


def draft(address: Address, text: str, answer: str) -> Json:
    """The parameters of sendMessageDraft. answer: names the draft, and is never shown."""
    return _formed(text, False, LIMIT) | place(address) | {"draft_id": crc32(answer.encode()) >> 1 or 1}


def so_far(text: str, address: Address) -> str:
    """What is shown of an answer in the making: of a group's the first part, which stays; else the newest."""
    group = address.chat_id.startswith("-")
    parts = split(text, LIMIT - len(GOES_ON), "utf16")
    shown = (parts[:1] if group else parts[-1:]) or [""]
    return shown[0].rstrip() + GOES_ON if group and shown[0].strip() else shown[0]


def place(address: Address) -> Json:
    """The parameters that name a chat, and a topic where there is one."""
    chat: Json = {"chat_id": int(address.chat_id)}
    return chat | (
        {"message_thread_id": int(address.thread_id)} if address.thread_id not in ("", GENERAL_TOPIC) else {}
    )


def reply(address: Address, key: str) -> Json:
    """The parameter that shows a message as the answer to one in the same group; {} elsewhere."""
    found = _KEY.fullmatch(key)
    if not found or found[1] != address.chat_id or not address.chat_id.startswith("-"):
        return {}
    return {"reply_parameters": {"message_id": int(found[2]), "allow_sending_without_reply": True}}


def reaction(key: str, emoji: str) -> Json | None:
    """The parameters of setMessageReaction for the message with this key, "" for no emoji; None for no message."""
    found = _KEY.fullmatch(key)
    if not found:
        return None
    shown = [{"type": "emoji", "emoji": emoji}] if emoji else []
    return {"chat_id": int(found[1]), "message_id": int(found[2]), "reaction": shown}


def menu(commands: Sequence[tuple[str, str, str]]) -> list[Json]:
    """The parameters of setMyCommands, once for everybody (English) and once for Chinese clients.

    Args:
        commands: name, description in Chinese, description in English; names that Telegram refuses are left out.
    """
    fitting = [one for one in commands if _COMMAND.fullmatch(one[0]) and one[1] and one[2]][:MOST_COMMANDS]
    zh = [{"command": name, "description": zh[:LONGEST_DESCRIPTION]} for name, zh, _ in fitting]
    en = [{"command": name, "description": en[:LONGEST_DESCRIPTION]} for name, _, en in fitting]
    return [{"commands": en}, {"commands": zh, "language_code": "zh"}] if fitting else []


def _answer(message: OutboundMessage) -> Json:
    return {} if message.part_no else reply(message.address, message.reply_to_key)


def _buttons(message: OutboundMessage) -> Json:
    if not message.buttons:
        return {}
    if any(not 0 < len(button.data.encode()) <= BUTTON_BYTES for button in message.buttons):
        raise Rejected(f"a button's data must have 1 to {BUTTON_BYTES} bytes")
    rows = [[{"text": button.text, "callback_data": button.data}] for button in message.buttons]
    return {"reply_markup": {"inline_keyboard": rows}}


def _words(text: str, plain: bool) -> Json:
    # An address in a model's text must not be fetched for a preview: the fetch alone would carry words away.
    return _formed(text, plain, LIMIT) | {"link_preview_options": {"is_disabled": True}}


def _formed(text: str, plain: bool, limit: int) -> Json:
    html = "" if plain else to_html(text)
    if html and length(visible(html), "utf16") <= limit and len(html.encode()) <= MOST_BYTES:
        return {"text": html, "parse_mode": "HTML"}
    return {"text": text if text.strip() else "…"}
