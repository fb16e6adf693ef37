"""Client of OpenAI-compatible chat completions: encodes the request, streams, decodes the answer.

It uses plain HTTP: compatible servers send more forms than the vendor's SDK accepts, and the SDK need not be loaded.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from bot.errors import Damaged, KeyRefused, Stalled, Transient
from bot.models.base import Blobs, ModelEvent, Request, StopReason, TextDelta, ThinkingDelta, TokensUsed, ToolStarted
from bot.models.catalog import UNKNOWN_WINDOW
from bot.models.providers.failures import read_failure, to_error
from bot.models.providers.messages import (
    CallBudget,
    DecodedAnswer,
    compact_arguments,
    describe_file,
    encode_blob,
    encode_body,
    has_files,
    normalize_answer,
    quote,
    replace_surrogates,
    to_json,
    wrap_arguments,
)
from bot.models.providers.transport import ClientPool, TimedStream, Timeouts, create_http_client, iterate_data_lines
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
        self._budget = CallBudget()
        self._usage: dict[str, Any] = {}

    @property
    def ended(self) -> bool:
        """Whether the answer is complete; its usage may still follow."""
        return bool(self._stop)

    def take(self, chunk: dict[str, Any]) -> list[ModelEvent]:
        """Add one chunk, or a whole completion; return what can be shown of it.

        Raises:
            Damaged: it does not have the form of a chunk.
        """
        try:
            return list(self._add(chunk))
        except (LookupError, TypeError, ValueError, AttributeError) as err:
            raise Damaged(f"the stream is damaged: {err!r}", status=200, kind="damaged") from err

    def answer(self) -> DecodedAnswer:
        """Return the complete answer.

        Raises:
            Damaged: the stream ended before the answer did.
            Transient: the server failed.
        """
        if not self._stop:
            raise Damaged("the stream ended before the answer did", status=200, kind="cut")
        if self._stop in FAILED_STOP_REASONS:
            raise Transient("the server failed in the middle of the answer", status=200, kind=self._stop)
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
            self._budget.add_call()
            call = _PartialCall(index=index, id=id, name=name)
            self._calls.append(call)
            yield ToolStarted(name=name)
        call.id, call.name = call.id or id, call.name or name
        arguments = function.get("arguments") or ""
        self._budget.add_arguments(arguments)
        call.written += arguments

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


MAX_CACHED_TOOLS = 16  # rendered lists of tools; a bot offers one or two


def encode_openai_request(request: Request, blobs: Blobs, limit_field: str = "max_tokens") -> bytes:
    """Encode the body of a streamed call. The same request gives the same bytes.

    Thinking is not sent back. Messages of text alone are sent as plain strings, as some servers accept nothing else.

    Args:
        limit_field: the server's name for the longest answer; see LIMIT_FIELDS.
    """
    system = "\n\n".join(text for text in request.system if text.strip())
    rows = [f'{{"role":"system","content":{quote(system)}}}'] if system else []
    for message in request.messages:
        rows.extend(_encode_assistant(message) if message.role == "assistant" else _encode_user(message, blobs))
    fields = [f'"model":{to_json(request.model)},"{limit_field}":{request.max_tokens}']
    if request.tools:
        fields.append(_encode_tools(request.tools))
        if not request.may_call:
            fields.append('"tool_choice":"none"')
    head = ",".join(fields)
    end = '"stream":true,"stream_options":{"include_usage":true}'
    return encode_body(f'{{{head},"messages":[{",".join(rows)}],{end}}}')


@lru_cache(maxsize=MAX_CACHED_TOOLS)
def _encode_tools(tools: tuple[ToolSpec, ...]) -> str:
    functions = (
        {"name": spec.name, "description": spec.description, "parameters": json.loads(spec.schema)} for spec in tools
    )
    return f'"tools":{to_json([{"type": "function", "function": function} for function in functions])}'


def _encode_assistant(message: ShownMessage) -> list[str]:
    text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text.strip())
    calls = [_encode_call(part) for part in message.parts if isinstance(part, ToolCall)]
    if not text and not calls:
        return []
    content = quote(text) if text else "null"
    called = f',"tool_calls":[{",".join(calls)}]' if calls else ""
    return [f'{{"role":"assistant","content":{content}{called}}}']


def _encode_call(part: ToolCall) -> str:
    """Encode a call with its arguments unchanged; invalid JSON is wrapped, as some servers parse it."""
    arguments = wrap_arguments(part) if compact_arguments(part) is None else part.input or "{}"
    function = f'{{"name":{to_json(part.name)},"arguments":{to_json(arguments)}}}'
    return f'{{"id":{to_json(part.id)},"type":"function","function":{function}}}'


class _ContentBlock(NamedTuple):
    """A block of a person's message: a text, or the URL of a picture."""

    text: str
    is_picture: bool = False


