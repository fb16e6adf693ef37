"""A request as chat completions want it. Pure but for the blobs it is given: the same request, the same bytes."""

import json
from collections.abc import Sequence
from typing import Any

from bot.models.base import Blobs, Request, WireMessage
from bot.models.parts import all_sound, arguments, encoded, in_words
from memory.conversation import Document, Image, Part, Text, ToolCall, ToolResult, ToolSpec

Row = dict[str, Any]


def render(request: Request, blobs: Blobs, limit_field: str = "max_tokens") -> dict[str, Any]:
    """The body of one streamed call.

    Thoughts are not sent back. Words go as plain strings where nothing but words is said, as some servers take
    nothing else. limit_field: the name this server has for the longest answer.
    """
    rows: list[Row] = []
    if system := "\n\n".join(text for text in request.system if text.strip()):
        rows.append({"role": "system", "content": system})
    for message in request.messages:
        rows.extend(_assistant(message) if message.role == "assistant" else _user(message, blobs))
    body: dict[str, Any] = {"model": request.model, limit_field: request.max_tokens, "messages": rows}
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
        if not request.may_call:
            body["tool_choice"] = "none"
    sent: dict[str, Any] = all_sound(body)
    return {**sent, "stream": True, "stream_options": {"include_usage": True}}


def _tool(spec: ToolSpec) -> Row:
    function = {"name": spec.name, "description": spec.description, "parameters": json.loads(spec.schema)}
    return {"type": "function", "function": function}


def _assistant(message: WireMessage) -> list[Row]:
    text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text.strip())
    calls = [_call(part) for part in message.parts if isinstance(part, ToolCall)]
    if not text and not calls:
        return []
    row: Row = {"role": "assistant", "content": text or None}
    return [{**row, "tool_calls": calls}] if calls else [row]


def _call(part: ToolCall) -> Row:
    """The arguments word for word, unless a server that parses them would choke."""
    sound = arguments(part)
    written = json.dumps(sound, ensure_ascii=False) if "invalid_json" in sound else part.input or "{}"
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": written}}


def _user(message: WireMessage, blobs: Blobs) -> list[Row]:
    """Each result is a message of its own, right after the calls; then what the person says."""
    rows = [_result(part) for part in message.parts if isinstance(part, ToolResult)]
    if said := [block for part in message.parts if (block := _block(part, blobs))]:
        rows.append({"role": "user", "content": _plain(said)})
    return rows


def _result(part: ToolResult) -> Row:
    text = part.text or "(empty)"
    return {"role": "tool", "tool_call_id": part.call_id, "content": f"Error: {text}" if part.is_error else text}


def _plain(blocks: Sequence[Row]) -> str | list[Row]:
    if all(block["type"] == "text" for block in blocks):
        return "\n\n".join(block["text"] for block in blocks)
    return list(blocks)


def _block(part: Part, blobs: Blobs) -> Row | None:
    if isinstance(part, Text):
        return {"type": "text", "text": part.shown} if part.text.strip() else None
    if isinstance(part, Image) and (data := encoded(part, blobs)) is not None:
        return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}
    if isinstance(part, (Image, Document)):
        return {"type": "text", "text": in_words(part)}
    return None
