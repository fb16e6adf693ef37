"""A server with the few calls of the HTTP API that a terminal needs, over real sockets; it may fall
silent or away.
"""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

TOKEN = "token-of-the-test"


class Api:
    """Conversations in memory.

    Every message is answered with its text in capitals, after a started and two deltas.
    """

    def __init__(self) -> None:
        self.lines: dict[str, list[tuple[int, str, dict[str, Any]]]] = {}
        self.keys: dict[str, str] = {}
        self.stops: list[str] = []
        self.resumed: list[str] = []
        self.answering = True
        self.chunked = True
        self.status = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self._bell = asyncio.Event()
        self._live: list[tuple[str, str, dict[str, Any]]] = []

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await self._server.wait_closed()

    def cut(self) -> None:
        """Break every connection."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def add(self, conversation: str, name: str, told: dict[str, Any], age: float = 0.0) -> None:
        """A stored line."""
        lines = self.lines.setdefault(conversation, [])
        at = (datetime.now(UTC) - timedelta(seconds=age)).isoformat()
        lines.append(
            (len(lines) + 1, name, {"id": f"{conversation}-{len(lines) + 1}", "at": at, **told})
        )
        self._ring()

    def live(self, conversation: str, name: str, told: dict[str, Any]) -> None:
        self._live.append((conversation, name, told))
        self._ring()

    def answer(self, conversation: str, id: str, text: str) -> None:
        for name, told in (
            ("started", {}),
            ("delta", {"text": text[:2]}),
            ("delta", {"text": text[2:]}),
        ):
            self.live(conversation, name, {"message_id": id, **told})
        self.add(conversation, "reply", {"message_id": id, "text": text.upper()})

    def _ring(self) -> None:
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            await self._one(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        method, path, _ = first.split(" ")
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("authorization") != f"Bearer {TOKEN}":
            self._answer(writer, 401, {"error": {"code": "token", "message": "who are you?"}})
        elif self.status:
            self._answer(
                writer, self.status, {"error": {"code": "x", "message": f"told {self.status}"}}
            )
        elif path == "/api/messages":
            self._post(writer, json.loads(body))
        else:
            await self._conversation(writer, method, path, headers.get("last-event-id", ""))
        await writer.drain()

    def _post(self, writer: asyncio.StreamWriter, told: dict[str, Any]) -> None:
        known = told["key"] in self.keys
        id = self.keys.setdefault(told["key"], f"m{len(self.keys) + 1}")
        if not known:
            files = "".join(f" [{file['name']}]" for file in told.get("attachments", ()))
            self.add(told["conversation"], "accepted", {"message_id": id, "text": told["text"]})
            if self.answering:
                self.answer(told["conversation"], id, told["text"] + files)
        self._answer(writer, 200 if known else 202, {"id": id})

    async def _conversation(
        self, writer: asyncio.StreamWriter, method: str, path: str, last: str
    ) -> None:
        name, _, what = path.removeprefix("/api/conversations/").rpartition("/")
        name = name.replace("%3A", ":")
        if name not in self.lines:
            self._answer(
                writer, 404, {"error": {"code": "not_found", "message": "no such conversation"}}
            )
        elif what == "stop":
            self.stops.append(name)
            self._answer(writer, 202, {"ok": True})
        elif what == "context":
            self._answer(writer, 200, {"tokens": 7})
        elif what == "events":
            await self._events(writer, name, last)

    async def _events(self, writer: asyncio.StreamWriter, name: str, last: str) -> None:
        self.resumed.append(last)
        how = "Transfer-Encoding: chunked\r\n" if self.chunked else ""
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{how}\r\n".encode())
        line, step = int(last.partition(".")[0] or 0), len(self._live) if last else 0
        self._frame(writer, "retry: 1000\n\n: hello\n\n")
        while True:
            bell = self._bell
            for conversation, kind, told in self._live[step:]:
                if conversation == name:
                    self._frame(
                        writer, f"id: {line}.{step}\nevent: {kind}\ndata: {json.dumps(told)}\n\n"
                    )
            step = len(self._live)
            for number, kind, told in self.lines[name][line:]:
                line = number
                self._frame(
                    writer, f"id: {line}\r\nevent: {kind}\r\ndata: {json.dumps(told)}\r\n\r\n"
                )
            await writer.drain()
            await bell.wait()

    def _frame(self, writer: asyncio.StreamWriter, text: str) -> None:
        data = text.encode()
        # In two pieces, as a network may: nothing holds that an event comes whole.
        for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if self.chunked else piece)

    def _answer(self, writer: asyncio.StreamWriter, status: int, told: dict[str, Any]) -> None:
        body = json.dumps(told).encode()
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
