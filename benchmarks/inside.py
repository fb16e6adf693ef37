"""A whole house in this process, for measuring: real record, real files, a model of one's choice."""

import json
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.runtime.bot import Bot
from bot.runtime.wiring import BotDependencies
from channels.message import Address, InboundMessage, Sender
from channels.testing import ScriptedChannel as Channel
from memory.store.open import open_store


@asynccontextmanager
async def opened(settings: dict[str, object]) -> AsyncIterator[tuple[Bot, Channel]]:
    """A house on a folder of its own, with one scripted channel whose user 1 is an owner."""
    with tempfile.TemporaryDirectory() as folder:
        home = HomeFolder(root=Path(folder))
        home.ensure()
        home.config.write_text(json.dumps(settings))
        home.config.chmod(0o600)
        file = ConfigFile(home.config)
        file.load()
        store = await open_store(home.db)
        house = Bot(BotDependencies(home=home, file=file, store=store))
        channel = Channel(name="terminal", account="local")
        await house.open([channel])
        try:
            yield house, channel
        finally:
            await house.close(patience=1.0)


def said(text: str, number: int, conversation: str = "bench") -> InboundMessage:
    """The number-th message of one conversation."""
    return InboundMessage(
        address=Address(channel="terminal", account="local", chat_id=conversation),
        kind="dm",
        key=f"{conversation}:{number}",
        sender=Sender(id="owner"),
        text=text,
        sent_at=datetime.now(UTC),
    )


async def one_turn(house: Bot, channel: Channel, number: int, text: str, conversation: str = "bench") -> float:
    """Seconds from the message's arrival to its answer being sent, durable commits included."""
    began = time.perf_counter()
    before = len(channel.sent)
    await house.receiver.deliver_for("web")([said(text, number, conversation)])
    await channel.until(lambda: len(channel.sent) > before)
    return time.perf_counter() - began
