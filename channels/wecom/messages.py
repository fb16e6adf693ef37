"""Conversion between WeCom's frames and channel messages. Pure."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from channels.message import Act, Address, Attachment, Button, InboundMessage, Quote, Sender
from channels.toolkit.text import replace_unstorable, text_length
from channels.toolkit.untrusted import parse_timestamp

LIMIT = 20_480  # bytes of UTF-8 in one message, streams too
REPEAT_MARK = "（可能重复 / possibly repeated）\n"
PLACEHOLDER = "…"
MAX_BUTTONS = 6
MAX_BUTTON_CHARS = 20
_MENTION = re.compile(r"\s*@[^\s@]+\s*")
_FILES = {
    "image": ("picture.jpg", "image/jpeg"),
    "file": ("file", "application/octet-stream"),
    "video": ("video.mp4", "video/mp4"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WecomMessage:
    """A message, parsed from a callback."""

    message: InboundMessage
    #: Request id for replies to it.
    req_id: str
    #: Its chat id in WeCom's spelling.
    to: str


def parse(frame: Mapping[str, Any], account: str, arrival: int) -> WecomMessage | None:
    """Parse a callback frame; None for events that are no messages.

    Args:
        arrival: grows with every frame; orders those of one second.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, OverflowError: it is malformed.
    """
    body = frame["body"]
    if frame["cmd"] == "aibot_event_callback":
        event = body["event"]
        if event["eventtype"] != "template_card_event":
            return None
        pressed = event.get("template_card_event", event)
        return _build_message(
            frame,
            account,
            arrival,
            {"act": "press", "target": replace_unstorable(pressed["event_key"]), "text": ""},
        )
    files = [item for part in _message_items(body) for item in _attachments(part)]
    fields: dict[str, Any] = {"text": _message_text(body, group=body["chattype"] == "group")}
    if quote := body.get("quote"):
        # It has neither the author nor the id of the quoted message.
        fields["quote"] = Quote(text=_message_text(quote, group=False))
        files += [item for part in _message_items(quote) for item in _attachments(part)]
    return _build_message(frame, account, arrival, {**fields, "attachments": tuple(files)})


def _build_message(
    frame: Mapping[str, Any], account: str, arrival: int, fields: Mapping[str, Any]
) -> WecomMessage:
    body = frame["body"]
    group = body["chattype"] == "group"
    person, sent = body["from"], int(body["create_time"])
    sender = normalize_user_id(person["userid"], person.get("corpid", ""))
    act: Act = fields.get("act", "message")
    message = InboundMessage(
        **{**fields, "act": act},
        address=Address(
            channel="wecom", account=account, chat_id=_id(body["chatid"]) if group else sender
        ),
        kind="group" if group else "dm",
        key=_id(body["msgid"]),
        sender=Sender(id=sender, name=replace_unstorable(person["userid"])),
        sent_at=parse_timestamp(sent),
        order_key=f"{sent:012d}-{arrival:020d}",
        raw=json.dumps({key: value for key, value in body.items() if key != "response_url"}),
    )
    return WecomMessage(
        message=message,
        req_id=_id(frame["headers"]["req_id"]),
        to=replace_unstorable(body["chatid"] if group else person["userid"]),
    )


def normalize_user_id(userid: str, corpid: str = "") -> str:
    """Return a case-insensitive user id; for people of other companies with their company's id."""
    return _id(f"{userid}@{corpid}" if corpid else userid).lower()


def _id(text: object) -> str:
    if not isinstance(text, str) or not text:
        raise ValueError("an id is missing or not a string")
    return replace_unstorable(text)


def _message_items(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the items of a mixed message, or the message itself."""
    if body["msgtype"] == "mixed":
        yield from body["mixed"]["msg_item"]
    else:
        yield body


def _message_text(body: Mapping[str, Any], *, group: bool) -> str:
    text = "\n".join(filter(None, map(_item_text, _message_items(body))))
    mention = _MENTION.match(text) if group else None
    return text[mention.end() :] if mention else text


def _item_text(part: Mapping[str, Any]) -> str:
    kind = part["msgtype"]
    if kind in ("text", "voice"):
        content = part[kind]["content"]
        if not isinstance(content, str):
            raise TypeError(f"{kind} is no text")
        return replace_unstorable(content)
    return "" if kind in _FILES else f"[{replace_unstorable(str(kind))}]"


def _attachments(part: Mapping[str, Any]) -> Iterator[Attachment]:
    kind = part["msgtype"]
    if kind in _FILES:
        name, media_type = _FILES[kind]
        ref = json.dumps({"url": part[kind]["url"], "aeskey": part[kind]["aeskey"]})
        yield Attachment(name=name, media_type=media_type, ref=ref)


def render(text: str) -> str:
    """Render Markdown so that it mentions no user and opens no <think> block."""
    text = replace_unstorable(text)
    spaced = re.sub(r"<(?=@|/?think>)", "< ", text)
    return (
        spaced
        if text_length(spaced, "utf8") <= LIMIT
        else re.sub(r"(?<!<)<++(?=@|/?think>)", "", text)
    )


def first_message(text: str) -> str:
    """Cut a text to the length of one message."""
    return text.encode()[:LIMIT].decode(errors="ignore")


def stream_id(name: str) -> str:
    """Derive a stream id from a message or part key, the same in every process."""
    return "s" + hashlib.sha256(name.encode()).hexdigest()[:31]


def stream_packet(id: str, text: str, *, finish: bool) -> dict[str, Any]:
    """Build a packet that replaces the text of a stream."""
    return {"msgtype": "stream", "stream": {"id": id, "finish": finish, "content": text}}


def markdown_packet(text: str) -> dict[str, Any]:
    """Build a new message."""
    return {"msgtype": "markdown", "markdown": {"content": text}}


def card_packet(buttons: Sequence[Button], name: str) -> dict[str, Any]:
    """Build a card of at most six buttons. name: key of the part they belong to.

    Source: the vendor's page on template cards, button_interaction.
    """
    listed = [
        {"text": replace_unstorable(button.text)[:MAX_BUTTON_CHARS], "style": 1, "key": button.data}
        for button in buttons
    ]
    return {
        "msgtype": "template_card",
        "template_card": {
            "card_type": "button_interaction",
            "main_title": {"title": "请选择 / Please choose"},
            "button_list": listed[:MAX_BUTTONS],
            "task_id": stream_id(name),
        },
    }
