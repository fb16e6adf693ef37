"""`mnema config`: read, change and check config.json from the command line."""

import json
import sys
from typing import Annotated

import typer

from bot.cli.options import YesOption

app = typer.Typer(help="Read, change and check config.json.", no_args_is_help=True)


@app.command("get")
def get(ctx: typer.Context, key: Annotated[str, typer.Argument(help="Such as llm.model; all without it.")] = "") -> int:
    """Show a setting, or all of them; secrets are masked."""
    from bot.config.file import ConfigFile

    file = ConfigFile(ctx.obj.home.config)
    file.load()
    _print_trouble(file.trouble)
    value = file.get(key)
    print(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2))
    return 0


@app.command("set", context_settings={"ignore_unknown_options": True})
def change(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(help="Such as llm.model.")],
    value: Annotated[str, typer.Argument(help="A JSON value, or bare words for a text.")],
) -> int:
    """Change one setting; a running bot takes it over within two seconds."""
    from bot.config.file import ConfigFile

    home = ctx.obj.home
    home.root.mkdir(parents=True, exist_ok=True)
    file = ConfigFile(home.config)
    file.set(key, value)
    print(f"{key} = {json.dumps(file.get(key), ensure_ascii=False)}")
    return 0


@app.command("check")
def check(ctx: typer.Context) -> int:
    """Say whether config.json is right, or what in it is not and where."""
    from bot.config.file import ConfigFile
    from bot.errors import ConfigError
    from bot.gateway.channel_manager import build_channels

    path = ctx.obj.home.config
    file = ConfigFile(path)
    file.check()
    if troubles := build_channels(file).troubles:
        raise ConfigError("; ".join(troubles.values()))
    print(f"{path} is right." if path.exists() else f"There is no {path}; every setting has its default.")
    return 0


@app.command("schema")
def schema() -> int:
    """Print the JSON Schema of config.json."""
    from bot.config.schema import Config

    print(json.dumps(Config.model_json_schema(), ensure_ascii=False, indent=2))
    return 0


@app.command("example")
def example() -> int:
    """Print every key with its default."""
    from bot.config.loader import format_example

    print(format_example(), end="")
    return 0


def _print_trouble(trouble: Exception | None) -> None:
    if trouble:
        typer.echo(f"mnema: {trouble} What follows is the last good one.", err=True)


# `mnema init`: a home made by a few questions.

_PROVIDERS = ("anthropic", "openai", "offline")


def init(
    ctx: typer.Context,
    yes: YesOption = False,
) -> int:
    """Make the folder with its config.json and workspace; what is there already stays."""
    from bot.config.file import ConfigFile
    from bot.config.home import close_entries

    home = ctx.obj.home
    home.ensure()
    file = ConfigFile(home.config)
    made = file.create()
    file.load()
    close_entries(home)
    if not yes:
        for key, value in _ask_all():
            file.set(key, value)
    print(f"{'Made' if made else 'Kept'} {home.config}.")
    print(f"Talk to the bot with: mnema --home {home.root} chat")
    return 0


def _ask_all() -> list[tuple[str, str]]:
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
