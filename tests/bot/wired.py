"""A whole bot in this process that talks to the model emulator over a real socket."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.models.providers.offline import ScriptedModel
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.bot import Bot
from channels.testing import ScriptedChannel as Channel
from tests.bot.inside import QUIET, TERMINAL, UNWATCHED, Inside, open_record
from tests.emulators.model import ModelEmulator

MODEL = "claude-sonnet-5-5"


@asynccontextmanager
async def wired(
    folder: Path,
    emulator: ModelEmulator,
    provider: str = "openai",
    llm: dict[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[Inside]:
    """A bot on `folder` whose requests go to the emulator by that wire. llm: keys of config.json's
    part of it.

    Entered again on the same folder it is the same bot after a restart. Its `model` is asked
    nothing.
    """
    home = HomeFolder(root=folder)
    home.ensure()
    url = f"{emulator.url}/v1" if provider == "openai" else emulator.url
    known: dict[str, Any] = {
        "provider": provider,
        "api_key": "a key",
        "base_url": url,
        "model": MODEL,
        "fast_model": MODEL,
    }
    known |= {"max_output_tokens": 1_024, **(llm or {})}
    home.config.write_text(json.dumps({**QUIET, **settings, "llm": known}))
    home.config.chmod(0o600)
    file = ConfigFile(home.config, poll_seconds=UNWATCHED)
    file.load()
    bot = Bot(BotDependencies(home=home, file=file, store=await open_record(home, time.time)))
    channel = Channel(name="terminal", account="local", capabilities=TERMINAL)
    try:
        await bot.open([channel])
        await bot.models.preload()
        await bot.fitter.counter()
        yield Inside(bot=bot, channel=channel, model=ScriptedModel([]))
    finally:
        await bot.close(patience=1.0)
