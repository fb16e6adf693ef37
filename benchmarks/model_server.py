"""A cheap model server in a process of its own: it answers every call alike, and records times and
counts.

`python -m benchmarks.model_server [--seconds S] [--pieces N] [--reply TEXT]` prints its URL.
`GET /times` returns the records since the last one and clears them. A strict server that checks
requests is `tests.emulators.model`; its checks take more time than a whole turn.
"""

import argparse
import asyncio
import json
import re
from itertools import pairwise
from typing import Any

from benchmarks.scale_shape import marked, now

MARK = re.compile(rb"<<(\d+):(\d+)>>")
# Ours: a recall block in a request, and the words of a message that a fact can be extracted from.
RECALLED = re.compile(rb"\[Recalled [0-9a-f]{8}: ")
FACT = re.compile(rb"My sister (\w+) lives in (\w+)\.")
EXTRACTION = b"mnema-extract"
REPLY = (
    "Thank you, I have noted that. As far as I can tell from what you wrote before, the survey was "
    "finished in spring, and the second report is the one with the corrected figures; start with "
    "its summary, then look at the tables."
)
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class Server:
    """Answers each call within so many seconds, in so many pieces.

    Args:
        reply: the text of each answer; "" to answer with the newest mark of the request.
    """

    def __init__(self, seconds: float, pieces: int, reply: str) -> None:
        self._seconds, self._pieces, self._reply = seconds, pieces, reply
        self._open = 0
        self._records = self._no_records()

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
            body, self._records = json.dumps(self._records).encode(), self._no_records()
            writer.write(_head("application/json", len(body)) + body)
        elif EXTRACTION in body:
            self._records["extractions"] += 1
            events = _events([_facts(body)], len(body) // 4)
            writer.write(_head("text/event-stream", sum(map(len, events))) + b"".join(events))
        else:
            await self._answer_turn(body, writer)

    async def _answer_turn(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        begun = now()
        self._records["answers"] += 1
        self._records["recalled"] += bool(RECALLED.search(body))
        name = max(((int(found[1]), int(found[2])) for found in MARK.finditer(body)), default=None)
        text = self._reply or f"Answer to {marked(name or (0, 0))}."
        self._open += 1
        self._records["most"] = max(self._records["most"], self._open)
        events = _events(_split(text, self._pieces), len(body) // 4)
        writer.write(_head("text/event-stream", sum(map(len, events))) + events[0])
        for event in events[1:]:
            if self._seconds:
                await asyncio.sleep(self._seconds / self._pieces)
            writer.write(event)
        self._open -= 1
        if name is not None:
            self._records["times"].append((*name, begun, now()))

    def _no_records(self) -> dict[str, Any]:
        return {"times": [], "most": self._open, "answers": 0, "recalled": 0, "extractions": 0}


def _facts(body: bytes) -> str:
    """Extract the one kind of fact that the measured messages state."""
    found = FACT.search(body)
    if found is None:
        return "[]"
    name, city = found[1].decode(), found[2].decode()
    source, fact = f"My sister {name} lives in {city}", f"The user's sister {name} lives in {city}"
    record = {
        "category": "fact",
        "content": fact,
        "importance": 6,
        "source": source,
        "replaces": [],
    }
    return json.dumps([record])


def _split(text: str, pieces: int) -> list[str]:
    cuts = [len(text) * at // pieces for at in range(pieces + 1)]
    return [text[begin:end] for begin, end in pairwise(cuts)]


def _head(kind: str, length: int) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n".encode()


def _events(pieces: list[str], tokens: int) -> list[bytes]:
    """Return the events of one answer: its start, then its text piece by piece, the last one with
    its end.
    """
    used = {"input_tokens": tokens, "output_tokens": 1}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [],
    }
    first = _event({"type": "message_start", "message": {**message, "usage": used}})
    first += _event(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    )
    grown = [
        _event(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
        )
        for piece in pieces
    ]
    last = _event({"type": "content_block_stop", "index": 0})
    last += _event(
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 12},
        }
    )
    last += _event({"type": "message_stop"})
    return [first, *grown[:-1], grown[-1] + last]


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


async def main(server: Server) -> None:
    """Serve until the process ends."""
    opened = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=2048, limit=2**24)
    print(f"http://127.0.0.1:{opened.sockets[0].getsockname()[1]}", flush=True)
    async with opened:
        await opened.serve_forever()


if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python -m benchmarks.model_server", description=__doc__)
    options.add_argument("--seconds", type=float, default=0.0, help="that an answer takes")
    options.add_argument("--pieces", type=int, default=8, help="pieces that an answer comes in")
    options.add_argument(
        "--reply", default=REPLY, help='text of each answer, "" for the mark of the request'
    )
    given = options.parse_args()
    asyncio.run(main(Server(given.seconds, given.pieces, given.reply)))
