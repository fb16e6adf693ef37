"""`mnema chat`: a terminal with its own bot, or one connected to the running bot."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot.commands.router import COMMANDS
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.runtime.bot import Bot
from bot.runtime.startup import load_config_file, start_home_logging
from bot.runtime.store_access import lock_home, open_home_store
from bot.runtime.wiring import BotDependencies
from bot.telemetry.recorder import create_telemetry
from bot.texts import detect_machine_language
from channels.errors import LoggedOut
from channels.terminal.channel import Terminal, TerminalOptions
from channels.terminal.client import RemoteConversation
from channels.terminal.prompt import PromptOptions
from channels.terminal.view import Language

TERMINAL_PREFIX = "terminal:"  # how the names of the terminal's conversations begin in the API of a running bot
CLOSE_SECONDS = 5.0
REFRESH_SECONDS = 1.0


class StatusBar:
    """The line under the prompt: model and context, read again beside the typing when it is a second old."""

    def __init__(self, facts: Callable[[], Awaitable[Mapping[str, Any]]]) -> None:
        self._facts = facts
        self._line = ""
        self._read_at = -REFRESH_SECONDS
        self._reading: asyncio.Task[None] | None = None

    def __call__(self) -> str:
        if time.monotonic() - self._read_at > REFRESH_SECONDS and self._reading is None:
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


def chat(home: HomeFolder, conversation: str, once: str | None) -> int:
    """Open a terminal on this home, or on the `mnema run` that holds it; returns the exit code."""
    file = load_config_file(home)
    if home.address():
        return asyncio.run(run_remote(home, file.current, conversation, once))
    if file.current.database_url:
        raise MnemaError("With a database_url the terminal talks through a running gateway: start mnema run first.")
    with lock_home(home):
        start_home_logging(home, file.current)
        return asyncio.run(run_local(home, file, conversation, once))


async def run_local(home: HomeFolder, file: ConfigFile, conversation: str, once: str | None) -> int:
    """Open a bot, talk until the person leaves, close it; a fold that is not done goes on next time."""
    telemetry = create_telemetry(file.current)
    house = Bot(BotDependencies(home=home, file=file, store=await open_home_store(home), telemetry=telemetry))

    async def found() -> str:
        row = await house.store.sessions.find(Terminal.name, Terminal.account, conversation)
        if row is None:
            raise LookupError(conversation)
        return row.id

    async def facts() -> Mapping[str, Any]:
        return await house.report.facts(await found())

    async def stop() -> None:
        await house.stop(await found())

    setup = TerminalOptions(
        conversation=conversation, once=once, desk=_open_terminal(home, file.current, StatusBar(facts)), stop=stop
    )
    terminal = Terminal(setup)
    try:
        await house.open([terminal])
        house.warm_up()
        await house.gateway.receiving_task(terminal.name)
    finally:
        await house.close(patience=CLOSE_SECONDS)
    return 1 if terminal.failed else 0


async def run_remote(home: HomeFolder, config: Config, conversation: str, once: str | None) -> int:
    """Talk through the HTTP API of the bot that holds this home.

    Raises:
        MnemaError: it does not take our token.
    """
    token = home.web_token.read_text(encoding="utf-8").strip()
    remote = RemoteConversation(home.address(), token, f"{TERMINAL_PREFIX}{conversation}")
    desk = _open_terminal(home, config, StatusBar(remote.context))
    terminal = Terminal(TerminalOptions(conversation=conversation, once=once, desk=desk, stop=remote.stop))
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


def _open_terminal(home: HomeFolder, config: Config, toolbar: Callable[[], str]) -> PromptOptions:
    language: Language = "zh" if detect_machine_language(config.language) == "zh" else "en"
    chinese = [f"/{command.name_zh}" for command in COMMANDS.values()] if language == "zh" else []
    return PromptOptions(
        commands=[*chinese, *(f"/{name}" for name in COMMANDS)],
        history=home.data / "terminal_history",
        toolbar=toolbar,
        language=language,
    )
