"""Feishu's events as our messages. Pure."""

import json
import mimetypes
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from channels.message import Address, Attachment, ChatKind, InboundMessage, Quote, Sender
from channels.toolkit.text import replace_unstorable

# What a Feishu message holds, by its type: text with placeholders for the names, and files to be fetched. Pure.

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
IGNORED_TYPES = frozenset({"system"})  # notes of the platform itself, which nobody wrote

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContent:
    """text: may hold mentions as placeholders (@_user_1). files: in the order they stand in."""

    text: str = ""
    files: tuple[Attachment, ...] = ()


def read_content(kind: str, content: Json, message_id: str) -> MessageContent:
    """The content of one message.

    Args:
        kind: its message_type. content: parsed from its JSON text.

    Raises:
        KeyError, TypeError, AttributeError: not that type's form.
    """
    match kind:
        case "text":
            return MessageContent(text=content.get("text") or "")
        case "post":
            return _post(content, message_id)
        case "image":
            return MessageContent(files=(_file(message_id, "image", content["image_key"], "image.jpg"),))
        case "file" | "media" | "audio" | "sticker":
            usual = {"file": "file", "media": "video.mp4", "audio": "voice.ogg", "sticker": "sticker.webp"}[kind]
            name = content.get("file_name") or usual
            return MessageContent(files=(_file(message_id, "file", content["file_key"], name),))
        case "interactive":
            return MessageContent(text="\n".join(filter(None, (PLACEHOLDERS[kind], _post(content, message_id).text))))
        case "location" if content.get("name"):
            return MessageContent(text=f"[location: {content['name']}]")
    if kind in IGNORED_TYPES:
        return MessageContent()
    return MessageContent(text=PLACEHOLDERS.get(kind, f"[{replace_unstorable(kind)}]"))


def parse_ref(ref: str) -> tuple[str, str, str]:
    """Message id, type ("image" or "file") and key of an attachment's ref.

    Raises:
        ValueError: it is none of ours.
    """
    message_id, kind, key = ref.split("/", 2)
    if kind not in ("image", "file") or not message_id or not key:
        raise ValueError("not a reference to a file of Feishu's")
    return message_id, kind, key


def _file(message_id: str, kind: str, key: str, name: str) -> Attachment:
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    media_type = {"voice.ogg": "audio/ogg", "sticker.webp": "image/webp"}.get(name, guessed)
    return Attachment(name=replace_unstorable(name), media_type=media_type, ref=f"{message_id}/{kind}/{key}")


def _post(content: Json, message_id: str) -> MessageContent:
    """A post, whether it comes under a locale or not; a card that was degraded to one has `elements`."""
    inner = content
    if "content" not in content and "elements" not in content:
        inner = next((value for value in content.values() if isinstance(value, dict)), {})
    rows = inner.get("content") or inner.get("elements") or []
    lines = ["".join(_element(element) for element in _row(row)) for row in rows]
    title = inner.get("title") or ""
    files = tuple(found for row in rows for element in _row(row) if (found := _attachment(element, message_id)))
    return MessageContent(text="\n".join([title, *lines] if title else lines).strip("\n"), files=files)


def _row(row: Any) -> list[Json]:
    return [element for element in (row if isinstance(row, list) else [row]) if isinstance(element, dict)]


def _element(element: Json) -> str:
    shown = _TEXT_READERS.get(str(element.get("tag")))
    return shown(element) if shown else ""


def _attachment(element: Json, message_id: str) -> Attachment | None:
    if element.get("tag") == "img" and element.get("image_key"):
        return _file(message_id, "image", element["image_key"], "image.jpg")
    if element.get("tag") == "media" and element.get("file_key"):
        return _file(message_id, "file", element["file_key"], "video.mp4")
    return None


def _text(element: Json) -> str:
    return str(element.get("text") or element.get("content") or "")


def _link(element: Json) -> str:
    shown, target = _text(element), str(element.get("href") or "")
    return f"[{shown}]({target})" if target and target != shown else shown or target


def _at(element: Json) -> str:
    """The placeholder that the message's mentions explain; where they do not, the name that stands there."""
    id = str(element.get("user_id") or "")
    if id == "all":
        return "@_all"
    return id if id.startswith("@_") else f"@{element.get('user_name') or id}"


def _code(element: Json) -> str:
    language = str(element.get("language") or "").lower()
    return f"```{language}\n{_text(element).rstrip()}\n```"


_TEXT_READERS: dict[str, Callable[[Json], str]] = {
    "text": _text,
    "md": _text,
    "markdown": _text,
    "plain_text": _text,
    "button": _text,
    "a": _link,
    "at": _at,
    "code_block": _code,
    "emotion": lambda element: f":{element.get('emoji_type') or 'emoji'}:",
    "hr": lambda element: "---",
}


_MENTION_SEPARATORS = " \t\r\n\u3000,:，："  # what stands between our name and the words
_PLACEHOLDER = re.compile(r"@_user_\d+|@_all")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseContext:
    """What an event is read with."""

    #: Our app_id.
    account: str
    #: Our own.
    open_id: str
    #: Of the chats that were heard before.
    kinds: Mapping[str, ChatKind] = field(default_factory=dict)
    #: Messages that we sent lately, text by id.
    ours: Mapping[str, str] = field(default_factory=dict)
    #: Of people, by open_id.
    names: Mapping[str, str] = field(default_factory=dict)
    #: What people wrote in groups lately, by chat and message id, as it is quoted.
    heard: Mapping[tuple[str, str], Quote] = field(default_factory=dict)


