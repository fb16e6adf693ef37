"""What the model emulator refuses, counts and signs: the documented rules of both wires."""

import base64
import hashlib
import hmac
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tests.emulators.model_tools import find_fault

SECRET = b"a key nobody needs to keep"
LOOK_BACK = 20  # blocks in which an older entry is looked for, the marked one counted as the first


class Refused(Exception):
    """The request breaks a rule. code: chat completions' own, "" for none; body: sent as it is, ""
    for the wire's.
    """

    def __init__(
        self,
        text: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        code: str = "",
        body: str = "",
    ) -> None:
        super().__init__(text)
        self.text, self.status, self.kind, self.code, self.body = text, status, kind, code, body


def count(value: Any) -> int:
    """Tokens: a quarter of the bytes of the JSON, rounded up."""
    return math.ceil(len(json.dumps(bare(value), ensure_ascii=False).encode(errors="replace")) / 4)


def bare(value: Any) -> Any:
    """Without cache marks, which are no content."""
    if isinstance(value, dict):
        return {name: bare(item) for name, item in value.items() if name != "cache_control"}
    return [bare(item) for item in value] if isinstance(value, list) else value


def seen_by_model(body: dict[str, Any]) -> dict[str, Any]:
    """The parts of a request that fill the window."""
    return {name: body[name] for name in ("tools", "system", "messages") if name in body}


def check_window(
    body: dict[str, Any], window: int, *, chat: bool, told: bool, counted: Callable[[Any], int]
) -> int:
    """The request's tokens, if they and the answer's fit. told: a refusal says how many there are
    and may be.
    """
    tokens = counted(seen_by_model(body))
    answer = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
    if tokens + answer > window:
        code = "context_length_exceeded" if chat else ""
        raise Refused(
            (_too_long_chat if chat else _too_long)(tokens, answer, window, told), code=code
        )
    return tokens


def _too_long(tokens: int, answer: int, window: int, told: bool) -> str:
    if not told:
        return "Input is too long for requested model."
    if tokens > window:
        return f"prompt is too long: {tokens} tokens > {window} maximum"
    advice = "decrease input length or `max_tokens` and try again"
    return (
        f"input length and `max_tokens` exceed context limit: {tokens} + {answer} > {window}, "
        f"{advice}"
    )


def _too_long_chat(tokens: int, answer: int, window: int, told: bool) -> str:
    if not told:
        return (
            "Your input exceeds the context window of this model. Please adjust your input and try "
            "again."
        )
    asked = (
        f"However, you requested {tokens + answer} tokens ({tokens} in the messages, {answer} in "
        "the completion)."
    )
    advice = "Please reduce the length of the messages or completion."
    return f"This model's maximum context length is {window} tokens. {asked} {advice}"


def load_types() -> None:
    """Import the types of both APIs, which takes two seconds of CPU, before the first request
    does.
    """
    _adapters()
    _chat_adapter()


# --- the Messages API
# -------------------------------------------------------------------------------------------


@cache
def _adapters() -> tuple[TypeAdapter[Any], ...]:
    from anthropic.types import ContentBlockParam, MessageParam, ToolParam, message_create_params

    whole = message_create_params.MessageCreateParamsStreaming
    return tuple(TypeAdapter(kind) for kind in (whole, MessageParam, ContentBlockParam, ToolParam))


def check_messages(body: dict[str, Any], *, bound: bool) -> None:
    """Every rule of form and pairing. bound: thinking belongs to the conversation it was thought
    in.

    The SDK's types check lists of messages and blocks only when they are walked, so each is checked
    on its own.
    """
    whole, message_type, block_type, tool_type = _adapters()
    _typed(whole, body, "")
    for at, tool in enumerate(body.get("tools") or []):
        _typed(tool_type, tool, f"tools.{at}")
        _check_tool(tool["name"], tool["input_schema"])
    if "tool_choice" in body and not body.get("tools"):
        raise Refused("tool_choice: may only be specified while providing `tools`.")
    messages = body["messages"]
    if not messages:
        raise Refused("messages: at least one message is required")
    for at, message in enumerate(messages):
        _typed(message_type, message, f"messages.{at}")
        for place, block in enumerate(blocks(message)):
            _typed(block_type, block, f"messages.{at}.content.{place}")
            _check_block(body, at, place, block, bound)
    if messages[0]["role"] != "user":
        raise Refused('messages: first message must use the "user" role')
    if len(list(_marks(body))) > 4:
        raise Refused("A maximum of 4 blocks with cache_control may be provided.")
    _check_pairs(_merged(messages))


