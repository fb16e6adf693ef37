"""Client of OpenAI-compatible chat completions: sends a request, and learns what a server refuses.

It uses plain HTTP: compatible servers send more forms than the vendor's SDK accepts, and the SDK
need not be loaded.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import structlog

from bot.errors import Damaged, KeyRefused, Overflow, Stalled, Transient
from bot.models.base import Answer, Blobs, ModelEvent, Request, Restarted
from bot.models.catalog import UNKNOWN_WINDOW
from bot.models.providers.failures import read_failure, to_error
from bot.models.providers.messages import has_files, normalize_answer, replace_surrogates
from bot.models.providers.openai_request import encode_openai_request
from bot.models.providers.openai_stream import OpenAIStreamDecoder
from bot.models.providers.quirks import (
    NO_QUIRKS,
    ModelQuirks,
    learn_from_refusal,
    merge_refusals,
    option_fields,
)
from bot.models.providers.transport import (
    ClientPool,
    TimedStream,
    Timeouts,
    create_http_client,
    iterate_data_lines,
)
from bot.models.setup.presets import THINKING_HOSTS
from memory.conversation import ToolCall

log = structlog.get_logger(__name__)


STREAM_END: dict[str, Any] = {}  # the chunk for the line that ends a stream
MAX_ADAPTATIONS = 8  # of one request to what a server refuses; each leaves out something else
# messages with calls whose thinking is kept: 60 running turns of 15 steps each, and some
MAX_THOUGHTS = 1_000


class OpenAIModel:
    """An account at an endpoint with the chat completions API.

    Args:
        base_url: without "/chat/completions".
        api_key: "" for a server that needs none.
        proxy: URL; "" for the environment's.
        window: of the server's models, in tokens; to recognise a refusal of a long request that
            gives no reason.
    """

    name = "openai"

    def __init__(
        self,
        *,
        base_url: str,
        blobs: Blobs,
        api_key: str = "",
        proxy: str = "",
        limits: Timeouts | None = None,
        window: int = UNKNOWN_WINDOW,
    ) -> None:
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key, self._proxy, self._blobs = api_key, proxy, blobs
        self._headers = {
            "content-type": "application/json",
            **({"authorization": f"Bearer {api_key}"} if api_key else {}),
        }
        self._limits, self._window = limits or Timeouts(), window
        #: The vendor asks for the thinking of the running turn's calls.
        self.sends_thinking_back = urlsplit(base_url).hostname in THINKING_HOSTS
        # By model id.
        self._quirks: dict[str, ModelQuirks] = {}
        # By conversation and id of the first call; never stored.
        self._thoughts: dict[tuple[str, str], str] = {}
        self._clients: ClientPool[Any] = ClientPool(
            lambda: create_http_client(self._proxy), lambda client: client.aclose()
        )
        #: Called with the id of a model that is found to end its thinking with a closing tag alone.
        self.on_closing_tag: Callable[[str], None] = lambda model: None
        #: Occurrences of unknown stop reasons.
        self.unknown: Counter[str] = Counter()

    async def preload(self) -> None:
        """Import and create the HTTP client in a thread."""
        await self._clients.preload()

    def quirks(self, model: str) -> ModelQuirks:
        """Return what is known of a model."""
        return self._quirks.get(model, NO_QUIRKS)

    def hold_text(self, model: str) -> None:
        """Show no text of a model before its thinking has ended with a closing tag."""
        self._learn(model, closes_only=True)

    def forget_refusals(self, model: str) -> None:
        """Send the next request to a model whole: its server may have other settings now."""
        self._learn(model, left_out=frozenset(), tools_refused="")

    def _learn(self, model: str, **changes: Any) -> None:
        self._quirks[model] = replace(self.quirks(model), **changes)

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if not (self._key.isascii() and self._key.isprintable()):
            raise KeyRefused("the API key has characters no key has", kind="invalid_api_key")
        decoder = OpenAIStreamDecoder(
            self.unknown, holds_text=self.quirks(request.model).closes_only
        )
        try:
            async with (
                self._clients.client() as client,
                TimedStream(self._chunks(client, request), self._limits) as chunks,
            ):
                async for chunk in chunks:
                    for event in decoder.take(chunk):
                        if isinstance(event, Restarted):
                            self.hold_text(request.model)
                            self.on_closing_tag(request.model)
                        yield event
                    if chunk is STREAM_END:
                        await chunks.drain()
        except (Transient, Stalled):
            if not decoder.ended:  # after the end of the answer a lost connection does no harm
                raise
        for event in decoder.finish():
            yield event
        answer = normalize_answer(decoder.answer(), request)
        self._note_thinking(request, decoder, answer)
        yield answer

    def _note_thinking(
        self, request: Request, decoder: OpenAIStreamDecoder, answer: Answer
    ) -> None:
        """Note how the model thinks, and what it thought before it called tools."""
        if decoder.thinks_in_tags or decoder.thought:
            self._learn(request.model, thinking="tags" if decoder.thinks_in_tags else "field")
        call = next((part for part in answer.parts if isinstance(part, ToolCall)), None)
        if call is None or not decoder.thought:
            return
        self._thoughts[request.conversation, call.id] = replace_surrogates(decoder.thought)
        while len(self._thoughts) > MAX_THOUGHTS:
            del self._thoughts[next(iter(self._thoughts))]

    async def _chunks(self, client: Any, request: Request) -> AsyncIterator[dict[str, Any]]:
        """Yield the chunks of one call. Raises only ModelError."""
        import httpx2

        try:
            async with aclosing(await self._post(client, request)) as response:
                is_stream = "event-stream" in response.headers.get("content-type", "")
                self._learn(request.model, streams=is_stream)
                async for line in iterate_data_lines(response.aiter_bytes()):
                    yield _parse_chunk(line)
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as err:
            raise Transient(f"the connection failed: {err!r}", kind="connection") from err
        except (ValueError, RecursionError) as err:
            raise Damaged(f"the stream is damaged: {err}", kind="damaged") from err

    async def _post(self, client: Any, request: Request) -> Any:
        """Send the request and return the open response; send it again without what the server
        refuses.

        What was left out is remembered once a request without it is answered.
        """
        quirks, learnt = self.quirks(request.model), False
        for _ in range(MAX_ADAPTATIONS):
            body = await self._encode(request, quirks)
            post = client.build_request("POST", self._url, content=body, headers=self._headers)
            response = await client.send(post, stream=True)
            if response.status_code < 300:
                if learnt:
                    self._remember(request.model, quirks)
                return response
            failure = read_failure(response.status_code, await response.aread(), response.headers)
            error = to_error(replace(failure, nearly_full=len(body) / 4 > 0.8 * self._window))
            adapted = learn_from_refusal(quirks, failure, _sent_fields(request, quirks))
            if adapted is None or isinstance(error, Overflow):
                break
            quirks, learnt = adapted, True
        raise error

    async def _encode(self, request: Request, quirks: ModelQuirks) -> bytes:
        thoughts: dict[str, str] = {}
        if quirks.wants_thinking or self.sends_thinking_back:
            known = self._thoughts.items()
            thoughts = {
                call: thought for (chat, call), thought in known if chat == request.conversation
            }
        if has_files(request):
            return await asyncio.to_thread(
                encode_openai_request, request, self._blobs, quirks, thoughts
            )
        return encode_openai_request(request, self._blobs, quirks, thoughts)

    def _remember(self, model: str, quirks: ModelQuirks) -> None:
        known = self.quirks(model)
        refused = sorted(quirks.left_out - known.left_out)
        log.warning(
            "model takes less", model=model, left_out=refused, tools_refused=quirks.tools_refused
        )
        # other requests may have learnt something meanwhile
        self._quirks[model] = merge_refusals(known, quirks)

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._clients.close()


def _sent_fields(request: Request, quirks: ModelQuirks) -> Collection[str]:
    tools = {"tools"} if request.tools and not quirks.tools_refused else set()
    return {*option_fields(request, quirks), *tools}


def _parse_chunk(line: str) -> dict[str, Any]:
    if line == "[DONE]":
        return STREAM_END
    chunk = json.loads(line)
    if not isinstance(chunk, dict):
        raise ValueError("a chunk that is no object")
    if chunk.get("error"):
        raise to_error(read_failure(200, chunk))
    return chunk
