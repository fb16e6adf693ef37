"""Requests and answers as the tests of models need them."""

import base64
import json
from collections.abc import Iterable
from typing import Any

from bot.models.base import Answer, ModelClient, ModelEvent, Request, TextDelta
from bot.models.providers.anthropic import encode_anthropic_request
from bot.models.providers.openai_request import encode_openai_request
from memory.conversation import Part, Role, ShownMessage, Text, ToolCall, ToolResult, ToolSpec

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
BLOBS = {"png": PNG, "pdf": b"%PDF-1.4 tiny", "bad": b"this is no picture"}
MODEL = "claude-sonnet-5-5"


def blobs(sha256: str) -> bytes:
    """The few files tests know."""
    if sha256 not in BLOBS:
        raise FileNotFoundError(sha256)
    return BLOBS[sha256]


def said(role: Role, *parts: Part | str) -> ShownMessage:
    """One message; words stand for a Text."""
    return ShownMessage(
        role=role, parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts)
    )


def asking(*messages: ShownMessage | str, **fields: Any) -> Request:
    """A request of these messages; words stand for what the person says."""
    made = tuple(
        said("user", message) if isinstance(message, str) else message for message in messages
    )
    return Request(
        **{"model": MODEL, "system": ("Be brief.",), "max_tokens": 256, **fields, "messages": made}
    )


def anthropic_body(request: Request) -> dict[str, Any]:
    """The body of a call of the Messages API, as a server parses it."""
    return parsed_body(encode_anthropic_request(request, blobs).content)


def openai_body(request: Request) -> dict[str, Any]:
    """The body of a call of chat completions, as a server parses it."""
    return parsed_body(encode_openai_request(request, blobs))


def parsed_body(content: bytes) -> dict[str, Any]:
    """A body as strict JSON, in UTF-8 and without blanks between its signs."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    body: dict[str, Any] = json.loads(content, parse_constant=refuse)
    assert content == json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return body


def tool(name: str = "read") -> ToolSpec:
    schema = '{"properties":{"path":{"type":"string"}},"type":"object"}'
    return ToolSpec(
        name=name, description=f"{name}s a file", schema=schema, effect="pure", action=name
    )


def call(id: str, path: str = "a.md", name: str = "read") -> ToolCall:
    return ToolCall(id=id, name=name, input=f'{{"path":"{path}"}}')


def result(id: str, text: str = "contents", **fields: Any) -> ToolResult:
    return ToolResult(call_id=id, text=text, **fields)


async def hear(model: ModelClient, request: Request) -> tuple[list[ModelEvent], Answer]:
    """All events of one call, and the Answer that is the last of them."""
    events = [event async for event in model.stream(request)]
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert sum(isinstance(event, Answer) for event in events) == 1
    return events, answer


async def answer_of(model: ModelClient, request: Request) -> Answer:
    return (await hear(model, request))[1]


def streamed(events: Iterable[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def words(answer: Answer) -> str:
    return "".join(part.text for part in answer.parts if isinstance(part, Text))


def calls(answer: Answer) -> list[ToolCall]:
    return [part for part in answer.parts if isinstance(part, ToolCall)]
