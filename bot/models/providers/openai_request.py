"""Encodes the body of a chat completion. The same request gives the same bytes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from bot.models.base import Blobs, Request
from bot.models.providers.messages import (
    compact_arguments,
    describe_file,
    encode_blob,
    encode_body,
    quote,
    to_json,
    wrap_arguments,
)
from bot.models.providers.quirks import LIMIT_FIELDS, NO_QUIRKS, ModelQuirks, option_fields
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
