"""Conversion between the platform's XML fields and channel messages. Pure."""

import json
import re
from typing import Any

from channels.message import Address, Attachment, InboundMessage, OutboundMessage, Sender
from channels.phrases import Phrase
from channels.toolkit.markdown import to_plain
from channels.toolkit.text import replace_unstorable, text_length
from channels.toolkit.untrusted import load_object, parse_timestamp, to_cdata

# bytes of UTF-8 per message; the bot makes parts 40 shorter, which leaves room for _MORE_TEXT
LIMIT = 2048

_CHINESE = re.compile("[\u3400-\u9fff\uff00-\uffef]")
# WeChat shows it as a link that hides its URL
_ANCHOR = re.compile(r"<(?=/?a[\s>])", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,19}")
_MORE_TEXT = Phrase("\n(not all yet: send anything for more)")
_LATER_TEXT = Phrase("I am still thinking. Send me anything in a little while to get this answer.")
_MAX_UNIX_SECONDS = 253_402_300_799  # the last second that a datetime can hold


def parse_ref(ref: str) -> tuple[str, str]:
    """Parse the reference of a received file: its media_id, and its public URL or "".

    Raises ValueError.
    """
    found = load_object(ref) or {}
    id, url = found.get("id"), found.get("url")
    if not isinstance(id, str) or not isinstance(url, str):
        raise ValueError("no reference of a file")
    return id, url


def parse(fields: dict[str, str], account: str) -> InboundMessage | None:
    """Parse the message in a call's fields; None for an event, an unknown type, or no time or
    id.
    """
    number, created, kind = fields.get("MsgId", ""), fields.get("CreateTime", ""), fields["MsgType"]
    if kind not in _READERS or not _NUMBER.fullmatch(number) or not _NUMBER.fullmatch(created):
        return None
    if int(created) > _MAX_UNIX_SECONDS:
        return None
    text, attachments = _READERS[kind](fields)
    person = fields["FromUserName"]
    return InboundMessage(
        address=Address(channel="wechat_mp", account=account, chat_id=person),
        kind="dm",
        key=number,
        sender=Sender(id=person),
        text=replace_unstorable(text),
        sent_at=parse_timestamp(int(created)),
        attachments=attachments,
        order_key=f"{int(created):020d}.{int(number):020d}",
        raw=json.dumps(fields, ensure_ascii=False),
    )


_Content = tuple[str, tuple[Attachment, ...]]  # of a message


def _text(fields: dict[str, str]) -> _Content:
    return fields.get("Content", ""), ()


def _media(fields: dict[str, str], name: str, media_type: str, url: str = "") -> _Content:
    ref = json.dumps({"id": fields.get("MediaId", ""), "url": url})
    return "", (Attachment(name=name, media_type=media_type, ref=ref),)


def _image(fields: dict[str, str]) -> _Content:
    return _media(fields, "picture.jpg", "image/jpeg", fields.get("PicUrl", ""))


def _voice(fields: dict[str, str]) -> _Content:
    if transcript := fields.get("Recognition", "").strip():
        return transcript, ()
    form = "speex" if "speex" in fields.get("Format", "").lower() else "amr"
    return _media(fields, f"voice.{form}", f"audio/{form}")


def _video(fields: dict[str, str]) -> _Content:
    return _media(fields, "video.mp4", "video/mp4")


def _location(fields: dict[str, str]) -> _Content:
    coordinates = f"{fields.get('Location_X', '')}, {fields.get('Location_Y', '')}"
    return f"📍 {fields.get('Label', '')} ({coordinates})".replace("  ", " "), ()


def _link(fields: dict[str, str]) -> _Content:
    return "\n".join(
        filter(None, (fields.get(name, "") for name in ("Title", "Description", "Url")))
    ), ()


_READERS = {
    "text": _text,
    "image": _image,
    "voice": _voice,
    "video": _video,
    "shortvideo": _video,
    "location": _location,
    "link": _link,
}


def detect_language(text: str) -> str:
    """Return "zh" or "en", the language to answer a text in; "zh" for an empty one."""
    return "en" if text.strip() and not _CHINESE.search(text) else "zh"


def later_text(text: str) -> str:
    """Return the notice that the reply takes longer than the platform waits, in the text's
    language.
    """
    return _LATER_TEXT.text(detect_language(text))


def render(message: OutboundMessage, *, last: bool) -> str:
    """Render one part as plain text of at most 2048 bytes.

    Args:
        last: nothing more can be sent before the person writes. If parts follow, the text says so
            where it fits.
    """
    text = replace_unstorable(message.text)
    plain = _ANCHOR.sub("＜", text if message.plain else to_plain(text))
    more = (
        _MORE_TEXT.text(detect_language(text))
        if last and message.part_no + 1 < message.parts
        else ""
    )
    candidates = (f"{plain.rstrip()}{more}" if more else plain, plain)
    fitting = (one for one in candidates if one.strip() and text_length(one, "utf8") <= LIMIT)
    return next(fitting, _ANCHOR.sub("", text))


def text_xml(text: str) -> str:
    """Build the inner XML of a passive reply with a text."""
    return f"<MsgType>{to_cdata('text')}</MsgType><Content>{to_cdata(text)}</Content>"


def image_xml(media_id: str) -> str:
    """Build the inner XML of a passive reply with an uploaded picture."""
    return f"<MsgType>{to_cdata('image')}</MsgType><Image><MediaId>{to_cdata(media_id)}</MediaId></Image>"  # noqa: E501


def reply_xml(fields: dict[str, str], content: str, now: float) -> str:
    """Build a passive reply to the message with these fields. content: the inner XML."""
    return (
        f"<xml><ToUserName>{to_cdata(fields['FromUserName'])}</ToUserName>"
        f"<FromUserName>{to_cdata(fields['ToUserName'])}</FromUserName><CreateTime>{int(now)}</CreateTime>{content}</xml>"
    )


def service_body(person: str, kind: str, content: dict[str, Any]) -> dict[str, Any]:
    """Build a customer-service message. kind, content: such as "text", {"content": "…"}."""
    return {"touser": person, "msgtype": kind, kind: content}
