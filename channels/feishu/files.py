"""Files as Feishu takes them: what kind each is, and how it is shown. Pure."""

import json
from dataclasses import dataclass
from typing import Any

from channels.errors import Rejected, TooBig
from channels.message import OutboundFile
from channels.text import clean

MOST_PICTURE = 10_000_000
MOST_FILE = 30_000_000
LONGEST_NAME = 200
_KINDS = {"pdf": "pdf", "doc": "doc", "docx": "doc", "xls": "xls", "xlsx": "xls", "ppt": "ppt", "pptx": "ppt"}
_HEARD = {"opus": ("opus", "audio"), "mp4": ("mp4", "media")}
_PICTURES = ("png", "jpg", "jpeg", "gif", "webp", "bmp", "tiff", "ico")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One upload. path: below /open-apis; fields, files: of the form; key: what the answer calls its key.

    msg_type: of the message that then shows it.
    """

    path: str
    fields: dict[str, str]
    files: Json
    key: str
    msg_type: str


def upload_of(file: OutboundFile) -> Upload:
    """How a file goes up.

    Raises:
        TooBig: more than Feishu takes. Rejected: there is nothing in it.
    """
    name = clean(file.name).replace("\\", "/").rsplit("/", 1)[-1].strip()[-LONGEST_NAME:] or "file"
    if not file.data:
        raise Rejected(f"the file {name} is empty, and Feishu takes no empty files")
    ending = name.rpartition(".")[2].lower()
    content = (name, file.data, file.media_type or "application/octet-stream")
    if (
        file.picture
        and len(file.data) <= MOST_PICTURE
        and (ending in _PICTURES or file.media_type.startswith("image/"))
    ):
        fields = {"image_type": "message"}
        return Upload(path="/im/v1/images", fields=fields, files={"image": content}, key="image_key", msg_type="image")
    if len(file.data) > MOST_FILE:
        raise TooBig(f"the file {name} has {len(file.data)} bytes, and Feishu takes {MOST_FILE}")
    kind, msg_type = _HEARD.get(ending, (_KINDS.get(ending, "stream"), "file"))
    fields = {"file_type": kind, "file_name": name}
    return Upload(path="/im/v1/files", fields=fields, files={"file": content}, key="file_key", msg_type=msg_type)


def file_body(upload: Upload, key: str) -> Json:
    """msg_type and content of the message that shows what went up under this key."""
    return {"msg_type": upload.msg_type, "content": json.dumps({upload.key: key})}
