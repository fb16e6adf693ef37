"""`mnema config`: read, change and check config.json."""

import json
from typing import Annotated

import typer

from bot.cli.common import print_json

app = typer.Typer(help="Read, change and check config.json.", no_args_is_help=True)


@app.command("get")
def get(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(help="Key, such as llm.model [default: all].")] = "",
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
    key: Annotated[str, typer.Argument(help="Key, such as llm.model.")],
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
