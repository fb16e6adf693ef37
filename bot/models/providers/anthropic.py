"""Client of Anthropic's Messages API: encodes the request, streams, decodes the answer."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from bot.errors import BadImage, Damaged, KeyRefused, ModelError, Transient
from bot.models.base import (
    Blobs,
    ModelEvent,
    Request,
    StopReason,
    TextDelta,
    ThinkingDelta,
    TokensUsed,
    ToolStarted,
)
from bot.models.catalog import context_window, model_facts, supports_effort
from bot.models.providers.anthropic_sdk import load_sdk
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
    to_provider_name,
    wrap_arguments,
)
from bot.models.providers.transport import (
    ClientPool,
    TimedStream,
    Timeouts,
    create_http_client,
    iterate_data_lines,
)
from memory.conversation import (
    Document,
    Image,
    Part,
    Role,
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
        self._budget = CallBudget()
        self.ended = False

    def take(self, event: dict[str, Any]) -> ModelEvent | None:
        """Add one event; return what can be shown of it.

        Raises:
            Damaged: the event does not have the form of its type.
        """
        try:
            return self._add(event)
        except (LookupError, TypeError, ValueError, AttributeError) as err:
            raise Damaged(f"the stream is damaged: {err!r}", status=200, kind="damaged") from err

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
            Damaged: the stream ended before the answer did.
        """
        if not self.ended or not self._stop:
            raise Damaged("the stream ended before the answer did", status=200, kind="cut")
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
        if kind == "tool_use":
            self._budget.add_call()
        grown = {
            name: block[name]
            for name in ("text", "thinking", "signature", "data", "id", "name")
            if block.get(name)
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
        if field == "partial_json":
            self._budget.add_arguments(piece)
        block[field] = block.get(field, "") + piece
        if field == "text" and piece and block["type"] == "text":
            return TextDelta(text=replace_surrogates(piece))
        return (
            ThinkingDelta(text=replace_surrogates(piece)) if field == "thinking" and piece else None
        )

    def _end_message(self, event: dict[str, Any]) -> None:
        delta = event.get("delta") or {}
        self._stop = str(delta.get("stop_reason") or self._stop)
        details = delta.get("stop_details") or {}
        self._detail = ": ".join(
            str(details[name]) for name in ("category", "explanation") if details.get(name)
        )
        self._count(event.get("usage"))

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Update the token counts: they are cumulative, and null means unchanged."""
        self._usage.update(
            {name: value for name, value in (usage or {}).items() if isinstance(value, int)}
        )

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
                return Thinking(
                    text=block.get("data", ""), model=self._requested_model, redacted=True
                )
        return None


CACHE_MARK = '"cache_control":{"type":"ephemeral"}'
MAX_CACHE_MARKS = 4  # per request, else 400
# From a mark, an entry of an earlier request is looked for in so many blocks, the marked one
# included.
# Source: Anthropic, "Prompt caching".
CACHE_LOOKBACK = 20
MAX_CACHED_TOOLS = 16  # rendered lists of tools; a bot offers one or two


class _SentMessage(NamedTuple):
    """A message with at least one part to send."""

    #: In the request.
    position: int
    role: Role
    #: With their indexes in the message; tool results first, as the API requires.
    parts: Sequence[tuple[int, Part]]

    @property
    def has_results(self) -> bool:
        return isinstance(self.parts[0][1], ToolResult)

    @property
    def mark_place(self) -> int:
        """Index of the newest tool result, else of the last block: the next request repeats no note
        after results.
        """
        last = len(self.parts) - 1
        return next(
            (at for at in range(last, -1, -1) if isinstance(self.parts[at][1], ToolResult)), last
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicRequest:
    """An encoded request."""

    content: bytes
    sent: Sequence[_SentMessage]

    def source(self, message: int, block: int) -> tuple[int, int]:
        """Return the message and part of the request that a sent block was made of; -1 for
        unknown.
        """
        if not 0 <= message < len(self.sent):
            return -1, -1
        position, _, parts = self.sent[message]
        return position, parts[block][0] if 0 <= block < len(parts) else -1


def encode_anthropic_request(request: Request, blobs: Blobs) -> AnthropicRequest:
    """Encode the body of a streamed call. The same request gives the same bytes.

    The JSON text is written directly: dicts for it would be built, copied and walked for each call,
    by the SDK too.

    Thinking is sent back only within the running turn and only to its own model: newer models
    refuse it (400) once anything before it has changed, and earlier turns are folded and reduced.
    No temperature is sent: newer models refuse any but the default.
    """
    sent = [
        _SentMessage(position, message.role, parts)
        for position, message in enumerate(request.messages)
        if (parts := _sendable_parts(message, position < request.stable, request.model))
    ]
    marked = _marked_messages(
        sent, stable=sum(message.position < request.stable for message in sent)
    )
    messages = (
        _encode_message(message, blobs, marked=at in marked) for at, message in enumerate(sent)
    )
    text = (
        f'{{{_encode_head(request, len(marked))},"messages":[{",".join(messages)}],"stream":true}}'
    )
    return AnthropicRequest(content=encode_body(text), sent=sent)


def _marked_messages(sent: Sequence[_SentMessage], *, stable: int) -> list[int]:
    """Return the messages to mark: the last of the `stable` first ones and the newest tool result
    after them.

    So the next request of the turn reads all that this one sent from the cache. Where one step, or
    the turn that has just become stable, is longer than the lookback, the mark of the request
    before is repeated, in place of the tools' mark if need be: the system's mark covers the tools
    too.
    """
    results = [at for at in range(stable, len(sent)) if sent[at].has_results]
    marked = [*results[-1:], *([stable - 1] if stable else [])]
    before = (
        results[-2] if len(results) > 1 else -1 if results else _last_turn_start(sent[:stable]) - 1
    )
    if before >= 0 and _distance(sent, before, marked[0]) >= CACHE_LOOKBACK:
        marked.append(before)
    return marked


def _distance(sent: Sequence[_SentMessage], first: int, last: int) -> int:
    """Number of blocks from the mark of one message to that of a later one."""
    blocks = sum(len(sent[at].parts) for at in range(first, last))
    return blocks - sent[first].mark_place + sent[last].mark_place


def _last_turn_start(sent: Sequence[_SentMessage]) -> int:
    """Index of the newest message of a person; 0 for none."""
    starts = (at for at in range(len(sent) - 1, -1, -1) if sent[at].role == "user")
    return next((at for at in starts if not sent[at].has_results), 0)


def _encode_head(request: Request, marks: int) -> str:
    """Encode what stands before the messages. marks: cache marks in the messages."""
    fields = [f'"model":{to_json(request.model)},"max_tokens":{request.max_tokens}']
    if request.purpose != "turn" and supports_effort(request.model):
        fields.append('"output_config":{"effort":"low"}')
    facts = model_facts(request.model)
    # newer models refuse it
    if request.temperature is not None and facts is not None and not facts.effort:
        fields.append(f'"temperature":{request.temperature}')
    texts = [text for text in request.system if text.strip()]
    if request.tools:
        fields.append(
            _encode_tools(request.tools, marked=not texts or marks + 2 <= MAX_CACHE_MARKS)
        )
        if not request.may_call:
            fields.append('"tool_choice":{"type":"none"}')
    if texts:
        blocks = [_encode_text(text) for text in texts]
        blocks[-1] = _add_mark(blocks[-1])
        fields.append(f'"system":[{",".join(blocks)}]')
    return ",".join(fields)


@lru_cache(maxsize=MAX_CACHED_TOOLS)
def _encode_tools(tools: tuple[ToolSpec, ...], *, marked: bool) -> str:
    blocks = [
        to_json(
            {
                "name": spec.name,
                "description": spec.description,
                "input_schema": json.loads(spec.schema),
            }
        )
        for spec in tools
    ]
    if marked:
        blocks[-1] = _add_mark(blocks[-1])
    return f'"tools":[{",".join(blocks)}]'


def _add_mark(block: str) -> str:
    return f"{block[:-1]},{CACHE_MARK}}}"


def _sendable_parts(message: ShownMessage, stable: bool, model: str) -> list[tuple[int, Part]]:
    """Return the parts to send with their indexes; tool results first, as the API requires."""
    sendable = [
        (at, part) for at, part in enumerate(message.parts) if not _is_left_out(part, stable, model)
    ]
    if message.role == "user" and len(sendable) > 1:
        sendable.sort(key=lambda item: not isinstance(item[1], ToolResult))
    return sendable


def _is_left_out(part: Part, stable: bool, model: str) -> bool:
    if isinstance(part, Thinking):
        return stable or part.model != model or not (part.signature or part.redacted)
    return isinstance(part, Text) and not part.text.strip()


def _encode_message(message: _SentMessage, blobs: Blobs, *, marked: bool) -> str:
    blocks = [_encode_part(part, blobs) for _, part in message.parts]
    if marked:
        place = message.mark_place
        blocks[place] = _add_mark(blocks[place])
    return f'{{"role":"{message.role}","content":[{",".join(blocks)}]}}'


def _encode_part(part: Part, blobs: Blobs) -> str:
    match part:
        case Text():
            return _encode_text(part.shown)
        case ToolCall():
            id, name = to_provider_name(part.id), to_provider_name(part.name)
            arguments = compact_arguments(part) or wrap_arguments(part)
            return f'{{"type":"tool_use","id":"{id}","name":"{name}","input":{arguments}}}'
        case ToolResult():
            return _encode_result(part)
        case Thinking(redacted=True):
            return f'{{"type":"redacted_thinking","data":{to_json(part.text)}}}'
        case Thinking():
            thought, signature = to_json(part.text), to_json(part.signature)
            return f'{{"type":"thinking","thinking":{thought},"signature":{signature}}}'
        case Image() | Document():
            return _encode_file(part, blobs)


def _encode_text(text: str) -> str:
    return f'{{"type":"text","text":{quote(text)}}}'


def _encode_result(part: ToolResult) -> str:
    content = f',"content":{quote(part.text)}' if part.text.strip() else ""
    error = ',"is_error":true' if part.is_error else ""
    return (
        f'{{"type":"tool_result","tool_use_id":"{to_provider_name(part.call_id)}"{content}{error}}}'
    )


def _encode_file(part: Image | Document, blobs: Blobs) -> str:
    kind = "image" if isinstance(part, Image) else "document"
    if isinstance(part, Image) or part.media_type == "application/pdf":
        data = encode_blob(part, blobs)
        if data is not None:
            source = f'{{"type":"base64","media_type":{to_json(part.media_type)},"data":"{data}"}}'
            return f'{{"type":"{kind}","source":{source}}}'
    return _encode_text(describe_file(part))


class AnthropicModel:
    """An account at an endpoint with the Messages API.

    Args:
        base_url: "" for the SDK's own.
        proxy: URL; "" for the environment's.
    """

    name = "anthropic"

    def __init__(
        self,
        *,
        api_key: str,
        blobs: Blobs,
        base_url: str = "",
        proxy: str = "",
        limits: Timeouts | None = None,
    ) -> None:
        self._key, self._base_url, self._proxy = api_key, base_url, proxy
        self._blobs, self._limits = blobs, limits or Timeouts()
        self._clients: ClientPool[Any] = ClientPool(
            self._create_client, lambda client: client.close()
        )
        #: Occurrences of unknown events, blocks, deltas and stop reasons.
        self.unknown: Counter[str] = Counter()

    async def preload(self) -> None:
        """Import the SDK and create a client in a thread: it takes .3 s."""
        await self._clients.preload()

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise KeyRefused(
                "the API key is missing or has characters no key has", kind="authentication_error"
            )
        if has_files(request):
            encoded = await asyncio.to_thread(encode_anthropic_request, request, self._blobs)
        else:
            encoded = encode_anthropic_request(request, self._blobs)
        decoder = AnthropicStreamDecoder(request.model, self.unknown)
        async with (
            self._clients.client() as client,
            TimedStream(_stream_events(client, encoded, request), self._limits) as events,
        ):
            async for event in events:
                if shown := decoder.take(event):
                    yield shown
                if decoder.ended:
                    await events.drain()
        yield normalize_answer(decoder.answer(), request)

    def _create_client(self) -> Any:
        return load_sdk().AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url or None,
            max_retries=0,
            http_client=create_http_client(self._proxy),
        )

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._clients.close()


async def _stream_events(
    client: Any, encoded: AnthropicRequest, request: Request
) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of one call. Raises only ModelError."""
    import httpx2

    sdk = load_sdk()
    try:
        response = await client.post(
            "/v1/messages",
            cast_to=httpx2.Response,
            content=encoded.content,
            stream=True,
            stream_cls=sdk.AsyncStream[Any],
        )
        async with aclosing(response):
            async for data in iterate_data_lines(response.aiter_bytes()):
                yield _parse_event(data)
    except sdk.APIStatusError as err:
        raise _to_model_error(err, encoded, request) from err
    except (sdk.APIError, httpx2.HTTPError, httpx2.StreamError) as err:
        raise Transient(f"the connection failed: {err!r}", kind="connection") from err
    except (ValueError, RecursionError) as err:
        raise Damaged(f"the stream is damaged: {err}", kind="damaged") from err


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
    nearly_full = len(encoded.content) / 4 > 0.8 * context_window(request.model)
    error = to_error(replace(failure, nearly_full=nearly_full))
    if isinstance(error, BadImage):
        error.message, error.part = encoded.source(error.message, error.part)
    return error
