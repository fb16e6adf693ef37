"""A strict model server on a loopback port that speaks both wires, counts, signs, and fails as it
is told.

In a test: `async with ModelEmulator() as emulator`. As a process:
`python -m tests.emulators.model --port 0`, which prints its URL; then GET /_ctl/requests, POST
/_ctl/script {"replies": [...], "fold": [...]} and POST /_ctl/reset.
"""

import argparse
import asyncio
import contextlib
import json
import socket
import struct
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from tests.emulators import model_chat, model_counts, model_messages
from tests.emulators.model_replies import (
    HALF_CHARACTER,
    STATUS_TYPES,
    TORN,
    Reply,
    Responder,
    Told,
    echo,
    extract_text,
    is_extract,
    is_fold,
)
from tests.emulators.model_rules import (
    PromptCache,
    Refused,
    check_chat,
    check_messages,
    check_window,
    count,
    seen_by_model,
)
from tests.emulators.personas import PERSONAS, Persona

RESPONDERS: dict[str, Responder] = {
    "echo": echo,
    "ok": lambda body: echo(body) if is_fold(body) else "ok",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request. wire: "messages", "chat" or "count"; raw: its body as sent; headers without
    credentials.

    read, write: tokens taken from and put into the prompt cache; refused: why, "" when it was
    answered.
    """

    wire: str
    path: str
    raw: bytes
    body: dict[str, Any]
    headers: dict[str, str]
    read: int = 0
    write: int = 0
    refused: str = ""


class ModelEmulator:
    """The server. requests: all that came, in order. arrived: set by the first one.

    failed: calls that it refused, or broke off as it was told; those that a client left are not
    among them.

    hung_up: set once a client left before its answer ended.
    window: tokens; latency: seconds before each answer; keys: those accepted, None for any.
    lenient: a request over the window is answered all the same, as some servers do. bound: see
    check_messages. counts: how its tokenizer counts (see model_counts); told: a refusal of what is
    too long says how long it is. limit_field: the only name chat completions take for the longest
    answer, "" for any. cache.now: its clock. persona: the kind of server it is on the chat
    completions wire; None for the vendor's own.
    """

    def __init__(
        self,
        *,
        window: int = 200_000,
        latency: float = 0.0,
        responder: Responder = echo,
        keys: set[str] | None = None,
        persona: Persona | None = None,
    ) -> None:
        self.persona = persona
        self.window, self.latency, self.responder, self.keys = window, latency, responder, keys
        self.lenient, self.bound, self.count_factor = False, True, 1.0
        self.counts: model_counts.Count = count
        self.told, self.limit_field = True, ""
        self.cache = PromptCache()
        self.requests: list[Seen] = []
        self.arrived, self.hung_up = asyncio.Event(), asyncio.Event()
        self.connections = self.failed = 0
        self._script: deque[Reply] = deque()
        self._folds: deque[Reply] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    def script(self, replies: Iterable[Told], *, folds: Iterable[Told] = ()) -> None:
        """What to answer next, in order; then the responder answers again. folds: to requests to
        summarise.
        """
        self._script.extend(Reply.of(told) for told in replies)
        self._folds.extend(Reply.of(told) for told in folds)

    def reset(self) -> None:
        """Forget requests, script and cache."""
        self.requests.clear()
        self._script.clear()
        self._folds.clear()
        self.cache = PromptCache(least=self.cache.least)
        self.arrived.clear()
        self.hung_up.clear()

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port, limit=1 << 26)

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        """The root: base_url of the Messages API. Chat completions are at url + "/v1"."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    # --- HTTP
    # ----------------------------------------------------------------------------------------------

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with (
            contextlib.closing(writer),
            contextlib.suppress(OSError, EOFError, asyncio.CancelledError),
        ):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                line, *rest = head.split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (row.partition(":") for row in rest)
                    if name
                }
                raw = await reader.readexactly(int(headers.get("content-length", "0")))
                await self._answer(
                    line.split(" ")[1].partition("?")[0], headers, raw, Exchange(reader, writer)
                )

    async def _answer(
        self, path: str, headers: dict[str, str], raw: bytes, out: "Exchange"
    ) -> None:
        if path.startswith("/_ctl/"):
            await out.send_json(200, self._control(path, raw))
            return
        if path.endswith("/count_tokens"):
            await self._count(path, headers, raw, out)
            return
        # see tests.emulators.windows
        if not path.endswith(("/chat/completions", "/messages", "/count_tokens")):
            await out.send_json(404, {"error": {"message": "not found"}})
            return
        chat = path.endswith("/chat/completions")
        body = json.loads(raw)
        seen = Seen(
            wire="chat" if chat else "messages",
            path=path,
            raw=raw,
            body=body,
            headers=_open_headers(headers),
        )
        persona = self.persona if chat else None
        try:
            if persona:
                persona.check(body, self.counts)
            reply = self._next(persona.seen(body, self.counts) if persona else body)
            if reply.status == 200:
                seen = self._checked(seen, headers)
                reply = persona.speak(reply, body) if persona else reply
        except Refused as err:
            self.failed += 1
            self.requests.append(replace(seen, refused=err.text))
            wire = model_chat if chat else model_messages
            refusal = err.body or json.dumps(wire.error_body(err.kind, err.text, err.code))
            await out.send(err.status, refusal.encode(), {"content-type": "application/json"})
            return
        self.requests.append(seen)
        self.arrived.set()
        self.failed += _goes_wrong(reply)
        await self._speak(reply, seen, out)

    def _control(self, path: str, raw: bytes) -> Any:
        if path == "/_ctl/reset":
            self.reset()
        if path == "/_ctl/script":
            told = json.loads(raw)
            self.script(told.get("replies", ()), folds=told.get("fold", ()))
        if path == "/_ctl/requests":
            return [{**asdict(seen), "raw": seen.raw.decode()} for seen in self.requests]
        return {"ok": True}

    # --- what is answered
    # ---------------------------------------------------------------------------------------

    def _next(self, body: dict[str, Any]) -> Reply:
        if is_extract(body):
            return Reply(text=extract_text(body))
        queue = self._folds if is_fold(body) else self._script
        return queue.popleft() if queue else Reply.of(self.responder(body))

    def _checked(self, seen: Seen, headers: dict[str, str]) -> Seen:
        self._check_head(seen, headers)
        if seen.wire == "chat":
            check_chat(seen.body)
        else:
            check_messages(seen.body, bound=self.bound)
        chat = seen.wire == "chat"
        if not self.lenient and not (chat and self.persona):
            check_window(seen.body, self.window, chat=chat, told=self.told, counted=self.counts)
        read, write = (0, 0) if chat else self.cache.account(seen.body)
        return replace(
            seen,
            read=read if self.lenient else min(read, count(seen_by_model(seen.body))),
            write=write,
        )

    def _check_head(self, seen: Seen, headers: dict[str, str]) -> None:
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if (seen.wire == "messages" and not key) or (
            self.keys is not None and key not in self.keys
        ):
            raise Refused(
                "invalid x-api-key", status=401, kind="authentication_error", code="invalid_api_key"
            )
        if seen.wire == "messages" and "anthropic-version" not in headers:
            raise Refused("anthropic-version: header is required")
        if seen.wire == "chat" and self.limit_field and self.limit_field not in seen.body:
            text = (
                f"Unsupported parameter: 'max_tokens' is not supported. Use '{self.limit_field}' "
                "instead."
            )
            raise Refused(text, code="unsupported_parameter")

    async def _count(self, path: str, headers: dict[str, str], raw: bytes, out: "Exchange") -> None:
        body = json.loads(raw)
        self.requests.append(
            Seen(wire="count", path=path, raw=raw, body=body, headers=_open_headers(headers))
        )
        await out.send_json(200, {"input_tokens": round(self.counts(body) * self.count_factor)})

    async def _speak(self, reply: Reply, seen: Seen, out: "Exchange") -> None:
        wire = model_chat if seen.wire == "chat" else model_messages
        if pause := self.latency + reply.wait:
            await asyncio.sleep(pause)
        if reply.then == "reset" and not reply.after:
            out.reset()
            return
        if reply.then == "stall" and not reply.after:
            await self._await_hang_up(out)
            return
        if reply.status != 200 or reply.body is not None:
            kind = reply.error or STATUS_TYPES.get(reply.status, "api_error")
            body = (
                reply.body
                if reply.body is not None
                else json.dumps(wire.error_body(kind, reply.message, reply.code))
            )
            await out.send(reply.status, _torn(body.encode(), reply), dict(reply.headers))
            return
        usage = self._usage(reply, seen)
        if seen.wire == "chat" and "unstreamed" in reply.forms:
            await out.send_json(200, model_chat.whole(reply, seen.body, usage))
            return
        await out.begin({"content-type": "text/event-stream", "request-id": "req_emulated"})
        try:
            await self._stream(reply, seen, wire.frames(reply, seen.body, usage), out)
        except OSError:
            self.hung_up.set()
            raise

    async def _stream(
        self, reply: Reply, seen: Seen, frames: list[dict[str, Any]], out: "Exchange"
    ) -> None:
        end = "\r\n" if reply.crlf else "\n"
        shown = frames[: reply.after] if reply.then else frames
        for frame in shown:
            await out.write(_encoded(seen, frame, end, reply), reply)
        if reply.then == "error":
            wire = model_chat if seen.wire == "chat" else model_messages
            body = wire.error_body(reply.error or "overloaded_error", reply.message, reply.code)
            await out.write(_encoded(seen, body, end, reply), reply)
        if reply.then == "garbage":
            await out.write(b'event: ping\ndata: {"type": "pi\n\n', reply)
        if reply.then == "stall":
            await self._await_hang_up(out)
            return
        if reply.then in ("drop", "reset"):
            out.reset()
            return
        await out.end()

    async def _await_hang_up(self, out: "Exchange") -> None:
        await out.left()
        self.hung_up.set()

    def _usage(self, reply: Reply, seen: Seen) -> dict[str, int]:
        body = (
            self.persona.seen(seen.body, self.counts)
            if self.persona and seen.wire == "chat"
            else seen.body
        )
        whole = self.counts(seen_by_model(body))
        unit = whole / count(seen_by_model(seen.body))
        read, write = int(seen.read * unit), int(seen.write * unit)
        said = reply.text + reply.thinking + "".join(call.written for call in reply.calls)
        return {
            "input_tokens": max(whole - read - write, 0),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": write,
            "output_tokens": self.counts(said),
            **(reply.usage or {}),
        }


