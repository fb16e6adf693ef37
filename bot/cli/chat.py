"""`mnema chat`: a terminal with a house of its own, or one that speaks to the bot that runs already."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot.commands.router import COMMANDS
from bot.config.file import ConfigFile
from bot.config.home import Home
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.runtime.bot import House
from bot.runtime.store_access import open_record
from bot.runtime.wiring import Ground
from bot.telemetry.opentelemetry import signals_of
from bot.texts import machine_language
from channels.errors import LoggedOut
from channels.terminal.channel import Setup, Terminal
from channels.terminal.client import Remote
from channels.terminal.prompt import Desk
from channels.terminal.view import Language

AWAY = "terminal:"
"""How the names of the terminal's conversations begin in the API of a running bot."""
GOODBYE_SECONDS = 5.0
FRESH_SECONDS = 1.0


class Bar:
    """The line under the prompt: model and context, read anew beside the typing when it is a second old."""

    def __init__(self, facts: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
        self._facts = facts
        self._line = ""
        self._read_at = -FRESH_SECONDS
        self._reading: asyncio.Task[None] | None = None

    def __call__(self) -> str:
        if time.monotonic() - self._read_at > FRESH_SECONDS and self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read())
        return self._line

    async def _read(self) -> None:
        try:
            facts = await self._facts()
        except (LookupError, OSError, RuntimeError):
            return
        finally:
            self._read_at, self._reading = time.monotonic(), None
        tokens, most = facts["tokens"], facts["max_tokens"]
        turns = f"{facts['turns']}/{facts['max_turns']}"
        self._line = f" {facts['model']} · {tokens:,}/{most:,} tokens · {turns} · {facts['policy']}"


async def alone(home: Home, file: ConfigFile, conversation: str, once: str | None) -> int:
    """Open a house, talk until the person leaves, close it; a fold that is not done goes on next time."""
    signals = signals_of(file.current)
    house = House(Ground(home=home, file=file, store=await open_record(home), signals=signals))

    async def found() -> str:
        row = await house.store.sessions.find(Terminal.name, Terminal.account, conversation)
        if row is None:
            raise LookupError(conversation)
        return row.id

    async def facts() -> Mapping[str, Any]:
        return await house.report.facts(await found())

    async def stop() -> None:
        await house.stop(await found())

    setup = Setup(conversation=conversation, once=once, desk=_desk(home, file.current, Bar(facts)), stop=stop)
    terminal = Terminal(setup)
    try:
        await house.open([terminal])
        house.stir()
        await house.gateway.ear(terminal.name)
    finally:
        await house.close(patience=GOODBYE_SECONDS)
    return 1 if terminal.failed else 0


async def beside(home: Home, config: Config, conversation: str, once: str | None) -> int:
    """Talk through the HTTP API of the bot that holds this home.

    Raises:
        MnemaError: it does not take our token.
    """
    token = home.web_token.read_text(encoding="utf-8").strip()
    remote = Remote(home.address(), token, f"{AWAY}{conversation}")
    desk = _desk(home, config, Bar(remote.context))
    terminal = Terminal(Setup(conversation=conversation, once=once, desk=desk, stop=remote.stop))
    listening = asyncio.create_task(remote.listen(terminal))
    talking = asyncio.create_task(terminal.run(remote.deliver))
    try:
        await asyncio.wait({listening, talking}, return_when=asyncio.FIRST_COMPLETED)
        if not talking.done():
            listening.result()
    except LoggedOut as err:
        raise MnemaError(f"{err}; see {home.web_token}") from err
    finally:
        for task in (listening, talking):
            task.cancel()
        await asyncio.gather(listening, talking, return_exceptions=True)
    return 1 if terminal.failed else 0


def _desk(home: Home, config: Config, toolbar: Callable[[], str]) -> Desk:
    language: Language = "zh" if machine_language(config.language) == "zh" else "en"
    chinese = [f"/{command.name_zh}" for command in COMMANDS.values()] if language == "zh" else []
    return Desk(
        commands=[*chinese, *(f"/{name}" for name in COMMANDS)],
        history=home.data / "terminal_history",
        toolbar=toolbar,
        language=language,
    )
