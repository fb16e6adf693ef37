"""A whole house in this process that speaks to the model emulator over a real socket."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.config.file import ConfigFile
from bot.config.home import Home
from bot.models.providers.testing import Scripted
from bot.runtime.bot import House
from bot.runtime.wiring import Ground
from channels.testing import Scripted as Channel
from memory.store.open import open_store
from tests.bot.inside import QUIET, TERMINAL, UNWATCHED, Inside
from tests.emulators.model import ModelEmulator

MODEL = "claude-sonnet-5-5"


@asynccontextmanager
async def wired(
    folder: Path, emulator: ModelEmulator, provider: str = "openai", llm: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[Inside]:
    """A house on `folder` whose requests go to the emulator by that wire. llm: keys of config.json's part of it.

    Entered again on the same folder it is the same house after a restart. Its `model` is asked nothing.
    """
    home = Home(root=folder)
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
    file = ConfigFile(home.config, look_every=UNWATCHED)
    file.load()
    house = House(Ground(home=home, file=file, store=await open_store(home.db)))
    channel = Channel(name="terminal", account="local", capabilities=TERMINAL)
    try:
        await house.open([channel])
        await house.brain.preload()
        await house.fitter.counter()
        yield Inside(house=house, channel=channel, model=Scripted([]))
    finally:
        await house.close(patience=1.0)