class Exchange:
    """One answer on its way to a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send_json(self, status: int, body: Any) -> None:
        await self.send(
            status,
            json.dumps(body, ensure_ascii=False).encode(),
            {"content-type": "application/json"},
        )

    async def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        fields = {"content-type": "application/json", **headers, "content-length": str(len(body))}
        self._writer.write(_head(status, fields) + body)
        await self._writer.drain()

    async def begin(self, headers: dict[str, str]) -> None:
        self._writer.write(_head(200, {**headers, "transfer-encoding": "chunked"}))
        await self._writer.drain()

    async def write(self, frame: bytes, reply: Reply) -> None:
        """One event: whole, in pieces of `split` bytes, or byte by byte."""
        size = 1 if reply.drip else reply.split or len(frame)
        for at in range(0, len(frame), size):
            piece = frame[at : at + size]
            self._writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await self._writer.drain()
            await self._pause(reply.drip)
        await self._pause(reply.pace)

    async def _pause(self, seconds: float) -> None:
        if not seconds:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.left(), seconds)
            raise ConnectionResetError("the client left")

    async def end(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def left(self) -> None:
        """Until the client closes its side."""
        while await self._reader.read(1 << 16):
            pass

    def reset(self) -> None:
        """Break the connection at once, as a crash does."""
        self._writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self._writer.transport.abort()


def _head(status: int, headers: dict[str, str]) -> bytes:
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Emulated\r\n{fields}\r\n".encode()


def _encoded(seen: Seen, frame: dict[str, Any], end: str, reply: Reply) -> bytes:
    encode = model_chat.encode if seen.wire == "chat" else model_messages.encode
    return _torn(encode(frame, end, reply), reply)


def _torn(encoded: bytes, reply: Reply) -> bytes:
    return encoded.replace(TORN.encode(), HALF_CHARACTER) if reply.torn else encoded


def _goes_wrong(reply: Reply) -> bool:
    return reply.status != 200 or reply.body is not None or bool(reply.then)


def _open_headers(headers: dict[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in headers.items() if name not in ("authorization", "x-api-key")
    }


async def _main(arguments: argparse.Namespace) -> None:
    emulator = ModelEmulator(
        window=arguments.window,
        latency=arguments.latency_ms / 1000,
        responder=RESPONDERS[arguments.reply],
        persona=PERSONAS.get(arguments.persona),
    )
    emulator.counts, emulator.told = arguments.count, not arguments.no_numbers
    await emulator.start(arguments.port)
    print(emulator.url, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="A model server for tests.")
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--latency-ms", type=float, default=0.0)
    options.add_argument("--window", type=int, default=200_000)
    options.add_argument("--reply", choices=sorted(RESPONDERS), default="echo")
    options.add_argument(
        "--count", type=model_counts.named, default=count, help="such as characters:0.31:0.02"
    )
    options.add_argument(
        "--persona", choices=sorted(PERSONAS), help="the kind of server, on chat completions"
    )
    options.add_argument(
        "--no-numbers", action="store_true", help="refuse what is too long without saying how long"
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(options.parse_args()))
