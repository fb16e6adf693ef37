"""Client of Anthropic's Messages API: encodes the request, streams, decodes the answer."""

import asyncio
import gc
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from typing import Any

from bot.errors import BadImage, KeyRefused, ModelError, Transient
from bot.models.base import Blobs, ModelEvent, Request, StopReason, TextDelta, ThinkingDelta, TokensUsed, ToolStarted
from bot.models.catalog import context_window, supports_effort
from bot.models.providers.failures import read_failure, to_error
from bot.models.providers.messages import (
    DecodedAnswer,
    call_arguments,
    describe_file,
    encode_blob,
    normalize_answer,
    replace_surrogates,
    replace_surrogates_in_json,
    to_provider_name,
)
from bot.models.providers.transport import (
    Timeouts,
    closing_source,
    create_http_client,
    drain_response,
    iterate_with_timeouts,
)
from memory.conversation import (
    Document,
    Image,
    Part,
    ShownMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
)

ANTHROPIC_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "overflow",
}
_DELTA_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
_BLOCK_TYPES = frozenset(("text", "thinking", "redacted_thinking", "tool_use"))
_IGNORED_EVENTS = frozenset(("ping", "content_block_stop"))


class AnthropicStreamDecoder:
    """Decodes the events of one call. unknown: counts what this version does not know. Pure."""

    def __init__(self, model: str, unknown: Counter[str]) -> None:
        self._requested_model, self._unknown = model, unknown
        self._model, self._stop, self._detail = "", "", ""
        self._usage: dict[str, int] = {}
        self._blocks: dict[int, dict[str, str]] = {}
        self.ended = False

    def take(self, event: dict[str, Any]) -> ModelEvent | None:
        """Add one event; return what can be shown of it.

        Raises:
            Transient: the event does not have the form of its type.
        """
        try:
            return self._add(event)
        except (LookupError, TypeError, ValueError, AttributeError) as err:
            raise Transient(f"the stream is damaged: {err!r}", status=200, kind="damaged") from err

    def _add(self, event: dict[str, Any]) -> ModelEvent | None:
        match event.get("type"):
            case "message_start":
                message = event["message"]
                self._model = str(message.get("model") or "")
                self._count(message.get("usage"))
            case "content_block_start":
                return self._start_block(event)
            case "content_block_delta":
                return self._extend_block(event)
            case "message_delta":
                self._end_message(event)
            case "message_stop":
                self.ended = True
            case kind if kind not in _IGNORED_EVENTS:
                self._unknown[f"event {kind}"] += 1
        return None

    def answer(self) -> DecodedAnswer:
        """Return the complete answer.

        Raises:
            Transient: the stream ended before the answer did.
        """
        if not self.ended or not self._stop:
            raise Transient("the stream ended before the answer did", status=200, kind="cut")
        if self._stop not in ANTHROPIC_STOP_REASONS:
            self._unknown[f"stop {self._stop}"] += 1
        parts = (self._part(block) for _, block in sorted(self._blocks.items()))
        return DecodedAnswer(
            parts=tuple(part for part in parts if part is not None),
            stop=ANTHROPIC_STOP_REASONS.get(self._stop, "unknown"),
            raw_stop=self._stop,
            usage=self._tokens(),
            model=self._model,
            detail=self._detail,
        )

    def _start_block(self, event: dict[str, Any]) -> ModelEvent | None:
        block = event["content_block"]
        kind = str(block.get("type"))
        if kind not in _BLOCK_TYPES:
            self._unknown[f"block {kind}"] += 1
        grown = {
            name: block[name] for name in ("text", "thinking", "signature", "data", "id", "name") if block.get(name)
        }
        self._blocks[int(event["index"])] = {"type": kind, **grown}
        return ToolStarted(name=str(block.get("name") or "")) if kind == "tool_use" else None

    def _extend_block(self, event: dict[str, Any]) -> ModelEvent | None:
        delta = event["delta"]
        field = _DELTA_FIELDS.get(str(delta.get("type")))
        block = self._blocks.get(int(event["index"]))
        if field is None or block is None:
            self._unknown[f"delta {delta.get('type')}"] += 1
            return None
        piece = str(delta.get(field) or "")
        block[field] = block.get(field, "") + piece
        if field == "text" and piece and block["type"] == "text":
            return TextDelta(text=replace_surrogates(piece))
        return ThinkingDelta(text=replace_surrogates(piece)) if field == "thinking" and piece else None

    def _end_message(self, event: dict[str, Any]) -> None:
        delta = event.get("delta") or {}
        self._stop = str(delta.get("stop_reason") or self._stop)
        details = delta.get("stop_details") or {}
        self._detail = ": ".join(str(details[name]) for name in ("category", "explanation") if details.get(name))
        self._count(event.get("usage"))

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Update the token counts: they are cumulative, and null means unchanged."""
        self._usage.update({name: value for name, value in (usage or {}).items() if isinstance(value, int)})

    def _tokens(self) -> TokensUsed:
        read = self._usage.get("cache_read_input_tokens", 0)
        write = self._usage.get("cache_creation_input_tokens", 0)
        return TokensUsed(
            input=self._usage.get("input_tokens", 0) + read + write,
            output=self._usage.get("output_tokens", 0),
            cache_read=read,
            cache_write=write,
        )

    def _part(self, block: dict[str, str]) -> Part | None:
        match block["type"]:
            case "text":
                return Text(text=block.get("text", ""))
            case "tool_use":
                name, written = block.get("name", ""), block.get("partial_json", "")
                return ToolCall(id=block.get("id", ""), name=name, input=written or "{}")
            case "thinking":
                thought, signature = block.get("thinking", ""), block.get("signature", "")
                return Thinking(text=thought, signature=signature, model=self._requested_model)
            case "redacted_thinking":
                return Thinking(text=block.get("data", ""), model=self._requested_model, redacted=True)
        return None


JsonBlock = dict[str, Any]
# At most 4 cache marks are allowed in a request; we set 3: after the tools, the system and the stable messages.
CACHE_MARK = {"type": "ephemeral"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicRequest:
    """An encoded request."""

    body: dict[str, Any]
    #: For each sent message: the index of its message in the request, and of the part of each of its blocks.
    sources: tuple[tuple[int, tuple[int, ...]], ...]

    def source(self, message: int, block: int) -> tuple[int, int]:
        """Return the message and part of the request that a sent block was made of; -1 for unknown."""
        if not 0 <= message < len(self.sources):
            return -1, -1
        index, parts = self.sources[message]
        return index, parts[block] if 0 <= block < len(parts) else -1


def encode_anthropic_request(request: Request, blobs: Blobs) -> AnthropicRequest:
    """Encode the body of a streamed call. The same request gives the same bytes.

    Thinking is sent back only within the running turn and only to its own model: newer models refuse it (400) once
    anything before it has changed, and earlier turns are folded and reduced. No temperature is sent: newer models
    refuse any but the default.
    """
    sources, messages = [], []
    for index, message in enumerate(request.messages):
        stable = index < request.stable
        blocks = [(at, _encode_part(part, blobs)) for at, part in _sendable_parts(message, stable, request.model)]
        if not blocks:
            continue
        if index == request.stable - 1:
            blocks[-1][1]["cache_control"] = CACHE_MARK
        messages.append({"role": message.role, "content": [block for _, block in blocks]})
        sources.append((index, tuple(at for at, _ in blocks)))
    body = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        **_encode_system_and_tools(request),
        "messages": messages,
    }
    return AnthropicRequest(body=replace_surrogates_in_json(body), sources=tuple(sources))


def _encode_system_and_tools(request: Request) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if request.purpose != "turn" and supports_effort(request.model):
        head["output_config"] = {"effort": "low"}
    if request.tools:
        head["tools"] = _mark_last_block(_encode_tool(spec) for spec in request.tools)
        if not request.may_call:
            head["tool_choice"] = {"type": "none"}
    if texts := [text for text in request.system if text.strip()]:
        head["system"] = _mark_last_block({"type": "text", "text": text} for text in texts)
    return head


def _mark_last_block(blocks: Iterable[JsonBlock]) -> list[JsonBlock]:
    marked = list(blocks)
    marked[-1]["cache_control"] = CACHE_MARK
    return marked


def _encode_tool(spec: ToolSpec) -> JsonBlock:
    return {"name": spec.name, "description": spec.description, "input_schema": json.loads(spec.schema)}


def _sendable_parts(message: ShownMessage, stable: bool, model: str) -> list[tuple[int, Part]]:
    """Return the parts to send with their indexes; tool results first, as the API requires."""
    sendable = [(at, part) for at, part in enumerate(message.parts) if not _is_left_out(part, stable, model)]
    return sorted(sendable, key=lambda item: message.role == "user" and not isinstance(item[1], ToolResult))


def _is_left_out(part: Part, stable: bool, model: str) -> bool:
    if isinstance(part, Thinking):
        return stable or part.model != model or not (part.signature or part.redacted)
    return isinstance(part, Text) and not part.text.strip()


def _encode_part(part: Part, blobs: Blobs) -> JsonBlock:
    match part:
        case Text():
            return {"type": "text", "text": part.shown}
        case ToolCall():
            return {
                "type": "tool_use",
                "id": to_provider_name(part.id),
                "name": to_provider_name(part.name),
                "input": call_arguments(part),
            }
        case ToolResult():
            return _encode_result(part)
        case Thinking(redacted=True):
            return {"type": "redacted_thinking", "data": part.text}
        case Thinking():
            return {"type": "thinking", "thinking": part.text, "signature": part.signature}
        case Image() | Document():
            return _encode_file(part, blobs)


def _encode_result(part: ToolResult) -> JsonBlock:
    block: JsonBlock = {"type": "tool_result", "tool_use_id": to_provider_name(part.call_id)}
    if part.text.strip():
        block["content"] = part.text
    if part.is_error:
        block["is_error"] = True
    return block


def _encode_file(part: Image | Document, blobs: Blobs) -> JsonBlock:
    kind = "image" if isinstance(part, Image) else "document"
    if isinstance(part, Image) or part.media_type == "application/pdf":
        data = encode_blob(part, blobs)
        if data is not None:
            source = {"type": "base64", "media_type": part.media_type, "data": data}
            return {"type": kind, "source": source}
    return {"type": "text", "text": describe_file(part)}


class AnthropicModel:
    """An account at an endpoint with the Messages API.

    Args:
        base_url: "" for the SDK's own.
        proxy: URL; "" for the environment's.
    """

    name = "anthropic"

    def __init__(
        self, *, api_key: str, blobs: Blobs, base_url: str = "", proxy: str = "", limits: Timeouts | None = None
    ) -> None:
        self._key, self._base_url, self._proxy = api_key, base_url, proxy
        self._blobs, self._limits = blobs, limits or Timeouts()
        self._client: Any = None
        self._opening = asyncio.Lock()
        #: Occurrences of unknown events, blocks, deltas and stop reasons.
        self.unknown: Counter[str] = Counter()

    async def preload(self) -> None:
        """Import the SDK and create the client in a thread: it takes about a second."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._open)

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise KeyRefused("the API key is missing or has characters no key has", kind="authentication_error")
        await self.preload()
        has_files = any(isinstance(part, Image | Document) for message in request.messages for part in message.parts)
        if has_files:
            encoded = await asyncio.to_thread(encode_anthropic_request, request, self._blobs)
        else:
            encoded = encode_anthropic_request(request, self._blobs)
        decoder = AnthropicStreamDecoder(request.model, self.unknown)
        async with closing_source(iterate_with_timeouts(self._events(encoded, request), self._limits)) as events:
            async for event in events:
                if shown := decoder.take(event):
                    yield shown
                if decoder.ended:
                    await drain_response(events)
        yield normalize_answer(decoder.answer(), request)

    async def _events(self, encoded: AnthropicRequest, request: Request) -> AsyncIterator[dict[str, Any]]:
        """Yield the events of one call. Raises only ModelError."""
        import anthropic
        import httpx2

        try:
            call = self._client.messages.with_streaming_response.create(**encoded.body, stream=True)
            async with call as response:
                async for sse in anthropic.AsyncStream.raw_events(response.http_response):
                    yield _parse_event(sse.data)
        except anthropic.APIStatusError as err:
            raise _to_model_error(err, encoded, request) from err
        except (anthropic.APIError, httpx2.HTTPError, httpx2.StreamError) as err:
            raise Transient(f"the connection failed: {err!r}", kind="connection") from err
        except ValueError as err:
            raise Transient(f"the stream is damaged: {err}", kind="damaged") from err

    def _open(self) -> Any:
        gc.disable()  # fresh modules are no garbage, and collecting costs a fifth of the import
        try:
            import anthropic
        finally:
            gc.enable()
        client = anthropic.AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url or None,
            max_retries=0,
            http_client=create_http_client(self._proxy),
        )
        _ = client.messages  # the SDK imports a resource on first access
        return client

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _parse_event(data: str) -> dict[str, Any]:
    event = json.loads(data or '{"type": "ping"}')
    if not isinstance(event, dict):
        raise ValueError("an event that is no object")
    if event.get("type") == "error":
        raise to_error(read_failure(200, event))
    return event


def _to_model_error(err: Any, encoded: AnthropicRequest, request: Request) -> ModelError:
    """Convert an error of the SDK; the position of a bad picture is that in `request`."""
    failure = read_failure(err.status_code, err.body, err.response.headers)
    size = len(json.dumps(encoded.body, ensure_ascii=False).encode())
    error = to_error(replace(failure, nearly_full=size / 4 > 0.8 * context_window(request.model)))
    if isinstance(error, BadImage):
        error.message, error.part = encoded.source(error.message, error.part)
    return error
