"""The chat completions wire, for any compatible endpoint: opens it, and streams over it.

It is spoken over plain HTTP: what compatible servers really send is wider than what the vendor's SDK takes, and one
dependency less is loaded.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from bot.errors import KeyRefused, Stalled, Transient
from bot.models.base import Blobs, Event, Request
from bot.models.failures import read_failure, to_error
from bot.models.http import open_http
from bot.models.openai_answer import Hearing
from bot.models.openai_form import render
from bot.models.parts import settled
from bot.models.patience import Patience, closing, drain, within
from bot.models.prices import UNKNOWN_WINDOW

LIMITS = ("max_tokens", "max_completion_tokens")
"""The names servers have for the longest answer; the second is that of the vendor's newer models."""

DONE: dict[str, Any] = {}
"""Stands for the line that ends a stream."""


class OpenAI:
    """One account at an endpoint that speaks chat completions.

    base_url: up to but without "/chat/completions", as the vendor gives it. api_key: "" for a server that wants none.
    proxy: URL, "" for what the environment says. blobs: reads pictures. window: of the server's models, in tokens;
    only to tell a silent refusal of a long request. unknown: how often each stop reason nobody knows was met.
    """

    name = "openai"

    def __init__(
        self,
        *,
        base_url: str,
        blobs: Blobs,
        api_key: str = "",
        proxy: str = "",
        limits: Patience | None = None,
        window: int = UNKNOWN_WINDOW,
    ) -> None:
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key, self._proxy, self._blobs = api_key, proxy, blobs
        self._headers = {
            "content-type": "application/json",
            **({"authorization": f"Bearer {api_key}"} if api_key else {}),
        }
        self._limits, self._window = limits or Patience(), window
        self._limit_field = LIMITS[0]
        self._client: Any = None
        self._opening = asyncio.Lock()
        self.unknown: Counter[str] = Counter()

    async def preload(self) -> None:
        """Import the HTTP client and open it, in a thread."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(open_http, self._proxy)

    async def stream(self, request: Request) -> AsyncIterator[Event]:
        """See Model.stream."""
        if not (self._key.isascii() and self._key.isprintable()):
            raise KeyRefused("the API key has characters no key has", kind="invalid_api_key")
        await self.preload()
        hearing = Hearing(self.unknown)
        try:
            async with closing(self._events(request, hearing)) as events:
                async for event in events:
                    yield event
        except (Transient, Stalled):
            # Whatever befalls the connection after the answer's end is no loss.
            if not hearing.ended:
                raise
        yield settled(hearing.heard(), request)

    async def _events(self, request: Request, hearing: Hearing) -> AsyncIterator[Event]:
        async with closing(within(self._chunks(request), self._limits)) as chunks:
            async for chunk in chunks:
                for event in hearing.take(chunk):
                    yield event
                if chunk is DONE:
                    await drain(chunks)

    async def _chunks(self, request: Request) -> AsyncIterator[dict[str, Any]]:
        """The chunks of one call as they come. Raises ModelError only."""
        import httpx2

        try:
            async with aclosing(await self._post(request)) as response:
                async for line in _lines(response.aiter_bytes()):
                    yield _read(line)
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as err:
            raise Transient(f"the connection failed: {err!r}", kind="connection") from err
        except ValueError as err:
            raise Transient(f"the stream is damaged: {err}", kind="damaged") from err

    async def _post(self, request: Request) -> Any:
        """The open answer to one call; asks once more where the server has another name for the longest answer."""
        field = self._limit_field
        rendered = await asyncio.to_thread(render, request, self._blobs, field)
        body = json.dumps(rendered, ensure_ascii=False, separators=(",", ":")).encode()
        post = self._client.build_request("POST", self._url, content=body, headers=self._headers)
        response = await self._client.send(post, stream=True)
        if response.status_code < 300:
            return response
        failure = read_failure(response.status_code, await response.aread(), response.headers)
        error = to_error(replace(failure, crowded=len(body) / 4 > 0.8 * self._window))
        if error.kind != "unsupported_parameter" or field != LIMITS[0]:
            raise error
        self._limit_field = LIMITS[1]
        return await self._post(request)

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


async def _lines(source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What stands behind `data:` line by line, and a body that is no event stream at all as one piece.

    Bytes are cut at line feeds only: inside JSON, U+2028 and its like are no ends of lines.
    """
    rest, bare = b"", []
    async for piece in source:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()
            elif not line.startswith((b":", b"event:", b"id:", b"retry:")):
                bare.append(line)
    if rest.startswith(b"data:"):
        yield rest[5:].strip()
    elif whole := b"\n".join([*bare, rest]).strip():
        yield whole


def _read(line: bytes) -> dict[str, Any]:
    if line == b"[DONE]":
        return DONE
    chunk = json.loads(line)
    if not isinstance(chunk, dict):
        raise ValueError("a chunk that is no object")
    if chunk.get("error"):
        raise to_error(read_failure(200, chunk))
    return chunk
