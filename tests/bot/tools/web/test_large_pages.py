"""The largest pages: read within seconds of CPU time and some memory, while everybody else is
answered.
"""

import asyncio
import codecs
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.gateway.attachment_worker import MAX_PDF_PAGES
from bot.tools.web.page_text import MAX_CHARS, MAX_TEXT_BYTES, MAX_WALK_BYTES, PageReader
from memory.workspace.blobs import Blobs
from tests.bot.inside import inside
from tests.bot.talk import call, results
from tests.bot.tools.web.test_page_text import page
from tests.by_night import by_night, first_by_day
from tests.emulators.pages import SeenRequest, answer, serving

MOST_MB = 30  # of this process
MOST_SECONDS = 6.0  # of CPU time, of the children that read it
MOST_STEP = 0.05  # seconds of CPU time that the event loop takes between two steps of others
needs_proc = pytest.mark.skipif(
    sys.platform != "linux", reason="reads the peak of memory from /proc"
)


def long_pdf(pages: int) -> bytes:
    """A PDF of so many pages that share one text."""
    text = b"BT /F1 12 Tf 10 100 Td (paddle left) Tj ET"
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(pages))
    fonts = b"/Resources << /Font << /F1 3 0 R >> >>"
    sheet = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R %s >>" % fonts
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        *[sheet] * pages,
    ]
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\n" % (
        size,
        table,
        size,
    )
    return bytes(out + b"startxref\n%d\n%%%%EOF" % start)


LARGE: dict[str, tuple[bytes, str, str]] = {
    "large": (("<p>🛶 " + "paddle on " * 500_000)[: 5_000_000].encode(), "text/html", "paddle on"),
    "nested": (b"<div>" * 100_000 + b"paddle on" + b"</div>" * 100_000, "text/html", "paddle on"),
    "endless": (b"<table>" + b"<tr><td>paddle on</td></tr>" * 180_000, "text/html", "paddle on"),
    "pdf": (long_pdf(10_000), "application/pdf", "[cut: the PDF has 10000 pages and says more]"),
}  # fmt: skip


@dataclass(slots=True)
class Watched:
    """What a stretch of time has cost."""

    peak_mb: float = 0.0
    longest_step: float = 0.0
    seconds_of_children: float = 0.0


@asynccontextmanager
async def watched() -> AsyncIterator[Watched]:
    """Watch this process and its ended children; others get a step of the loop again and again."""
    found, before = Watched(), _children()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    begun = _status("VmRSS")

    async def others() -> None:
        while True:
            last = time.thread_time()
            await asyncio.sleep(0.001)
            found.longest_step = max(found.longest_step, time.thread_time() - last)

    watching = asyncio.create_task(others())
    try:
        yield found
    finally:
        watching.cancel()
        found.peak_mb = _status("VmHWM") - begun
        found.seconds_of_children = _children() - before


def _status(name: str) -> float:
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0]) / 1024


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_pieces(reply: bytes) -> Callable[[SeenRequest, asyncio.StreamWriter], Awaitable[None]]:
    """Answer without a buffer as large as the page, which would count as the bot's memory here."""

    async def send(_: SeenRequest, writer: asyncio.StreamWriter) -> None:
        for start in range(0, len(reply), 2**16):
            writer.write(reply[start : start + 2**16])
            await writer.drain()

    return send


@needs_proc
@pytest.mark.parametrize(
    "name", ["large", *(pytest.param(name, marks=by_night) for name in list(LARGE)[1:])]
)
async def test_a_page_of_the_worst_kind_costs_little_and_holds_up_nobody(
    tmp_path: Path, name: str
) -> None:
    body, kind, told = LARGE[name]
    async with serving() as pages:
        pages.page("/", "<p>warm</p>")
        pages.pages["/page"] = in_pieces(answer(body, kind))
        settings = {"tools": {"web": {"allow": [pages.pair]}}}
        script = [
            call("web_fetch", url=pages.url("/")),
            "1",
            call("web_fetch", "t2", url=pages.url("/page")),
            "2",
        ]
        async with inside(tmp_path, script, settings) as it:
            it.bot.web_tools.pause_seconds = 0.0
            await it.text("warm up")
            async with watched() as cost:
                await it.text(f"read {pages.url('/page')}")
                await it.bot.web_tools.close()  # the child is ended, and counted
            text = results(it.model.requests[-1])[-1].text
            assert told in text or "too_large" in text
            print(name, cost)
            assert cost.peak_mb <= MOST_MB, cost
            assert cost.longest_step <= MOST_STEP, cost
            assert cost.seconds_of_children <= MOST_SECONDS + 1, cost


@pytest.mark.parametrize("more", first_by_day(1, [1, 0]))
async def test_a_pdf_of_one_page_more_than_is_read_says_so(reader: PageReader, more: int) -> None:
    read = await reader.read(page(long_pdf(MAX_PDF_PAGES + more), "application/pdf"))
    assert read.text.count("paddle left") == MAX_PDF_PAGES
    assert ("says more" in read.text) == bool(more)


@pytest.mark.parametrize(
    ("most", "kind"),
    [(MAX_TEXT_BYTES, "text/plain"), pytest.param(MAX_WALK_BYTES, "text/html", marks=by_night)],
)
async def test_no_more_of_a_text_is_decoded_than_can_be_shown(
    reader: PageReader, most: int, kind: str
) -> None:
    unseen = "\u200b".encode() * ((most - 1) // 3) + b"y" * ((most - 1) % 3)
    # of which one byte is too many, and the other is no text
    for end, cut in ((b"x", False), ("é".encode(), True)):
        read = await reader.read(page(unseen + end, kind))
        assert (read.text.endswith("x"), read.cut) == (not cut, cut)
    if kind == "text/plain":
        assert not read.text.strip("y")
        read = await reader.read(page("x" * (MAX_CHARS + 1), kind))
        assert (len(read.text), read.cut) == (MAX_CHARS, True)


@pytest.mark.parametrize(
    "charset",
    first_by_day(
        2, ["zlib", "punycode", "bz2", "base64", "hex", "rot13", "idna", "unicode_escape"]
    ),
)
async def test_what_decodes_no_text_is_no_encoding_of_a_page(
    reader: PageReader, charset: str
) -> None:
    for body in (b"<p>paddle on</p>", codecs.encode(b"<p>inflated</p>", "zlib")):
        read = await reader.read(page(body, f"text/html; charset={charset}"))
        assert (read.text == "paddle on") == body.startswith(b"<p>")
        assert "inflated" not in read.text


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[PageReader]:
    reader = PageReader(Blobs(tmp_path))
    yield reader
    await reader.close()
