"""A request as the Messages API wants it. Pure but for the blobs it is given: the same request, the same bytes."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bot.models.base import Blobs, Request, WireMessage
from bot.models.parts import all_sound, arguments, encoded, in_words, wire_name
from bot.models.prices import takes_effort
from memory.conversation import Document, Image, Part, Text, Thinking, ToolCall, ToolResult, ToolSpec

Block = dict[str, Any]
MARK = {"type": "ephemeral"}
"""A cache mark. At most 4 are allowed in one request; we set 3: after the tools, the system and the stable messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A rendered request. places: for each wire message, the request's message and the parts its blocks came from."""

    body: dict[str, Any]
    places: tuple[tuple[int, tuple[int, ...]], ...]

    def place(self, message: int, block: int) -> tuple[int, int]:
        """Where in the request that block of the wire's came from; -1 for unknown."""
        if not 0 <= message < len(self.places):
            return -1, -1
        source, parts = self.places[message]
        return source, parts[block] if 0 <= block < len(parts) else -1


def render(request: Request, blobs: Blobs) -> Form:
    """The body of one streamed call.

    Thinking is shown again only within the running turn and only to the model that thought it: newer models refuse
    it (400) once anything before it has changed, and the turns before the running one are folded, reduced and freed
    of their passing notes. Sampling is left to the model: newer ones refuse any other temperature.
    """
    places, messages = [], []
    for index, message in enumerate(request.messages):
        stable = index < request.stable
        found = [(at, _block(part, blobs)) for at, part in _sent(message, stable, request.model)]
        if not found:
            continue
        if index == request.stable - 1:
            found[-1][1]["cache_control"] = MARK
        messages.append({"role": message.role, "content": [block for _, block in found]})
        places.append((index, tuple(at for at, _ in found)))
    body = {"model": request.model, "max_tokens": request.max_tokens, **_head(request), "messages": messages}
    return Form(body=all_sound(body), places=tuple(places))


def _head(request: Request) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if request.purpose != "turn" and takes_effort(request.model):
        head["output_config"] = {"effort": "low"}
    if request.tools:
        head["tools"] = _marked(_tool(spec) for spec in request.tools)
        if not request.may_call:
            head["tool_choice"] = {"type": "none"}
    if words := [text for text in request.system if text.strip()]:
        head["system"] = _marked({"type": "text", "text": text} for text in words)
    return head


def _marked(blocks: Iterable[Block]) -> list[Block]:
    marked = list(blocks)
    marked[-1]["cache_control"] = MARK
    return marked


def _tool(spec: ToolSpec) -> Block:
    return {"name": spec.name, "description": spec.description, "input_schema": json.loads(spec.schema)}


def _sent(message: WireMessage, stable: bool, model: str) -> list[tuple[int, Part]]:
    """The parts that go out, with their places; results first, as the wire demands."""
    kept = [(at, part) for at, part in enumerate(message.parts) if not _left_out(part, stable, model)]
    return sorted(kept, key=lambda item: message.role == "user" and not isinstance(item[1], ToolResult))


def _left_out(part: Part, stable: bool, model: str) -> bool:
    if isinstance(part, Thinking):
        return stable or part.model != model or not (part.signature or part.redacted)
    return isinstance(part, Text) and not part.text.strip()


def _block(part: Part, blobs: Blobs) -> Block:
    match part:
        case Text():
            return {"type": "text", "text": part.shown}
        case ToolCall():
            return {
                "type": "tool_use",
                "id": wire_name(part.id),
                "name": wire_name(part.name),
                "input": arguments(part),
            }
        case ToolResult():
            return _result(part)
        case Thinking(redacted=True):
            return {"type": "redacted_thinking", "data": part.text}
        case Thinking():
            return {"type": "thinking", "thinking": part.text, "signature": part.signature}
        case Image() | Document():
            return _file(part, blobs)


def _result(part: ToolResult) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": wire_name(part.call_id)}
    if part.text.strip():
        block["content"] = part.text
    if part.is_error:
        block["is_error"] = True
    return block


def _file(part: Image | Document, blobs: Blobs) -> Block:
    kind = "image" if isinstance(part, Image) else "document"
    if isinstance(part, Image) or part.media_type == "application/pdf":
        data = encoded(part, blobs)
        if data is not None:
            source = {"type": "base64", "media_type": part.media_type, "data": data}
            return {"type": kind, "source": source}
    return {"type": "text", "text": in_words(part)}
