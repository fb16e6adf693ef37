"""Floors of the measurements: the same work without mnema."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

COMMITS = 4  # of a message until its answer is sent: accepted, claimed, finished, sending
A_TURN = f"bare SDK call with that history + {COMMITS} bare durable commits"
SERVER = """
import socket, sys
from starlette.applications import Starlette
import uvicorn
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print("open", flush=True)
"""


async def bare_server_start() -> float:
    """Measure the seconds until a process with uvicorn and an empty Starlette app has an open
    port.
    """
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    took = time.perf_counter() - began
    await process.wait()
    return took


def python_with(modules: str) -> float:
    """Measure the resident memory, in MB, of an interpreter that has imported these modules."""
    code = f"import asyncio, {modules}\nprint(open('/proc/self/statm').read().split()[1])"
    pages = int(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, text=True
        ).stdout
    )
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class BareTurns:
    """The least that turns need: calls with the bare SDK, and durable commits of one small row
    each.
    """

    def __init__(self, url: str, folder: Path) -> None:
        import anthropic

        self._client = anthropic.AsyncAnthropic(api_key="floor", base_url=url, max_retries=0)
        self._base = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=FULL")
        self._base.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)")

    async def call(self, text: str = "hello", history: Sequence[str] = ()) -> None:
        """Make one streamed call with this history of user texts."""
        messages: list[Any] = []
        for said in history:
            messages += [{"role": "user", "content": said}, {"role": "assistant", "content": "ok"}]
        messages.append({"role": "user", "content": text})
        async with self._client.messages.stream(
            model="claude-sonnet-5-5", max_tokens=64, messages=messages
        ) as stream:
            await stream.get_final_message()

    async def calls(self, parallel: int, each: int) -> None:
        """Make so many calls one after the other, in so many lines at once."""

        async def line() -> None:
            for _ in range(each):
                await self.call()

        await asyncio.gather(*(line() for _ in range(parallel)))

    def commits(self, count: int = COMMITS) -> None:
        """Make so many commits, on SQLite with WAL and FULL."""
        for _ in range(count):
            self._base.execute("BEGIN IMMEDIATE")
            self._base.execute("INSERT INTO row (text) VALUES ('x')")
            self._base.execute("COMMIT")

    async def turn(self, text: str = "hello", history: Sequence[str] = ()) -> None:
        """Do both for one turn."""
        await self.call(text, history)
        self.commits()

    async def close(self) -> None:
        """Close the client and the database."""
        await self._client.close()
        self._base.close()


@asynccontextmanager
async def bare_turns(url: str) -> AsyncIterator[BareTurns]:
    """Open the floor of turns, and warm it."""
    with tempfile.TemporaryDirectory() as folder:
        bare = BareTurns(url, Path(folder))
        for _ in range(3):
            await bare.turn()
        try:
            yield bare
        finally:
            await bare.close()
