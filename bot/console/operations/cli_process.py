"""Runs a command of `mnema` as a child process: its memory is free again afterwards, and it can be
stopped.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

STOP_SECONDS = 10.0  # that a stopped command may take to undo what it has begun
MAX_LINE_BYTES = 4 * 2**20
MAX_ERROR_CHARS = 1_000


class CommandFailed(Exception):
    """A command ended with an error; the text is its sentence."""


async def run_command(
    root: Path,
    *arguments: str,
    typed: str = "",
    on_line: Callable[[Mapping[str, Any]], None] = lambda line: None,
    accept: tuple[int, ...] = (0,),
) -> Mapping[str, Any]:
    """Run `mnema --home ROOT ARGUMENTS --json`; return the last object that it prints.

    Args:
        typed: the line that it reads from its input.
        on_line: called with each object before the last one.
        accept: exit codes that mean that it is done.

    Raises:
        CommandFailed: it ended with another code, or printed no object.
        OSError: it cannot be started.
    """
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "--home", str(root), *arguments, "--json"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=MAX_LINE_BYTES,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    errors = asyncio.create_task(child.stderr.read())
    try:
        with suppress(ConnectionError):
            child.stdin.write(f"{typed}\n".encode())
            await child.stdin.drain()
            child.stdin.close()
        last = await _read_objects(child.stdout, on_line)
        code, said = await child.wait(), (await errors).decode(errors="replace").strip()
    except BaseException:
        await _stop(child)
        raise
    finally:
        errors.cancel()
    if code not in accept or last is None:
        text = said.removeprefix("mnema: ")[-MAX_ERROR_CHARS:]
        raise CommandFailed(text or f"The command ended with code {code} and said nothing.")
    return last


async def _read_objects(
    source: asyncio.StreamReader, on_line: Callable[[Mapping[str, Any]], None]
) -> Mapping[str, Any] | None:
    """Read JSON objects, each a line of its own or, the last one, several; return the last."""
    rest = b""
    while line := await source.readline():
        rest += line
        if not line.startswith((b"{", b"}")):  # the middle of a longer one
            continue
        try:
            found = json.loads(rest)
        except ValueError:
            continue  # the first line of a longer one
        rest = b""
        if not isinstance(found, dict):
            continue
        if "expected" not in found:
            return found
        on_line(found)
    return None


async def _stop(child: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        child.send_signal(signal.SIGINT)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await child.wait()
        except TimeoutError:
            child.kill()
            await child.wait()
