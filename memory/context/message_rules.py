"""Validates message lists by the strictest provider's rules, and repairs invalid ones."""

import json
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

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
)
from memory.text.sized_cache import ENTRY_CHARS, SizedCache

NO_RESULT = "[no result was recorded]"
_USER_PARTS = (Text, Image, Document, ToolResult)
_ASSISTANT_PARTS = (Text, Thinking, ToolCall)
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Inputs of calls, each checked with every request that shows it; one has up to 100 KB where a file
# is written.
_json_objects: SizedCache[str, bool] = SizedCache(2_000_000)


def find_faults(messages: Sequence[ShownMessage]) -> list[str]:
    """List what a strict provider would refuse, one sentence per fault.

    The rules: a user message first, then alternating roles; no message without parts, no blank
    text; only parts that the role may have; each call answered by exactly one result at the
    beginning of the next message, and no other results; call ids unique and, like tool names, of
    letters, digits, "_" and "-"; a call's input a JSON object; no message ends with reasoning.
    """
    faults: list[str] = []
    open_calls: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(messages):
        expected: Role = "assistant" if place % 2 else "user"
        if message.role != expected:
            faults.append(f"message {place} is {message.role}, not {expected}")
        if not message.parts:
            faults.append(f"message {place} has no parts")
        faults += [f"message {place}: {fault}" for fault in _answer_faults(message, open_calls)]
        open_calls = []
        for part in message.parts:
            if fault := _part_fault(part, message.role):
                faults.append(f"message {place}: {fault}")
            if isinstance(part, ToolCall):
                if part.id in seen:
                    faults.append(f"message {place}: call id {part.id!r} is used twice")
                seen.add(part.id)
                open_calls.append(part.id)
        if message.parts and isinstance(message.parts[-1], Thinking):
            faults.append(f"message {place} ends in a thought")
    if open_calls:
        faults.append(f"calls {open_calls} have no results")
    return faults


def repair_messages(messages: Sequence[ShownMessage]) -> tuple[ShownMessage, ...]:
    """Change an invalid list as little as possible so that `find_faults` finds nothing.

    Total, idempotent, the identity on valid input; every non-blank user text is kept, in order. A
    call without a result gets one that says so; results without a call, and replies before the
    first user message, are dropped.
    """
    if not find_faults(messages):
        return tuple(messages)
    merged = _merge_roles(_drop_last_thoughts(_merge_roles(_drop_unfit_parts(messages))))
    return tuple(_pair_calls(merged))


def _answer_faults(message: ShownMessage, calls: Sequence[str]) -> Iterator[str]:
    results = [part.call_id for part in message.parts if isinstance(part, ToolResult)]
    if not results and not calls:
        return
    head = [part.call_id for part in message.parts[: len(results)] if isinstance(part, ToolResult)]
    if head != results:
        yield "a result stands behind other parts"
    if sorted(results) != sorted(calls):
        yield f"results {results} do not answer calls {list(calls)}"


def _part_fault(part: Part, role: Role) -> str:
    if not isinstance(part, _USER_PARTS if role == "user" else _ASSISTANT_PARTS):
        return f"a {role} message may not have a {type(part).__name__}"
    if isinstance(part, Text) and (not part.text or part.text.isspace()):
        return "a text is blank"
    if isinstance(part, ToolCall):
        return _call_fault(part)
    return ""


def _call_fault(call: ToolCall) -> str:
    if not _CALL_ID.fullmatch(call.id):
        return f"call id {call.id!r} is not plain"
    if not _TOOL_NAME.fullmatch(call.name):
        return f"tool name {call.name!r} is not plain"
    return "" if _is_json_object(call.input) else "a call's input is no JSON object"


def _is_json_object(text: str) -> bool:
    return _json_objects.get(text, len(text) + ENTRY_CHARS, lambda: _parses_to_object(text))


