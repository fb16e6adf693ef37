"""HTTP for channels: a connection pool, bodies of limited size, and a cached access token."""

import asyncio
import logging
import ssl
import time
from collections.abc import AsyncIterable, Awaitable, Callable
from functools import cache
from typing import Any

from channels.errors import AttachmentTooBig

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 20.0
MAX_CONNECTIONS = 32
MAX_RETRY_AFTER_SECONDS = 86_400
# Failures before a request leaves, by name: httpx and httpx2 have a class of each.
_UNSENT_ERRORS = frozenset(
    {
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
        "ProxyError",
        "UnsupportedProtocol",
        "LocalProtocolError",
    }
)


class HttpPool:
    """A pool of HTTP connections, opened by the first request and reopened by the next one after
    `close`.
    """

    def __init__(self, proxy: str, answer_seconds: float = ANSWER_SECONDS) -> None:
        self._proxy = proxy
        self._answer_seconds = answer_seconds
        self._client: Any = None
        self._opening = asyncio.Lock()

    async def open(self) -> Any:
        """Return the httpx2.AsyncClient.

        Opened in a thread: the import and the certificates take up to 100 ms.
        """
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(
                    create_http_client, self._proxy, self._answer_seconds
                )
            return self._client

    async def close(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


def create_http_client(proxy: str, answer_seconds: float = ANSWER_SECONDS) -> Any:
    """Create an httpx2.AsyncClient that follows no redirects and takes no proxy from the
    environment.

    Args:
        proxy: its URL, "" for none.
    """
    import httpx2

    # below that it logs URLs, which can hold a token
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(answer_seconds, connect=min(answer_seconds, CONNECT_SECONDS)),
        limits=httpx2.Limits(
            max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS
        ),
        verify=create_tls_context(),
        proxy=proxy or None,
        trust_env=False,
    )


@cache
def create_tls_context() -> ssl.SSLContext:
    """Create the context of all clients once, with the system's certificates or SSL_CERT_FILE's: 20
    ms and 0.7 MB.
    """
    import httpx2

    return httpx2.create_ssl_context()


def is_unsent(err: BaseException | None) -> bool:
    """Whether an error of httpx or httpx2 means that the request has not left."""
    return type(err).__name__ in _UNSENT_ERRORS


async def read_start(chunks: AsyncIterable[bytes], max_bytes: int) -> bytes:
    """Read a body until it ends or exceeds `max_bytes`; a longer result than that is incomplete."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > max_bytes:
            break
    return bytes(body)


async def read_limited(chunks: AsyncIterable[bytes], max_bytes: int) -> bytes:
    """Read a whole body of at most `max_bytes`. Pass raw chunks: decompressed ones can be any size.

    Raises:
        AttachmentTooBig: it is longer.
    """
    body = await read_start(chunks, max_bytes)
    if len(body) > max_bytes:
        raise AttachmentTooBig(f"the file has more than {max_bytes} bytes")
    return body


def parse_retry_after(text: str) -> float | None:
    """Parse a header's number of seconds; None where it is missing or not plausible."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 < seconds < MAX_RETRY_AFTER_SECONDS else None


class AccessToken:
    """An API's access token; one caller renews it while the others wait for the result."""

    def __init__(self, fetch: Callable[[str], Awaitable[tuple[str, float]]]) -> None:
        """Args: fetch: called with the rejected token ("" for none); returns a token and the
        seconds to use it for.
        """
        self._fetch = fetch
        self._token = ""
        self._usable_until = 0.0  # monotonic seconds
        self._renewing = asyncio.Lock()

    async def get(self, rejected: str = "") -> str:
        """Return a usable token other than `rejected`, the one that the platform has just
        refused.
        """
        if self._is_usable(rejected):
            return self._token
        async with self._renewing:
            if not self._is_usable(rejected):
                # a failed renewal must not leave the rejected token in use
                self._usable_until = 0.0
                began = time.monotonic()
                self._token, seconds = await self._fetch(rejected)
                self._usable_until = began + seconds
            return self._token

    def _is_usable(self, rejected: str) -> bool:
        return (
            bool(self._token) and self._token != rejected and time.monotonic() < self._usable_until
        )
