"""The Messages API wire: opens it, streams over it, and hears an answer out of its events."""

import asyncio
import gc
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from bot.errors import BadImage, KeyRefused, ModelError, Transient
from bot.models.anthropic_answer import Hearing
from bot.models.anthropic_form import Form, render
from bot.models.base import Blobs, Event, Request
from bot.models.failures import read_failure, to_error
from bot.models.http import open_http
from bot.models.parts import settled
from bot.models.patience import Patience, closing, drain, within
from bot.models.prices import window
from memory.conversation import Document, Image


class Anthropic:
    """One account at an endpoint that speaks the Messages API.

    api_key: sent as it is. base_url: "" for the SDK's own. proxy: URL, "" for what the environment says.
    blobs: reads pictures and files. unknown: how often each block, event or stop reason nobody knows was met.
    """

    name = "anthropic"

    def __init__(
        self, *, api_key: str, blobs: Blobs, base_url: str = "", proxy: str = "", limits: Patience | None = None
    ) -> None:
        self._key, self._base_url, self._proxy = api_key, base_url, proxy
        self._blobs, self._limits = blobs, limits or Patience()
        self._client: Any = None
        self._opening = asyncio.Lock()
        self.unknown: Counter[str] = Counter()

    async def preload(self) -> None:
        """Import the SDK and open the wire, in a thread: it takes about a second, which nobody should wait for."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._open)

    async def stream(self, request: Request) -> AsyncIterator[Event]:
        """See Model.stream."""
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise KeyRefused("the API key is missing or has characters no key has", kind="authentication_error")
        await self.preload()
        heavy = any(isinstance(part, Image | Document) for message in request.messages for part in message.parts)
        form = await asyncio.to_thread(render, request, self._blobs) if heavy else render(request, self._blobs)
        hearing = Hearing(request.model, self.unknown)
        async with closing(within(self._events(form, request), self._limits)) as events:
            async for event in events:
                if shown := hearing.take(event):
                    yield shown
                if hearing.ended:
                    await drain(events)
        yield settled(hearing.heard(), request)

    async def _events(self, form: Form, request: Request) -> AsyncIterator[dict[str, Any]]:
        """The wire's events as they come, one call's. Raises ModelError only."""
        import anthropic
        import httpx2

        try:
            call = self._client.messages.with_streaming_response.create(**form.body, stream=True)
            async with call as response:
                async for sse in anthropic.AsyncStream.raw_events(response.http_response):
                    yield _read(sse.data)
        except anthropic.APIStatusError as err:
            raise _refusal(err, form, request) from err
        except (anthropic.APIError, httpx2.HTTPError, httpx2.StreamError) as err:
            raise Transient(f"the connection failed: {err!r}", kind="connection") from err
        except ValueError as err:
            raise Transient(f"the stream is damaged: {err}", kind="damaged") from err

    def _open(self) -> Any:
        gc.disable()  # it finds nothing among fresh modules, and looking costs a fifth of the import
        try:
            import anthropic
        finally:
            gc.enable()
        client = anthropic.AsyncAnthropic(
            api_key=self._key, base_url=self._base_url or None, max_retries=0, http_client=open_http(self._proxy)
        )
        # The SDK imports a resource when it is first touched.
        _ = client.messages
        return client

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _read(data: str) -> dict[str, Any]:
    event = json.loads(data or '{"type": "ping"}')
    if not isinstance(event, dict):
        raise ValueError("an event that is no object")
    if event.get("type") == "error":
        raise to_error(read_failure(200, event))
    return event


def _refusal(err: Any, form: Form, request: Request) -> ModelError:
    """The error behind an answer that is no stream, its places named in the request's terms."""
    failure = read_failure(err.status_code, err.body, err.response.headers)
    size = len(json.dumps(form.body, ensure_ascii=False).encode())
    error = to_error(replace(failure, crowded=size / 4 > 0.8 * window(request.model)))
    if isinstance(error, BadImage):
        error.message, error.part = form.place(error.message, error.part)
    return error
