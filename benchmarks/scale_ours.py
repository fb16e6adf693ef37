"""Ours under the same load: a gateway in this process, workers as `mnema run --role worker`, a model's server."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from benchmarks.process import ROOT
from benchmarks.scale_model import MARK
from benchmarks.scale_shape import Course, Name, Shape, now
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.runtime.cluster.bot import ClusterBot
from bot.runtime.cluster.open import build_cluster_bot
from channels.message import Address, InboundMessage, OutboundMessage, Receipt, Sender
from channels.testing import ScriptedChannel
from memory.store.people.rows import GrantRow, Party
from memory.store.rows import SendOutcome

# A platform's name, for its people each have a space of their own; nothing of the platform is in it.
CHANNEL, ACCOUNT = "telegram", "bot"
GRANT = "load"


class Heard(ScriptedChannel):
    """A channel whose people note what they are shown, and in which order."""

    def __init__(self, course: Course) -> None:
        super().__init__(name=CHANNEL, account=ACCOUNT)
        self._course = course

    async def send(self, message: OutboundMessage) -> Receipt:
        """Note whose answer it is."""
        found = MARK.search(message.text.encode())
        self._course.answers.append((int(found[1]), int(found[2])) if found else (-1, -1))
        return Receipt(platform_id=message.id)

    def show(self, event: object) -> None:
        """Live text is looked at by nobody."""


class Ours:
    """Accepts messages as a channel does, and notes when their answers were marked as sent."""

    name = "ours"

    def __init__(self, house: ClusterBot, channel: Heard, course: Course, model: str, workers: list[int]) -> None:
        self.course = course
        self.workers = workers
        self._deliver = house.receiver.deliver_for(CHANNEL)
        self._model = model
        house.store.delivery.settle_sent = self._noting(house.store.delivery.settle_sent)

    async def say(self, name: Name, text: str) -> None:
        """One message, as a channel hands it over."""
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
        """Ask the model's server when it was asked; returns how many turns were open at once, at most."""
        async with httpx.AsyncClient() as client:
            told = (await client.get(f"{self._model}/times")).json()
        for who, number, begun, ended in told["times"]:
            self.course.begun[who, number], self.course.ended[who, number] = begun, ended
        return int(told["most"])

    def _noting(
        self, sent: Callable[[str, SendOutcome], Awaitable[Any]]
    ) -> Callable[[str, SendOutcome], Awaitable[Any]]:
        async def noted(id: str, fate: SendOutcome) -> Any:
            row = await sent(id, fate)
            found = MARK.search(row.text.encode())
            if found and row.state == "sent":
                self.course.done[int(found[1]), int(found[2])] = now()
            return row

        return noted


@asynccontextmanager
async def ours(url: str, shape: Shape, workers: int) -> AsyncIterator[Ours]:
    """A home on that database, so many workers on it, the model's server, and a gateway here."""
    model = await _begun("-m", "benchmarks.scale_model", str(shape.seconds))
    address = await _first_line(model)
    with TemporaryDirectory() as folder:
        home, file = _home(Path(folder), url, address, shape)
        house = await build_cluster_bot(home, file, "gateway")
        course = Course()
        channel = Heard(course)
        await house.open([channel])
        begun = [await _begun("-m", "bot", "--home", folder, "run", "--role", "worker") for _ in range(workers)]
        try:
            for worker in begun:
                while not (await _first_line(worker)).startswith("ready"):
                    pass
            await _let_in(house, shape)
            yield Ours(house, channel, course, address, [worker.pid for worker in begun])
            for worker in begun:
                worker.terminate()
            await asyncio.gather(*(worker.wait() for worker in begun))
        finally:
            for process in (*begun, model):
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            await house.close(patience=1.0)


def _home(root: Path, url: str, model: str, shape: Shape) -> tuple[HomeFolder, ConfigFile]:
    home = HomeFolder(root=root)
    home.ensure()
    settings = {
        "database_url": url.replace("postgresql:", "postgresql+psycopg:", 1),
        "concurrency": shape.places,
        "llm": {"provider": "anthropic", "api_key": "bench-key", "base_url": model, "model": "claude-sonnet-5-5"},
        "memory": {"extract": shape.facts},
        "channels": {"web": {"enabled": False}},
        "budgets": {"user": {"messages_per_minute": 0}, "total": {"messages_per_day": 0, "money_per_day": 0}},
    }
    home.config.write_text(json.dumps(settings))
    home.config.chmod(0o600)
    file = ConfigFile(home.config)
    file.load()
    return home, file


async def _let_in(house: ClusterBot, shape: Shape) -> None:
    """Everybody has been let in by the owner, as people are."""
    for who in range(shape.conversations):
        party = Party(channel=CHANNEL, account="", subject="user", id=f"p{who}")
        await house.store.access.grant(
            GrantRow(party=party, role="user", group="", name="", by=GRANT, at=datetime.now(UTC))
        )


async def _begun(*words: str) -> asyncio.subprocess.Process:
    known = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    return await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=ROOT, env=known, stdout=asyncio.subprocess.PIPE
    )


async def _first_line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise RuntimeError("a process did not start")
    return line.decode().strip()
