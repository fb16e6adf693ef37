"""Converts messages in Anthropic's and OpenAI's form to our parts. Pure."""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bot.models.providers.messages import replace_surrogates_in_json
from memory.conversation import (
    Document,
    Image,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
)

SYSTEM_ROLES = ("system", "developer")
ROLES = ("user", "assistant", "tool", *SYSTEM_ROLES)
TEXT_KINDS = ("text", "input_text", "output_text")
MAX_UNKNOWN_CHARS = 4_000  # of the JSON of a block of unknown type
VALID_YEARS = range(2, 9999)  # of a message's time, so that zones and intervals cannot overflow


class MalformedMessage(ValueError):
    """The value has another form; the text says why, without its position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMessage:
    """One message, converted."""

    role: Role
    parts: tuple[Part, ...]
    at: datetime | None
    #: Text of a system message, which has no parts.
    system: str = ""
    #: Contents of included files, by SHA-256.
    files: dict[str, bytes] = field(default_factory=dict)
    #: What was changed.
    notes: tuple[str, ...] = ()


def parse_message(raw: object) -> ParsedMessage:
    """Parse a message of either API.

    Raises:
        MalformedMessage: it has another form.
    """
    if not isinstance(raw, dict):
        raise MalformedMessage(f"a message must be an object, not {_block_kind(raw)}")
    item: dict[str, Any] = _convert_old_calls(replace_surrogates_in_json(raw))
    role = item.get("role")
    if role not in ROLES:
        problem = f'its role is "{role}"' if isinstance(role, str) else "it has no role"
        raise MalformedMessage(f"{problem}; it must be one of: {', '.join(ROLES)}")
    reader = _ContentReader(
        call_id=_text_from_json(item.get("tool_call_id")) if role == "tool" else ""
    )
    parts = tuple(reader.read(item))
    at = parse_time(item["at"]) if item.get("at") is not None else None
    if role in SYSTEM_ROLES:
        return ParsedMessage(role="user", parts=(), at=at, system=_join_texts(parts))
    return ParsedMessage(
        role="assistant" if role == "assistant" else "user",
        parts=parts,
        at=at,
        files=reader.files,
        notes=tuple(reader.notes),
    )


def _convert_old_calls(item: dict[str, Any]) -> dict[str, Any]:
    """Convert OpenAI's oldest form of a call and its result, which had no ids.

    A tool result that is an object becomes its JSON text: no API has that, but people's scripts
    write it.
    """
    call = item.get("function_call")
    if isinstance(call, dict) and not item.get("tool_calls"):
        item = {**item, "tool_calls": [{"id": _text_from_json(call.get("name")), "function": call}]}
    if item.get("role") == "function":
        item = {**item, "role": "tool", "tool_call_id": item.get("name")}
    if item.get("role") == "tool" and isinstance(item.get("content"), dict):
        item = {**item, "content": json.dumps(item["content"], ensure_ascii=False)}
    return item


def parse_system(raw: object) -> tuple[str, ...]:
    """Parse a top-level `system`: a string, or a list of text blocks.

    Raises:
        MalformedMessage: it is neither.
    """
    content = {"content": replace_surrogates_in_json(raw)}
    texts = (part.text for part in _ContentReader().read(content) if isinstance(part, Text))
    return tuple(text for text in texts if text.strip())


def parse_tools(raw: object) -> tuple[ToolSpec, ...]:
    """Parse a top-level `tools` of either API.

    Raises:
        MalformedMessage: it is no list of tools.
    """
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise MalformedMessage(f"tools must be a list, not {_block_kind(raw)}")
    return tuple(_parse_tool(replace_surrogates_in_json(item)) for item in raw)


def parse_time(raw: object) -> datetime:
    """Parse a time in ISO 8601; without a zone it is UTC.

    Raises:
        MalformedMessage: it is no time, or out of range.
    """
    at = None
    if isinstance(raw, str):
        with suppress(ValueError, OverflowError):
            at = datetime.fromisoformat(raw)
            at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    if at is None or at.year not in VALID_YEARS:
        raise MalformedMessage(
            f'its "at" is {json.dumps(raw)[:60]}; it must be a time such as '
            '"2026-11-20T06:00:00+00:00"'
        )
    return at


class _ContentReader:
    """Converts the content of one message.

    Args:
        call_id: the call that a `tool` message answers.
    """

    def __init__(self, *, call_id: str = "") -> None:
        self._call_id = call_id
        self.files: dict[str, bytes] = {}
        self.notes: list[str] = []

    def read(self, item: dict[str, Any]) -> Iterator[Part]:
        if thinking := item.get("reasoning_content"):
            yield Thinking(text=_text_from_json(thinking))
        content = list(self._content(item.get("content")))
        if item.get("role") == "tool":
            yield ToolResult(call_id=self._call_id, text=_join_texts(content))
            yield from (part for part in content if isinstance(part, Image | Document))
        else:
            yield from content
        if refusal := item.get("refusal"):
            yield Text(text=_text_from_json(refusal))
        calls = item.get("tool_calls") or []
        if not isinstance(calls, list):
            raise MalformedMessage(f"its tool_calls must be a list, not {_block_kind(calls)}")
        yield from map(_parse_call, calls)

    def _content(self, content: object) -> Iterator[Part]:
        if content is None:
            return
        if isinstance(content, str):
            if content.strip():
                yield Text(text=content)
            return
        if not isinstance(content, list):
            raise MalformedMessage(
                f"its content must be a text or a list of blocks, not {_block_kind(content)}"
            )
        for block in content:
            if isinstance(block, str):
                block = {"type": "text", "text": block}
            if not isinstance(block, dict):
                raise MalformedMessage(
                    f"a block of its content must be an object, not {_block_kind(block)}"
                )
            yield from self._block(block)

    def _block(self, block: dict[str, Any]) -> Iterator[Part]:
        match block.get("type"):
            case kind if kind in TEXT_KINDS:
                if (text := _text_from_json(block.get("text"))).strip():
                    yield Text(text=text)
            case "refusal":
                yield Text(text=_text_from_json(block.get("refusal")))
            case "thinking":
                yield Thinking(
                    text=_text_from_json(block.get("thinking")),
                    signature=_text_from_json(block.get("signature")),
                )
            case "redacted_thinking":
                yield Thinking(text=_text_from_json(block.get("data")), redacted=True)
            case "tool_use" | "server_tool_use":
                yield _build_call(block.get("id"), block.get("name"), block.get("input"))
            case "tool_result":
                yield from self._result(block)
            case "image" | "image_url" | "input_image":
                yield self._image(block)
            case "document" | "file":
                yield self._document(block)
            case "input_file":
                yield self._document({"file": block})
            case other:
                yield self._unknown(block, str(other))

    def _unknown(self, block: dict[str, Any], kind: str) -> Part:
        """Return its JSON text, or only its type if it is long, such as sound."""
        text = json.dumps(block, ensure_ascii=False)
        if len(text) > MAX_UNKNOWN_CHARS:
            self.notes.append(
                f'a block of type "{kind}", {len(text):,} characters of JSON, is only named'
            )
            return Text(text=f"[{kind}]")
        self.notes.append(f'a block of type "{kind}" is kept as its JSON text')
        return Text(text=text)

    def _result(self, block: dict[str, Any]) -> Iterator[Part]:
        """Yield the result, then the files in it: our results hold only text."""
        content = list(self._content(block.get("content")))
        call_id, failed = _text_from_json(block.get("tool_use_id")), block.get("is_error") is True
        yield ToolResult(call_id=call_id, text=_join_texts(content), is_error=failed)
        yield from (part for part in content if isinstance(part, Image | Document))

    def _image(self, block: dict[str, Any]) -> Part:
        source = block.get("source") or {}
        url = (
            _inner_object(block, "image_url").get("url")
            or block.get("image_url")
            or _inner_object(block, "source").get("url")
        )
        if isinstance(url, str) and url.startswith("data:"):
            head, _, data = url.partition(",")
            source = {"media_type": head.removeprefix("data:").partition(";")[0], "data": data}
        if isinstance(source, dict) and isinstance(source.get("data"), str):
            media_type = _text_from_json(source.get("media_type")) or "image/png"
            return Image(sha256=self._add_base64(source["data"]), media_type=media_type)
        return Text(text=f"[picture at {url}]" if isinstance(url, str) else "[picture]")

    def _document(self, block: dict[str, Any]) -> Part:
        source = _inner_object(block, "source") or _inner_object(block, "file")
        name = _text_from_json(block.get("title") or source.get("filename")) or "file"
        data = source.get("data") or source.get("file_data")
        if not isinstance(data, str):
            return Text(
                text=f"[file {name} {_text_from_json(source.get('url') or source.get('file_id'))}".rstrip()  # noqa: E501
                + "]"
            )
        if source.get("type") == "text":
            content = data.encode()
            sha256 = self._add_file(content)
            return Document(
                sha256=sha256, media_type="text/plain", name=name, size=len(content), text=data
            )
        sha256 = self._add_base64(data.partition(",")[2] if data.startswith("data:") else data)
        media_type = _text_from_json(source.get("media_type")) or "application/pdf"
        return Document(
            sha256=sha256, media_type=media_type, name=name, size=len(self.files[sha256])
        )

    def _add_base64(self, data: str) -> str:
        try:
            content = base64.b64decode(data)
        except (binascii.Error, ValueError) as err:
            raise MalformedMessage("the data of a picture or file in it is not base64") from err
        if data and not content:
            raise MalformedMessage("the data of a picture or file in it is not base64")
        return self._add_file(content)

    def _add_file(self, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        self.files[sha256] = data
        return sha256


def _parse_call(raw: object) -> ToolCall:
    if not isinstance(raw, dict):
        raise MalformedMessage(f"a tool call must be an object, not {_block_kind(raw)}")
    call = _inner_object(raw, "function") or _inner_object(raw, "custom")
    return _build_call(raw.get("id"), call.get("name"), call.get("arguments", call.get("input")))


def _build_call(id: object, name: object, arguments: object) -> ToolCall:
    if not isinstance(id, str) or not isinstance(name, str) or not id or not name:
        raise MalformedMessage("a tool call in it has no id or no name")
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    return ToolCall(id=id, name=name, input=arguments or "{}")


def _parse_tool(raw: object) -> ToolSpec:
    spec = (_inner_object(raw, "function") or raw) if isinstance(raw, dict) else {}
    name = spec.get("name")
    if not isinstance(name, str) or not name:
        raise MalformedMessage("a tool has no name")
    schema = spec.get("input_schema") or spec.get("parameters") or {"type": "object"}
    return ToolSpec(
        name=name,
        description=_text_from_json(spec.get("description")),
        schema=json.dumps(schema, ensure_ascii=False, sort_keys=True),
        effect="pure",
        action="",
    )


def _inner_object(raw: dict[str, Any], name: str) -> dict[str, Any]:
    value = raw.get(name)
    return value if isinstance(value, dict) else {}


def _join_texts(parts: Iterable[Part]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _text_from_json(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _block_kind(raw: object) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(raw), "nothing")
