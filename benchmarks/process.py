"""A real `mnema run` and a model server, each in its own process, and people who write to it by
HTTP.
"""

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
from urllib.parse import urlsplit

import psutil

from benchmarks.cpu_time import CpuTime, cpu_of

ROOT = Path(__file__).resolve().parent.parent
SHORT = "Yes, that is all right with me, thanks."  # too short for facts to be extracted from it
TREE = "MNEMA_BENCH_TREE"  # environment: the checkout whose bot is measured, instead of this one
ANSWERED_WITHIN = 60.0  # seconds
MAX_LINE = 2**22  # bytes of an event
_ANSWERS = ("reply", "notice")  # events that end the wait for an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A running bot."""

    home: Path
    url: str
    token: str
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

    def cpu(self) -> CpuTime:
        """Return the CPU seconds that it has used so far."""
        return cpu_of(self.process.pid)


@asynccontextmanager
async def model_server(*, seconds: float = 0.0, reply: str | None = None) -> AsyncIterator[str]:
    """Run a model server as a process; yields its URL. reply: the text of its answers, None for its
    default.
    """
    words = ["--seconds", str(seconds), *(["--reply", reply] if reply is not None else [])]
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.model_server",
        *words,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout is not None
    try:
        yield (await server.stdout.readline()).decode().strip()
    finally:
        server.kill()
        await server.wait()


def settings(url: str) -> dict[str, object]:
    """Return a configuration that uses the model server at `url`."""
    return {
        "llm": {
            "provider": "anthropic",
            "api_key": "bench-key",
            "base_url": url,
            "model": "claude-sonnet-5-5",
        }
    }


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
    tree = os.environ.get(TREE, ROOT)
    with (home / "stderr.txt").open("wb") as errors:
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "--home",
            str(home),
            "run",
            cwd=tree,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        )
    try:
        opened = asyncio.create_task(_open(port, began))
        assert process.stdout is not None
        while not (line := (await process.stdout.readline()).decode()).startswith("ready"):
            if not line:
                raise RuntimeError(f"the bot did not start: {(home / 'stderr.txt').read_text()}")
        ready_after = time.perf_counter() - began
        token = (home / "data" / "web_token").read_text().strip()
        yield Running(
            home=home, url=line.split()[1], token=token, process=process, port_after=await opened,
            ready_after=ready_after, began=began,
        )  # fmt: skip
    finally:
        if process.returncode is None:
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


class Writer:
    """One who writes to a conversation and reads its event stream, on two plain connections.

    An HTTP library in this process would take as much of the machine as the bot does.
    """

    def __init__(self, bot: Running, conversation: str) -> None:
        self._bot = bot
        self._conversation = conversation
        self._posts: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._answers: dict[str, asyncio.Event] = {}
        self._task: asyncio.Task[None] | None = None
        self._count = 0

    async def ask(self, text: str) -> float:
        """Send a message; returns the seconds from the POST to the event of its answer."""
        began = time.perf_counter()
        self._count += 1
        id = await self._post(
            {"conversation": self._conversation, "text": text, "key": f"k{self._count}-{began}"}
        )
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        answered = asyncio.create_task(self._answers.setdefault(id, asyncio.Event()).wait())
        await asyncio.wait(
            {answered, self._task}, timeout=ANSWERED_WITHIN, return_when=asyncio.FIRST_COMPLETED
        )
        took = time.perf_counter() - began
        if not answered.done():
            answered.cancel()
            if not self._task.done():
                raise TimeoutError(
                    f"no answer in {self._conversation} within {ANSWERED_WITHIN:.0f} s"
                )
            raise RuntimeError(
                "the stream of events ended before the answer"
            ) from self._task.exception()
        return took

    async def close(self) -> None:
        """Close both connections."""
        if self._posts is not None:
            self._posts[1].close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(
            "127.0.0.1", urlsplit(self._bot.url).port, limit=MAX_LINE
        )

    async def _post(self, message: dict[str, str]) -> str:
        """Send a message, once more with the same key where the server has closed an idle
        connection.
        """
        for again in (True, False):
            if self._posts is None:
                self._posts = await self._connect()
            reader, writer = self._posts
            body = json.dumps(message).encode()
            about = f"content-type: application/json\r\ncontent-length: {len(body)}"
            writer.write(self._head("POST", "/api/messages", about) + body)
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                break
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()
                self._posts = None
                if not again:
                    raise
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0)
        answer = await reader.readexactly(length)
        if not head.startswith("http/1.1 20"):
            raise RuntimeError(f"{head.splitlines()[0]}: {answer.decode()}")
        return str(json.loads(answer)["id"])

    async def _listen(self) -> None:
        reader, writer = await self._connect()
        try:
            writer.write(
                self._head(
                    "GET", f"/api/conversations/{self._conversation}/events", "last-event-id: 0"
                )
            )
            name = ""
            while line := await reader.readline():  # lines with the length of a chunk are neither
                if line.startswith(b"event: "):
                    name = line[7:].decode().strip()
                elif line.startswith(b"data: ") and name in _ANSWERS:
                    # none for a message of the bot's own
                    about = json.loads(line[6:]).get("message_id")
                    self._answers.setdefault(about, asyncio.Event()).set()
        finally:
            writer.close()

    def _head(self, method: str, path: str, more: str) -> bytes:
        host = urlsplit(self._bot.url).netloc
        return (
            f"{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer "
            f"{self._bot.token}\r\n{more}\r\n\r\n"
        ).encode()
