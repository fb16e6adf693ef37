"""`mnema config`: read, change and check config.json from the command line."""

import json
from typing import Annotated

import typer

app = typer.Typer(help="Read, change and check config.json.", no_args_is_help=True)


@app.command("get")
def get(ctx: typer.Context, key: Annotated[str, typer.Argument(help="Such as llm.model; all without it.")] = "") -> int:
    """Show a setting, or all of them; secrets are masked."""
    from bot.config import ConfigFile

    file = ConfigFile(ctx.obj.home.config)
    file.load()
    _warn(file.trouble)
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
    from bot.config import ConfigFile

    home = ctx.obj.home
    home.root.mkdir(parents=True, exist_ok=True)
    file = ConfigFile(home.config)
    file.set(key, value)
    print(f"{key} = {json.dumps(file.get(key), ensure_ascii=False)}")
    return 0


@app.command("check")
def check(ctx: typer.Context) -> int:
    """Say whether config.json is right, or what in it is not and where."""
    from bot.config import ConfigFile
    from bot.connecting import begun_in, channels_of
    from bot.errors import ConfigError

    path = ctx.obj.home.config
    file = ConfigFile(path)
    file.check()
    if troubles := channels_of(file.current, begun_in(file)).troubles:
        raise ConfigError("; ".join(troubles.values()))
    print(f"{path} is right." if path.exists() else f"There is no {path}; every setting has its default.")
    return 0


@app.command("schema")
def schema() -> int:
    """Print the JSON Schema of config.json."""
    from bot.config import Config

    print(json.dumps(Config.model_json_schema(), ensure_ascii=False, indent=2))
    return 0


@app.command("example")
def example() -> int:
    """Print every key with its default."""
    from bot.config import example

    print(example(), end="")
    return 0


def _warn(trouble: Exception | None) -> None:
    if trouble:
        typer.echo(f"mnema: {trouble} What follows is the last good one.", err=True)
