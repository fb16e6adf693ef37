"""Runs plug-in files in sandboxed processes of their own, and answers what they fetch."""

import asyncio
import json
import os
import socket
import sys
import sysconfig
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bot
from bot.errors import ToolFailed
from bot.tools.exec.runner import SandboxError, SandboxResult, run_in_sandbox
from bot.tools.exec.sandbox import SCRIPT_PATH, SandboxCommand, SandboxLimits
from bot.tools.plugins import worker
from memory.tasks import cancel_and_wait

MAX_LINE_BYTES = 8 * 2**20  # of what a plug-in says
MAX_FETCHES = 20  # of one call
MAX_RESULT_CHARS = 200_000
DESCRIBE_SECONDS = 10.0
_LIMITS = SandboxLimits(memory_bytes=512 * 2**20, processes=16, disk_bytes=64 * 2**20)
# Sends one request of a plug-in and returns the answer as `worker` reads it.
Fetch = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


class PluginBroken(ToolFailed):
    """The plug-in crashed, hung, or did not follow the protocol."""


class _NoAnswer(PluginBroken):
    """The plug-in ended before it said anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSource:
    """The bytes of a plug-in file, as they were hashed and are run."""

    name: str
    text: str


async def describe_plugin(
    source: PluginSource, seconds: float = DESCRIBE_SECONDS
) -> list[dict[str, Any]]:
    """Return the tools that a file defines, as `bot.plugins.Definition` has them.

    Raises:
        ToolFailed: it defines none as it should, or nothing could be run.
    """
    answer = await _run(source, {"do": "describe"}, _refuse_fetch, seconds)
    found = answer.get("tools")
    if not isinstance(found, list) or not found:
        raise ToolFailed("it defines no tool: an async function with @tool(…)")
    return found


async def call_plugin(
    source: PluginSource, request: Mapping[str, Any], fetch: Fetch, seconds: float
) -> str:
    """Run one tool of a file.

    Args:
        request: `tool`, `arguments` as JSON text, `secrets` by name, `now` in ISO form.

    Raises:
        ToolFailed: the tool said that it cannot do it, or broke, or nothing could be run.
    """
    answer = await _run(source, {"do": "call", **request}, fetch, seconds)
    text = answer.get("result")
    if not isinstance(text, str):
        raise PluginBroken(f"{source.name} answered with something that is no result")
    if len(text) > MAX_RESULT_CHARS:
        text = f"{text[:MAX_RESULT_CHARS]}\n[cut: the result has {len(text):,} characters]"
    return text


async def _run(
    source: PluginSource, request: Mapping[str, Any], fetch: Fetch, seconds: float
) -> dict[str, Any]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_LINE_BYTES)
    with tempfile.TemporaryDirectory(prefix="mnema-plugin-") as folder, theirs:
        limits = SandboxLimits(
            seconds=seconds,
            memory_bytes=_LIMITS.memory_bytes,
            processes=_LIMITS.processes,
            disk_bytes=_LIMITS.disk_bytes,
        )
        command = _command(source, theirs.fileno(), Path(folder))
        run = asyncio.create_task(run_in_sandbox(command, limits, passed=(theirs.fileno(),)))
        talk = asyncio.create_task(
            _converse(reader, writer, {**request, "plugin": source.name}, fetch)
        )
        try:
            await asyncio.wait({run, talk}, return_when=asyncio.FIRST_COMPLETED)
            if not talk.done():
                try:
                    result = run.result()
                except SandboxError as err:
                    raise ToolFailed(
                        f"{source.name} cannot run: there is no sandbox here ({err})"
                    ) from err
                # Its last words may still be in the socket.
                theirs.close()
                await asyncio.wait({talk}, timeout=1.0)
                if not talk.done() or isinstance(talk.exception(), _NoAnswer):
                    raise PluginBroken(_describe_end(source.name, result))
            answer = talk.result()
        finally:
            await cancel_and_wait({run, talk})
            writer.close()
    if "failed" in answer:
        raise ToolFailed(str(answer["failed"])[:2_000])
    if "broken" in answer:
        raise PluginBroken(f"{source.name} broke: {str(answer['broken'])[:1_000]}")
    return answer


def _command(source: PluginSource, descriptor: int, folder: Path) -> SandboxCommand:
    prefix, python = os.path.realpath(sys.base_prefix), os.path.realpath(sys.executable)
    packages, code = (
        os.path.realpath(sysconfig.get_paths()["purelib"]),
        os.path.dirname(bot.__file__),
    )
    readable = [path for path in (prefix, packages, code) if not path.startswith("/usr/")]
    paths = json.dumps([os.path.dirname(code), packages])
    argv = (python, "-I", "-S", "-B", worker.__file__, str(descriptor), paths, SCRIPT_PATH)
    command = SandboxCommand(argv=argv, space=folder, script=source.text, readable=tuple(readable))
    (folder / command.cwd).mkdir()
    return command


async def _converse(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: Mapping[str, Any],
    fetch: Fetch,
) -> dict[str, Any]:
    """Send a request, answer fetches, and return the outcome."""
    lock, fetching, count = asyncio.Lock(), set[asyncio.Task[None]](), 0

    async def answer(wanted: Mapping[str, Any]) -> None:
        found = (
            await fetch(wanted)
            if count <= MAX_FETCHES
            else {"error": f"more than {MAX_FETCHES} requests"}
        )
        async with lock:
            await _write(writer, {**found, "number": wanted.get("number")})

    await _write(writer, request)
    try:
        while True:
            message = await _read(reader)
            wanted = message.get("fetch")
            if not isinstance(wanted, dict):
                return message
            count += 1
            task = asyncio.create_task(answer(wanted))
            fetching.add(task)
            task.add_done_callback(fetching.discard)
    finally:
        await cancel_and_wait(fetching)


async def _read(reader: asyncio.StreamReader) -> dict[str, Any]:
    try:
        line = await reader.readline()
        message = json.loads(line) if line else None
    except (ValueError, RecursionError) as err:
        raise PluginBroken("it said something that is no message, or more than 8 MiB") from err
    if not line:
        raise _NoAnswer("it ended without an answer")
    if not isinstance(message, dict):
        raise PluginBroken("it said something that is no message")
    return message


async def _write(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    with suppress(ConnectionError):  # the reader says how it ended
        writer.write(json.dumps(message).encode() + b"\n")
        await writer.drain()


async def _refuse_fetch(wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {"error": "nothing is fetched while a plug-in is loaded"}


def _describe_end(name: str, result: SandboxResult) -> str:
    if result.ended:
        return f"{name} was ended: {result.ended}"
    last = (result.output.strip().splitlines() or [""])[-1][:300]
    return f"{name} ended without an answer (exit code {result.code}){f': {last}' if last else ''}"
