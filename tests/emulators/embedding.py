"""A strict embeddings endpoint on a loopback port, whose vectors are made of a text's pairs of
characters.
"""

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from zlib import crc32

WIDTH = 512


def vector(text: str, width: int = WIDTH) -> list[float]:
    """A text's vector: how often each of its pairs of characters is in it, by a hash of the
    pair.
    """
    counts = [0.0] * width
    for pair in zip(text, text[1:] + " ", strict=True):
        counts[crc32("".join(pair).encode("utf-8", "replace")) % width] += 1.0
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One answer that is no good. body: sent as it stands; hold: it never comes."""

    status: int = 200
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    hold: bool = False


@dataclass(slots=True, kw_only=True)
class EmbeddingEmulator:
    """The server. asked: the texts of each request, in order; faults: what to answer first.

    refuses: a text with this in it is refused, and its request with it. keys: those accepted, empty
    for any.
    """

    width: int = WIDTH
    keys: Sequence[str] = ()
    refuses: str = ""
    asked: list[list[str]] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """The base_url."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def fail(self, faults: Iterable[Fault]) -> None:
        self.faults.extend(faults)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=1 << 24)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines[1:])
                }
                body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
                fault = self._answer(lines[0], headers, body)
                self.arrived.set()
                if fault.hold:
                    await reader.read()
                    return
                more = "".join(f"{name}: {value}\r\n" for name, value in fault.headers)
                told = fault.body.encode()
                writer.write(
                    f"HTTP/1.1 {fault.status} x\r\n{more}content-length: {len(told)}\r\n\r\n".encode()  # noqa: E501
                    + told
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, line: str, headers: dict[str, str], body: dict[str, Any]) -> Fault:
        texts = body["input"]
        self.asked.append(texts)
        if self.faults:
            return self.faults.popleft()
        if (
            line != "POST /v1/embeddings HTTP/1.1"
            or not isinstance(body["model"], str)
            or not body["model"]
        ):
            return refusal(404, "model_not_found", f"no {line} with {body['model']!r}")
        if self.keys and headers.get("authorization", "").removeprefix("Bearer ") not in self.keys:
            return refusal(401, "invalid_api_key", "Incorrect API key provided")
        if (
            not texts
            or any(not text.strip() for text in texts)
            or (self.refuses and self.refuses in "".join(texts))
        ):
            return refusal(400, "invalid_request_error", "'$.input' is invalid")
        items = [
            {"object": "embedding", "index": at, "embedding": vector(text, self.width)}
            for at, text in enumerate(texts)
        ]
        return Fault(
            body=json.dumps({"object": "list", "data": items[::-1], "model": body["model"]})
        )


def refusal(status: int, code: str, message: str, **headers: str) -> Fault:
    """An error as the vendor words it."""
    told = {"error": {"message": message, "type": code, "code": code, "param": None}}
    return Fault(
        status=status,
        body=json.dumps(told),
        headers=tuple((k.replace("_", "-"), v) for k, v in headers.items()),
    )
