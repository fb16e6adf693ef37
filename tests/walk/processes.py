"""Several processes of one bot: gateways and workers on one record in PostgreSQL, each started and
killed by itself.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from tests.emulators.model import ModelEmulator
from tests.walk.harness import Bot, settings
from tests.walk.oracle import unfounded_notices

# The variable of the environment that tells a process where the record is: they share one
# config.json.
RECORD = "MNEMA_TEST_RECORD"


@dataclass(slots=True, kw_only=True)
class Several:
    """A home and the processes that live from it. db: the address of their record."""

    home: Path
    db: str
    model: ModelEmulator
    telegram_url: str = ""
    others: dict[str, object] = field(default_factory=dict)
    made: list[Bot] = field(default_factory=list)

    def process(self, role: str, *words: str, through: int = 0, kind: type[Bot] = Bot) -> Bot:
        """One more process, not yet started.

        words: further options of its command. through: a port that leads to the database, 0 for the
        database's own.
        """
        config = settings(
            self.model.url, self.telegram_url, database_url=f"${{{RECORD}}}", **self.others
        )
        bot = kind(self.home, config, "run", "--role", role, *words)
        bot.record = self.db
        bot.extra[RECORD] = address(self.db, through)
        self.made.append(bot)
        return bot

    async def start(self, *roles: str, fp: str = "", through: int = 0) -> list[Bot]:
        """So many processes, all ready."""
        bots = [self.process(role, through=through) for role in roles]
        await asyncio.gather(*(bot.start(fp) for bot in bots))
        return bots


def address(db: str, through: int = 0) -> str:
    """A database's address as config.json has it. through: another port that leads to it."""
    held = urlsplit(db)
    host = f"{held.netloc.rpartition(':')[0]}:{through}" if through else held.netloc
    return urlunsplit(("postgresql+psycopg", host, held.path, "", ""))


@asynccontextmanager
async def several(
    home: Path,
    db: str,
    model: ModelEmulator | None = None,
    telegram_url: str = "",
    **others: object,
) -> AsyncIterator[Several]:
    """Nothing is started yet; at the end notices of the model are judged, and whatever lives is
    killed.
    """
    async with model or ModelEmulator() as emulator:
        held = Several(home=home, db=db, model=emulator, telegram_url=telegram_url, others=others)
        try:
            yield held
            assert unfounded_notices(db, emulator) == []
        finally:
            for bot in held.made:
                if bot.alive:
                    await bot.kill()
