"""A whole bot in this process on real files, with a scripted model and a scripted channel."""

import atexit
import hashlib
import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from bot.agent.timeouts import DEFAULT_TIMEOUTS, TurnTimeouts
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.models.providers.offline import Script, ScriptedModel
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.bot import Bot
from channels.message import Capabilities, OutboundMessage
from channels.testing import ScriptedChannel as Channel
from memory.store.open import open_store
from memory.store.store import Store

TERMINAL = Capabilities(live=True, keyed=True, key_valid=1e9)
QUIET = {"memory": {"extract": False}}
# With MNEMA_STORE=postgres in the environment, as at night, each home's record is a database of
# PostgreSQL.
ON_POSTGRES = os.environ.get("MNEMA_STORE") == "postgres"
UNWATCHED = 3_600.0  # seconds between two looks at config.json: here nobody edits it but the bot


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """What a test holds: the bot, its channel, the model that answers."""

    bot: Bot
    channel: Channel
    model: ScriptedModel

    async def say(self, text: str, *, chat: str = "c1", **fields: Any) -> list[OutboundMessage]:
        """Write something, wait for its answer: all its parts. fields: as the channel's `hear`
        takes them.
        """
        message = self.channel.hear(text, chat=chat, **{"key": uuid4().hex, **fields})
        return await self.answer(message.key)

    async def answer(self, key: str) -> list[OutboundMessage]:
        """The parts that answer the message with that key, once they are all there."""
        await self.channel.until(lambda: self._whole(key))
        return self.parts(key)

    def parts(self, key: str) -> list[OutboundMessage]:
        return [sent for sent in self.channel.sent if sent.reply_to_key == key]

    def _whole(self, key: str) -> bool:
        parts = self.parts(key)
        return bool(parts) and len(parts) == parts[0].parts

    async def text(self, text: str, *, chat: str = "c1", **fields: Any) -> str:
        """Write something; the words of its answer."""
        return "".join(part.text for part in await self.say(text, chat=chat, **fields))

    async def conversation(self, chat: str = "c1") -> str:
        """The id of a chat's conversation."""
        row = await self.bot.store.sessions.find(self.channel.name, self.channel.account, chat)
        assert row is not None
        return row.id


_DATABASES = ExitStack()
atexit.register(_DATABASES.close)


@cache
def _records(pid: int) -> TemporaryDirectory[str]:
    """A folder of this process, not of its forks: it is removed when this process ends."""
    return TemporaryDirectory(prefix=f"mnema-{pid}-")


def database_of(folder: Path) -> str:
    """The address of a home's database, for this process and its children; it is dropped at the end
    of the process.
    """
    name = f"MNEMA_RECORD_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
    if name not in os.environ:
        from tests.postgres import database  # by day nobody pays for the driver

        os.environ[name] = _DATABASES.enter_context(database())
    return os.environ[name]


async def open_record(home: HomeFolder, clock: Callable[[], float]) -> Store:
    """The record of a home: its file, or its database."""
    if ON_POSTGRES:
        from memory.store.postgres.open import open_postgres

        return await open_postgres(database_of(home.root), clock=clock, connections=4)
    if not home.db.exists():
        shutil.copyfile(await _empty_record(), home.db)
        home.db.chmod(0o600)
    return await open_store(home.db, clock=clock)


async def _empty_record() -> Path:
    """A file with the tables of a record, made once: to make them takes 9 ms, to copy them none."""
    file = Path(_records(os.getpid()).name) / "empty.db"
    if not file.exists():
        store = await open_store(file)
        await store.close()
    return file


@asynccontextmanager
async def inside(
    folder: Path,
    script: Script,
    settings: Mapping[str, Any] | None = None,
    channel: Channel | None = None,
    clock: Callable[[], float] = time.time,
    around: Callable[[Store], Store] = lambda store: store,
    times: TurnTimeouts = DEFAULT_TIMEOUTS,
) -> AsyncIterator[Inside]:
    """A bot on `folder`; entered again on the same folder it is the same bot after a restart.

    settings: of config.json; unless they say otherwise no facts are noted: the model is asked for
    answers alone. clock: the record's and the bot's, unix seconds. around: what the bot is given in
    place of its store. times: of one turn.
    """
    home = HomeFolder(root=folder)
    home.ensure()
    if settings is not None or not home.config.exists():
        home.config.write_text(json.dumps({**QUIET, **(settings or {})}))
        home.config.chmod(0o600)
    file = ConfigFile(home.config, poll_seconds=UNWATCHED)
    file.load()
    store = around(await open_record(home, clock))
    ground = BotDependencies(
        home=home,
        file=file,
        store=store,
        clock=lambda: datetime.fromtimestamp(clock(), UTC),
        times=times,
    )
    bot = Bot(ground)
    model = ScriptedModel(script)
    heard = channel or Channel(name="terminal", account="local", capabilities=TERMINAL)
    try:
        await bot.open([heard], model)
        yield Inside(bot=bot, channel=heard, model=model)
    finally:
        await bot.close(patience=1.0)
