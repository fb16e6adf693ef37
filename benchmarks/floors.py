"""Floors of the measurements: the same work without mnema."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measurement import median

COMMITS = 4  # of a message until its answer is sent: accepted, claimed, finished, sending
SERVER = """
import socket, sys
from starlette.applications import Starlette
import uvicorn
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print("open", flush=True)
"""


async def bare_server_start() -> float:
    """Measure the seconds until a process with uvicorn and an empty Starlette app has an open port."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVER, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        await process.stdout.readline()
        times.append(time.perf_counter() - began)
        await process.wait()
    return median(times)


def python_with(modules: str) -> float:
    """Measure the resident memory, in MB, of an interpreter that has imported these modules."""
    code = f"import asyncio, {modules}\nimport resource\nprint(open('/proc/self/statm').read().split()[1])"
    pages = int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def bare_commits(count: int) -> float:
    """Measure the seconds of so many durable commits of one small row each, on SQLite with WAL and FULL."""
    with tempfile.TemporaryDirectory() as folder:
        base = sqlite3.connect(Path(folder) / "floor.db", isolation_level=None)
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("PRAGMA synchronous=FULL")
        base.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)")
        times = []
        for _ in range(50):
            began = time.perf_counter()
            for _ in range(count):
                base.execute("BEGIN IMMEDIATE")
                base.execute("INSERT INTO row (text) VALUES ('x')")
                base.execute("COMMIT")
            times.append(time.perf_counter() - began)
        base.close()
    return median(times)


async def bare_call(url: str, history: Sequence[str] = ()) -> float:
    """Measure the seconds of one streamed call with the bare SDK, with this history of user texts."""
    return await _calls(url, 1, 40, history) / 40


async def bare_calls(url: str, parallel: int, each: int) -> float:
    """Measure the calls per second with the bare SDK, so many in parallel."""
    return parallel * each / await _calls(url, parallel, each)


async def _calls(url: str, parallel: int, each: int, history: Sequence[str] = ()) -> float:
    import anthropic

    messages: list[Any] = []
    for text in history:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "ok"}]
    messages.append({"role": "user", "content": "hello"})
    client = anthropic.AsyncAnthropic(api_key="floor", base_url=url, max_retries=0)

    async def one() -> None:
        for _ in range(each):
            async with client.messages.stream(model="claude-sonnet-5-5", max_tokens=64, messages=messages) as stream:
                await stream.get_final_message()

    await one()
    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(parallel)))
    took = time.perf_counter() - began
    await client.close()
    return took


async def turn_floor(url: str, history: Sequence[str] = ()) -> float:
    """Measure the seconds of the least a turn needs: one call with this history, and its durable commits."""
    return await bare_call(url, history) + bare_commits(COMMITS)
