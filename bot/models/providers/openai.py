"""Client of OpenAI-compatible chat completions: encodes the request, streams, decodes the answer.

It uses plain HTTP: compatible servers send more forms than the vendor's SDK accepts, and the SDK need not be loaded.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from bot.errors import KeyRefused, Stalled, Transient
from bot.models.base import Blobs, ModelEvent, Request, StopReason, TextDelta, ThinkingDelta, TokensUsed, ToolStarted
from bot.models.catalog import UNKNOWN_WINDOW
from bot.models.providers.failures import read_failure, to_error
from bot.models.providers.messages import (
    DecodedAnswer,
    call_arguments,
    describe_file,
    encode_blob,
    normalize_answer,
    replace_surrogates,
    replace_surrogates_in_json,
)
from bot.models.providers.transport import (
    Timeouts,
    closing_source,
    create_http_client,
    drain_response,
    iterate_with_timeouts,
)
from memory.conversation import Document, Image, Part, ShownMessage, Text, ToolCall, ToolResult, ToolSpec

OPENAI_STOP_REASONS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
    "sensitive": "refusal",
    "model_context_window_exceeded": "overflow",
}
# Finish reasons for a failure of the server.
FAILED_STOP_REASONS = frozenset(("network_error", "insufficient_system_resource"))


@dataclass(slots=True)
class _PartialCall:
    """A tool call while it is streamed."""

    #: The server's number of the call; None if it gives none.
    index: int | None
    id: str = ""
    name: str = ""
    written: str = ""


class OpenAIStreamDecoder:
    """Decodes the chunks of one call in all forms seen. unknown: counts unknown stop reasons. Pure."""

    def __init__(self, unknown: Counter[str]) -> None:
        self._unknown = unknown
        self._model, self._stop, self._refusal = "", "", ""
        self._text: list[str] = []
        self._calls: list[_PartialCall] = []
        self._usage: dict[str, Any] = {}

    @property
    def ended(self) -> bool:
        """Whether the answer is complete; its usage may still follow."""
        return bool(self._stop)

    def take(self, chunk: dict[str, Any]) -> list[ModelEvent]:
        """Add one chunk, or a whole completion; return what can be shown of it.

        Raises:
            Transient: it does not have the form of a chunk.
        """
        try:
            return list(self._add(chunk))
        except (LookupError, TypeError, ValueError, AttributeError) as err:
            raise Transient(f"the stream is damaged: {err!r}", status=200, kind="damaged") from err

    def answer(self) -> DecodedAnswer:
        """Return the complete answer.

        Raises:
            Transient: the stream ended before the answer did, or the server failed.
        """
        if not self._stop or self._stop in FAILED_STOP_REASONS:
            raise Transient("the stream ended before the answer did", status=200, kind=self._stop or "cut")
        if self._stop not in OPENAI_STOP_REASONS:
            self._unknown[f"stop {self._stop}"] += 1
        calls = (ToolCall(id=call.id, name=call.name, input=call.written or "{}") for call in self._calls)
        parts: list[Part] = [Text(text="".join(self._text)), *calls]
        return DecodedAnswer(
            parts=tuple(parts),
            stop="refusal" if self._refusal else OPENAI_STOP_REASONS.get(self._stop, "unknown"),
            raw_stop=self._stop,
            usage=self._tokens(),
            model=self._model,
            detail=self._refusal,
        )

    def _add(self, chunk: dict[str, Any]) -> Iterator[ModelEvent]:
        self._model = str(chunk.get("model") or self._model)
        self._usage.update(chunk.get("usage") or {})
        for choice in (chunk.get("choices") or [])[:1]:
            # Some servers never stream and send one message; some put the usage into the choice.
            self._usage.update(choice.get("usage") or {})
            yield from self._add_delta(choice.get("delta") or choice.get("message") or {})
            self._stop = str(choice.get("finish_reason") or self._stop)

    def _add_delta(self, delta: dict[str, Any]) -> Iterator[ModelEvent]:
        self._refusal += delta.get("refusal") or ""
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            yield ThinkingDelta(text=replace_surrogates(str(thought)))
        if piece := delta.get("content"):
            self._text.append(piece)
            yield TextDelta(text=replace_surrogates(piece))
        for called in delta.get("tool_calls") or []:
            yield from self._add_call(called)

    def _add_call(self, called: dict[str, Any]) -> Iterator[ModelEvent]:
        function = called.get("function") or {}
        index, id, name = called.get("index"), str(called.get("id") or ""), str(function.get("name") or "")
        call = self._open_call(index, id, name)
        if call is None:
            call = _PartialCall(index=index, id=id, name=name)
            self._calls.append(call)
            yield ToolStarted(name=name)
        call.id, call.name = call.id or id, call.name or name
        call.written += function.get("arguments") or ""

    def _open_call(self, index: int | None, id: str, name: str) -> _PartialCall | None:
        """Return the call that a piece belongs to; None if it starts a new one.

        With an index: the newest call of that index, unless the piece names another id. Without: the newest call,
        unless the piece names another id, or a function without any.
        """
        known = [call for call in self._calls if index is None or call.index == index]
        if not known or (id and known[-1].id and id != known[-1].id):
            return None
        return None if index is None and name and not id else known[-1]

    def _tokens(self) -> TokensUsed:
        details = self._usage.get("prompt_tokens_details") or {}
        cached = details.get("cached_tokens") or self._usage.get("prompt_cache_hit_tokens") or 0
        return TokensUsed(
            input=int(self._usage.get("prompt_tokens") or 0),
            output=int(self._usage.get("completion_tokens") or 0),
            cache_read=int(cached),
        )


JsonRow = dict[str, Any]


def encode_openai_request(request: Request, blobs: Blobs, limit_field: str = "max_tokens") -> dict[str, Any]:
    """Encode the body of a streamed call. The same request gives the same bytes.

    Thinking is not sent back. Messages of text alone are sent as plain strings, as some servers accept nothing else.

    Args:
        limit_field: the server's name for the longest answer; see LIMIT_FIELDS.
    """
    rows: list[JsonRow] = []
    if system := "\n\n".join(text for text in request.system if text.strip()):
        rows.append({"role": "system", "content": system})
    for message in request.messages:
        rows.extend(_encode_assistant(message) if message.role == "assistant" else _encode_user(message, blobs))
    body: dict[str, Any] = {"model": request.model, limit_field: request.max_tokens, "messages": rows}
    if request.tools:
        body["tools"] = [_encode_tool(spec) for spec in request.tools]
        if not request.may_call:
            body["tool_choice"] = "none"
    sent: dict[str, Any] = replace_surrogates_in_json(body)
    return {**sent, "stream": True, "stream_options": {"include_usage": True}}


def _encode_tool(spec: ToolSpec) -> JsonRow:
    function = {"name": spec.name, "description": spec.description, "parameters": json.loads(spec.schema)}
    return {"type": "function", "function": function}


def _encode_assistant(message: ShownMessage) -> list[JsonRow]:
    text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text.strip())
    calls = [_encode_call(part) for part in message.parts if isinstance(part, ToolCall)]
    if not text and not calls:
        return []
    row: JsonRow = {"role": "assistant", "content": text or None}
    return [{**row, "tool_calls": calls}] if calls else [row]


def _encode_call(part: ToolCall) -> JsonRow:
    """Encode a call with its arguments unchanged; invalid JSON is wrapped, as some servers parse it."""
    parsed = call_arguments(part)
    written = json.dumps(parsed, ensure_ascii=False) if "invalid_json" in parsed else part.input or "{}"
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": written}}


def _encode_user(message: ShownMessage, blobs: Blobs) -> list[JsonRow]:
    """Encode a message of its own for each tool result, right after the calls, then one for the rest."""
    rows = [_encode_result(part) for part in message.parts if isinstance(part, ToolResult)]
    if blocks := [block for part in message.parts if (block := _encode_part(part, blobs))]:
        only_text = all(block["type"] == "text" for block in blocks)
        content = "\n\n".join(block["text"] for block in blocks) if only_text else blocks
        rows.append({"role": "user", "content": content})
    return rows


def _encode_result(part: ToolResult) -> JsonRow:
    text = part.text or "(empty)"
    return {"role": "tool", "tool_call_id": part.call_id, "content": f"Error: {text}" if part.is_error else text}


def _encode_part(part: Part, blobs: Blobs) -> JsonRow | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.shown} if part.text.strip() else None
    if isinstance(part, Image) and (data := encode_blob(part, blobs)) is not None:
        return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}
    if isinstance(part, (Image, Document)):
        return {"type": "text", "text": describe_file(part)}
    return None


# Names of the limit of the answer; the second is that of the vendor's newer models.
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")

STREAM_END: dict[str, Any] = {}  # the chunk for the line that ends a stream


class OpenAIModel:
    """An account at an endpoint with the chat completions API.

    Args:
        base_url: without "/chat/completions".
        api_key: "" for a server that needs none.
        proxy: URL; "" for the environment's.
        window: of the server's models, in tokens; to recognise a refusal of a long request that gives no reason.
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
        self._limit_field = LIMIT_FIELDS[0]
        self._client: Any = None
        self._opening = asyncio.Lock()
        #: Occurrences of unknown stop reasons.
        self.unknown: Counter[str] = Counter()

    async def preload(self) -> None:
        """Import and create the HTTP client in a thread."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(create_http_client, self._proxy)

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if not (self._key.isascii() and self._key.isprintable()):
            raise KeyRefused("the API key has characters no key has", kind="invalid_api_key")
        await self.preload()
        decoder = OpenAIStreamDecoder(self.unknown)
        try:
            async with closing_source(iterate_with_timeouts(self._chunks(request), self._limits)) as chunks:
                async for chunk in chunks:
                    for event in decoder.take(chunk):
                        yield event
                    if chunk is STREAM_END:
                        await drain_response(chunks)
        except (Transient, Stalled):
            if not decoder.ended:  # after the end of the answer a lost connection does no harm
                raise
        yield normalize_answer(decoder.answer(), request)

    async def _chunks(self, request: Request) -> AsyncIterator[dict[str, Any]]:
        """Yield the chunks of one call. Raises only ModelError."""
        import httpx2

        try:
            async with aclosing(await self._post(request)) as response:
                async for line in _iterate_lines(response.aiter_bytes()):
                    yield _parse_chunk(line)
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as err:
            raise Transient(f"the connection failed: {err!r}", kind="connection") from err
        except ValueError as err:
            raise Transient(f"the stream is damaged: {err}", kind="damaged") from err

    async def _post(self, request: Request) -> Any:
        """Send the request and return the open response; retry once with the other name of the limit."""
        field = self._limit_field
        encoded = await asyncio.to_thread(encode_openai_request, request, self._blobs, field)
        body = json.dumps(encoded, ensure_ascii=False, separators=(",", ":")).encode()
        post = self._client.build_request("POST", self._url, content=body, headers=self._headers)
        response = await self._client.send(post, stream=True)
        if response.status_code < 300:
            return response
        failure = read_failure(response.status_code, await response.aread(), response.headers)
        error = to_error(replace(failure, nearly_full=len(body) / 4 > 0.8 * self._window))
        if error.kind != "unsupported_parameter" or field != LIMIT_FIELDS[0]:
            raise error
        self._limit_field = LIMIT_FIELDS[1]
        return await self._post(request)

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


async def _iterate_lines(source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the text after each `data:`; a body that is no event stream is yielded whole.

    Bytes are split at line feeds only: inside JSON, U+2028 and similar characters do not end a line.
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


def _parse_chunk(line: bytes) -> dict[str, Any]:
    if line == b"[DONE]":
        return STREAM_END
    chunk = json.loads(line)
    if not isinstance(chunk, dict):
        raise ValueError("a chunk that is no object")
    if chunk.get("error"):
        raise to_error(read_failure(200, chunk))
    return chunk
