"""`mnema chat`: a terminal with its own bot, or one connected to the running bot."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot.cli.run import load_config_file, start_home_logging
from bot.commands.router import COMMANDS
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.models.providers.accounts import PROVIDERS, configured_models, effective_provider
from bot.runtime.bot import build_bot
from bot.runtime.store_access import lock_home
from bot.texts import detect_machine_language
from channels.errors import LoggedOut
from channels.phrases import Phrase
from channels.terminal.channel import Terminal, TerminalOptions
from channels.terminal.client import RemoteConversation
from channels.terminal.prompt import PromptOptions
from channels.terminal.view import Language

TERMINAL_PREFIX = "terminal:"  # of the terminal's conversations in the API of a running bot
CLOSE_SECONDS = 5.0  # for the bot to finish what it does
REFRESH_SECONDS = 1.0  # of the status bar


class StatusBar:
    """The line under the prompt: model and context, refreshed in the background."""

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
        tokens, turns = (
            f"{facts['tokens']:,}/{facts['max_tokens']:,}",
            f"{facts['turns']}/{facts['max_turns']}",
        )
        self._line = f" {facts['model']} · {tokens} tokens · {turns} · {facts['policy']}"


def chat(home: HomeFolder, conversation: str, once: str | None) -> int:
    """Run a terminal chat on this home, or through the `mnema run` that holds it; returns the exit
    code.
    """
    file = load_config_file(home)
    if home.address():
        return asyncio.run(run_remote(home, file.current, conversation, once))
    if file.current.database_url:
        raise MnemaError(
            "With a database_url the terminal talks through a running gateway: start mnema run "
            "first."
        )
    with lock_home(home):
        start_home_logging(home, file.current)
        return asyncio.run(run_local(home, file, conversation, once))


async def run_local(home: HomeFolder, file: ConfigFile, conversation: str, once: str | None) -> int:
    """Run a bot with only the terminal as its channel; an unfinished fold continues at the next
    start.
    """
    bot = await build_bot(home, file)

    async def find_id() -> str:
        row = await bot.store.sessions.find(Terminal.name, Terminal.account, conversation)
        if row is None:
            raise LookupError(conversation)
        return row.id

    async def facts() -> Mapping[str, Any]:
        return await bot.report.facts(await find_id())

    async def stop() -> None:
        await bot.stop(await find_id())

    prompt = _prompt_options(home, file.current, StatusBar(facts))
    greeting = greet(home, file.current)
    terminal = Terminal(
        TerminalOptions(
            conversation=conversation, once=once, prompt=prompt, greeting=greeting, stop=stop
        )
    )
    try:
        await bot.open([terminal])
        bot.warm_up()
        await bot.gateway.receiving_task(terminal.name)
    finally:
        await bot.close(patience=CLOSE_SECONDS)
    return 1 if terminal.failed else 0


async def run_remote(home: HomeFolder, config: Config, conversation: str, once: str | None) -> int:
    """Talk through the HTTP API of the bot that holds this home.

    Raises:
        MnemaError: it refuses the token.
    """
    token = home.web_token.read_text(encoding="utf-8").strip()
    remote = RemoteConversation(home.address(), token, f"{TERMINAL_PREFIX}{conversation}")
    prompt = _prompt_options(home, config, StatusBar(remote.context))
    greeting = greet(home, config)
    terminal = Terminal(
        TerminalOptions(
            conversation=conversation, once=once, prompt=prompt, greeting=greeting, stop=remote.stop
        )
    )
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


def greet(home: HomeFolder, config: Config) -> str:
    """Return the first line of a chat: the model, the home, and how to get help and out."""
    llm = config.llm
    provider = effective_provider(configured_models(llm)[0])
    if provider == "offline":
        model: Phrase | str = Phrase("no model yet")
    else:
        model = f"{provider} · {llm.model or PROVIDERS[provider].model}"
    greeting = Phrase(
        "{model} · {home} · /help lists the commands · Ctrl-D quits", model=model, home=home.root
    )
    return greeting.text(detect_machine_language(config.language))


def _prompt_options(home: HomeFolder, config: Config, toolbar: Callable[[], str]) -> PromptOptions:
    language: Language = "zh" if detect_machine_language(config.language) == "zh" else "en"
    chinese = [f"/{command.name_zh}" for command in COMMANDS.values()] if language == "zh" else []
    return PromptOptions(
        commands=[*chinese, *(f"/{name}" for name in COMMANDS)],
        history=home.data / "terminal_history",
        toolbar=toolbar,
        language=language,
    )
