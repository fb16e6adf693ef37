"""What a Feishu message holds, by its type: text with placeholders for the names, and files to be fetched. Pure."""

import mimetypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from channels.message import Attachment
from channels.text import clean

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
SILENT = frozenset({"system"})
"""Notes of the platform itself, which nobody wrote."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """text: may hold mentions as placeholders (@_user_1). files: in the order they stand in."""

    text: str = ""
    files: tuple[Attachment, ...] = ()


def read_content(kind: str, content: Json, message_id: str) -> Content:
    """The content of one message.

    Args:
        kind: its message_type. content: parsed from its JSON text.

    Raises:
        KeyError, TypeError, AttributeError: not that type's form.
    """
    match kind:
        case "text":
            return Content(text=content.get("text") or "")
        case "post":
            return _post(content, message_id)
        case "image":
            return Content(files=(_file(message_id, "image", content["image_key"], "image.jpg"),))
        case "file" | "media" | "audio" | "sticker":
            usual = {"file": "file", "media": "video.mp4", "audio": "voice.ogg", "sticker": "sticker.webp"}[kind]
            name = content.get("file_name") or usual
            return Content(files=(_file(message_id, "file", content["file_key"], name),))
        case "interactive":
            return Content(text="\n".join(filter(None, (PLACEHOLDERS[kind], _post(content, message_id).text))))
        case "location" if content.get("name"):
            return Content(text=f"[location: {content['name']}]")
    if kind in SILENT:
        return Content()
    return Content(text=PLACEHOLDERS.get(kind, f"[{clean(kind)}]"))


def ref_parts(ref: str) -> tuple[str, str, str]:
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
    return Attachment(name=clean(name), media_type=media_type, ref=f"{message_id}/{kind}/{key}")


def _post(content: Json, message_id: str) -> Content:
    """A post, whether it comes under a locale or not; a card that was degraded to one has `elements`."""
    inner = content
    if "content" not in content and "elements" not in content:
        inner = next((value for value in content.values() if isinstance(value, dict)), {})
    rows = inner.get("content") or inner.get("elements") or []
    lines = ["".join(_element(element) for element in _row(row)) for row in rows]
    title = inner.get("title") or ""
    files = tuple(found for row in rows for element in _row(row) if (found := _attached(element, message_id)))
    return Content(text="\n".join([title, *lines] if title else lines).strip("\n"), files=files)


def _row(row: Any) -> list[Json]:
    return [element for element in (row if isinstance(row, list) else [row]) if isinstance(element, dict)]


def _element(element: Json) -> str:
    shown = _SHOWN.get(str(element.get("tag")))
    return shown(element) if shown else ""


def _attached(element: Json, message_id: str) -> Attachment | None:
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


_SHOWN: dict[str, Callable[[Json], str]] = {
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
