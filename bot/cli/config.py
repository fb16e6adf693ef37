"""`mnema init` and `mnema config`: create, read, change and check config.json."""

import json
import sys
from typing import Annotated

import typer

from bot.cli.common import YesOption, print_json

app = typer.Typer(help="Read, change and check config.json.", no_args_is_help=True)


@app.command("get")
def get(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(help="Such as llm.model; all without it.")] = "",
) -> int:
    """Show a setting, or all of them; secrets are masked."""
    from bot.config.file import ConfigFile

    file = ConfigFile(ctx.obj.config)
    file.load()
    if file.trouble:
        typer.echo(f"mnema: {file.trouble} What follows is the last good one.", err=True)
    value = file.get(key)
    if isinstance(value, str):
        print(value)
    else:
        print_json(value)
    return 0


@app.command("set", context_settings={"ignore_unknown_options": True})
def change(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(help="Such as llm.model.")],
    value: Annotated[str, typer.Argument(help="A JSON value, or bare words for a string.")],
) -> int:
    """Change one setting; a running bot applies it within two seconds."""
    from bot.config.file import ConfigFile

    home = ctx.obj
    home.root.mkdir(parents=True, exist_ok=True)
    file = ConfigFile(home.config)
    file.set(key, value)
    print(f"{key} = {json.dumps(file.get(key), ensure_ascii=False)}")
    return 0


@app.command("check")
def check(ctx: typer.Context) -> int:
    """Check config.json; an error names key, line and column."""
    import asyncio

    from bot.cli.doctor.window import measure_window
    from bot.config.file import ConfigFile
    from bot.errors import ConfigError
    from bot.gateway.channel_manager import build_channels
    from bot.texts import detect_machine_language, format_shortage

    path = ctx.obj.config
    file = ConfigFile(path)
    file.check()
    if troubles := build_channels(file).troubles:
        raise ConfigError("; ".join(troubles.values()))
    if shortage := asyncio.run(measure_window(ctx.obj, file, ask=False)).shortage:
        raise ConfigError(format_shortage(detect_machine_language(file.current.language), shortage))
    print(
        f"{path} is valid."
        if path.exists()
        else f"There is no {path}; every setting has its default."
    )
    return 0


@app.command("schema")
def schema() -> int:
    """Print the JSON Schema of config.json."""
    from bot.config.keys import describe_schema

    print_json(describe_schema())
    return 0


@app.command("example")
def example() -> int:
    """Print every key with its default."""
    from bot.config.loader import format_example

    print(format_example(), end="")
    return 0


_PROVIDERS = ("anthropic", "openai", "offline")


def init(
    ctx: typer.Context,
    yes: YesOption = False,
) -> int:
    """Create the folder with its config.json and workspace; existing files stay."""
    from bot.config.file import ConfigFile
    from bot.config.home import close_entries

    home = ctx.obj
    home.ensure()
    file = ConfigFile(home.config)
    created = file.create()
    file.load()
    close_entries(home)
    if not yes:
        for key, value in _ask_settings():
            file.set(key, value)
        if (language := _ask_soul_language()) in ("zh", "en"):
            home.set_soul_language(language)
    print(f"{'Created' if created else 'Kept'} {home.config}.")
    print(f"Talk to the bot with: mnema --home {home.root} chat")
    return 0


def _ask_settings() -> list[tuple[str, str]]:
    """Ask for the first settings; an empty answer changes nothing."""
    answers = []
    provider = _ask(f"Model provider ({', '.join(_PROVIDERS)}; empty keeps what is set)")
    if provider:
        answers.append(("llm.provider", provider))
    if provider != "offline":
        answers.append(("llm.api_key", _ask("Model key (empty keeps what is set)", secret=True)))
    answers.append(
        ("channels.telegram.token", _ask("Telegram bot token (empty: no change)", secret=True))
    )
    if answers[-1][1]:
        answers.append(("channels.telegram.enabled", "true"))  # a copy of the example says false
        owner = _ask("Your own Telegram user id, a number (empty: no one may talk to it yet)")
        answers.append(("channels.telegram.owners", f'["{owner}"]' if owner else ""))
    return [(key, value) for key, value in answers if value]


def _ask_soul_language() -> str:
    """Ask for the language of SOUL.md, last, so that scripts that answer only the settings still
    work; "" for none.
    """
    try:
        return _ask(
            "Language of SOUL.md, which describes the bot (zh or en; empty keeps what is there)"
        ).lower()
    except typer.Abort:  # the end of the input
        return ""


def _ask(question: str, *, secret: bool = False) -> str:
    hidden = secret and sys.stdin.isatty()
    answer: str = typer.prompt(
        question, default="", hide_input=hidden, show_default=False, err=True
    )
    return answer.strip()