def parse(event: Json, known: ParseContext) -> InboundMessage | None:
    """What a person did, or None for everything else.

    Args:
        event: an event of schema 2.0, decrypted.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, OverflowError: not the form of an event.
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
    content = read_content(message["message_type"], _load_object(message.get("content")), message["message_id"])
    if not content.text and not content.files:
        return None
    mine = any(_open_id(mention) == known.open_id for mention in mentions)
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
        addressed=private or mine or parent in known.ours,
        order_key=f"{int(message['create_time']):020d}",
        raw=_dump_event(event),
        quote=_quote(known, str(message["chat_id"]), parent),
    )


def _quote(known: ParseContext, chat: str, parent: str) -> Quote | None:
    """What it answers. An event names that by its id alone: neither the words nor who wrote them are on the wire, so
    that a message which was not heard lately is not quoted at all rather than as somebody else's.
    """
    if known.ours.get(parent):
        return Quote(text=known.ours[parent], ours=True)
    return known.heard.get((chat, parent))


def _parse_recall(event: Json, known: ParseContext) -> InboundMessage:
    told = event["event"]
    kind = known.kinds.get(told["chat_id"], "group")
    return InboundMessage(
        address=_address(known, told["chat_id"]),
        kind=kind,
        key=f"{told['message_id']}:recalled",
        sender=Sender(id=""),
        text="",
        sent_at=_parse_time(told.get("recall_time") or event["header"]["create_time"]),
        addressed=kind == "dm",
        raw=_dump_event(event),
        act="delete",
        target=str(told["message_id"]),
    )


def _parse_join(event: Json, known: ParseContext) -> InboundMessage:
    told = event["event"]
    return InboundMessage(
        address=_address(known, told["chat_id"]),
        kind="group",
        key=f"e:{event['header']['event_id']}",
        sender=Sender(id=str((told.get("operator_id") or {}).get("open_id") or "")),
        text=replace_unstorable(told.get("name") or ""),
        sent_at=_parse_time(event["header"]["create_time"]),
        addressed=False,
        raw=_dump_event(event),
        act="joined",
    )


def _parse_press(event: Json, known: ParseContext) -> InboundMessage | None:
    """A press of one of our buttons; the topic that its card stands in is written in the button."""
    told = event["event"]
    value = told["action"].get("value")
    if not isinstance(value, dict) or not isinstance(value.get("data"), str):
        return None
    chat = told["context"]["open_chat_id"]
    return InboundMessage(
        address=_address(known, chat, value.get("thread")),
        kind=known.kinds.get(chat, "group"),
        key=f"e:{event['header']['event_id']}",
        sender=Sender(id=str(told["operator"]["open_id"])),
        text="",
        sent_at=_parse_time(event["header"]["create_time"]),
        raw=_dump_event(event),
        act="press",
        target=value["data"],
    )


def _address(known: ParseContext, chat: Any, thread: Any = "") -> Address:
    return Address(channel="feishu", account=known.account, chat_id=str(chat), thread_id=str(thread or ""))


def _sender(sender: Json, known: ParseContext) -> Sender:
    id = str(sender["sender_id"]["open_id"])
    return Sender(id=id, name=known.names.get(id, ""), is_bot=sender.get("sender_type", "user") != "user")


def _open_id(mention: Json) -> str:
    return str((mention.get("id") or {}).get("open_id") or "")


def _replace_mentions(text: str, mentions: list[Json], ours: str) -> str:
    """The text with names for its placeholders, and without our own (whole, where nothing else is left)."""
    names = {str(mention["key"]): f"@{mention.get('name') or '?'}" for mention in mentions}
    mine = {str(mention["key"]) for mention in mentions if ours and _open_id(mention) == ours}

    def replaced(without: Set[str]) -> str:
        names_left = {"@_all": "@all", **names, **dict.fromkeys(without, "")}
        return _PLACEHOLDER.sub(lambda found: names_left.get(found[0], found[0]), text)

    if not mine:
        return replaced(frozenset())
    left = re.sub(r"(?<=\S) {2,}(?=\S)", " ", replaced(mine))
    return left.rstrip().lstrip(_MENTION_SEPARATORS) or replaced(frozenset())


def _reply_target(message: Json) -> str:
    """The message that it replies to, "" for none; what opened a topic is replied to by everything in it."""
    parent = message.get("parent_id") or ""
    return "" if message.get("thread_id") and parent == message.get("root_id") else str(parent)


def _load_object(text: Any) -> Json:
    parsed = json.loads(text or "{}")
    if not isinstance(parsed, dict):
        raise ValueError("content is no object")
    return parsed


def _parse_time(milliseconds: Any) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def _dump_event(event: Json) -> str:
    """Without the token, which is a secret of webhooks."""
    header = {name: value for name, value in event["header"].items() if name != "token"}
    return json.dumps({**event, "header": header})
