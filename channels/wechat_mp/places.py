"""Which addresses of files are asked: the platform's, over TLS, and nothing that a message could name. Pure."""

import json
from urllib.parse import urlsplit

from channels.errors import Rejected

FAMILIES = ("qpic.cn", "qlogo.cn", "qq.com", "wechat.com")
"""The domains that the platform's pictures and videos are served from."""


def safe_address(url: str, root: str) -> str:
    """The address as it may be asked: on https, at one of the platform's hosts or at the API's own root.

    Raises:
        Rejected: it is somewhere else.
    """
    try:
        parts, home = urlsplit(url), urlsplit(root)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as err:
        raise Rejected("the file's address is none") from err
    if parts.username or parts.password or not host:
        raise Rejected("the file's address is not a plain one")
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    if (parts.scheme, parts.netloc.lower()) == (home.scheme, home.netloc.lower()):
        return f"{home.scheme}://{home.netloc}{path}"
    if port in (None, 80, 443) and any(host == family or host.endswith(f".{family}") for family in FAMILIES):
        return f"https://{host}{path}"
    raise Rejected("the file is not at one of the platform's addresses")


def video_address(data: bytes) -> str:
    """Where a video is, as the platform answers for its media_id. Raises Rejected."""
    try:
        found = json.loads(data)["video_url"]
    except (ValueError, KeyError, TypeError, RecursionError) as err:
        raise Rejected("the platform does not say where the video is") from err
    return str(found)