def _check_tool(name: str, schema: Any) -> None:
    if fault := find_fault(name, schema):
        raise Refused(f"tools: {fault}")


def _typed(adapter: TypeAdapter[Any], value: Any, place: str) -> None:
    try:
        adapter.validate_python(value)
    except ValidationError as err:
        first = err.errors()[0]
        inner = ".".join(str(step) for step in first["loc"] if not str(step)[:1].isupper())
        raise Refused(f"{'.'.join(filter(None, (place, inner)))}: {first['msg']}") from err


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """A message's content as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _check_block(
    body: dict[str, Any], at: int, place: int, block: dict[str, Any], bound: bool
) -> None:
    where = f"messages.{at}.content.{place}"
    if block["type"] == "text" and not block["text"].strip():
        raise Refused("messages: text content blocks must be non-empty")
    if block["type"] == "image" and block["source"].get("type") == "base64":
        size = len(base64.b64decode(block["source"]["data"]))
        if size > 5 << 20:
            raise Refused(
                f"{where}.image.source.base64: image exceeds 5 MB maximum: {size} bytes > "
                f"{5 << 20} bytes"
            )
        if not base64.b64decode(block["source"]["data"]).startswith(
            (b"\x89PNG", b"\xff\xd8", b"GIF8", b"RIFF")
        ):
            raise Refused(f"{where}.image: Could not process image")
    if block["type"] == "thinking":
        signed, _, prefix = block["signature"].partition(".")
        if signed != sign(block["thinking"]):
            raise Refused(f"{where}: Invalid `signature` in `thinking` block")
        if bound and prefix != prefix_mark(body, at):
            text = (
                f"{where}: Invalid `signature` in `thinking` block. The block is bound to a "
                "different conversation."
            )
            raise Refused(
                f"{text} Remove the block, or set "
                "`thinking.block_binding.prefix_mismatch_behavior`."
            )


def sign(thought: str) -> str:
    """A thought's signature."""
    return hmac.new(SECRET, thought.encode(), hashlib.sha256).hexdigest()[:24]


def prefix_mark(body: dict[str, Any], upto: int) -> str:
    """What stands before message `upto`, hashed."""
    before = [
        {"role": message["role"], "content": blocks(message)} for message in body["messages"][:upto]
    ]
    prefix = bare([body.get("system"), body.get("tools"), before])
    return hashlib.sha256(json.dumps(prefix, ensure_ascii=False).encode()).hexdigest()[:16]


