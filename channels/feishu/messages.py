"""Parses Feishu's events and the content of its messages. Pure."""

import json
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from channels.message import Address, Attachment, ChatKind, InboundMessage, Quote, Sender
from channels.toolkit.text import replace_unstorable
from channels.toolkit.untrusted import load_object, parse_timestamp

PLACEHOLDERS = {
    "interactive": "[card]",
    "merge_forward": "[forwarded messages]",
    "share_chat": "[shared chat]",
    "share_user": "[shared contact]",
    "location": "[location]",
    "calendar": "[calendar event]",
    "share_calendar_event": "[calendar event]",
    "general_calendar": "[calendar event]",
    "video_chat": "[call]",
    "todo": "[task]",
    "vote": "[vote]",
    "hongbao": "[red packet]",
    "folder": "[folder]",
}
IGNORED_TYPES = frozenset({"system"})  # messages of the platform itself

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContent:
    """Text and files of a message, in their order."""

    #: Mentions are placeholders such as @_user_1.
    text: str = ""
    files: tuple[Attachment, ...] = ()


def read_content(kind: str, content: Json, message_id: str) -> MessageContent:
    """Parse the content of a message.

    Args:
        kind: its message_type.

    Raises:
        KeyError, TypeError, AttributeError: the content is malformed.
    """
    match kind:
        case "text":
            return MessageContent(text=content.get("text") or "")
        case "post":
            return _post(content, message_id)
        case "image":
            return MessageContent(
                files=(_file(message_id, "image", content["image_key"], "image.jpg"),)
            )
        case "file" | "media" | "audio" | "sticker":
            default = {
                "file": "file",
                "media": "video.mp4",
                "audio": "voice.ogg",
                "sticker": "sticker.webp",
            }[kind]
            name = content.get("file_name") or default
            return MessageContent(files=(_file(message_id, "file", content["file_key"], name),))
        case "interactive":
            return MessageContent(
                text="\n".join(filter(None, (PLACEHOLDERS[kind], _post(content, message_id).text)))
            )
        case "location" if content.get("name"):
            return MessageContent(text=f"[location: {content['name']}]")
    if kind in IGNORED_TYPES:
        return MessageContent()
    return MessageContent(text=PLACEHOLDERS.get(kind, f"[{replace_unstorable(kind)}]"))


def parse_ref(ref: str) -> tuple[str, str, str]:
    """Split an attachment's ref into message id, type ("image" or "file") and key.

    Raises ValueError.
    """
    message_id, kind, key = ref.split("/", 2)
    if kind not in ("image", "file") or not message_id or not key:
        raise ValueError("not a reference to a file of Feishu")
    return message_id, kind, key


def _file(message_id: str, kind: str, key: str, name: str) -> Attachment:
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    media_type = {"voice.ogg": "audio/ogg", "sticker.webp": "image/webp"}.get(name, guessed)
    return Attachment(
        name=replace_unstorable(name), media_type=media_type, ref=f"{message_id}/{kind}/{key}"
    )


def _post(content: Json, message_id: str) -> MessageContent:
    """Parse a post, with or without a locale around it; a card that was converted to one has
    `elements`.
    """
    inner = content
    if "content" not in content and "elements" not in content:
        inner = next((value for value in content.values() if isinstance(value, dict)), {})
    rows = inner.get("content") or inner.get("elements") or []
    lines = ["".join(map(_element_text, _row(row))) for row in rows]
    title = inner.get("title") or ""
    files = tuple(
        file for row in rows for element in _row(row) if (file := _attachment(element, message_id))
    )
    return MessageContent(
        text="\n".join([title, *lines] if title else lines).strip("\n"), files=files
    )


def _row(row: Any) -> list[Json]:
    return [
        element
        for element in (row if isinstance(row, list) else [row])
        if isinstance(element, dict)
    ]


def _link_text(text: str, url: str) -> str:
    return f"[{text}]({url})" if url and url != text else text or url


def _mention_text(element: Json) -> str:
    """Return the placeholder of a mention, or its name where there is none."""
    id = str(element.get("user_id") or "")
    if id == "all":
        return "@_all"
    return id if id.startswith("@_") else f"@{element.get('user_name') or id}"


