"""A connection to an MCP server over its standard streams, with limits on what it may send."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from bot.tools.mcp import launcher

MAX_LINE_BYTES = 4 * 2**20  # the SDK's own reader joins lines quadratically: 32 MB took 16 s
MAX_JUNK_LINES = 1_000  # lines that are no message: some servers print greetings
MAX_STDERR_BYTES = 64 * 2**10
CLOSE_SECONDS = 3.0  # from a closed pipe to the end of the launcher, which itself waits for one second
STDERR_SECONDS = 0.5  # after the end of the messages, for the last words on the other stream
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(slots=True, kw_only=True)
class ServerProcess:
    """One run of a server: why its connection ended, and the end of what it wrote to stderr."""

    #: Why the connection ended; "" while it is open and for a plain end.
    why: str = ""
    stderr: bytearray = field(default_factory=bytearray)
    #: Set once nothing more is read from it.
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def reason(self) -> str:
        """Return why the connection ended, else what the server said last; "" while it is open."""
        if not self.ended.is_set():
            return ""
        return self.why or self.last_words() or "it ended by itself"

    def last_words(self) -> str:
        """Return the last line of stderr, shortened and printable."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return _CONTROL.sub(" ", lines[-1]).strip()[:200] if lines else ""


@asynccontextmanager
async def open_stdio(
    command: Sequence[str], env: Mapping[str, str], network: bool, process: ServerProcess
) -> AsyncIterator[Any]:
    """Start a server and yield its streams as the SDK wants them.

    Args:
        process: receives what becomes of it.
    """
    import anyio
    from mcp.shared.message import SessionMessage

    alive, ours = os.pipe()
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", launcher.__file__, str(alive), "network" if network else "none", *command,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            pass_fds=(alive,), env=server_environment(env), cwd=os.sep, limit=MAX_LINE_BYTES, start_new_session=True,
        )  # fmt: skip
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(alive)
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    stderr = asyncio.Event()
    tasks = [
        asyncio.create_task(_read(child, incoming, process, stderr)),
        asyncio.create_task(_write(child, outgoing, incoming)),
        asyncio.create_task(_read_stderr(child, process, stderr)),
    ]
    try:
        yield read_stream, write_stream
    finally:
        await _close(child, ours, tasks)
        for stream in (incoming, read_stream, write_stream, outgoing):
            stream.close()


def server_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server: what is configured, a search path and a language; nothing else of ours."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", **env}


async def _read(
    child: asyncio.subprocess.Process, incoming: Any, process: ServerProcess, stderr: asyncio.Event
) -> None:
    """Pass on every message, until the stream ends or breaks a limit."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert child.stdout is not None
    junk = 0
    try:
        while line := await child.stdout.readline():
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                junk += 1
                if junk > MAX_JUNK_LINES:
                    process.why = f"it wrote over {MAX_JUNK_LINES:,} lines that are no messages"
                    break
                continue
            await incoming.send(SessionMessage(message))
    except ValueError:
        process.why = f"it sent a line over {MAX_LINE_BYTES // 2**20} MiB"
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the session closed its end, or the pipe broke: either way this connection is over
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(STDERR_SECONDS):
                await stderr.wait()
        process.ended.set()
        incoming.close()


async def _write(child: asyncio.subprocess.Process, outgoing: Any, incoming: Any) -> None:
    assert child.stdin is not None
    try:
        async for message in outgoing:
            child.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await child.stdin.drain()
    except OSError:
        incoming.close()  # so that no request waits for an answer


async def _read_stderr(child: asyncio.subprocess.Process, process: ServerProcess, done: asyncio.Event) -> None:
    assert child.stderr is not None
    while data := await child.stderr.read(2**14):
        process.stderr += data
        del process.stderr[:-MAX_STDERR_BYTES]
    done.set()


async def _close(child: asyncio.subprocess.Process, ours: int, tasks: Sequence[asyncio.Task[None]]) -> None:
    """End the server: the launcher ends it, with all that it started, when its pipe is closed."""
    assert child.stdin is not None
    child.stdin.close()
    os.close(ours)
    waiting = asyncio.ensure_future(child.wait())
    await asyncio.wait({waiting}, timeout=CLOSE_SECONDS)
    if not waiting.done():
        with suppress(ProcessLookupError):
            child.kill()
    for task in (waiting, *tasks):
        task.cancel()
    await asyncio.wait({waiting, *tasks})
    child_transport: Any = getattr(child, "_transport", None)
    if child_transport is not None:  # a survivor that holds a pipe would keep it open; nothing public closes it
        child_transport.close()
