"""An answer of the model emulator as chunks of chat completions, with the ways of compatible
servers.

forms: no_index, same_index, whole_call, no_done, comments, blank, usage_last, usage_every,
no_usage, no_finish, role_every, no_space, error_line, unstreamed, cache_hit, eager_finish,
thinking_field (named "reasoning").
"""

import json
import secrets
from collections.abc import Iterator
from typing import Any

from tests.emulators.model_messages import pieces
from tests.emulators.model_replies import Reply

Frame = dict[str, Any]


def frames(reply: Reply, body: dict[str, Any], usage: dict[str, int]) -> list[Frame]:
    """All chunks in order; {"done": True} stands for the end's mark."""
    forms, counts = reply.forms, _usage(reply, usage)
    deltas = [{"role": "assistant", "content": ""}, *_deltas(reply)]
    if "role_every" in forms:
        deltas = [{"role": "assistant", **delta} for delta in deltas]
    chunks = [_chunk(body, delta) for delta in deltas]
    stop = reply.stop or ("tool_calls" if reply.calls else "stop")
    last = _chunk(body, {}, None if "no_finish" in forms else stop)
    chunks.append(last)
    if "usage_every" in forms:
        chunks = [{**chunk, "usage": counts} for chunk in chunks]
    elif "usage_last" in forms:
        last["choices"][0]["usage"] = counts
    elif "no_usage" not in forms:
        chunks.append({"id": "c1", "choices": [], "usage": counts})
    return [*chunks, *([] if "no_done" in forms else [{"done": True}])]


def encode(frame: Frame, end: str, reply: Reply) -> bytes:
    """One chunk as it goes over the wire, with what servers send while one waits."""
    data = "[DONE]" if frame.get("done") else json.dumps(frame, ensure_ascii=reply.escaped)
    noise = f": keep-alive{end}{end}" * ("comments" in reply.forms) + end * 2 * (
        "blank" in reply.forms
    )
    return f"{noise}data:{'' if 'no_space' in reply.forms else ' '}{data}{end}{end}".encode()


def error_body(kind: str, text: str, code: str) -> dict[str, Any]:
    """The body of a refusal, and of an error line."""
    param = "max_tokens" if code == "unsupported_parameter" else None
    return {"error": {"message": text, "type": kind, "param": param, "code": code or None}}


def whole(reply: Reply, body: dict[str, Any], usage: dict[str, int]) -> dict[str, Any]:
    """The completion of a server that does not stream."""
    calls = [_call(call.id, call.name, call.written) for call in reply.calls]
    message = {
        "role": "assistant",
        "content": reply.text or None,
        **({"tool_calls": calls} if calls else {}),
    }
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": reply.stop or ("tool_calls" if calls else "stop"),
    }
    return {"id": "c1", "model": body["model"], "choices": [choice], "usage": _usage(reply, usage)}


def _usage(reply: Reply, usage: dict[str, int]) -> dict[str, Any]:
    read = usage["cache_read_input_tokens"]
    prompt = usage["input_tokens"] + read + usage["cache_creation_input_tokens"]
    counts = {"prompt_tokens": prompt, "completion_tokens": usage["output_tokens"]}
    if "cache_hit" in reply.forms:
        return {
            **counts,
            "prompt_cache_hit_tokens": read,
            "prompt_cache_miss_tokens": prompt - read,
        }
    return {**counts, "prompt_tokens_details": {"cached_tokens": read}, **(reply.usage or {})}


def _chunk(body: dict[str, Any], delta: Frame, finish: str | None = None) -> Frame:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "model": body["model"],
        "choices": [choice],
    }


def _deltas(reply: Reply) -> Iterator[Frame]:
    field = "reasoning" if "thinking_field" in reply.forms else "reasoning_content"
    yield from ({field: piece} for piece in pieces(reply.thinking, reply.delta))
    yield from ({"content": piece} for piece in pieces(reply.text, reply.delta))
    for index, call in enumerate(reply.calls):
        named = (
            {}
            if "no_index" in reply.forms
            else {"index": 0 if "same_index" in reply.forms else index}
        )
        if "whole_call" in reply.forms:
            yield {"tool_calls": [{**named, **_call(call.id, call.name, call.written)}]}
            continue
        yield {"tool_calls": [{**named, **_call(call.id, call.name, "")}]}
        for piece in pieces(call.written, reply.delta):
            yield {"tool_calls": [{**named, "function": {"arguments": piece}}]}


def _call(id: str | None, name: str, written: str) -> Frame:
    made = {} if id == "" else {"id": id or f"call_{secrets.token_hex(8)}"}
    return {**made, "type": "function", "function": {"name": name, "arguments": written}}
