"""mnema under the load of `scale`: a gateway in this process, `mnema run --role worker`, and a
model server.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import httpx

from benchmarks.model_server import MARK
from benchmarks.process import ROOT
from benchmarks.scale_shape import Course, Name, Shape, now
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.runtime.cluster.bot import ClusterBot
from bot.runtime.cluster.open import build_cluster_bot
from channels.message import Address, InboundMessage, OutboundMessage, Receipt, Sender
from channels.testing import ScriptedChannel
from memory.store.people.rows import GrantRow
from memory.store.rows import OutboxRow, Party, SendOutcome

# A platform whose users each have a space; nothing of the platform itself is used.
CHANNEL, ACCOUNT = "telegram", "bot"
GRANT = "load"
LOG = "stderr.txt"
MODEL = ("-m", "benchmarks.model_server", "--pieces", "3", "--reply", "")


class _Settle(Protocol):
    """Settles a part that was sent, and returns it and whether another one waits."""

    def __call__(
        self, id: str, outcome: SendOutcome
    ) -> Coroutine[Any, Any, tuple[OutboxRow, bool]]: ...


class RecordingChannel(ScriptedChannel):
    """A channel that records the answers in their order."""

    def __init__(self, course: Course) -> None:
        super().__init__(name=CHANNEL, account=ACCOUNT)
        self._course = course

    async def send(self, message: OutboundMessage) -> Receipt:
        """Record which message it answers."""
        found = MARK.search(message.text.encode())
        self._course.answers.append((int(found[1]), int(found[2])) if found else (-1, -1))
        return Receipt(platform_id=message.id)

    def show(self, event: object) -> None:
        """Ignore live text."""


class Ours:
    """Accepts messages like a channel, and records when their answers were marked as sent."""

    name = "ours"

    def __init__(
        self,
        bot: ClusterBot,
        channel: RecordingChannel,
        course: Course,
        model: str,
        workers: list[int],
    ) -> None:
        self.course = course
        self.workers = workers
        self._deliver = bot.receiver.deliver_for(CHANNEL)
        self._model = model
        bot.store.delivery.settle_sent_and_look = self._recording(
            bot.store.delivery.settle_sent_and_look
        )

    async def say(self, name: Name, text: str) -> None:
        """Deliver one message like a channel."""
        self.course.asked[name] = now()
        person = f"p{name[0]}"
        await self._deliver([
            InboundMessage(
                address=Address(channel=CHANNEL, account=ACCOUNT, chat_id=person),
                kind="dm",
                key=f"{name[0]}:{name[1]}",
                sender=Sender(id=person),
                text=text,
                sent_at=datetime.now(UTC),
            )
        ])  # fmt: skip
        self.course.stored[name] = now()

    async def settle(self) -> int:
        """Fetch the times of the model server; returns the maximum of open turns."""
        async with httpx.AsyncClient() as client:
            told = (await client.get(f"{self._model}/times")).json()
        for who, number, begun, ended in told["times"]:
            self.course.begun[who, number], self.course.ended[who, number] = begun, ended
        return int(told["most"])

    def _recording(self, sent: _Settle) -> _Settle:
        async def recorded(id: str, outcome: SendOutcome) -> tuple[OutboxRow, bool]:
            row, has_next = await sent(id, outcome)
            found = MARK.search(row.text.encode())
            if found and row.state == "sent":
                self.course.done[int(found[1]), int(found[2])] = now()
            return row, has_next

        return recorded


@asynccontextmanager
async def ours(url: str, shape: Shape, workers: int) -> AsyncIterator[Ours]:
    """Run a home on this database with so many workers, the model server, and a gateway in this
    process.
    """
    with TemporaryDirectory() as folder:
        model = await _start_process(Path(folder), *MODEL, "--seconds", str(shape.seconds))
        address = await _first_line(Path(folder), model)
        home, file = _home(Path(folder), url, address, shape)
        bot = await build_cluster_bot(home, file, "gateway")
        course = Course()
        channel = RecordingChannel(course)
        await bot.open([channel])
        started = [
            await _start_process(
                Path(folder), "-m", "bot", "--home", folder, "run", "--role", "worker"
            )
            for _ in range(workers)
        ]
        try:
            for worker in started:
                while not (await _first_line(Path(folder), worker)).startswith("ready"):
                    pass
            await _grant_access(bot, shape)
            yield Ours(bot, channel, course, address, [worker.pid for worker in started])
            for worker in started:
                worker.terminate()
            await asyncio.gather(*(worker.wait() for worker in started))
        finally:
            for process in (*started, model):
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            await bot.close(patience=1.0)


def _home(root: Path, url: str, model: str, shape: Shape) -> tuple[HomeFolder, ConfigFile]:
    home = HomeFolder(root=root)
    home.ensure()
    settings = {
        "database_url": url.replace("postgresql:", "postgresql+psycopg:", 1),
        "concurrency": shape.places,
        "llm": {
            "provider": "anthropic",
            "api_key": "bench-key",
            "base_url": model,
            "model": "claude-sonnet-5-5",
        },
        "memory": {"extract": shape.facts},
        "channels": {"web": {"enabled": False}},
        "budgets": {
            "user": {"messages_per_minute": 0},
            "total": {"messages_per_day": 0, "money_per_day": 0},
        },
    }
    home.config.write_text(json.dumps(settings))
    home.config.chmod(0o600)
    file = ConfigFile(home.config)
    file.load()
    return home, file


async def _grant_access(bot: ClusterBot, shape: Shape) -> None:
    """Give every user access."""
    for who in range(shape.conversations):
        party = Party(channel=CHANNEL, account="", subject="user", id=f"p{who}")
        await bot.store.access.grant(
            GrantRow(party=party, role="user", group="", name="", by=GRANT, at=datetime.now(UTC))
        )


async def _start_process(folder: Path, *words: str) -> asyncio.subprocess.Process:
    """Start a process whose log goes to a file: a worker under load has much to warn of."""
    known = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    with (folder / LOG).open("ab") as errors:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            cwd=ROOT,
            env=known,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )


async def _first_line(folder: Path, process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise RuntimeError(f"a process did not start: {(folder / LOG).read_text()}")
    return line.decode().strip()
