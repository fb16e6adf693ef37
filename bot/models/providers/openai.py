"""Client of OpenAI-compatible chat completions: encodes the request, streams, decodes the answer.

It uses plain HTTP: compatible servers send more forms than the vendor's SDK accepts, and the SDK
need not be loaded.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import structlog

from bot.errors import Damaged, KeyRefused, Overflow, Stalled, Transient
from bot.models.base import (
    Answer,
    Blobs,
    ModelEvent,
    Request,
    Restarted,
    StopReason,
    TextDelta,
    ThinkingDelta,
    TokensUsed,
    ToolStarted,
)
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
from bot.models.providers.quirks import (
    LIMIT_FIELDS,
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
from memory.conversation import (
    Document,
    Image,
    Part,
    ShownMessage,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from memory.text.quoting import SplitPiece, ThinkingSplitter

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

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _PartialCall:
    """A tool call while it is streamed."""

    #: The server's number of the call; None if it gives none.
    index: int | None
    id: str = ""
    name: str = ""
    written: str = ""


class OpenAIStreamDecoder:
    """Decodes the chunks of one call in all forms seen. Pure.

    Args:
        unknown: counts unknown stop reasons.
        holds_text: the model ends its thinking with a closing tag alone; see ThinkingSplitter.
    """

    def __init__(self, unknown: Counter[str], *, holds_text: bool = False) -> None:
        self._unknown = unknown
        self._model, self._stop, self._refusal = "", "", ""
        self._text: list[str] = []
        self._splitter = ThinkingSplitter(holds=holds_text)
        #: Thinking that came in a field of its own.
        self._thought: list[str] = []
        self._calls: list[_PartialCall] = []
        self._budget = CallBudget()
        self._usage: dict[str, Any] = {}

    @property
    def ended(self) -> bool:
        """Whether the answer is complete; its usage may still follow."""
        return bool(self._stop)

    @property
    def thought(self) -> str:
        """The thinking that came in a field of its own."""
        return "".join(self._thought)

    @property
    def thinks_in_tags(self) -> bool:
        """Whether thinking came in tags."""
        return self._splitter.has_thought

    def finish(self) -> list[ModelEvent]:
        """Return what can be shown of text that was held until the end of a complete answer."""
        if not self.ended:
            return []
        is_cut = OPENAI_STOP_REASONS.get(self._stop) == "length"
        return list(self._to_events(self._splitter.finish(cut=is_cut)))

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
            raise Transient(
                "the server failed in the middle of the answer", status=200, kind=self._stop
            )
        if self._stop not in OPENAI_STOP_REASONS:
            self._unknown[f"stop {self._stop}"] += 1
        calls = (
            ToolCall(id=call.id, name=call.name, input=call.written or "{}") for call in self._calls
        )
        parts: list[Part] = [Text(text="".join(self._text)), *calls]
        return DecodedAnswer(
            parts=tuple(parts),
            stop="refusal" if self._refusal else OPENAI_STOP_REASONS.get(self._stop, "unknown"),
            raw_stop=self._stop,
            usage=self._tokens(),
            model=self._model,
            detail=self._refusal,
            has_thought=bool(self._thought) or self.thinks_in_tags,
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
            self._thought.append(str(thought))
            yield ThinkingDelta(text=replace_surrogates(str(thought)))
        if piece := delta.get("content"):
            yield from self._to_events(self._splitter.feed(piece))
        for called in delta.get("tool_calls") or []:
            yield from self._add_call(called)

    def _to_events(self, pieces: Iterator[SplitPiece]) -> Iterator[ModelEvent]:
        for piece in pieces:
            if piece.kind == "thinking":
                yield ThinkingDelta(text=replace_surrogates(piece.text))
                continue
            if piece.kind == "withdrawn":
                self._text.clear()
                yield Restarted(why=THINKING_SHOWN)
            self._text.append(piece.text)
            # Empty after what is withdrawn, so that it disappears at once.
            yield TextDelta(text=replace_surrogates(piece.text))

    def _add_call(self, called: dict[str, Any]) -> Iterator[ModelEvent]:
        function = called.get("function") or {}
        index, id, name = (
            called.get("index"),
            str(called.get("id") or ""),
            str(function.get("name") or ""),
        )
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

        With an index: the newest call of that index, unless the piece names another id. Without:
        the newest call, unless the piece names another id, or a function without any.
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


THINKING_SHOWN = "what was shown was thinking"
MAX_CACHED_TOOLS = 16  # rendered lists of tools; a bot offers one or two
NO_TOOLS_NOTE = "You have no tools here, whatever else is said of them: answer with what you see."


def encode_openai_request(
    request: Request,
    blobs: Blobs,
    quirks: ModelQuirks = NO_QUIRKS,
    thoughts: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """Encode the body of a streamed call. The same request gives the same bytes.

    Messages of text alone are sent as plain strings, as some servers accept nothing else.

    Args:
        thoughts: of the running turn's messages with calls, by the id of the first one; they are
            sent back.
    """
    options = {name: f'"{name}":{value}' for name, value in option_fields(request, quirks).items()}
    fields = [
        f'"model":{to_json(request.model)}',
        *(options.pop(name) for name in LIMIT_FIELDS if name in options),
    ]
    if request.tools and not quirks.tools_refused:
        fields.append(_encode_tools(request.tools))
    rows = _encode_messages(request, blobs, quirks, thoughts)
    fields += [f'"messages":[{",".join(rows)}]', '"stream":true', *options.values()]
    return encode_body(f"{{{','.join(fields)}}}")


def _encode_messages(
    request: Request, blobs: Blobs, quirks: ModelQuirks, thoughts: Mapping[str, str]
) -> Iterator[str]:
    has_no_tools = bool(quirks.tools_refused) and request.purpose == "turn"
    texts = (*request.system, NO_TOOLS_NOTE) if has_no_tools else request.system
    system = "\n\n".join(text for text in texts if text.strip())
    if system:
        yield f'{{"role":"system","content":{quote(system)}}}'
    running = _start_of_turn(request.messages)
    for index, message in enumerate(request.messages):
        if has_no_tools:
            message = _write_calls_out(message)
        if message.role == "user":
            yield from _encode_user(message, blobs)
        else:
            yield from _encode_assistant(
                message, _sent_thought(message, quirks, thoughts) if index > running else None
            )


def _start_of_turn(messages: Sequence[ShownMessage]) -> int:
    """Return the index of the newest message of a person; results of tools come in messages of
    their own.
    """
    people = (
        index
        for index, message in enumerate(messages)
        if message.role == "user"
        and not any(isinstance(part, ToolResult) for part in message.parts)
    )
    return max(people, default=-1)


def _sent_thought(
    message: ShownMessage, quirks: ModelQuirks, thoughts: Mapping[str, str]
) -> str | None:
    """Return the thinking to send back with a message; None to send none."""
    call = next((part for part in message.parts if isinstance(part, ToolCall)), None)
    if call is None:
        return None
    return thoughts.get(call.id, "" if quirks.wants_thinking else None)


def _write_calls_out(message: ShownMessage) -> ShownMessage:
    """Return the message with calls and results as text, for a server that takes no tools."""

    def written(part: Part) -> Part:
        if isinstance(part, ToolCall):
            return Text(text=f"[called {part.name} {part.input}]")
        return Text(text=f"[result: {part.text}]") if isinstance(part, ToolResult) else part

    return replace(message, parts=tuple(map(written, message.parts)))


@lru_cache(maxsize=MAX_CACHED_TOOLS)
def _encode_tools(tools: tuple[ToolSpec, ...]) -> str:
    functions = (
        {"name": spec.name, "description": spec.description, "parameters": json.loads(spec.schema)}
        for spec in tools
    )
    return (
        f'"tools":{to_json([{"type": "function", "function": function} for function in functions])}'
    )


def _encode_assistant(message: ShownMessage, thought: str | None) -> list[str]:
    text = "\n\n".join(
        part.text for part in message.parts if isinstance(part, Text) and part.text.strip()
    )
    calls = [_encode_call(part) for part in message.parts if isinstance(part, ToolCall)]
    if not text and not calls:
        return []
    content = quote(text) if text else "null"
    reasoning = f',"reasoning_content":{quote(thought)}' if thought is not None else ""
    called = f',"tool_calls":[{",".join(calls)}]' if calls else ""
    return [f'{{"role":"assistant","content":{content}{reasoning}{called}}}']


def _encode_call(part: ToolCall) -> str:
    """Encode a call with its arguments unchanged; invalid JSON is wrapped, as some servers parse
    it.
    """
    arguments = wrap_arguments(part) if compact_arguments(part) is None else part.input or "{}"
    function = f'{{"name":{to_json(part.name)},"arguments":{to_json(arguments)}}}'
    return f'{{"id":{to_json(part.id)},"type":"function","function":{function}}}'


class _ContentBlock(NamedTuple):
    """A block of a person's message: a text, or the URL of a picture."""

    text: str
    is_picture: bool = False


def _encode_user(message: ShownMessage, blobs: Blobs) -> list[str]:
    """Encode a message of its own for each tool result, right after the calls, then one for the
    rest.
    """
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