def _element_text(element: Json) -> str:
    text = str(element.get("text") or element.get("content") or "")
    match element.get("tag"):
        case "text" | "md" | "markdown" | "plain_text" | "button":
            return text
        case "a":
            return _link_text(text, str(element.get("href") or ""))
        case "at":
            return _mention_text(element)
        case "code_block":
            return f"```{str(element.get('language') or '').lower()}\n{text.rstrip()}\n```"
        case "emotion":
            return f":{element.get('emoji_type') or 'emoji'}:"
        case "hr":
            return "---"
    return ""


def _attachment(element: Json, message_id: str) -> Attachment | None:
    if element.get("tag") == "img" and element.get("image_key"):
        return _file(message_id, "image", element["image_key"], "image.jpg")
    if element.get("tag") == "media" and element.get("file_key"):
        return _file(message_id, "file", element["file_key"], "video.mp4")
    return None


_MENTION_SEPARATORS = " \t\r\n\u3000,:，："  # between a leading mention of the bot and the text
_PLACEHOLDER = re.compile(r"@_user_\d+|@_all")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseContext:
    """What the channel knows besides an event."""

    #: The app_id.
    account: str
    #: The bot's own.
    open_id: str
    #: Of known chats, by id.
    kinds: Mapping[str, ChatKind] = field(default_factory=dict)
    #: Texts of the bot's recent messages, by id.
    sent: Mapping[str, str] = field(default_factory=dict)
    #: Of people, by open_id.
    names: Mapping[str, str] = field(default_factory=dict)
    #: Of groups, by id, as far as the platform has told them.
    titles: Mapping[str, str] = field(default_factory=dict)
    #: Recent messages of groups as quotes, by chat and message id.
    quotes: Mapping[tuple[str, str], Quote] = field(default_factory=dict)


def parse(event: Json, known: ParseContext) -> InboundMessage | None:
    """Parse a decrypted event of schema 2.0; None if it is not an act of a person.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, OverflowError: the event is malformed.
    """
    match event.get("header", {}).get("event_type"):
        case "im.message.receive_v1":
            return _parse_message(event, known)
        case "im.message.recalled_v1":
            return _parse_recall(event, known)
        case "im.chat.member.bot.added_v1":
            return _parse_join(event, known)
        case "card.action.trigger":
            return _parse_press(event, known)
    return None


def _parse_message(event: Json, known: ParseContext) -> InboundMessage | None:
    message, sender = event["event"]["message"], event["event"]["sender"]
    mentions = message.get("mentions") or []
    content = read_content(
        message["message_type"], _load_object(message.get("content")), message["message_id"]
    )
    if not content.text and not content.files:
        return None
    mentioned = any(_open_id(mention) == known.open_id for mention in mentions)
    private = message["chat_type"] == "p2p"
    parent = _reply_target(message)
    return InboundMessage(
        address=_address(known, message["chat_id"], message.get("thread_id")),
        kind="dm" if private else "group",
        key=str(message["message_id"]),
        sender=_sender(sender, known),
        text=replace_unstorable(_replace_mentions(content.text, mentions, known.open_id)),
        sent_at=_parse_time(message["create_time"]),
        attachments=content.files,
        addressed=private or mentioned or parent in known.sent,
        order_key=f"{int(message['create_time']):020d}",
        raw=_dump_event(event),
        quote=_quote(known, str(message["chat_id"]), parent),
        chat_title="" if private else known.titles.get(str(message["chat_id"]), ""),
    )


def _quote(known: ParseContext, chat: str, parent: str) -> Quote | None:
    """Quote the message replied to if it is known: the event holds only its id, neither its text
    nor its author.
    """
    sent = known.sent.get(parent)
    return Quote(text=sent, ours=True) if sent else known.quotes.get((chat, parent))


def _parse_recall(event: Json, known: ParseContext) -> InboundMessage:
    recall = event["event"]
    kind = known.kinds.get(recall["chat_id"], "group")
    return InboundMessage(
        address=_address(known, recall["chat_id"]),
        kind=kind,
        key=f"{recall['message_id']}:recalled",
        sender=Sender(id=""),
        text="",
        sent_at=_parse_time(recall.get("recall_time") or event["header"]["create_time"]),
        addressed=kind == "dm",
        raw=_dump_event(event),
        act="delete",
        target=str(recall["message_id"]),
    )