def _encode_user(message: ShownMessage, blobs: Blobs) -> list[str]:
    """Encode a message of its own for each tool result, right after the calls, then one for the rest."""
    rows = [_encode_result(part) for part in message.parts if isinstance(part, ToolResult)]
    if blocks := [block for part in message.parts if (block := _to_block(part, blobs))]:
        if any(block.is_picture for block in blocks):
            content = f"[{','.join(map(_encode_block, blocks))}]"
        else:
            content = quote("\n\n".join(block.text for block in blocks))
        rows.append(f'{{"role":"user","content":{content}}}')
    return rows


def _encode_result(part: ToolResult) -> str:
    text = part.text or "(empty)"
    content = quote(f"Error: {text}" if part.is_error else text)
    return f'{{"role":"tool","tool_call_id":{to_json(part.call_id)},"content":{content}}}'


def _to_block(part: Part, blobs: Blobs) -> _ContentBlock | None:
    if isinstance(part, Text):
        return _ContentBlock(part.shown) if part.text.strip() else None
    if isinstance(part, Image) and (data := encode_blob(part, blobs)) is not None:
        return _ContentBlock(f"data:{part.media_type};base64,{data}", is_picture=True)
    return _ContentBlock(describe_file(part)) if isinstance(part, Image | Document) else None


def _encode_block(block: _ContentBlock) -> str:
    if block.is_picture:
        return f'{{"type":"image_url","image_url":{{"url":{to_json(block.text)}}}}}'
    return f'{{"type":"text","text":{quote(block.text)}}}'


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
        self._clients: ClientPool[Any] = ClientPool(
            lambda: create_http_client(self._proxy), lambda client: client.aclose()
        )
        #: Occurrences of unknown stop reasons.
        self.unknown: Counter[str] = Counter()

    async def preload(self) -> None:
        """Import and create the HTTP client in a thread."""
        await self._clients.preload()

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if not (self._key.isascii() and self._key.isprintable()):
            raise KeyRefused("the API key has characters no key has", kind="invalid_api_key")
        decoder = OpenAIStreamDecoder(self.unknown)
        try:
            async with (
                self._clients.client() as client,
                TimedStream(self._chunks(client, request), self._limits) as chunks,
            ):
                async for chunk in chunks:
                    for event in decoder.take(chunk):
                        yield event
                    if chunk is STREAM_END:
                        await chunks.drain()
        except (Transient, Stalled):
            if not decoder.ended:  # after the end of the answer a lost connection does no harm
                raise
        yield normalize_answer(decoder.answer(), request)

    async def _chunks(self, client: Any, request: Request) -> AsyncIterator[dict[str, Any]]:
        """Yield the chunks of one call. Raises only ModelError."""
        import httpx2

        try:
            async with aclosing(await self._post(client, request)) as response:
                async for line in iterate_data_lines(response.aiter_bytes()):
                    yield _parse_chunk(line)
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as err:
            raise Transient(f"the connection failed: {err!r}", kind="connection") from err
        except (ValueError, RecursionError) as err:
            raise Damaged(f"the stream is damaged: {err}", kind="damaged") from err

    async def _post(self, client: Any, request: Request) -> Any:
        """Send the request and return the open response; retry once with the other name of the limit."""
        field = self._limit_field
        if has_files(request):
            body = await asyncio.to_thread(encode_openai_request, request, self._blobs, field)
        else:
            body = encode_openai_request(request, self._blobs, field)
        post = client.build_request("POST", self._url, content=body, headers=self._headers)
        response = await client.send(post, stream=True)
        if response.status_code < 300:
            return response
        failure = read_failure(response.status_code, await response.aread(), response.headers)
        error = to_error(replace(failure, nearly_full=len(body) / 4 > 0.8 * self._window))
        if error.kind != "unsupported_parameter" or field != LIMIT_FIELDS[0]:
            raise error
        self._limit_field = LIMIT_FIELDS[1]
        return await self._post(client, request)

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._clients.close()


def _parse_chunk(line: str) -> dict[str, Any]:
    if line == "[DONE]":
        return STREAM_END
    chunk = json.loads(line)
    if not isinstance(chunk, dict):
        raise ValueError("a chunk that is no object")
    if chunk.get("error"):
        raise to_error(read_failure(200, chunk))
    return chunk
