"""Files that people send: what is stored of them, and how hostile ones end."""

import asyncio
import json
import subprocess
import sys
import zlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pictures
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from bot.gateway.attachments import (
    IngestedAttachments,
    StoredFile,
    decode_text,
    detect_kind,
    format_attachment_refusal,
    ingest_attachments,
    sanitize_file_name,
)
from channels.message import Attachment
from memory.conversation import Document, Image
from memory.workspace.blobs import Blobs
from tests.cases import every_case
from tests.conventions.sources import ROOT

# Literals, so that the product is not compared with itself.
TEXT_CHARS = 200_000


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


async def take(
    blobs: Blobs, data: bytes, name: str = "file", lang: str = "en"
) -> IngestedAttachments:
    return await ingest_attachments(
        [Attachment(name=name, media_type="application/x-lie", data=data)], blobs, lang
    )


def drawn(
    kind: str, size: tuple[int, int] = (40, 30), mode: str = "RGB", **options: object
) -> bytes:
    out = BytesIO()
    Pictures.new(mode, size, 120).save(out, format=kind, **options)
    return out.getvalue()


def pdf(*pages: str) -> bytes:
    writer = PdfWriter()
    for words in pages:
        page = writer.add_blank_page(200, 200)
        font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
        named = DictionaryObject(
            {NameObject(key): NameObject(value) for key, value in font.items()}
        )
        fonts = DictionaryObject({NameObject("/F1"): named})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 100 Td ({words}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def huge_png(side: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        )

    header = side.to_bytes(4, "big") * 2 + bytes([1, 0, 0, 0, 0])
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 10_000_000))
    )


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
async def test_a_picture_is_kept_by_what_it_holds(blobs: Blobs, kind: str) -> None:
    taken = await take(blobs, drawn(kind), name="not-a-picture.pdf")
    part = taken.parts[0]
    assert isinstance(part, Image)
    assert (part.width, part.height) == (40, 30)
    stored = Pictures.open(BytesIO(blobs.get(part.sha256)))
    assert stored.size == (40, 30)
    assert part.media_type == Pictures.MIME[stored.format or ""]


async def test_a_large_picture_is_made_small_and_stands_upright(blobs: Blobs) -> None:
    turned = Pictures.Exif()
    turned[0x0112] = 6
    turned[0x010E] = "home address"
    part = (await take(blobs, drawn("JPEG", (4000, 3000), exif=turned))).parts[0]
    assert isinstance(part, Image)
    assert (part.width, part.height) == (1500, 2000)
    data = blobs.get(part.sha256)
    assert b"home address" not in data
    assert not Pictures.open(BytesIO(data)).getexif()


async def test_a_noisy_picture_ends_within_five_megabytes_of_base64(blobs: Blobs) -> None:
    out, noise = BytesIO(), Random(5).randbytes(3 * 1200 * 1200)
    Pictures.frombytes("RGB", (1200, 1200), noise).save(out, format="PNG", compress_level=0)
    assert len(out.getvalue()) * 4 / 3 > 5_500_000
    part = (await take(blobs, out.getvalue())).parts[0]
    assert isinstance(part, Image)
    assert part.media_type == "image/jpeg"
    assert len(blobs.get(part.sha256)) * 4 / 3 <= 5_000_000


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
async def test_every_kind_of_colour_is_taken(blobs: Blobs, mode: str) -> None:
    assert (await take(blobs, drawn("PNG", mode=mode))).refused == ()


async def test_cmyk_is_taken(blobs: Blobs) -> None:
    assert (await take(blobs, drawn("JPEG", mode="CMYK"))).refused == ()


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("# 你好\nworld\n", "utf-8"),
        ("# 你好\nworld\n", "utf-8-sig"),
        ("# 你好，世界，这是一段中文\n", "gb18030"),
        ("# 你好\nworld\n", "utf-16"),
        ("hello world, plain letters\n", "utf-16-le"),
        ("hello world, plain letters\n", "utf-16-be"),
    ],
)
async def test_a_text_is_read_in_its_encoding(blobs: Blobs, text: str, encoding: str) -> None:
    data = text.encode(encoding)
    part = (await take(blobs, data, name="笔记.md")).parts[0]
    assert isinstance(part, Document)
    assert part == Document(
        sha256=part.sha256, media_type="text/plain", name="笔记.md", size=len(data), text=text
    )
    assert blobs.get(part.sha256) == data


async def test_a_long_text_is_cut_and_says_so(blobs: Blobs) -> None:
    part = (await take(blobs, "字".encode() * 3_000_000)).parts[0]
    assert isinstance(part, Document)
    assert part.text == "字" * TEXT_CHARS + "\n[cut: the file has 9000000 bytes]"


async def test_a_pdf_is_kept_with_its_text(blobs: Blobs) -> None:
    data = pdf("first page", "second page")
    part = (await take(blobs, data, name="report")).parts[0]
    assert isinstance(part, Document)
    assert part.media_type == "application/pdf"
    assert "first page" in part.text
    assert "second page" in part.text
    assert blobs.get(part.sha256) == data


