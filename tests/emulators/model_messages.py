"""An answer of the model emulator as events of the Messages API."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

from tests.emulators.model_replies import Call, Reply
from tests.emulators.model_rules import prefix_mark, sign

Frame = dict[str, Any]


def frames(reply: Reply, body: dict[str, Any], usage: dict[str, int]) -> list[Frame]:
    """All events in order, the counts as given."""
    blocks = list(_blocks(reply, body))
    out = [_start(body, usage)]
    if reply.pings:
        out.append({"type": "ping"})
    if reply.unknown:
        out.append({"type": "from_the_future", "what": [1, {"ever": None}]})
        blocks.insert(
            0, ({"type": "hologram", "depth": 3}, [{"type": "hologram_delta", "depth": 4}])
        )
    for index, (block, deltas) in enumerate(blocks):
        out.append({"type": "content_block_start", "index": index, "content_block": block})
        out.extend(
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        )
        out.append({"type": "content_block_stop", "index": index})
        if reply.pings:
            out.append({"type": "ping"})
    stop = reply.stop or ("tool_use" if reply.calls else "end_turn")
    delta: Frame = {"stop_reason": stop, "stop_sequence": None, "stop_details": reply.stop_details}
    out.append(
        {
            "type": "message_delta",
            "delta": delta,
            "usage": {"output_tokens": usage["output_tokens"]},
        }
    )
    return [*out, {"type": "message_stop"}]


def encode(frame: Frame, end: str, reply: Reply) -> bytes:
    """One event as it goes over the wire; end: the line's."""
    return f"event: {frame['type']}{end}data: {json.dumps(frame, ensure_ascii=reply.escaped)}{end}{end}".encode()  # noqa: E501


def error_body(kind: str, text: str, code: str) -> dict[str, Any]:
    """The body of a refusal, and of an error event."""
    details = {"details": {"error_code": code}} if code else {}
    return {
        "type": "error",
        "error": {"type": kind, "message": text, **details},
        "request_id": "req_emulated",
    }


def _start(body: dict[str, Any], usage: dict[str, int]) -> Frame:
    message = {
        "id": f"msg_{secrets.token_hex(8)}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    return {"type": "message_start", "message": message}


def _blocks(reply: Reply, body: dict[str, Any]) -> Iterator[tuple[Frame, list[Frame]]]:
    if reply.thinking:
        signature = f"{sign(reply.thinking)}.{prefix_mark(body, len(body['messages']))}"
        thought = [
            {"type": "thinking_delta", "thinking": piece}
            for piece in pieces(reply.thinking, reply.delta)
        ]
        signed = {"type": "signature_delta", "signature": signature}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*thought, signed]
    if reply.redacted:
        yield {"type": "redacted_thinking", "data": reply.redacted}, []
    if reply.text:
        said = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text, reply.delta)]
        yield {"type": "text", "text": ""}, said
    for call in reply.calls:
        yield _call(call, reply.delta)


def _call(call: Call, delta: int) -> tuple[Frame, list[Frame]]:
    block: Frame = {"type": "tool_use", "name": call.name, "input": {}}
    if call.id != "":
        block["id"] = call.id or f"toolu_{secrets.token_hex(8)}"
    written = [
        {"type": "input_json_delta", "partial_json": piece}
        for piece in ["", *pieces(call.written, delta)]
    ]
    return block, written


def pieces(text: str, size: int) -> list[str]:
    """The text cut every `size` characters."""
    return [text[at : at + size] for at in range(0, len(text), size)]
