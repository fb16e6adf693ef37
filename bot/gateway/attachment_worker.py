"""A program of its own that opens one picture or PDF nobody vouches for, under limits, and imports nothing of ours.

The file comes on standard input, which has to be seekable. The answer goes to standard output: one line of JSON, then
bytes. Whatever goes wrong ends this process and nothing else.
"""

import json
import logging
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any, BinaryIO

MEMORY = 280 * 2**20
"""Address space. One file is opened at a time, so that whatever is sent takes less than 300 MB."""
CPU_SECONDS = 20
PDF_SECONDS = 12.0
OUTPUT = 16 * 2**20
LONG_SIDE = 2000
PICTURE_BYTES = 3_750_000
"""What becomes 5 MB in base64."""
MOST_PIXELS = 40_000_000
MOST_JPEG_PIXELS = 120_000_000
"""A JPEG is decoded at a fraction of its size, anything else whole."""
MANY_PIXELS = 20_000_000
STRIP = 64  # rows of the reduced picture
PDF_PAGES = 500
TEXT_CHARS = 200_000
Answer = tuple[dict[str, Any], bytes]


def main() -> None:
    """Run as `python attachments_child.py picture|pdf`."""
    _limit()
    work = {"picture": picture, "pdf": pdf}[sys.argv[1]]
    facts, payload = work(sys.stdin.buffer)
    sys.stdout.buffer.write(json.dumps(facts).encode() + b"\n" + payload)
    sys.stdout.buffer.flush()


def picture(source: BinaryIO) -> Answer:
    """The first frame, upright, at most `LONG_SIDE` pixels long and `PICTURE_BYTES` large, without metadata."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None
    image: Any = Image.open(source, formats=["JPEG", "PNG", "GIF", "WEBP"])
    kind = image.format
    if image.width * image.height > (MOST_JPEG_PIXELS if kind == "JPEG" else MOST_PIXELS):
        return {"refused": "pixels", "width": image.width, "height": image.height}, b""
    image.draft(None, (LONG_SIDE, LONG_SIDE))
    image.load()
    image = _plain_colours(_reduced(image))
    image.thumbnail((LONG_SIDE, LONG_SIDE))
    image = ImageOps.exif_transpose(image)
    media_type, data = _encoded(image, lossless=kind in ("PNG", "GIF"))
    return {"media_type": media_type, "width": image.width, "height": image.height}, data


def pdf(source: BinaryIO) -> Answer:
    """The text of the first `PDF_PAGES` pages, as UTF-8; `cut` says that there is more."""
    from pypdf import PdfReader

    logging.disable()
    reader = PdfReader(source)
    if reader.is_encrypted and not reader.decrypt(""):
        return {"refused": "locked"}, b""
    pages = len(reader.pages)
    text: list[str] = []
    room = TEXT_CHARS
    for found in _page_texts(reader, min(pages, PDF_PAGES)):
        text.append(found[:room])
        room -= len(found)
        if room < 0:
            break
    cut = room < 0 or len(text) < pages
    return {"pages": pages, "cut": cut}, "\n\n".join(text).strip().encode("utf-8", "replace")


def _page_texts(reader: Any, pages: int) -> Iterator[str]:
    from pypdf.errors import PyPdfError

    broken = (PyPdfError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
    for number in range(pages):
        if time.process_time() > PDF_SECONDS:
            return
        text = ""
        with suppress(*broken):
            text = reader.pages[number].extract_text()
        yield text


def _reduced(image: Any) -> Any:
    """A very large picture at a whole fraction of its size, made in strips: at once it would need a second copy."""
    from PIL import Image

    factor = max(image.size) // LONG_SIDE
    if image.width * image.height < MANY_PIXELS or factor < 2 or image.mode not in ("RGB", "RGBA", "L", "LA"):
        return image
    small = Image.new(image.mode, (-(-image.width // factor), -(-image.height // factor)))
    for top in range(0, image.height, STRIP * factor):
        strip = image.crop((0, top, image.width, min(top + STRIP * factor, image.height)))
        small.paste(strip.reduce(factor), (0, top // factor))
    small.info = image.info
    if exif := image.getexif():
        small.info = {**image.info, "exif": exif.tobytes()}
    return small


def _plain_colours(image: Any) -> Any:
    if image.mode in ("RGB", "RGBA", "L", "LA"):
        return image
    if image.mode.startswith("I"):  # 16 bits of grey
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return image.convert("RGBA" if "transparency" in image.info or image.mode in ("PA", "La", "RGBa") else "RGB")


def _encoded(image: Any, *, lossless: bool) -> tuple[str, bytes]:
    if lossless or image.mode in ("RGBA", "LA"):
        data = _saved(image, format="PNG")
        if len(data) <= PICTURE_BYTES:
            return "image/png", data
    image = _on_white(image)
    for quality in (90, 80, 65, 50, 30):
        data = _saved(image, format="JPEG", quality=quality)
        if len(data) <= PICTURE_BYTES:
            return "image/jpeg", data
    raise ValueError("not even a poor JPEG is small enough")


def _on_white(image: Any) -> Any:
    from PIL import Image

    if image.mode not in ("RGBA", "LA"):
        return image
    image = image.convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    white.alpha_composite(image)
    return white.convert("RGB")


def _saved(image: Any, **options: Any) -> bytes:
    clean = image.copy()
    clean.info = {}
    clean.getexif().clear()
    out = BytesIO()
    clean.save(out, **options)
    return out.getvalue()


def _limit() -> None:
    limits = {
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_FSIZE: OUTPUT,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # macOS knows no limit of address space
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
