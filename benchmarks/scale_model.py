"""A cheap model server: it waits, names the message it answers, and records the times.

`python -m benchmarks.scale_model SECONDS` prints its URL. `GET /times` returns the records and clears them.
"""

import asyncio
import json
import re
import sys
from typing import Any

from benchmarks.scale_shape import marked, now

MARK = re.compile(rb"<<(\d+):(\d+)>>")
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
SMALL = b"claude-haiku"
PIECES = 3


class Server:
    """Answers each call after so many seconds, in a few pieces."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._open = 0
        self._records: dict[str, Any] = {"times": [], "most": 0}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it is closed."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
                await self._answer(head, body, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith(b"GET /times"):
            body, self._records = json.dumps(self._records).encode(), {"times": [], "most": self._open}
            writer.write(_head("application/json", len(body)) + body)
            return
        if SMALL in body:  # a request to extract facts
            pieces = _pieces("[]", len(body) // 4)
            writer.write(_head("text/event-stream", sum(map(len, pieces))) + b"".join(pieces))
            return
        begun = now()
        who, number = max((int(found[1]), int(found[2])) for found in MARK.finditer(body))
        self._open += 1
        self._records["most"] = max(self._records["most"], self._open)
        pieces = _pieces(f"Answer to {marked((who, number))}.", len(body) // 4)
        writer.write(_head("text/event-stream", sum(map(len, pieces))) + pieces[0])
        for piece in pieces[1:]:
            await asyncio.sleep(self._seconds / PIECES)
            writer.write(piece)
        self._open -= 1
        self._records["times"].append((who, number, begun, now()))


def _head(kind: str, length: int) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n".encode()


def _pieces(text: str, tokens: int) -> list[bytes]:
    """Return the events of one answer: its start, then its text in three pieces, the last one with its end."""
    used = {"input_tokens": tokens, "output_tokens": 1}
    first = _event({"type": "message_start", "message": {"id": "m", "model": "claude-sonnet-5-5", "usage": used}})
    first += _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    words = [text[: len(text) // 3], text[len(text) // 3 : 2 * len(text) // 3], text[2 * len(text) // 3 :]]
    grown = [
        _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})
        for piece in words
    ]
    last = _event({"type": "content_block_stop", "index": 0})
    last += _event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 12}})
    last += _event({"type": "message_stop"})
    return [first, *grown[:-1], grown[-1] + last]


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


async def main(seconds: float) -> None:
    """Serve until the process ends."""
    server = await asyncio.start_server(Server(seconds).serve, "127.0.0.1", 0, backlog=2048, limit=2**24)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
