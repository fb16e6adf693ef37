"""`mnema init`: a home made by a few questions."""

import sys
from typing import Annotated

import typer

_PROVIDERS = ("anthropic", "openai", "offline")


def init(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing, take the defaults.")] = False,
) -> int:
    """Make the folder with its config.json and workspace; what is there already stays."""
    from bot.config import ConfigFile
    from bot.private_files import close_entries

    home = ctx.obj.home
    home.ensure()
    file = ConfigFile(home.config)
    made = file.create()
    file.load()
    close_entries(home)
    if not yes:
        for key, value in _answers():
            file.set(key, value)
    print(f"{'Made' if made else 'Kept'} {home.config}.")
    print(f"Talk to the bot with: mnema --home {home.root} chat")
    return 0


def _answers() -> list[tuple[str, str]]:
    """The settings that were asked for, in order; an empty answer leaves a setting as it is."""
    answers = []
    provider = _ask(f"Model provider ({', '.join(_PROVIDERS)}; empty keeps what is set)")
    if provider:
        answers.append(("llm.provider", provider))
    if provider != "offline":
        answers.append(("llm.api_key", _ask("Model key (empty keeps what is set)", secret=True)))
    answers.append(("channels.telegram.token", _ask("Telegram bot token (empty: no change)", secret=True)))
    if answers[-1][1]:
        answers.append(("channels.telegram.enabled", "true"))  # a copy of the example says false
        owner = _ask("Your own Telegram user id, a number (empty: nobody may talk to it yet)")
        answers.append(("channels.telegram.owners", f'["{owner}"]' if owner else ""))
    return [(key, value) for key, value in answers if value]


def _ask(question: str, *, secret: bool = False) -> str:
    hidden = secret and sys.stdin.isatty()
    answer: str = typer.prompt(question, default="", hide_input=hidden, show_default=False, err=True)
    return answer.strip()
