"""The first settings of a home: asks for language, model and channels, then writes them at once."""

import os
from typing import Any

from bot.cli.common import make_home
from bot.cli.settings.model_questions import Dialog, ModelQuestions
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, close_entries, program_for
from bot.texts import detect_machine_language, is_machine_language_known
from channels.phrases import Phrase


def set_up_home(home: HomeFolder, *, yes: bool) -> None:
    """Create what a home needs, after questions unless the defaults are wanted; print what to do
    next.
    """
    file = ConfigFile(home.config)
    if home.config.exists():
        file.load()
    lang, part = detect_machine_language(file.current.language), {}
    is_asked = not yes and not is_machine_language_known(file.current.language)
    if is_asked:
        lang = _ask_language()
    dialog = Dialog(lang=lang)
    if not yes:
        part = _ask_settings(dialog, file)
    created = _write(home, file, part)
    if is_asked:
        home.set_soul_language(lang)
    _print_end(dialog, home, file, created=created)


# Asked in both languages at once.
LANGUAGE_QUESTION = Phrase("Language / 语言: en, zh (empty: en)")


def _ask_language() -> str:
    """Return the language of a person whose machine does not say it."""
    answer = Dialog(lang="en").ask(LANGUAGE_QUESTION).lower()
    return "zh" if answer in ("zh", "中文", "2") else "en"


def _ask_settings(dialog: Dialog, file: ConfigFile) -> dict[str, Any]:
    """Return a partial config.json; nothing is written before the last answer."""
    part: dict[str, Any] = {}
    if llm := ModelQuestions(dialog=dialog, file=file, environ=os.environ).ask():
        part["llm"] = llm
    if telegram := _ask_telegram(dialog, file):
        part["channels"] = {"telegram": telegram}
    return part


def _ask_telegram(dialog: Dialog, file: ConfigFile) -> dict[str, Any]:
    is_set = bool(file.current.channels.telegram.token)
    hint = (
        dialog.text(Phrase("leave empty to keep the current value"))
        if is_set
        else dialog.text(Phrase("empty: none"))
    )
    token = dialog.ask(Phrase("Telegram bot token ({hint})", hint=hint), is_secret=True)
    if not token:
        return {}
    settings: dict[str, Any] = {"token": token, "enabled": True}  # a copy of the example says false
    owner = dialog.ask(
        Phrase("Your own Telegram user id, a number (empty: nobody can talk to the bot yet)"),
    )
    return settings | ({"owners": [owner]} if owner else {})


def _write(home: HomeFolder, file: ConfigFile, part: dict[str, Any]) -> bool:
    """Create what is missing and write the answers; returns whether config.json is new."""
    make_home(home)
    created = file.create()
    file.load()
    close_entries(home)
    if part:
        file.patch(part)
    return created


def _print_end(dialog: Dialog, home: HomeFolder, file: ConfigFile, *, created: bool) -> None:
    web, command = file.current.channels.web, program_for(home)
    done = Phrase("Created {file}.") if created else Phrase("Kept {file}.")
    print(dialog.text(done.fill(file=home.config)))
    print(dialog.text(Phrase("Talk to the bot here: {command} chat", command=command)))
    if web.enabled:
        url = f"http://{web.host}:{web.port}"
        page = Phrase("Page and channels: {command} run --open ({url})", command=command, url=url)
        print(dialog.text(page))
