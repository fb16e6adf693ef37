"""Turns the files that came with a message into stored parts, by what they hold and not by what they are called."""

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
from memory.conversation import Document, Image, Part
from memory.workspace.blobs import Blobs, BlobTooBig

MOST_BYTES = 25 * 2**20
TEXT_CHARS = 200_000
LABEL = 80
CHILD_SECONDS = 30.0
AT_ONCE = 1
"""Child processes beside each other, whatever is sent: each may take 280 MB."""
_CHILDREN = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="attachment")
_WHY = {
    "gone": ("文件已不在这里，或已损坏", "the file is no longer here, or was damaged here"),
    "empty": ("文件是空的", "the file is empty"),
    "size": ("文件超过 25 MB", "the file is larger than 25 MB"),
    "heic": ("暂不支持 HEIC 图片，请转成 JPEG 或 PNG 再发", "HEIC pictures are not supported; please send JPEG or PNG"),
    "kind": (
        "不支持这种文件，可以发图片、PDF 或文本",
        "this kind of file is not supported; send pictures, PDF or text",
    ),
    "pixels": ("图片的像素太多，无法打开", "the picture has too many pixels to be opened"),
    "locked": ("PDF 有密码", "the PDF has a password"),
    "damaged": ("文件已损坏，或过于复杂，无法安全打开", "the file is damaged, or too complex to be opened safely"),
}
_HEIC = {b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What became of the files: parts in their order, and for each refused one a sentence with its label."""

    parts: tuple[Part, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file that is a blob ("": one without bytes). While it waits to be opened, it takes no memory."""

    name: str
    sha256: str


class Refused(ValueError):
    """The file is not taken; `code` names the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


async def ingest(files: Sequence[Attachment | StoredFile], blobs: Blobs, lang: str = "en") -> Ingested:
    """Store what a model can use of these files; the `data` of attachments must be there.

    Pictures become JPEG or PNG of at most 2,000 pixels a side and 5 MB in base64, upright and without metadata;
    PDFs and texts stay as they are, beside at most 200,000 characters of what they say. lang: "zh" or "en".

    Raises:
        OSError: nothing could be stored.
    """
    parts: list[Part] = []
    refused: list[str] = []
    for file in files:
        try:
            parts.append(await _part(file.name, partial(_bytes_of, file, blobs), blobs))
        except Refused as err:
            refused.append(refusal(file.name, err.code, lang))
    return Ingested(parts=tuple(parts), refused=tuple(refused))


def refusal(name: str, code: str, lang: str) -> str:
    """Why a file was refused, as it is told."""
    zh, en = _WHY[code]
    return f"{label(name)}：{zh}。" if lang == "zh" else f"{label(name)}: {en}."


def label(name: str) -> str:
    """A sender's file name as something to show: one line of plain characters, no folders, never a path to open."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    kept = "".join(sign for sign in last if unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Zl", "Zp"))
    words = " ".join(kept.split()).lstrip(".")
    if len(words) > LABEL:
        stem, dot, end = words.rpartition(".")
        words = f"{stem[: LABEL - 12]}….{end}" if dot and len(end) <= 10 else f"{words[: LABEL - 1]}…"
    return words or "file"


def kind_of(data: bytes) -> str:
    """ "picture", "pdf", "heic", "text" or "other", by the first bytes."""
    if data.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")):
        return "picture"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "picture"
    if data[4:8] == b"ftyp" and data[8:12] in _HEIC:
        return "heic"
    if b"%PDF-" in data[:1024]:
        return "pdf"
    return "text" if text_of(data[:4096]) is not None else "other"


def text_of(data: bytes) -> str | None:
    """The text in UTF-8, UTF-16 or GB 18030 (a character cut off at the end is dropped), None where it is none."""
    marked = [name for mark, name in _MARKS if data.startswith(mark)]
    for encoding in marked or ["utf-8", *_wide(data), "gb18030"]:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(data)
        except UnicodeDecodeError:
            continue
        if not any(unicodedata.category(sign) == "Cc" and sign not in "\t\n\r\f\x1b\x08" for sign in set(text)):
            return text
    return None


def _wide(data: bytes) -> list[str]:
    """UTF-16 without its mark, where every other byte of the beginning is mostly zero."""
    head = data[:1000]
    half = len(head) // 2
    if half and head[1::2].count(0) > half * 0.4:
        return ["utf-16-le"]
    return ["utf-16-be"] if half and head[::2].count(0) > half * 0.4 else []


def _bytes_of(file: Attachment | StoredFile, blobs: Blobs) -> bytes:
    if isinstance(file, Attachment):
        return file.data
    try:
        return blobs.get(file.sha256) if file.sha256 else b""
    except OSError as err:
        raise Refused("gone") from err


async def _part(name: str, read: Callable[[], bytes], blobs: Blobs) -> Part:
    """Holds no bytes while the file waits for the child process: dozens may wait, of up to `MOST_BYTES` each."""
    kind, size = await asyncio.to_thread(_kind_and_size, read)
    if kind == "picture":
        facts, payload = await _opened("picture", read)
        return Image(
            sha256=await _kept(blobs, lambda: payload),
            media_type=facts["media_type"],
            width=facts["width"],
            height=facts["height"],
        )
    text = await _pdf_text(read) if kind == "pdf" else await asyncio.to_thread(_plain_text, read)
    return Document(
        sha256=await _kept(blobs, read),
        media_type="application/pdf" if kind == "pdf" else "text/plain",
        name=label(name),
        size=size,
        text=text,
    )


def _kind_and_size(read: Callable[[], bytes]) -> tuple[str, int]:
    data = read()
    if not data:
        raise Refused("empty")
    if len(data) > MOST_BYTES:
        raise Refused("size")
    kind = kind_of(data)
    if kind in ("heic", "other"):
        raise Refused("heic" if kind == "heic" else "kind")
    return kind, len(data)


async def _pdf_text(read: Callable[[], bytes]) -> str:
    facts, payload = await _opened("pdf", read)
    text = payload.decode("utf-8", "replace").replace("\0", "\ufffd")
    return f"{text}\n[cut: the PDF has {facts['pages']} pages and says more]" if facts["cut"] else text


def _plain_text(read: Callable[[], bytes]) -> str:
    data = read()
    # Four bytes are the most that a character takes, so the rest could not be shown anyway.
    text = text_of(data[: 4 * TEXT_CHARS + 4])
    if text is None:
        raise Refused("kind")
    text = text.removeprefix("\ufeff")
    if len(text) <= TEXT_CHARS and len(data) <= 4 * TEXT_CHARS:
        return text
    return f"{text[:TEXT_CHARS]}\n[cut: the file has {len(data)} bytes]"


async def _kept(blobs: Blobs, read: Callable[[], bytes]) -> str:
    try:
        return await asyncio.to_thread(lambda: blobs.put(read()))
    except BlobTooBig as err:
        raise Refused("size") from err


async def _opened(work: str, read: Callable[[], bytes]) -> tuple[dict[str, Any], bytes]:
    """What the child process made of it: facts and bytes."""
    answer = await asyncio.get_running_loop().run_in_executor(_CHILDREN, _child, work, read)
    head, _, payload = answer.partition(b"\n")
    facts: dict[str, Any] = json.loads(head)
    if "refused" in facts:
        raise Refused(facts["refused"])
    return facts, payload


def _child(work: str, read: Callable[[], bytes]) -> bytes:
    # Isolated and with an empty environment: what it opens must not find our keys.
    command = [sys.executable, "-I", str(Path(attachment_worker.__file__)), work]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answer:
        given.write(read())
        given.seek(0)
        try:
            ended = subprocess.run(  # noqa: S603 - our own program, and no word of a stranger's in it
                command,
                stdin=given,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={},
                cwd=os.sep,
                timeout=CHILD_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as err:
            raise Refused("damaged") from err
        answer.seek(0)
        if ended.returncode != 0:
            raise Refused("damaged")
        return answer.read(attachment_worker.OUTPUT)
