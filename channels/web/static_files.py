"""The files of the page, read once, and what a browser is told about them."""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from channels.web.requests import NAME

STATIC_PATH = "/static/"
STATIC_FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
ASSETS_FOLDER = "assets/"  # names there contain a hash of the content
PAGE = "index.html"
PARTS = "parts.json"  # names the files of each part of the page that is loaded on use
SECTION_PARTS = {"": "chat", "c": "chat"}  # where a part has another name than its section
# What the page shows under addresses of its own; the part after the first slash is the page's
# affair.
PAGE_PATHS = (
    "c",
    "memory",
    "people",
    "channels",
    "tasks",
    "tools",
    "skills",
    "mcp",
    "usage",
    "health",
    "backup",
    "settings",
    "more",
    "welcome",
)
MIN_COMPRESSED_BYTES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticFile:
    """One file of the page."""

    body: bytes
    media_type: str
    etag: str
    #: The body in gzip; "" where that is not shorter.
    compressed: bytes = b""


@cache
def load_assets() -> dict[str, StaticFile]:
    """Read every file with a known media type, by its path below the folder."""
    return {
        path.relative_to(STATIC_FOLDER).as_posix(): _load_asset(path)
        for path in sorted(STATIC_FOLDER.rglob("*"))
        if path.suffix in MEDIA_TYPES
    }


def _load_asset(path: Path) -> StaticFile:
    body = path.read_bytes()
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    compressed = gzip.compress(body, mtime=0) if len(body) >= MIN_COMPRESSED_BYTES else b""
    return StaticFile(
        body=body, media_type=MEDIA_TYPES[path.suffix], etag=etag, compressed=compressed
    )


def asset_response(request: Request, name: str, status: int = 200) -> Response:
    """Build the response with one file: 404 if there is none, 304 if the browser has it."""
    asset = load_assets().get(name)
    if asset is None:
        return Response(b"not found", 404, media_type="text/plain")
    cached = "public, max-age=31536000, immutable" if name.startswith(ASSETS_FOLDER) else "no-cache"
    headers = {"etag": asset.etag, "cache-control": cached, "vary": "accept-encoding"}
    if status == 200 and request.headers.get("if-none-match") == asset.etag:
        return Response(b"", 304, headers)
    body = asset.body
    if asset.compressed and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers = asset.compressed, {**headers, "content-encoding": "gzip"}
    return Response(body, status, headers, asset.media_type)


@cache
def load_parts() -> Mapping[str, Sequence[str]]:
    """Read which files each part of the page needs beside those that the page itself names."""
    found: dict[str, list[str]] = json.loads((STATIC_FOLDER / PARTS).read_text("utf-8"))
    return found


def preload_links(path: str, language: str) -> str:
    """Build the Link header of the page: what it asks for first at this address, so that nothing
    waits for its code.
    """
    section, _, rest = path[1:].partition("/")
    name = rest.partition("/")[0]
    files = [*load_parts().get(SECTION_PARTS.get(section, section), ()), *load_parts()[language]]
    kinds = {".js": "modulepreload", ".css": "preload; as=style"}
    links = [f"<{STATIC_PATH}{file}>; rel={kinds[PurePosixPath(file).suffix]}" for file in files]
    calls = [
        "session",
        *(
            [f"conversations/{quote(name, safe='')}"]
            if section == "c" and NAME.fullmatch(name)
            else []
        ),
    ]
    links += [f"</api/v1/{call}>; rel=preload; as=fetch" for call in calls]
    return ", ".join(f"{link}; crossorigin" for link in links)


def is_page(path: str) -> bool:
    """Tell whether a path is one under which the page shows something."""
    return path == "/" or path.split("/", 2)[1] in PAGE_PATHS