def _parses_to_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _drop_unfit_parts(messages: Iterable[ShownMessage]) -> Iterator[ShownMessage]:
    for message in messages:
        allowed = _USER_PARTS if message.role == "user" else _ASSISTANT_PARTS
        parts = tuple(
            part
            for part in message.parts
            if isinstance(part, allowed) and not (isinstance(part, Text) and not part.text.strip())
        )
        yield replace(message, parts=parts)


def _merge_roles(messages: Iterable[ShownMessage]) -> list[ShownMessage]:
    merged: list[ShownMessage] = []
    for message in messages:
        if not message.parts:
            continue
        if merged and merged[-1].role == message.role:
            merged[-1] = replace(message, parts=merged[-1].parts + message.parts)
        else:
            merged.append(message)
    return merged


def _drop_last_thoughts(messages: Iterable[ShownMessage]) -> Iterator[ShownMessage]:
    for message in messages:
        parts = message.parts
        while parts and isinstance(parts[-1], Thinking):
            parts = parts[:-1]
        yield replace(message, parts=parts)


def _pair_calls(messages: Sequence[ShownMessage]) -> list[ShownMessage]:
    """Give every call its result, and drop results without a call, in messages with alternating
    roles.
    """
    done: list[ShownMessage] = []
    seen: set[str] = set()
    calls: tuple[ToolCall, ...] = ()  # of the message before, with their original ids
    for message in messages:
        if message.role == "assistant":
            if done:
                calls = tuple(part for part in message.parts if isinstance(part, ToolCall))
                _append_message(
                    done, replace(message, parts=tuple(_sanitize_call_ids(message.parts, seen)))
                )
            continue
        _append_message(
            done, replace(message, parts=_complete_results(message.parts, calls, _last_calls(done)))
        )
        calls = ()
    if calls:
        done.append(
            ShownMessage(role="user", parts=_complete_results((), calls, _last_calls(done)))
        )
    return done


def _append_message(done: list[ShownMessage], message: ShownMessage) -> None:
    last = done.pop() if done else message
    done += _merge_roles((last, message)) if last is not message else _merge_roles((message,))


def _last_calls(done: Sequence[ShownMessage]) -> list[ToolCall]:
    return [part for part in done[-1].parts if isinstance(part, ToolCall)] if done else []


def _complete_results(
    parts: tuple[Part, ...], original: Sequence[ToolCall], calls: Sequence[ToolCall]
) -> tuple[Part, ...]:
    """One result for each of `calls` in order, then the other parts. original: the calls with their
    original ids.
    """
    given: defaultdict[str, deque[ToolResult]] = defaultdict(deque)
    for part in parts:
        if isinstance(part, ToolResult):
            given[part.call_id].append(part)
    results: list[Part] = []
    for before, call in zip(original, calls, strict=True):
        found = given[before.id].popleft() if given[before.id] else None
        result = found or ToolResult(call_id=call.id, text=NO_RESULT, is_error=True)
        results.append(replace(result, call_id=call.id))
    return (*results, *(part for part in parts if not isinstance(part, ToolResult)))


def _sanitize_call_ids(parts: Iterable[Part], seen: set[str]) -> Iterator[Part]:
    for part in parts:
        if not isinstance(part, ToolCall):
            yield part
            continue
        id = _unused_id(part.id, seen)
        seen.add(id)
        name = re.sub(r"[^A-Za-z0-9_-]", "_", part.name)[:64] or "unnamed"
        arguments = (
            part.input if _is_json_object(part.input) else json.dumps({"unreadable": part.input})
        )
        yield ToolCall(id=id, name=name, input=arguments)


def _unused_id(id: str, seen: set[str]) -> str:
    if _CALL_ID.fullmatch(id) and id not in seen:
        return id
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", id)[:48] or "call"
    number, candidate = 1, plain
    while candidate in seen:
        number += 1
        candidate = f"{plain}-{number}"
    return candidate
