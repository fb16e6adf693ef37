"""Converts attachments to stored parts, by their content and not by their name."""

import asyncio
import codecs
import json
import os
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bot.gateway import attachment_worker
from channels.message import Attachment
from channels.phrases import Phrase
from memory.conversation import Document, Image, Part
from memory.workspace.blobs import Blobs, BlobTooBig

MAX_ATTACHMENT_BYTES = 25 * 2**20
MAX_TEXT_CHARS = 200_000
MAX_LABEL_CHARS = 80
WORKER_SECONDS = 30.0
MAX_WORKERS = 1  # child processes at a time: each may take 280 MB
_WORKER_POOL = ThreadPoolExecutor(max_workers=MAX_WORKERS, thread_name_prefix="attachment")
_REFUSAL_TEXTS = {
    "gone": Phrase("the file is no longer stored here, or is damaged"),
    "empty": Phrase("the file is empty"),
    "size": Phrase("the file is larger than 25 MB"),
    "heic": Phrase("HEIC pictures are not supported; please send JPEG or PNG"),
    "kind": Phrase("this kind of file is not supported; send pictures, PDF or text"),
    "pixels": Phrase("the picture has too many pixels to open"),
    "locked": Phrase("the PDF has a password"),
    "damaged": Phrase("the file is damaged, or too complex to be opened safely"),
}
_HEIC_BRANDS = {b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"}
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestedAttachments:
    """Parts of the accepted files in order, and a sentence for each refused one."""

    parts: tuple[Part, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file stored as a blob: while it waits to be opened, it takes no memory."""

    name: str
    #: "" for a file without bytes.
    sha256: str


class AttachmentRefused(ValueError):
    """The file is refused; `code` names the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


async def ingest_attachments(
    files: Sequence[Attachment | StoredFile], blobs: Blobs, lang: str = "en"
) -> IngestedAttachments:
    """Store what a model can use of these files; attachments must have their `data`.

    Pictures are converted to upright JPEG or PNG of at most 2,000 pixels a side and 5 MB in base64,
    without metadata. PDFs and texts are stored unchanged, with at most 200,000 characters of their
    text. lang: "zh" or "en".

    Raises:
        OSError: nothing could be stored.
    """
    parts: list[Part] = []
    refused: list[str] = []
    for file in files:
        try:
            parts.append(
                await _attachment_part(file.name, partial(_load_bytes, file, blobs), blobs)
            )
        except AttachmentRefused as err:
            refused.append(format_attachment_refusal(file.name, err.code, lang))
    return IngestedAttachments(parts=tuple(parts), refused=tuple(refused))


async def make_thumbnail(sha256: str, blobs: Blobs) -> tuple[str, bytes]:
    """Re-encode a stored picture as a small one; return its media type and bytes.

    Raises:
        AttachmentRefused: it is no picture, or cannot be opened safely.
    """
    read = partial(_load_bytes, StoredFile(name="", sha256=sha256), blobs)
    kind, _ = await asyncio.to_thread(_kind_and_size, read)
    if kind != "picture":
        raise AttachmentRefused("kind")
    facts, payload = await _run_worker("thumbnail", read)
    return str(facts["media_type"]), payload


def format_attachment_refusal(name: str, code: str, lang: str) -> str:
    """Say why a file was refused."""
    refusal = Phrase(
        "{file}: {reason}.", file=sanitize_file_name(name), reason=_REFUSAL_TEXTS[code]
    )
    return refusal.text(lang)


def sanitize_file_name(name: str) -> str:
    """Make a sender's file name showable: one line of printable characters, no folders.

    Not a path to open.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    kept = "".join(
        sign for sign in last if unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
    )
    words = " ".join(kept.split()).lstrip(".")
    if len(words) > MAX_LABEL_CHARS:
        stem, dot, end = words.rpartition(".")
        words = (
            f"{stem[: MAX_LABEL_CHARS - 12]}….{end}"
            if dot and len(end) <= 10
            else f"{words[: MAX_LABEL_CHARS - 1]}…"
        )
    return words or "file"


def detect_kind(data: bytes) -> str:
    """Return "picture", "pdf", "heic", "text" or "other", by the first bytes."""
    if data.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")):
        return "picture"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "picture"
    if data[4:8] == b"ftyp" and data[8:12] in _HEIC_BRANDS:
        return "heic"
    if b"%PDF-" in data[:1024]:
        return "pdf"
    return "text" if decode_text(data[:4096]) is not None else "other"


def decode_text(data: bytes) -> str | None:
    """Decode UTF-8, UTF-16 or GB 18030, without a character cut off at the end; None if it is no
    text.
    """
    marked = [name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)]
    for encoding in marked or ["utf-8", *_utf16_without_mark(data), "gb18030"]:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(data)
        except UnicodeDecodeError:
            continue
        if not any(
            unicodedata.category(sign) == "Cc" and sign not in "\t\n\r\f\x1b\x08"
            for sign in set(text)
        ):
            return text
    return None


def _utf16_without_mark(data: bytes) -> list[str]:
    """Detect UTF-16 without a byte order mark: every other byte of the beginning is mostly zero."""
    head = data[:1000]
    half = len(head) // 2
    if half and head[1::2].count(0) > half * 0.4:
        return ["utf-16-le"]
    return ["utf-16-be"] if half and head[::2].count(0) > half * 0.4 else []


def _load_bytes(file: Attachment | StoredFile, blobs: Blobs) -> bytes:
    if isinstance(file, Attachment):
        return file.data
    try:
        return blobs.get(file.sha256) if file.sha256 else b""
    except OSError as err:
        raise AttachmentRefused("gone") from err


async def _attachment_part(name: str, read: Callable[[], bytes], blobs: Blobs) -> Part:
    """Convert one file.

    It holds no bytes while it waits for the child process: dozens of files may wait.
    """
    kind, size = await asyncio.to_thread(_kind_and_size, read)
    if kind == "picture":
        facts, payload = await _run_worker("picture", read)
        return Image(
            sha256=await _store_blob(blobs, lambda: payload),
            media_type=facts["media_type"],
            width=facts["width"],
            height=facts["height"],
        )
    text = await _pdf_text(read) if kind == "pdf" else await asyncio.to_thread(_text_bytes, read)
    return Document(
        sha256=await _store_blob(blobs, read),
        media_type="application/pdf" if kind == "pdf" else "text/plain",
        name=sanitize_file_name(name),
        size=size,
        text=text,
    )


def _kind_and_size(read: Callable[[], bytes]) -> tuple[str, int]:
    data = read()
    if not data:
        raise AttachmentRefused("empty")
    if len(data) > MAX_ATTACHMENT_BYTES:
        raise AttachmentRefused("size")
    kind = detect_kind(data)
    if kind in ("heic", "other"):
        raise AttachmentRefused("heic" if kind == "heic" else "kind")
    return kind, len(data)


async def _pdf_text(read: Callable[[], bytes]) -> str:
    facts, payload = await _run_worker("pdf", read)
    text = payload.decode("utf-8", "replace").replace("\0", "\ufffd")
    return (
        f"{text}\n[cut: the PDF has {facts['pages']} pages and says more]" if facts["cut"] else text
    )


def _text_bytes(read: Callable[[], bytes]) -> str:
    data = read()
    # A character takes at most four bytes, so the rest could not be shown anyway.
    text = decode_text(data[: 4 * MAX_TEXT_CHARS + 4])
    if text is None:
        raise AttachmentRefused("kind")
    text = text.removeprefix("\ufeff")
    if len(text) <= MAX_TEXT_CHARS and len(data) <= 4 * MAX_TEXT_CHARS:
        return text
    return f"{text[:MAX_TEXT_CHARS]}\n[cut: the file has {len(data)} bytes]"


async def _store_blob(blobs: Blobs, read: Callable[[], bytes]) -> str:
    try:
        return await asyncio.to_thread(lambda: blobs.put(read()))
    except BlobTooBig as err:
        raise AttachmentRefused("size") from err


async def _run_worker(work: str, read: Callable[[], bytes]) -> tuple[dict[str, Any], bytes]:
    """Run the child process; return its facts and bytes."""
    output = await asyncio.get_running_loop().run_in_executor(
        _WORKER_POOL, _run_worker_process, work, read
    )
    head, _, payload = output.partition(b"\n")
    facts: dict[str, Any] = json.loads(head)
    if "refused" in facts:
        raise AttachmentRefused(facts["refused"])
    return facts, payload


def _run_worker_process(work: str, read: Callable[[], bytes]) -> bytes:
    # Isolated and with an empty environment: an exploited parser must not find our keys.
    command = [sys.executable, "-I", str(Path(attachment_worker.__file__)), work]
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as output:
        source.write(read())
        source.seek(0)
        try:
            ended = subprocess.run(  # noqa: S603 - our own program, without input from outside in its arguments
                command,
                stdin=source,
                stdout=output,
                stderr=subprocess.DEVNULL,
                env={},
                cwd=os.sep,
                timeout=WORKER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as err:
            raise AttachmentRefused("damaged") from err
        output.seek(0)
        if ended.returncode != 0:
            raise AttachmentRefused("damaged")
        return output.read(attachment_worker.MAX_OUTPUT_BYTES)
