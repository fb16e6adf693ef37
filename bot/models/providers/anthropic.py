"""The Messages API wire: opens it, streams over it, and hears an answer out of its events."""

import asyncio
import gc
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from typing import Any

from bot.errors import BadImage, KeyRefused, ModelError, Transient
from bot.models.base import (
    Blobs,
    ModelEvent,
    Request,
    StopReason,
    TextDelta,
    ThinkingDelta,
    TokensUsed,
    ToolStarted,
    WireMessage,
)
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
from memory.conversation import Document, Image, Part, Text, Thinking, ToolCall, ToolResult, ToolSpec

# An answer of the Messages API as it grows, event by event. Pure.

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
    """Takes the events of one call. unknown: counts what nobody here knows, by the wire's word for it."""

    def __init__(self, model: str, unknown: Counter[str]) -> None:
        self._asked, self._unknown = model, unknown
        self._model, self._stop, self._detail = "", "", ""
        self._usage: dict[str, int] = {}
        self._blocks: dict[int, dict[str, str]] = {}
        self.ended = False

    def take(self, event: dict[str, Any]) -> ModelEvent | None:
        """Note one event; return what of it may be shown.

        Raises:
            Transient: the event has not the form its type promises.
        """
        try:
            return self._note(event)
        except (LookupError, TypeError, ValueError, AttributeError) as err:
            raise Transient(f"the stream is damaged: {err!r}", status=200, kind="damaged") from err

    def _note(self, event: dict[str, Any]) -> ModelEvent | None:
        match event.get("type"):
            case "message_start":
                message = event["message"]
                self._model = str(message.get("model") or "")
                self._count(message.get("usage"))
            case "content_block_start":
                return self._begin(event)
            case "content_block_delta":
                return self._grow(event)
            case "message_delta":
                self._close(event)
            case "message_stop":
                self.ended = True
            case kind if kind not in _IGNORED_EVENTS:
                self._unknown[f"event {kind}"] += 1
        return None

    def heard(self) -> DecodedAnswer:
        """The whole answer.

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

    def _begin(self, event: dict[str, Any]) -> ModelEvent | None:
        block = event["content_block"]
        kind = str(block.get("type"))
        if kind not in _BLOCK_TYPES:
            self._unknown[f"block {kind}"] += 1
        grown = {
            name: block[name] for name in ("text", "thinking", "signature", "data", "id", "name") if block.get(name)
        }
        self._blocks[int(event["index"])] = {"type": kind, **grown}
        return ToolStarted(name=str(block.get("name") or "")) if kind == "tool_use" else None

    def _grow(self, event: dict[str, Any]) -> ModelEvent | None:
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

    def _close(self, event: dict[str, Any]) -> None:
        delta = event.get("delta") or {}
        self._stop = str(delta.get("stop_reason") or self._stop)
        details = delta.get("stop_details") or {}
        self._detail = ": ".join(str(details[name]) for name in ("category", "explanation") if details.get(name))
        self._count(event.get("usage"))

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Counts are cumulative; null says nothing new."""
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
                return Thinking(text=thought, signature=signature, model=self._asked)
            case "redacted_thinking":
                return Thinking(text=block.get("data", ""), model=self._asked, redacted=True)
        return None


# A request as the Messages API wants it. Pure but for the blobs it is given: the same request, the same bytes.

JsonBlock = dict[str, Any]
# A cache mark. At most 4 are allowed in one request; we set 3: after the tools, the system and the stable messages.
CACHE_MARK = {"type": "ephemeral"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicRequest:
    """A rendered request."""

    body: dict[str, Any]
    #: For each wire message, the request's message and the parts its blocks came from.
    places: tuple[tuple[int, tuple[int, ...]], ...]

    def place(self, message: int, block: int) -> tuple[int, int]:
        """Where in the request that block of the wire's came from; -1 for unknown."""
        if not 0 <= message < len(self.places):
            return -1, -1
        source, parts = self.places[message]
        return source, parts[block] if 0 <= block < len(parts) else -1


def encode_anthropic_request(request: Request, blobs: Blobs) -> AnthropicRequest:
    """The body of one streamed call.

    Thinking is shown again only within the running turn and only to the model that thought it: newer models refuse
    it (400) once anything before it has changed, and the turns before the running one are folded, reduced and freed
    of their passing notes. Sampling is left to the model: newer ones refuse any other temperature.
    """
    places, messages = [], []
    for index, message in enumerate(request.messages):
        stable = index < request.stable
        found = [(at, _encode_part(part, blobs)) for at, part in _sendable_parts(message, stable, request.model)]
        if not found:
            continue
        if index == request.stable - 1:
            found[-1][1]["cache_control"] = CACHE_MARK
        messages.append({"role": message.role, "content": [block for _, block in found]})
        places.append((index, tuple(at for at, _ in found)))
    body = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        **_encode_system_and_tools(request),
        "messages": messages,
    }
    return AnthropicRequest(body=replace_surrogates_in_json(body), places=tuple(places))