async def test_a_pdf_of_many_pages_is_cut_and_says_so(blobs: Blobs) -> None:
    part = (await take(blobs, pdf(*[f"page {number}." for number in range(502)]))).parts[0]
    assert isinstance(part, Document)
    assert "page 499." in part.text
    assert "page 501." not in part.text
    assert part.text.endswith("[cut: the PDF has 502 pages and says more]")


async def test_a_locked_pdf_is_refused(blobs: Blobs) -> None:
    writer = PdfWriter()
    writer.add_blank_page(10, 10)
    writer.encrypt("secret", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    assert (await take(blobs, out.getvalue(), name="a.pdf")).refused == (
        "a.pdf: the PDF has a password.",
    )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "empty"),
        (b"x" * (25 * 2**20 + 1), "25 MB"),
        (b"\0\0\0\x18ftypheic" + b"\0" * 100, "HEIC"),
        (b"PK\x03\x04" + bytes(range(256)), "not supported"),
        (b"\x7fELF" + bytes(100), "not supported"),
        (b"\x89PNG\r\n\x1a\n" + b"broken", "damaged"),
        (b"\xff\xd8\xff" + b"<svg/>" * 10, "damaged"),
        (b"%PDF-1.7\n" + b"garbage " * 100, "damaged"),
    ],
)
async def test_what_cannot_be_opened_is_refused_in_words(
    blobs: Blobs, data: bytes, told: str
) -> None:
    taken = await take(blobs, data, name="thing.png")
    assert taken.parts == ()
    assert taken.refused[0].startswith("thing.png: ")
    assert told in taken.refused[0]


async def test_a_stored_file_that_is_damaged_or_gone_is_told_beside_others(
    blobs: Blobs, tmp_path: Path
) -> None:
    whole, damaged = blobs.put(b"whole"), blobs.put(b"right")
    (tmp_path / "blobs" / damaged).write_bytes(b"wrong")
    names = {"a.txt": whole, "b.txt": damaged, "c.txt": "0" * 64, "d.txt": ""}
    taken = await ingest_attachments(
        [StoredFile(name=name, sha256=sha256) for name, sha256 in names.items()], blobs
    )
    [part] = taken.parts
    assert isinstance(part, Document)
    assert (part.name, part.sha256, part.text, part.size) == ("a.txt", whole, "whole", 5)
    assert [told.partition(":")[0] for told in taken.refused] == ["b.txt", "c.txt", "d.txt"]


async def test_one_refused_file_does_not_keep_the_others_back(blobs: Blobs) -> None:
    files = [("a.txt", b"one"), ("b.zip", b"PK\x03\x04\0\0"), ("c.png", drawn("PNG"))]
    taken = await ingest_attachments(
        [Attachment(name=name, media_type="", data=data) for name, data in files], blobs, "zh"
    )
    assert [type(part) for part in taken.parts] == [Document, Image]
    assert taken.refused == ("b.zip：不支持这种文件，可以发图片、PDF 或文本。",)


@every_case(
    ("name", "shown"),
    [
        ("../../x", "x"),
        ("C:\\x", "x"),
        ("a\0b.txt", "ab.txt"),
        ("x" * 5000 + ".jpeg", "x" * 68 + "….jpeg"),
        ("photo\u202egnp.exe", "photognp.exe"),
        ("", "file"),
        ("..", "file"),
        ("line\r\nbreak\x1b[31m.md", "linebreak[31m.md"),
        ("报告 2026.pdf", "报告 2026.pdf"),
    ],
)
def test_s32_a_name_is_only_a_label(name: str, shown: str) -> None:
    assert sanitize_file_name(name) == shown


@given(st.text())
def test_a_label_is_one_short_line(name: str) -> None:
    shown = sanitize_file_name(name)
    assert 0 < len(shown) <= 80
    assert shown.isprintable() or not shown.isascii()
    assert "/" not in shown
    assert sanitize_file_name(shown) == shown


@given(st.binary(max_size=300))
def test_any_bytes_have_a_kind(data: bytes) -> None:
    assert detect_kind(data) in {"picture", "pdf", "heic", "text", "other"}


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_utf_8_is_read_as_it_is(text: str) -> None:
    assert decode_text(("字" + text).encode()) == "字" + text


def test_every_refusal_is_said_in_both_languages() -> None:
    assert format_attachment_refusal("a", "pixels", "zh") != format_attachment_refusal(
        "a", "pixels", "en"
    )


