"""A whole bot in this process on a temporary home, with a channel whose users write as fast as they
are answered.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import recall_rows
from benchmarks.recall import OWN
from benchmarks.recall_people import read_people, write_logs
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.bot import Bot
from bot.runtime.process import start_collecting
from channels.message import Address, InboundMessage, OutboundMessage, Receipt, Sender
from channels.testing import ScriptedChannel
from memory.store.open import open_store
from memory.workspace.files import Workspace

FRIENDS = OWN / "friends.json"
NAMES = ("Lena", "Tomas", "Aiko", "Ruth", "Marta", "Ivan", "Noor", "Paul")
CITIES = ("Porto", "Gdansk", "Lyon", "Osaka", "Bergen")
STATES_FACT = 8  # one message in so many states a fact about its writer
ANSWERED_WITHIN = 60.0  # seconds


class CrowdChannel(ScriptedChannel):
    """A channel that wakes whoever waits for an answer, and nobody else."""

    def __init__(self) -> None:
        super().__init__(name="terminal", account="local")
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def send(self, message: OutboundMessage) -> Receipt:
        """Wake the conversation's writer."""
        waiting = self._waiting.pop(message.address.chat_id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
        return Receipt(platform_id=message.id)

    def show(self, event: object) -> None:
        """Ignore live text."""

    def answer_to(self, conversation: str) -> asyncio.Future[None]:
        """Return a future that the next answer to this conversation ends."""
        self._waiting[conversation] = asyncio.get_running_loop().create_future()
        return self._waiting[conversation]


class BenchBot:
    """A running bot, and what people say to it."""

    def __init__(self, bot: Bot, channel: CrowdChannel) -> None:
        self.bot = bot
        self._channel = channel
        self._deliver = bot.receiver.deliver_for("web")
        self._count = 0

    async def ask(self, text: str, conversation: str) -> None:
        """Say something, and wait for the answer."""
        self._count += 1
        answered = self._channel.answer_to(conversation)
        await self._deliver([
            InboundMessage(
                address=Address(channel="terminal", account="local", chat_id=conversation),
                kind="dm",
                key=f"{self._count}",
                sender=Sender(id="owner"),
                text=text,
                sent_at=datetime.now(UTC),
            )
        ])  # fmt: skip
        await asyncio.wait_for(answered, ANSWERED_WITHIN)

    async def converse(self, conversations: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Hold conversations in parallel: each name says its texts one after the other."""

        async def one(name: str, texts: Sequence[str]) -> None:
            for text in texts:
                await self.ask(text, name)

        await asyncio.gather(*(one(name, texts) for name, texts in conversations))


@asynccontextmanager
async def open_bot(url: str, *, rows: int = 0, **settings: object) -> AsyncIterator[BenchBot]:
    """Run a bot whose only user is an owner, so that all conversations share one space.

    Args:
        url: of the model server.
        rows: lines of the space's daily logs, beside those of two friends' real conversations; 0
            for no logs at all.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = HomeFolder(root=Path(folder))
        home.ensure()
        llm = {
            "provider": "anthropic",
            "api_key": "bench-key",
            "base_url": url,
            "model": "claude-sonnet-5-5",
        }
        home.config.write_text(json.dumps({"llm": llm, "concurrency": 128, **settings}))
        home.config.chmod(0o600)
        file = ConfigFile(home.config)
        file.load()
        if rows:
            workspace = Workspace(home.workspace)
            recall_rows.write(workspace, recall_rows.synthetic(rows).lines)
            write_logs(workspace, read_people(FRIENDS)[0])
        bot = Bot(BotDependencies(home=home, file=file, store=await open_store(home.db)))
        channel = CrowdChannel()
        await bot.open([channel])
        start_collecting()  # as in its own process
        try:
            yield BenchBot(bot, channel)
        finally:
            await bot.close(patience=1.0)


def questions() -> list[str]:
    """Return the questions that the friends' conversations answer."""
    return [str(question["q"]) for question in read_people(FRIENDS)[0].questions]


def realistic_texts(count: int) -> list[str]:
    """Make messages like people's: long enough for facts to be extracted, a few with one, most with
    a question.
    """
    asked = questions()
    texts = []
    for number in range(count):
        name, city = NAMES[number // STATES_FACT % len(NAMES)], CITIES[number % len(CITIES)]
        fact = f"My sister {name} lives in {city}. " if number % STATES_FACT == 0 else ""
        texts.append(
            f"{fact}I was going through my notes this morning. {asked[number % len(asked)]}"
        )
    return texts