def _merged(messages: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Neighbours of one role count as one message."""
    merged: list[tuple[str, list[dict[str, Any]]]] = []
    for message in messages:
        if merged and merged[-1][0] == message["role"]:
            merged[-1][1].extend(blocks(message))
        else:
            merged.append((message["role"], blocks(message)))
    return merged


def _check_pairs(messages: list[tuple[str, list[dict[str, Any]]]]) -> None:
    used: set[str] = set()
    asked: list[str] = []
    for at, (role, content) in enumerate(messages):
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        stray = [
            place
            for place, block in enumerate(content)
            if block.get("tool_use_id", asked) not in [asked, *asked]
        ]
        if stray:
            raise Refused(_unexpected(at, stray[0], content[stray[0]]["tool_use_id"]))
        missing = [id for id in asked if id not in results]
        if missing or len(results) != len(set(results)):
            raise Refused(_unanswered(at - 1, missing or results))
        kinds = [block["type"] == "tool_result" for block in content]
        if sorted(kinds, reverse=True) != kinds:
            raise Refused(_unanswered(at - 1, results))
        asked = [block["id"] for block in content if block["type"] == "tool_use"]
        if role == "assistant" and (used & set(asked) or len(asked) != len(set(asked))):
            raise Refused("messages: `tool_use` ids must be unique")
        used |= set(asked)
    if asked:
        raise Refused(_unanswered(len(messages) - 1, asked))


def _unanswered(at: int, ids: list[str]) -> str:
    rule = (
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )
    found = (
        "`tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}"
    )
    return f"messages.{at}: {found}. {rule}"


def _unexpected(at: int, place: int, id: str) -> str:
    rule = (
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
        "message."
    )
    return (
        f"messages.{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: "
        f"{id}. {rule}"
    )


# --- the cache
# --------------------------------------------------------------------------------------------------


def _pieces(body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The prompt in the order it is cached in: each block as JSON, and whether a mark stands on
    it.
    """
    for block in _heads(body):
        yield json.dumps(bare(block), ensure_ascii=False), "cache_control" in block
    for message in body["messages"]:
        for block in blocks(message):
            yield (
                message["role"] + json.dumps(bare(block), ensure_ascii=False),
                "cache_control" in block,
            )


def _heads(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks before the messages."""
    system = body.get("system") or []
    return [
        *(body.get("tools") or []),
        *([{"text": system}] if isinstance(system, str) else system),
    ]


def _marks(body: dict[str, Any]) -> Iterator[int]:
    return (at for at, (_, marked) in enumerate(_pieces(body)) if marked)


@dataclass(slots=True)
class PromptCache:
    """Which prefixes are kept, as (model, hash) -> when they end. now: seconds, moved by hand.
    least: tokens.
    """

    least: int = 512
    life: float = 300.0
    now: float = 0.0
    kept: dict[tuple[str, str], float] = field(default_factory=dict)

    def account(self, body: dict[str, Any]) -> tuple[int, int]:
        """Tokens read from and written to the cache by this request."""
        digest, size, ends = hashlib.sha256(), 0, []
        heads, choice = len(_heads(body)), json.dumps(body.get("tool_choice"))
        for at, (text, marked) in enumerate(_pieces(body)):
            # whether tools may be called is part of what the messages are kept under
            if at == heads:
                digest.update(choice.encode())
            digest.update(text.encode())
            size += len(text.encode())
            ends.append((digest.hexdigest(), math.ceil(size / 4), marked))
        marks = [
            at for at, (_, tokens, marked) in enumerate(ends) if marked and tokens >= self.least
        ]
        read = max(
            (ends[at][1] for mark in marks for at in self._hits(body["model"], ends, mark)),
            default=0,
        )
        for mark in marks:
            self.kept[body["model"], ends[mark][0]] = self.now + self.life
        write = max((ends[mark][1] for mark in marks), default=0) - read
        return read, max(write, 0)

    def _hits(self, model: str, ends: list[tuple[str, int, bool]], mark: int) -> list[int]:
        near = range(max(mark - LOOK_BACK + 1, 0), mark + 1)
        return [at for at in near if self.kept.get((model, ends[at][0]), -1.0) >= self.now]


# --- chat completions
# -------------------------------------------------------------------------------------------


@cache
def _chat_adapter() -> TypeAdapter[Any]:
    from openai.types.chat import ChatCompletionMessageParam

    return TypeAdapter(ChatCompletionMessageParam)


def check_chat(body: dict[str, Any]) -> None:
    """The form of each message, and that every call is answered right after it."""
    if not body.get("messages"):
        raise Refused("[] is too short - 'messages'")
    if "tool_choice" in body:
        _check_choice(body)
    for tool in body.get("tools") or []:
        _check_tool(tool["function"]["name"], tool["function"]["parameters"])
    open_ids: list[str] = []
    for at, row in enumerate(body["messages"]):
        _typed(_chat_adapter(), row, f"messages.{at}")
        if row["role"] == "tool":
            if row["tool_call_id"] not in open_ids:
                rule = (
                    "messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'."
                )
                raise Refused(f"Invalid parameter: {rule}")
            open_ids.remove(row["tool_call_id"])
            continue
        if open_ids:
            rule = (
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each"
            )
            raise Refused(
                f"{rule} 'tool_call_id'. The following did not have responses: "
                f"{', '.join(open_ids)}"
            )
        open_ids = [call["id"] for call in row.get("tool_calls") or []]
        for call in row.get("tool_calls") or []:
            _check_arguments(call["function"]["arguments"])


def _check_choice(body: dict[str, Any]) -> None:
    """Which tools may be called: a word, or one of those that are listed."""
    choice = body["tool_choice"]
    if not body.get("tools"):
        raise Refused(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified."
        )
    names = [tool["function"]["name"] for tool in body["tools"]]
    named = isinstance(choice, dict) and choice.get("function", {}).get("name") in names
    if choice not in ("none", "auto", "required") and not named:
        raise Refused(
            f"Invalid value: {choice!r}. Supported values are: 'none', 'auto', and 'required'."
        )


def _check_arguments(written: str) -> None:
    """Servers that parse them before they look at anything else choke on what is no JSON."""
    try:
        json.loads(written)
    except ValueError as err:
        raise Refused(f"Invalid tool call arguments: {err}", status=422) from err
