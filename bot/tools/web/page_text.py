"""Readable text of a fetched page: HTML through a warm child process, PDF and pictures through that
of attachments.
"""

import asyncio
import codecs
import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.gateway.attachments import decode_text, ingest_attachments
from bot.tools.web import page_worker
from bot.tools.web.addresses import WebError
from bot.tools.web.client import WebResponse
from channels.message import Attachment
from memory.conversation import Document, Image
from memory.workspace.blobs import Blobs

# a larger page is only walked: the search for its main text would take seconds
MAX_ARTICLE_BYTES = 2 * 2**20
MAX_WALK_BYTES = 3 * 2**20
MAX_CHARS = page_worker.MAX_TEXT_CHARS
# a character takes at most four bytes, so the rest could not be shown anyway
MAX_TEXT_BYTES = 4 * MAX_CHARS + 4
ARTICLE_SECONDS, WALK_SECONDS = (
    8.0,
    5.0,
)  # the child ends itself after seconds of CPU time; these are for a busy machine
PAGES_PER_CHILD = 50
IDLE_SECONDS = 300.0
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_TEXT_TYPES = re.compile(r"text/.*|application/(?:.*\+)?(?:json|xml|yaml|toml|javascript|x-ndjson)")
# What browsers know. Python has codecs that are none of text: zlib, which decompresses without a
# limit, and punycode, which takes time as the square of the length.
_ENCODINGS = re.compile(
    r"ascii|utf-8(-sig)?|utf-16(-[bl]e)?|gb18030|gbk|gb2312|hz|big5(hkscs)?|euc_(jp|kr)|shift_jis|cp(932|949|866|874|125\d)"
    r"|iso8859-\d+|iso2022_(jp|kr)|koi8-[ru]|mac-(roman|cyrillic)|tis-620"
)
_META_CHARSET = re.compile(
    r"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """What a page says."""

    title: str = ""
    #: As the page gives it; "" for none.
    date: str = ""
    text: str = ""
    images: tuple[Image, ...] = ()
    #: There is more than `MAX_CHARS` of text.
    cut: bool = False


class PageReader:
    """Reads answers of web servers. `close` ends the child process."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._lock = asyncio.Lock()
        self._child: asyncio.subprocess.Process | None = None
        self._pages = 0
        self._idle: asyncio.TimerHandle | None = None

    async def read(self, response: WebResponse) -> PageText:
        """Return the text of an answer, by its media type.

        Raises:
            WebError: "type", "empty" or "needs_script".
        """
        kind = response.media_type or "text/html"
        if kind in HTML_TYPES:
            return await self._read_html(response)
        if kind == "application/pdf" or kind in PICTURE_TYPES:
            return await self._read_file(response, kind)
        if not _TEXT_TYPES.fullmatch(kind):
            raise WebError(
                "type",
                f"the address holds {kind[:60]} of {len(response.body)} bytes, which cannot be read",  # noqa: E501
            )
        text = await asyncio.to_thread(lambda: page_worker.clean(_decode(response, MAX_TEXT_BYTES)))
        if not text:
            raise WebError("empty", "the page is empty")
        return PageText(
            text=text[:MAX_CHARS], cut=len(text) > MAX_CHARS or len(response.body) > MAX_TEXT_BYTES
        )

    async def close(self) -> None:
        """End the child process."""
        if self._idle is not None:
            self._idle.cancel()
        child, self._child = self._child, None
        if child is not None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()

    async def _read_html(self, response: WebResponse) -> PageText:
        html = await asyncio.to_thread(
            lambda: _decode(response, MAX_WALK_BYTES).encode("utf-8", "replace")
        )
        async with self._lock:
            facts, text = None, ""
            if len(html) <= MAX_ARTICLE_BYTES:
                facts, text = await self._ask("article", html, str(response.url), ARTICLE_SECONDS)
            if facts is None:
                facts, text = await self._ask(
                    "walk", html[:MAX_WALK_BYTES], str(response.url), WALK_SECONDS
                )
        if facts is None:
            raise WebError("too_large", "the page is too large or too nested to be read")
        if not text:
            if facts["scripts"]:
                raise WebError("needs_script", "the page shows nothing without running its scripts")
            raise WebError("empty", "the page has no text")
        cut = len(text) > MAX_CHARS or len(response.body) > MAX_WALK_BYTES
        return PageText(title=facts["title"], date=facts["date"], text=text[:MAX_CHARS], cut=cut)

    async def _read_file(self, response: WebResponse, kind: str) -> PageText:
        name = response.url.target.partition("?")[0].rpartition("/")[2] or "file"
        found = await ingest_attachments(
            [Attachment(name=name, media_type=kind, data=response.body)], self._blobs
        )
        if found.refused:
            raise WebError("type", found.refused[0].rstrip("."))
        (part,) = found.parts
        if isinstance(part, Image):
            return PageText(
                title=name, text=f"[picture, {part.width} × {part.height}]", images=(part,)
            )
        text = part.text if isinstance(part, Document) else ""
        if not text.strip():
            raise WebError("empty", "the PDF holds no text; it may be scanned")
        return PageText(title=name, text=page_worker.clean(text))

    async def _ask(
        self, way: str, html: bytes, url: str, seconds: float
    ) -> tuple[dict[str, Any] | None, str]:
        """Return what the child says of a page; None if it died of the page or took too long."""
        child = await self._open()
        assert child.stdin is not None
        assert child.stdout is not None
        self._pages += 1
        try:
            async with asyncio.timeout(seconds):
                head = json.dumps({"size": len(html), "way": way, "url": url}).encode()
                child.stdin.write(head + b"\n" + html)
                await child.stdin.drain()
                facts: dict[str, Any] = json.loads(await child.stdout.readline())
                payload = await child.stdout.readexactly(facts["size"])
        except (TimeoutError, ValueError, OSError, asyncio.IncompleteReadError):
            await self.close()
            return None, ""
        except asyncio.CancelledError:
            await self.close()
            raise
        if self._pages >= PAGES_PER_CHILD:
            await self.close()
        else:
            self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_idle)
        return facts, payload.decode("utf-8", "replace")

    async def _open(self) -> asyncio.subprocess.Process:
        if self._idle is not None:
            self._idle.cancel()
        if self._child is None:
            # Isolated and with an empty environment: an exploited parser must not find our keys.
            self._child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                str(Path(page_worker.__file__)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                cwd=os.sep,
                limit=2**16,
            )
            self._pages = 0
        return self._child

    def _end_idle(self) -> None:
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()  # the child ends at the end of its input
            self._child = None


def _decode(response: WebResponse, most: int) -> str:
    """Decode the first `most` bytes of a text by its header, its meta tag, or its bytes."""
    body = response.body[:most]  # four times as long in memory, once it is decoded
    for name in _named_encodings(response):
        with suppress(UnicodeError):
            return codecs.getincrementaldecoder(name)("strict").decode(
                body, len(body) == len(response.body)
            )
    return decode_text(body) or body.decode("utf-8", "replace")


def _named_encodings(response: WebResponse) -> Sequence[str]:
    header = re.search(
        r"charset\s*=\s*\"?([A-Za-z0-9_.:-]+)", response.headers.get("content-type", "")
    )
    meta = _META_CHARSET.search(response.body[:4096].decode("latin-1"))
    names = []
    for found in filter(None, (header, meta)):
        with suppress(LookupError):
            names.append(codecs.lookup(found[1]).name)
    return [
        "gb18030" if name in ("gb2312", "gbk") else name
        for name in names
        if _ENCODINGS.fullmatch(name)
    ]
