"""What a browser or a script posts, as an inbound message. Pure."""

import base64
import binascii
import re
import secrets
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from channels.message import Attachment, InboundMessage, Sender
from channels.web.backend import at
from channels.web.errors import Refused

NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,64}/[a-z0-9.+-]{1,64}", re.ASCII)
LONGEST_TEXT = 200_000
LONGEST_KEY = 200
MOST_FILES = 10
MOST_BYTES = 25_000_000
LABEL_BYTES = 120
KNOWN = frozenset({"conversation", "text", "key", "attachments"})


def parse(fields: Mapping[str, Any], now: datetime) -> InboundMessage:
    """The message in a POST's object.

    The key is joined with the conversation's name: a client may number its messages anew in each conversation.

    Raises:
        Refused: 400 for a field that is wrong, 413 for one that is too large; the sentence names it.
    """
    strange = sorted(set(fields) - KNOWN)
    if strange:
        raise Refused(400, "unknown_field", f"{strange[0][:40]!r} is not a field of a message; {sorted(KNOWN)} are")
    conversation = fields.get("conversation")
    if not isinstance(conversation, str) or not NAME.fullmatch(conversation):
        raise Refused(400, "conversation", "conversation must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -")
    text = _text(fields.get("text", ""))
    attachments = _attachments(fields.get("attachments") or [])
    if not text.strip() and not attachments:
        raise Refused(400, "empty", "text is empty; write something or attach a file")
    return InboundMessage(
        address=at(conversation),
        kind="dm",
        key=f"{conversation}\x1f{_key(fields.get('key'))}",
        sender=Sender(id="owner"),
        text=text,
        sent_at=now,
        attachments=attachments,
    )


def clean(text: str) -> str:
    """Text as it can be stored: no NUL, no half of a surrogate pair; all else is kept."""
    return text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def label(name: str) -> str:
    """A file's name as something to show: no folders, no control or direction characters, at most 120 bytes."""
    last = re.split(r"[\\/]", clean(name))[-1]
    shown = "".join(sign for sign in last if unicodedata.category(sign) not in ("Cc", "Cf", "Zl", "Zp"))
    cut = shown.encode()[:LABEL_BYTES].decode(errors="ignore").strip(" .")
    return cut or "file"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused(400, "text", "text must be a string")
    if len(value) > LONGEST_TEXT:
        raise Refused(413, "too_long", f"text has {len(value)} characters; {LONGEST_TEXT} fit, a file takes more")
    return clean(value)


def _key(value: Any) -> str:
    if value is None:
        return secrets.token_hex(16)
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_KEY:
        raise Refused(400, "key", f"key must be a string of 1 to {LONGEST_KEY} characters, or left out")
    cleaned = clean(value)
    if cleaned != value:
        raise Refused(400, "key", "key must be plain text without NUL")
    return value


def _attachments(value: Any) -> tuple[Attachment, ...]:
    if not isinstance(value, list):
        raise Refused(400, "attachments", "attachments must be a list")
    if len(value) > MOST_FILES:
        raise Refused(413, "too_many_files", f"{len(value)} files; {MOST_FILES} fit into one message")
    files = tuple(_attachment(item) for item in value)
    total = sum(len(item.data) for item in files)
    if total > MOST_BYTES:
        raise Refused(413, "too_large", f"the files have {total} bytes; {MOST_BYTES} fit into one message")
    return files


def _attachment(item: Any) -> Attachment:
    if not isinstance(item, dict) or not all(isinstance(value, str) for value in item.values()):
        raise Refused(400, "attachments", "an attachment is an object of strings: name, media_type, data")
    media_type = item.get("media_type", "").split(";")[0].strip().lower() or "application/octet-stream"
    if not MEDIA_TYPE.fullmatch(media_type):
        raise Refused(400, "attachments", f"{media_type[:40]!r} is not a media type such as image/png")
    try:
        data = base64.b64decode(item.get("data", ""), validate=True)
    except (binascii.Error, ValueError) as err:
        raise Refused(400, "attachments", "data of an attachment must be base64") from err
    if not data:
        raise Refused(400, "attachments", "an attachment is empty")
    return Attachment(name=label(item.get("name", "")), media_type=media_type, data=data)
