"""The first settings of a home: asks for language, model and channels, then writes them at once."""

import os
from typing import Any

from bot.cli.common import make_home
from bot.cli.settings.model_questions import Dialog, ModelQuestions
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, close_entries, program_for
from bot.texts import detect_machine_language, is_machine_language_known


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


def _ask_language() -> str:
    """Return the language of a person whose machine does not say it."""
    answer = Dialog(lang="en").ask("", "Language / 语言: en, zh (empty: en)").lower()
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
        dialog.text("留空保持现在的", "empty keeps what is set")
        if is_set
        else dialog.text("留空不用", "empty: none")
    )
    token = dialog.ask(
        f"Telegram 机器人的令牌（{hint}）", f"Telegram bot token ({hint})", is_secret=True
    )
    if not token:
        return {}
    settings: dict[str, Any] = {"token": token, "enabled": True}  # a copy of the example says false
    owner = dialog.ask(
        "你自己的 Telegram 用户 id，一个数字（留空：暂时没有人能和它说话）",
        "Your own Telegram user id, a number (empty: no one may talk to it yet)",
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
    done = dialog.text("已创建", "Created") if created else dialog.text("已保留", "Kept")
    print(f"{done} {home.config}{dialog.text('。', '.')}")
    print(dialog.text(f"在这里聊天：{command} chat", f"Talk to the bot here: {command} chat"))
    if web.enabled:
        url = f"http://{web.host}:{web.port}"
        page = (
            f"用网页和其他渠道：{command} run --open（{url}）",
            f"Page and channels: {command} run --open ({url})",
        )
        print(dialog.text(*page))
