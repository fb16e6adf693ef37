"""Opens one untrusted picture or PDF in a process of its own, under limits; imports no other module
of mnema.

The file is read from standard input, which must be seekable. The result goes to standard output:
one line of JSON, then bytes. A failure ends this process and nothing else.
"""

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any, BinaryIO

# address space; one file is opened at a time, so all files take less than 300 MB
MAX_MEMORY_BYTES = 280 * 2**20
CPU_SECONDS = 20
PDF_SECONDS = 12.0
MAX_OUTPUT_BYTES = 16 * 2**20
MAX_SIDE_PIXELS = 2000
THUMBNAIL_PIXELS = 480
MAX_THUMBNAIL_BYTES = 150_000
MAX_PICTURE_BYTES = 3_750_000  # 5 MB in base64
MAX_PIXELS = 40_000_000
MAX_JPEG_PIXELS = 120_000_000  # a JPEG is decoded at a fraction of its size, anything else whole
LARGE_PICTURE_PIXELS = 20_000_000
STRIP_ROWS = 64  # of the reduced picture
MAX_PDF_PAGES = 500
MAX_TEXT_CHARS = 200_000
WorkerResult = tuple[dict[str, Any], bytes]


def main() -> None:
    """Run as `python attachment_worker.py picture|thumbnail|pdf`."""
    _set_limits()
    work = {"picture": picture, "thumbnail": thumbnail, "pdf": pdf}[sys.argv[1]]
    facts, payload = work(sys.stdin.buffer)
    sys.stdout.buffer.write(json.dumps(facts).encode() + b"\n" + payload)
    sys.stdout.buffer.flush()


def picture(source: BinaryIO) -> WorkerResult:
    """Return the first frame upright, without metadata, within `MAX_SIDE_PIXELS` and
    `MAX_PICTURE_BYTES`.
    """
    return _redraw(source, MAX_SIDE_PIXELS, MAX_PICTURE_BYTES)


def thumbnail(source: BinaryIO) -> WorkerResult:
    """Return what `picture` does within `THUMBNAIL_PIXELS` and `MAX_THUMBNAIL_BYTES`."""
    return _redraw(source, THUMBNAIL_PIXELS, MAX_THUMBNAIL_BYTES)


def _redraw(source: BinaryIO, side: int, most: int) -> WorkerResult:
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None
    image: Any = Image.open(source, formats=["JPEG", "PNG", "GIF", "WEBP"])
    kind = image.format
    if image.width * image.height > (MAX_JPEG_PIXELS if kind == "JPEG" else MAX_PIXELS):
        return {"refused": "pixels", "width": image.width, "height": image.height}, b""
    image.draft(None, (side, side))
    image.load()
    image = _to_plain_colours(_reduce(image))
    image.thumbnail((side, side))
    image = ImageOps.exif_transpose(image)
    media_type, data = _encode(image, most, lossless=kind in ("PNG", "GIF"))
    return {"media_type": media_type, "width": image.width, "height": image.height}, data


def pdf(source: BinaryIO) -> WorkerResult:
    """Return the text of the first `MAX_PDF_PAGES` pages as UTF-8; `cut` tells that there is
    more.
    """
    from pypdf import PdfReader

    logging.disable()
    reader = PdfReader(source)
    if reader.is_encrypted and not reader.decrypt(""):
        return {"refused": "locked"}, b""
    pages = len(reader.pages)
    text: list[str] = []
    left = MAX_TEXT_CHARS
    for found in _extract_pages(reader, min(pages, MAX_PDF_PAGES)):
        text.append(found[:left])
        left -= len(found)
        if left < 0:
            break
    cut = left < 0 or len(text) < pages
    return {"pages": pages, "cut": cut}, "\n\n".join(text).strip().encode("utf-8", "replace")


def _extract_pages(reader: Any, pages: int) -> Iterator[str]:
    from pypdf.errors import PyPdfError

    broken = (
        PyPdfError,
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    )
    for number in range(pages):
        if time.process_time() > PDF_SECONDS:
            return
        text = ""
        with suppress(*broken):
            text = reader.pages[number].extract_text()
        yield text


def _reduce(image: Any) -> Any:
    """Shrink a very large picture by a whole factor, in strips: as a whole it would need a second
    copy.
    """
    from PIL import Image

    factor = max(image.size) // MAX_SIDE_PIXELS
    if (
        image.width * image.height < LARGE_PICTURE_PIXELS
        or factor < 2
        or image.mode not in ("RGB", "RGBA", "L", "LA")
    ):
        return image
    small = Image.new(image.mode, (-(-image.width // factor), -(-image.height // factor)))
    for top in range(0, image.height, STRIP_ROWS * factor):
        strip = image.crop((0, top, image.width, min(top + STRIP_ROWS * factor, image.height)))
        small.paste(strip.reduce(factor), (0, top // factor))
    small.info = image.info
    if exif := image.getexif():
        small.info = {**image.info, "exif": exif.tobytes()}
    return small


def _to_plain_colours(image: Any) -> Any:
    if image.mode in ("RGB", "RGBA", "L", "LA"):
        return image
    if image.mode.startswith("I"):  # 16-bit grey
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return image.convert(
        "RGBA" if "transparency" in image.info or image.mode in ("PA", "La", "RGBa") else "RGB"
    )


def _encode(image: Any, most: int, *, lossless: bool) -> tuple[str, bytes]:
    if lossless or image.mode in ("RGBA", "LA"):
        data = _save_without_metadata(image, format="PNG")
        if len(data) <= most:
            return "image/png", data
    image = _flatten_on_white(image)
    for quality in (90, 80, 65, 50, 30):
        data = _save_without_metadata(image, format="JPEG", quality=quality)
        if len(data) <= most:
            return "image/jpeg", data
    raise ValueError("even the lowest JPEG quality is too large")


def _flatten_on_white(image: Any) -> Any:
    from PIL import Image

    if image.mode not in ("RGBA", "LA"):
        return image
    image = image.convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    white.alpha_composite(image)
    return white.convert("RGB")


def _save_without_metadata(image: Any, **options: Any) -> bytes:
    clean = image.copy()
    clean.info = {}
    clean.getexif().clear()
    out = BytesIO()
    clean.save(out, **options)
    return out.getvalue()


def _set_limits() -> None:
    import resource  # not on every system

    limits = {
        resource.RLIMIT_AS: MAX_MEMORY_BYTES,
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_FSIZE: MAX_OUTPUT_BYTES,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # macOS has no limit of address space
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
