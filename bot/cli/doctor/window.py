"""Checks the model's window, and whether a request fits it, before the first message does."""

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.cli.doctor.channels import DoctorCheck, failed, passed
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.errors import BudgetShortage, MnemaError
from bot.models.facts import format_slots
from bot.models.providers.accounts import PROVIDERS
from bot.models.windows import ModelWindow, format_window
from bot.runtime.base_wiring import BotDependencies
from bot.runtime.bot import Bot
from bot.runtime.store_access import open_store_for_command, store_exists
from bot.texts import describe_shortage
from channels.phrases import Phrase, join_phrases
from memory.context.system_prompt import SOUL
from memory.store.errors import StoreError
from memory.store.open import open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMeasure:
    """The window of the configured model, and whether messages fit beside the fixed part of a
    prompt.
    """

    model: str
    window: ModelWindow
    #: Requests that the server answers at once, by its own word; 0 if it does not say.
    slots: int
    #: None where a request fits.
    shortage: BudgetShortage | None


async def measure_window(home: HomeFolder, file: ConfigFile, *, ask: bool) -> WindowMeasure:
    """Measure SOUL.md, the rules and the tools of the configuration, in a home of its own: nothing
    of `home` changes.

    Args:
        ask: ask the model's server for its window too.
    """
    with tempfile.TemporaryDirectory() as folder:
        aside = HomeFolder(root=Path(folder))
        aside.workspace.mkdir()
        with suppress(OSError):
            shutil.copyfile(home.workspace / SOUL, aside.workspace / SOUL)
        store = await open_store(aside.root / "measure.db")
        bot = Bot(BotDependencies(home=aside, file=file, store=store))
        try:
            return await _measure(bot, home, file, ask=ask)
        finally:
            await bot.models.close()
            await store.close()


async def _measure(bot: Bot, home: HomeFolder, file: ConfigFile, *, ask: bool) -> WindowMeasure:
    with suppress(StoreError, MnemaError):  # the check of the database reports it
        if store_exists(home):
            async with open_store_for_command(home) as opened:
                await bot.models.windows.load(opened.store.notes)
    bot.models.configure(file.current)
    model = bot.models.name
    if ask:
        await bot.models.windows.ask(bot.models.served_model(model))
    window = bot.models.window(model)
    shortage = await bot.fitter.find_shortage("", file.current, model, window)
    slots = bot.models.windows.slots(bot.models.served_model(model))
    return WindowMeasure(model=model, window=window, slots=slots, shortage=shortage)


async def check_window(home: HomeFolder, file: ConfigFile) -> list[DoctorCheck]:
    """Check that a request fits the model's window, and say where the window is known from; nothing
    while offline.
    """
    measure = await measure_window(home, file, ask=True)
    if measure.shortage is not None:
        return [failed("model window", describe_shortage(measure.shortage))]
    if measure.model == PROVIDERS["offline"].model:
        return []
    facts = [format_window(measure.window)]
    if measure.slots:
        facts.append(format_slots(measure.slots))
    text = Phrase("{model}: {facts}.", model=measure.model, facts=join_phrases(facts, Phrase("; ")))
    return [passed("model window", text)]
