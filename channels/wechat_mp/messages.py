"""What the platform's messages mean, and how ours are written. Pure."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from channels.message import Address, Attachment, InboundMessage, OutboundMessage, Sender
from channels.toolkit.markdown import to_plain
from channels.toolkit.text import replace_unstorable, text_length
from channels.toolkit.untrusted import to_cdata

# Bytes of UTF-8 that the platform takes in one message. Parts are made 40 shorter, which is room for _MORE.
LIMIT = 2048

_CHINESE = re.compile("[\u3400-\u9fff\uff00-\uffef]")
_ANCHOR = re.compile(r"<(?=/?a[\s>])", re.IGNORECASE)  # weChat would make a link of it that hides its address
_NUMBER = re.compile(r"[0-9]{1,19}")
_MORE_TEXT = {"zh": "\n（未完，发任意消息看下文）", "en": "\n(not all yet: send anything for more)"}
_LATER_TEXT = {
    "zh": "我还在想。过一会儿发任意一条消息给我，就能收到这次的回答。",
    "en": "I am still thinking. Send me anything in a little while, and the answer to this comes.",
}
_VOICE_TYPES = {"amr": "audio/amr", "speex": "audio/speex"}
_MAX_UNIX_SECONDS = 253_402_300_799  # the last second that a datetime can hold


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaRef:
    """A file of theirs: its media_id, and its public address where there is one."""

    id: str
    url: str = ""

    def ref(self) -> str:
        return json.dumps({"id": self.id, "url": self.url})

    @staticmethod
    def of(ref: str) -> "MediaRef":
        """What `ref` gave. Raises ValueError."""
        found = json.loads(ref)
        if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in ("id", "url")):
            raise ValueError("no reference of a file")
        return MediaRef(id=found["id"], url=found["url"])


def parse(fields: dict[str, str], account: str) -> InboundMessage | None:
    """The message in a call's fields; None for an event, a kind that is not known, or one without a time or id."""
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
        sent_at=datetime.fromtimestamp(int(created), UTC),
        attachments=attachments,
        order_key=f"{int(created):020d}.{int(number):020d}",
        raw=json.dumps(fields, ensure_ascii=False),
    )


def _text(fields: dict[str, str]) -> tuple[str, tuple[Attachment, ...]]:
    return fields.get("Content", ""), ()


def _image(fields: dict[str, str]) -> tuple[str, tuple[Attachment, ...]]:
    ref = MediaRef(id=fields.get("MediaId", ""), url=fields.get("PicUrl", "")).ref()
    return "", (Attachment(name="picture.jpg", media_type="image/jpeg", ref=ref),)


def _voice(fields: dict[str, str]) -> tuple[str, tuple[Attachment, ...]]:
    if said := fields.get("Recognition", "").strip():
        return said, ()
    form = "speex" if "speex" in fields.get("Format", "").lower() else "amr"
    ref = MediaRef(id=fields.get("MediaId", "")).ref()
    return "", (Attachment(name=f"voice.{form}", media_type=_VOICE_TYPES[form], ref=ref),)


def _video(fields: dict[str, str]) -> tuple[str, tuple[Attachment, ...]]:
    return "", (Attachment(name="video.mp4", media_type="video/mp4", ref=MediaRef(id=fields.get("MediaId", "")).ref()),)


def _location(fields: dict[str, str]) -> tuple[str, tuple[Attachment, ...]]:
    place = f"{fields.get('Location_X', '')}, {fields.get('Location_Y', '')}"
    return f"📍 {fields.get('Label', '')} ({place})".replace("  ", " "), ()


def _link(fields: dict[str, str]) -> tuple[str, tuple[Attachment, ...]]:
    return "\n".join(filter(None, (fields.get(name, "") for name in ("Title", "Description", "Url")))), ()


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
    """ "zh" or "en": what a text is answered in; Chinese where there are no words."""
    return "en" if text.strip() and not _CHINESE.search(text) else "zh"


def later_text(text: str) -> str:
    """The sentence that says how to fetch an answer that takes longer than the platform waits."""
    return _LATER_TEXT[detect_language(text)]


def render(message: OutboundMessage, *, last: bool) -> str:
    """The text of one part, as plain text within 2048 bytes.

    Args:
        last: nothing more can be sent before the person writes; if there is more and room, the text says so.
    """
    text = replace_unstorable(message.text)
    shown = _ANCHOR.sub("＜", text if message.plain else to_plain(text))
    more = _MORE_TEXT[detect_language(text)] if last and message.part_no + 1 < message.parts else ""
    told = (f"{shown.rstrip()}{more}" if more else shown, shown)
    fitting = (whole for whole in told if whole.strip() and text_length(whole, "utf8") <= LIMIT)
    return next(fitting, _ANCHOR.sub("", text))


def text_xml(text: str) -> str:
    """The part of a passive reply that says what it is: text."""
    return f"<MsgType>{to_cdata('text')}</MsgType><Content>{to_cdata(text)}</Content>"


def image_xml(media_id: str) -> str:
    """The part of a passive reply that says what it is: an uploaded picture."""
    return f"<MsgType>{to_cdata('image')}</MsgType><Image><MediaId>{to_cdata(media_id)}</MediaId></Image>"


def reply_xml(fields: dict[str, str], content: str, now: float) -> str:
    """A whole passive reply to the message with these fields."""
    return (
        f"<xml><ToUserName>{to_cdata(fields['FromUserName'])}</ToUserName>"
        f"<FromUserName>{to_cdata(fields['ToUserName'])}</FromUserName><CreateTime>{int(now)}</CreateTime>{content}</xml>"
    )


def service_body(person: str, kind: str, content: dict[str, Any]) -> dict[str, Any]:
    """A customer-service message. kind, content: as in "text", {"content": "…"}."""
    return {"touser": person, "msgtype": kind, kind: content}
