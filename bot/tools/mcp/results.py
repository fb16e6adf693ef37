"""Results of MCP servers without the SDK's types, and as the model sees them."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import ToolFailed
from bot.gateway.attachments import ingest_attachments
from bot.tools.base import ToolOutput
from channels.message import Attachment
from memory.conversation import Image
from memory.workspace.blobs import Blobs

MAX_TEXT_CHARS = 200_000
MAX_IMAGES, MAX_IMAGE_BYTES = 4, 5 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class McpResult:
    """The result of a call, without the SDK's types."""

    texts: tuple[str, ...] = ()
    #: Name, media type and bytes of each picture.
    images: tuple[tuple[str, str, bytes], ...] = ()
    #: JSON text of the structured result; "" for none.
    structured: str = ""
    is_error: bool = False


def to_result(found: Any) -> McpResult:
    """Convert a result of the SDK. Links are named, never opened; other blobs are only
    described.
    """
    images = tuple(
        ("picture", part.mime_type, decode_blob(part.data))
        for part in found.content
        if part.type == "image"
    )
    texts = tuple(
        text for part in found.content if part.type != "image" for text in content_texts(part)
    )
    structured = ""
    if not any(texts) and found.structured_content is not None:
        structured = json.dumps(found.structured_content, ensure_ascii=False)
    return McpResult(texts=texts, images=images, structured=structured, is_error=found.is_error)


def content_texts(part: Any) -> Sequence[str]:
    """Return the text of one piece of content of the SDK, or what it is."""
    match part.type:
        case "text":
            return [part.text]
        case "resource" if getattr(part.resource, "text", None) is not None:
            return [part.resource.text]
        case "resource_link":
            return [f"[link, not opened: {part.uri}]"]
    return [f"[{part.type}, which cannot be shown]"]


def decode_blob(data: str) -> bytes:
    """Decode base64; b"" for what is none."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return b""


async def to_output(result: McpResult, name: str, blobs: Blobs) -> ToolOutput:
    """Return a result as the model sees it.

    Args:
        name: of the tool, for a failure without words.

    Raises:
        ToolFailed: the server says that it failed.
    """
    texts = [text for text in (*result.texts, result.structured) if text]
    images, refused = await _read_images(result, blobs)
    text = "\n\n".join([*texts, *refused])
    if len(text) > MAX_TEXT_CHARS:
        text = f"{text[:MAX_TEXT_CHARS]}\n[cut: the result has {len(text):,} characters]"
    if result.is_error:
        raise ToolFailed(text or f"{name} failed and did not say why.")
    if images and not text:
        text = f"[{len(images)} picture(s)]"
    return ToolOutput(text=text, images=images, outside=True)


async def _read_images(result: McpResult, blobs: Blobs) -> tuple[tuple[Image, ...], list[str]]:
    """Return the pictures that a model can see, and a sentence for each other one."""
    refused = [f"[{len(result.images) - MAX_IMAGES} more picture(s), not shown]"] * (
        len(result.images) > MAX_IMAGES
    )
    images: list[Image] = []
    for name, media_type, data in result.images[:MAX_IMAGES]:
        if len(data) > MAX_IMAGE_BYTES:
            refused.append(f"[a picture over {MAX_IMAGE_BYTES // 2**20} MB, not shown]")
            continue
        found = await ingest_attachments(
            [Attachment(name=name, media_type=media_type, data=data)], blobs
        )
        parts = [part for part in found.parts if isinstance(part, Image)]
        images += parts
        if not parts:
            refused.append("[a picture that cannot be opened]")
    return tuple(images), refused
