"""The HTTP client both model wires speak over."""

from functools import cache
from typing import Any

CONNECT = 10.0
"""Seconds to open a connection; every other wait is held to by Patience."""
KEPT = 100
"""Connections that stay open for the next call; how many calls go on at once is for `concurrency` to say."""


def open_http(proxy: str) -> Any:
    """A new httpx2.AsyncClient. proxy: its URL, and then the only one; "" for what the environment says.

    It follows no redirects: a conversation goes to the host that was named, or nowhere.
    """
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=CONNECT),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=KEPT),
        verify=_trust(),
        proxy=proxy or None,
    )


@cache
def _trust() -> Any:
    """The certificates to go by, read once: it takes 20 ms."""
    import httpx2

    return httpx2.create_ssl_context()
