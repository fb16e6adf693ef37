"""Files that came with a message, fetched from the Bot API's file server."""

import asyncio
from typing import Any
from urllib.parse import quote

from channels.base import Fetched
from channels.errors import Rejected, Retryable, TooBig
from channels.telegram.wire import CONNECT_SECONDS, root

CHUNK_SECONDS = 20.0
WHOLE_SECONDS = 120.0


class Files:
    """One pool of connections to the file server. base_url: as the API's; proxy: its URL, "" for none."""

    def __init__(self, token: str, base_url: str, proxy: str) -> None:
        self._start = f"{root(base_url)}/file/bot{token}/"
        self._proxy = proxy
        self._client: Any = None

    async def fetch(self, path: str, most: int) -> Fetched:
        """The bytes at a path that getFile named, at most `most`; it reads no more than that.

        Raises:
            TooBig: there are more. Rejected: the path has expired, or is none. Retryable: not now.
        """
        if not path or path.startswith("/") or ".." in path.split("/"):
            raise Rejected("the Bot API server names a file of its own machine")
        import httpx2

        if self._client is None:
            self._client = await asyncio.to_thread(self._open)
        try:
            async with asyncio.timeout(WHOLE_SECONDS):
                return Fetched(data=await self._read(self._start + quote(path), most))
        except (httpx2.TransportError, TimeoutError) as err:
            raise Retryable(f"the file did not come whole: {type(err).__name__}") from err

    async def close(self) -> None:
        """Drop the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _read(self, url: str, most: int) -> bytes:
        data = bytearray()
        async with self._client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as answer:
            if answer.status_code in (400, 404, 410):
                raise Rejected("the file is not there any more")
            if answer.status_code != 200:
                raise Retryable(f"the file server answers {answer.status_code}")
            async for chunk in answer.aiter_raw():
                data += chunk
                if len(data) > most:
                    raise TooBig(f"the file has more than {most} bytes")
        return bytes(data)

    def _open(self) -> Any:
        import httpx2

        timeout = httpx2.Timeout(CHUNK_SECONDS, connect=CONNECT_SECONDS)
        return httpx2.AsyncClient(timeout=timeout, trust_env=False, proxy=self._proxy or None)