LIMITED = """
import json, resource, runpy, sys
path, sys.argv = sys.argv[1], ["child", "picture"]
try:
    runpy.run_path(path, run_name="__main__")
except Exception as err:
    ended = type(err).__name__
kinds = ("AS", "CPU", "FSIZE", "CORE")
print(json.dumps([ended, {kind: resource.getrlimit(getattr(resource, f"RLIMIT_{kind}")) for kind \
in kinds}]))
"""


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS knows no limit of address space")
def test_s37_the_program_that_opens_files_has_its_limits_before_it_looks_at_one() -> None:
    child = ROOT / "bot" / "gateway" / "attachment_worker.py"
    command = [sys.executable, "-I", "-c", LIMITED, str(child)]
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
    )
    error, limits = json.loads(ended.stdout)
    assert error == "UnidentifiedImageError", "it has come to the file"
    megabyte = 2**20
    assert 0 < limits["AS"][0] <= 512 * megabyte
    assert 0 < limits["CPU"][0] <= 30
    assert 0 < limits["FSIZE"][0] <= 32 * megabyte
    assert limits["CORE"] == [0, 0]
    assert all(soft == hard for soft, hard in limits.values()), "it cannot raise them again"


HOSTILE = """
import asyncio, json, resource, sys, time
from pathlib import Path
from random import Random
from bot.gateway.attachments import ingest_attachments
from channels.message import Attachment
from memory.workspace.blobs import Blobs
files = [Attachment(name=p.name, media_type="", data=p.read_bytes()) for p in \
sorted(Path(sys.argv[1]).iterdir())]
taken = asyncio.run(ingest_attachments(files, Blobs(Path(sys.argv[2]))))
status = Path("/proc/self/status").read_text()  # ru_maxrss would begin at what the test runner had
mine = int(status.split("VmHWM:")[1].split()[0]) // 1024
most = [mine, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]
print(json.dumps({"parts": len(taken.parts), "refused": taken.refused, "most": most}))
"""


@pytest.mark.kill
def test_s37_hostile_files_are_refused_within_the_limits(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "1-pixels.png").write_bytes(huge_png(50_000))
    (files / "2-short.png").write_bytes(huge_png(6_300))
    (files / "3-bomb.pdf").write_bytes(_bomb_pdf())
    (files / "4-loop.pdf").write_bytes(_loop_pdf())
    (files / "5-text.txt").write_bytes(b"a" * (25 * 2**20))
    (files / "6-polyglot.gif").write_bytes(b"GIF89a" + b"<script>alert(1)</script>" * 100)
    command = [sys.executable, "-c", HOSTILE, str(files), str(tmp_path / "blobs")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    told = json.loads(ended.stdout)
    assert told["refused"][0] == "1-pixels.png: the picture has too many pixels to open."
    assert any(line.startswith("6-polyglot.gif") for line in told["refused"])
    assert max(told["most"]) < 300, told


def children() -> dict[str, int]:
    """Resident memory of each child of this process that has begun its program, in MB; before, it
    has its parent's.
    """
    found = {}
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for id in listed.read_text().split():
                if (
                    Path("/proc", id, "cmdline").read_bytes()
                    == Path("/proc/self/cmdline").read_bytes()
                ):
                    continue
                status = Path("/proc", id, "status").read_text()
                sizes = [
                    int(line.split()[1]) // 1000
                    for line in status.splitlines()
                    if line.startswith("VmRSS:")
                ]
                found |= dict.fromkeys([id], sum(sizes)) if sizes else {}
    return found


async def test_s37_two_very_large_pictures_are_opened_in_turn_in_less_than_300_mb(
    blobs: Blobs,
) -> None:
    picture, turned, out = (
        Pictures.new("RGBA", (5000, 4100), (0, 0, 255, 128)),
        Pictures.Exif(),
        BytesIO(),
    )
    picture.paste((255, 0, 0, 255), (0, 0, 2500, 4100))
    turned[0x0112] = 6
    picture.save(out, "PNG", exif=turned, compress_level=1)
    others = set(children())  # of other tests in this process
    work = asyncio.gather(*(take(blobs, out.getvalue()) for _ in range(2)))
    most, seen = 0, 0
    while not work.done():
        found = [
            size for id, size in (await asyncio.to_thread(children)).items() if id not in others
        ]
        most, seen = max(most, sum(found)), max(seen, len(found))
        await asyncio.sleep(0.02)
    assert seen == 1
    assert 100 < most < 300
    for taken in await work:
        [part] = taken.parts
        assert isinstance(part, Image)
        assert (part.width, part.height, part.media_type) == (1640, 2000, "image/png")
    stored = Pictures.open(BytesIO(blobs.get(part.sha256)))
    assert [stored.getpixel(at) for at in ((10, 10), (1630, 980))] == [(255, 0, 0, 255)] * 2
    assert [stored.getpixel(at) for at in ((10, 1020), (1630, 1990))] == [(0, 0, 255, 128)] * 2


def _bomb_pdf() -> bytes:
    """One page whose stream grows two hundredfold, twice."""
    bomb = zlib.compress(zlib.compress(b"(x) Tj " * 10_000_000))
    body = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 "
        b"R]/Count 1>>endobj\n"
    )
    body += b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
    body += b"4 0 obj<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n" % len(bomb)
    return body + bomb + b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n"


def _loop_pdf() -> bytes:
    """A tree of pages that holds itself."""
    body = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    return body + (
        b"2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 100000000>>endobj\ntrailer<</Root 1 0 R>>\n"
    )