def _encode_system_and_tools(request: Request) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if request.purpose != "turn" and supports_effort(request.model):
        head["output_config"] = {"effort": "low"}
    if request.tools:
        head["tools"] = _mark_last_block(_encode_tool(spec) for spec in request.tools)
        if not request.may_call:
            head["tool_choice"] = {"type": "none"}
    if words := [text for text in request.system if text.strip()]:
        head["system"] = _mark_last_block({"type": "text", "text": text} for text in words)
    return head


def _mark_last_block(blocks: Iterable[JsonBlock]) -> list[JsonBlock]:
    marked = list(blocks)
    marked[-1]["cache_control"] = CACHE_MARK
    return marked


def _encode_tool(spec: ToolSpec) -> JsonBlock:
    return {"name": spec.name, "description": spec.description, "input_schema": json.loads(spec.schema)}


def _sendable_parts(message: WireMessage, stable: bool, model: str) -> list[tuple[int, Part]]:
    """The parts that go out, with their places; results first, as the wire demands."""
    kept = [(at, part) for at, part in enumerate(message.parts) if not _is_left_out(part, stable, model)]
    return sorted(kept, key=lambda item: message.role == "user" and not isinstance(item[1], ToolResult))


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
    """One account at an endpoint that speaks the Messages API.

    api_key: sent as it is. base_url: "" for the SDK's own. proxy: URL, "" for what the environment says.
    blobs: reads pictures and files. unknown: how often each block, event or stop reason nobody knows was met.
    """

    name = "anthropic"

    def __init__(
        self, *, api_key: str, blobs: Blobs, base_url: str = "", proxy: str = "", limits: Timeouts | None = None
    ) -> None:
        self._key, self._base_url, self._proxy = api_key, base_url, proxy
        self._blobs, self._limits = blobs, limits or Timeouts()
        self._client: Any = None
        self._opening = asyncio.Lock()
        self.unknown: Counter[str] = Counter()

    async def preload(self) -> None:
        """Import the SDK and open the wire, in a thread: it takes about a second, which nobody should wait for."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._open)

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See Model.stream."""
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise KeyRefused("the API key is missing or has characters no key has", kind="authentication_error")
        await self.preload()
        heavy = any(isinstance(part, Image | Document) for message in request.messages for part in message.parts)
        form = (
            await asyncio.to_thread(encode_anthropic_request, request, self._blobs)
            if heavy
            else encode_anthropic_request(request, self._blobs)
        )
        hearing = AnthropicStreamDecoder(request.model, self.unknown)
        async with closing_source(iterate_with_timeouts(self._events(form, request), self._limits)) as events:
            async for event in events:
                if shown := hearing.take(event):
                    yield shown
                if hearing.ended:
                    await drain_response(events)
        yield normalize_answer(hearing.heard(), request)

    async def _events(self, form: AnthropicRequest, request: Request) -> AsyncIterator[dict[str, Any]]:
        """The wire's events as they come, one call's. Raises ModelError only."""
        import anthropic
        import httpx2

        try:
            call = self._client.messages.with_streaming_response.create(**form.body, stream=True)
            async with call as response:
                async for sse in anthropic.AsyncStream.raw_events(response.http_response):
                    yield _parse_event(sse.data)
        except anthropic.APIStatusError as err:
            raise _to_model_error(err, form, request) from err
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
            api_key=self._key,
            base_url=self._base_url or None,
            max_retries=0,
            http_client=create_http_client(self._proxy),
        )
        # The SDK imports a resource when it is first touched.
        _ = client.messages
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


def _to_model_error(err: Any, form: AnthropicRequest, request: Request) -> ModelError:
    """The error behind an answer that is no stream, its places named in the request's terms."""
    failure = read_failure(err.status_code, err.body, err.response.headers)
    size = len(json.dumps(form.body, ensure_ascii=False).encode())
    error = to_error(replace(failure, crowded=size / 4 > 0.8 * context_window(request.model)))
    if isinstance(error, BadImage):
        error.message, error.part = form.place(error.message, error.part)
    return error
