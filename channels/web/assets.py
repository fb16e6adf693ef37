"""The page's files, read once from the package; what is not among them does not exist."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One file: its bytes, media type and ETag."""

    body: bytes
    media_type: str
    etag: str


@cache
def assets() -> dict[str, Asset]:
    """Every servable file by its path below the folder."""
    found = (path for path in sorted(FOLDER.rglob("*")) if path.suffix in TYPES)
    return {path.relative_to(FOLDER).as_posix(): _asset(path) for path in found}


def page(request: Request, name: str, status: int = 200) -> Response:
    """One file as an answer: 404 when it is not ours, 304 when the browser has it."""
    asset = assets().get(name)
    if asset is None:
        return Response(b"not found", 404, media_type="text/plain")
    headers = {"etag": asset.etag, "cache-control": "no-cache"}
    if status == 200 and request.headers.get("if-none-match") == asset.etag:
        return Response(b"", 304, headers)
    return Response(asset.body, status, headers, asset.media_type)


def _asset(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(body=body, media_type=TYPES[path.suffix], etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"')
