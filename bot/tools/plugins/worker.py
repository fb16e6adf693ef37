"""Runs one plug-in file in a sandboxed process. Started as a program:
`worker.py DESCRIPTOR PATHS SOURCE`.

JSON lines over the descriptor, a socket: one request, then any number of fetches and their answers,
then one outcome. What the plug-in prints goes elsewhere and cannot be taken for an answer.
"""

import asyncio
import base64
import itertools
import json
import socket
import sys
import types
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

MAX_LINE_BYTES = 32 * 2**20  # of an answer from the bot


class SandboxContext:
    """The context of a tool in the sandbox; its network is the bot's."""

    def __init__(self, channel: "BotConnection", request: Mapping[str, Any]) -> None:
        self._channel = channel
        self._secrets: Mapping[str, str] = request["secrets"]
        self.now = datetime.fromisoformat(request["now"])

    def secret(self, name: str) -> str:
        from bot.plugins import PluginError

        if name not in self._secrets:
            raise PluginError(f"the secret {name} is not among what the tool needs")
        return self._secrets[name]

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | str = b"",
        bearer: str = "",
        check: bool = True,
    ) -> Any:
        from bot.plugins import PluginError, Response, check_response

        data = body.encode() if isinstance(body, str) else body
        answer = await self._channel.ask(
            {
                "url": url,
                "method": method,
                "headers": dict(headers or {}),
                "body": base64.b64encode(data).decode(),
                "bearer": bearer,
            }
        )
        if "error" in answer:
            raise PluginError(answer["error"])
        response = Response(
            url=answer["url"],
            status=answer["status"],
            headers=answer["headers"],
            body=base64.b64decode(answer["body"]),
        )
        return check_response(response, check=check)


class BotConnection:
    """The socket to the bot."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def read(self) -> dict[str, Any]:
        """Read one line."""
        found: dict[str, Any] = json.loads(await self._reader.readline())
        return found

    async def write(self, message: Mapping[str, Any]) -> None:
        """Write one line."""
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()

    async def ask(self, fetch: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the bot to send a request, and wait for its answer."""
        number = next(self._numbers)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        await self.write({"fetch": {**fetch, "number": number}})
        return await future

    async def receive(self) -> None:
        """Give each answer to the fetch that waits for it, until cancelled."""
        while True:
            answer = await self.read()
            self._waiting.pop(answer["number"]).set_result(answer)


def load(source: str, name: str) -> dict[str, Any]:
    """Run a plug-in's file and return its tools by name."""
    from bot.plugins import find_tools

    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)  # noqa: S102 - what this process is for
    return find_tools(list(module.__dict__.values()))


async def serve(channel: BotConnection, source: str) -> dict[str, Any]:
    """Do what the request says, and return the outcome."""
    from bot.plugins import PluginError, PluginInvalid, define, run_tool

    request = await channel.read()
    try:
        tools = load(source, request["plugin"])
        if request["do"] == "describe":
            return {"tools": [asdict(define(function)) for function in tools.values()]}
        receiving = asyncio.create_task(channel.receive())
        try:
            text = await run_tool(
                tools[request["tool"]], SandboxContext(channel, request), request["arguments"]
            )
        finally:
            receiving.cancel()
        return {"result": text}
    except (PluginError, PluginInvalid) as err:
        return {"failed": str(err)}
    except Exception as err:
        return {"broken": f"{type(err).__name__}: {err}{_line_of(err, request['plugin'])}"[:1_000]}


def _line_of(err: BaseException, name: str) -> str:
    """Name the plug-in's own line where an error came from."""
    line, trace = 0, err.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == f"{name}.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" (line {line})" if line else ""


async def main(descriptor: int, source: str) -> None:
    """Serve one request."""
    ours = socket.socket(fileno=descriptor)
    reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_LINE_BYTES)
    channel = BotConnection(reader, writer)
    await channel.write(await serve(channel, source))


if __name__ == "__main__":
    sys.path[:0] = json.loads(sys.argv[2])
    with open(sys.argv[3], encoding="utf-8") as file:
        asyncio.run(main(int(sys.argv[1]), file.read()))