def _parse_join(event: Json, known: ParseContext) -> InboundMessage:
    join = event["event"]
    return InboundMessage(
        address=_address(known, join["chat_id"]),
        kind="group",
        key=f"e:{event['header']['event_id']}",
        sender=Sender(id=str((join.get("operator_id") or {}).get("open_id") or "")),
        text=replace_unstorable(join.get("name") or ""),
        sent_at=_parse_time(event["header"]["create_time"]),
        addressed=False,
        raw=_dump_event(event),
        act="joined",
        chat_title=replace_unstorable(join.get("name") or ""),
    )


def parse_title(event: Json) -> tuple[str, str] | None:
    """Return the id and the title of a group that an event tells, None if it tells none.

    Raises:
        KeyError, TypeError, AttributeError: the event is malformed.
    """
    kind, told = event.get("header", {}).get("event_type"), event.get("event", {})
    if kind == "im.chat.member.bot.added_v1":
        title = told.get("name")
    elif kind == "im.chat.updated_v1":
        title = (told.get("after_change") or {}).get("name")
    else:
        return None
    return (str(told["chat_id"]), replace_unstorable(str(title))) if title else None


def _parse_press(event: Json, known: ParseContext) -> InboundMessage | None:
    """Parse a press of a button; its value names the topic of the card."""
    press = event["event"]
    value = press["action"].get("value")
    if not isinstance(value, dict) or not isinstance(value.get("data"), str):
        return None
    chat = press["context"]["open_chat_id"]
    return InboundMessage(
        address=_address(known, chat, value.get("thread")),
        kind=known.kinds.get(chat, "group"),
        key=f"e:{event['header']['event_id']}",
        sender=Sender(id=str(press["operator"]["open_id"])),
        text="",
        sent_at=_parse_time(event["header"]["create_time"]),
        raw=_dump_event(event),
        act="press",
        target=value["data"],
    )


def _address(known: ParseContext, chat: Any, thread: Any = "") -> Address:
    return Address(
        channel="feishu", account=known.account, chat_id=str(chat), thread_id=str(thread or "")
    )


def _sender(sender: Json, known: ParseContext) -> Sender:
    id = str(sender["sender_id"]["open_id"])
    return Sender(
        id=id, name=known.names.get(id, ""), is_bot=sender.get("sender_type", "user") != "user"
    )


def _open_id(mention: Json) -> str:
    return str((mention.get("id") or {}).get("open_id") or "")


def _replace_mentions(text: str, mentions: list[Json], own_id: str) -> str:
    """Replace placeholders by names, and remove mentions of the bot unless nothing else would be
    left.
    """
    names = {"@_all": "@all"} | {
        str(mention["key"]): f"@{mention.get('name') or '?'}" for mention in mentions
    }
    own = {
        str(mention["key"]): "" for mention in mentions if own_id and _open_id(mention) == own_id
    }
    named = _replace_placeholders(text, names)
    if not own:
        return named
    stripped = re.sub(r"(?<=\S) {2,}(?=\S)", " ", _replace_placeholders(text, names | own))
    return stripped.rstrip().lstrip(_MENTION_SEPARATORS) or named


def _replace_placeholders(text: str, names: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: names.get(found[0], found[0]), text)


def _reply_target(message: Json) -> str:
    """Return the id of the message replied to, "" for none.

    All messages of a topic reply to the one that opened it.
    """
    parent = message.get("parent_id") or ""
    return "" if message.get("thread_id") and parent == message.get("root_id") else str(parent)


def _load_object(text: Any) -> Json:
    parsed = load_object(text or "{}")
    if parsed is None:
        raise ValueError("content is no object")
    return parsed


def _parse_time(milliseconds: Any) -> datetime:
    return parse_timestamp(int(milliseconds) / 1000)


def _dump_event(event: Json) -> str:
    """Dump an event without its token, which is a secret of webhooks."""
    header = {name: value for name, value in event["header"].items() if name != "token"}
    return json.dumps({**event, "header": header})
