"""A real `mnema run` and a model server, each in its own process."""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

ENDLESS = httpx.Limits(max_connections=None, max_keepalive_connections=None)
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A running bot."""

    home: Path
    url: str
    client: httpx.AsyncClient
    process: asyncio.subprocess.Process
    #: Seconds from its start until the port was open.
    port_after: float
    #: Seconds from its start until `ready`.
    ready_after: float
    #: Its start, a `time.perf_counter()`.
    began: float

    def rss(self) -> float:
        """Return its resident memory in MB (10^6 bytes)."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6


@asynccontextmanager
async def emulator(latency_ms: int = 0) -> AsyncIterator[str]:
    """Run the strict model server as a process; yields its URL."""
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.emulators.model", "--port", "0", "--reply", "ok",
        "--latency-ms", str(latency_ms), cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        yield (await server.stdout.readline()).decode().split()[-1]
    finally:
        server.kill()
        await server.wait()


def settings(url: str, port: int = 0) -> dict[str, object]:
    """Return a configuration that uses the model server at `url`."""
    llm = {"provider": "anthropic", "api_key": "bench-key", "base_url": url, "model": "claude-sonnet-5-5"}
    return {"llm": llm, "channels": {"web": {"port": port}}}


@asynccontextmanager
async def running(home: Path, wanted: dict[str, object]) -> AsyncIterator[Running]:
    """Start a bot on `home`; it is told to end afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    wanted = {**wanted, "channels": {"web": {"port": port}}}
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(json.dumps(wanted))
    (home / "config.json").chmod(0o600)
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "--home", str(home), "run",
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    )  # fmt: skip
    opened = asyncio.create_task(_open(port, began))
    assert process.stdout is not None
    while not (line := (await process.stdout.readline()).decode()).startswith("ready"):
        if not line:
            raise RuntimeError("the bot did not start")
    ready_after = time.perf_counter() - began
    url = line.split()[1]
    token = (home / "data" / "web_token").read_text().strip()
    async with httpx.AsyncClient(
        base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=60, limits=ENDLESS
    ) as client:
        yield Running(
            home=home, url=url, client=client, process=process, port_after=await opened, ready_after=ready_after,
            began=began,
        )  # fmt: skip
    process.terminate()
    await process.wait()


async def _open(port: int, began: float) -> float:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.005)
            continue
        writer.close()
        return time.perf_counter() - began


class Listener:
    """Reads a conversation's event stream, and waits for the answers to messages."""

    def __init__(self, bot: Running, conversation: str) -> None:
        self._bot = bot
        self._conversation = conversation
        self._answers: dict[str, asyncio.Event] = {}
        self._task: asyncio.Task[None] | None = None
        self._count = 0

    async def ask(self, text: str) -> float:
        """Send a message; returns the seconds from the POST to the event of its answer."""
        began = time.perf_counter()
        self._count += 1
        body = {"conversation": self._conversation, "text": text, "key": f"k{self._count}-{began}"}
        answer = await self._bot.client.post("/api/messages", json=body)
        answer.raise_for_status()
        id = answer.json()["id"]
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        answered = asyncio.create_task(self._answers.setdefault(id, asyncio.Event()).wait())
        await asyncio.wait({answered, self._task}, return_when=asyncio.FIRST_COMPLETED)
        took = time.perf_counter() - began
        if not answered.done():
            answered.cancel()
            raise RuntimeError("the stream of events ended before the answer") from self._task.exception()
        return took

    async def close(self) -> None:
        """Close the stream."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _listen(self) -> None:
        path = f"/api/conversations/{self._conversation}/events"
        name = ""
        async with self._bot.client.stream("GET", path, headers={"last-event-id": "0"}) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: ") and name in ("reply", "notice"):
                    about = json.loads(line[6:]).get("message_id")  # none for a message of the bot's own
                    self._answers.setdefault(about, asyncio.Event()).set()
