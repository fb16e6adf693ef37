"""The commands of `mnema`, by typer; a module of commands is imported when one of them is named."""

import asyncio
import importlib
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_group

from bot.cli.common import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    JsonOption,
    create_home,
    print_json,
)
from bot.config.home import HomeFolder, resolve_home
from bot.runtime.process_role import PROCESS_ROLES, ProcessRole
from bot.runtime.store_access import resume_restore
from channels.phrases import Phrase

MAX_PORT = 65_535
# Commands in the order of --help, with the module that has them; "" for those of this one.
COMMANDS = {
    "init": "bot.cli.settings.init:init",
    "chat": "",
    "run": "",
    "doctor": "",
    "config": "bot.cli.settings.config:app",
    "channels": "bot.cli.connections.channels:app",
    "sessions": "bot.cli.sessions:app",
    "memory": "bot.cli.memory:app",
    "pair": "bot.cli.people:pair_app",
    "owner": "bot.cli.people:owner_app",
    "people": "bot.cli.people:people_app",
    "mcp": "bot.cli.connections.mcp:app",
    "audit": "bot.cli.database:app",
    "skills": "bot.cli.connections.skills:app",
    "exec": "bot.cli.doctor.sandbox:app",
    "tools": "bot.cli.connections.plugins:app",
    "replay": "bot.cli.sessions:replay",
    "backup": "bot.cli.database:backup",
    "restore": "bot.cli.database:restore",
    "migrate": "bot.cli.database:migrate",
    "login": "bot.cli.program.login:login",
    "extras": "bot.cli.program.installation:extras_app",
    "upgrade": "bot.cli.program.installation:upgrade",
}


class LazyGroup(TyperGroup):
    """The commands of `mnema`; a module of commands is imported when one of them is named, or for
    --help.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of --help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None if there is none with this name."""
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            module, _, attribute = COMMANDS[cmd_name].partition(":")
            found = getattr(importlib.import_module(module), attribute)
            parent = typer.Typer(add_completion=False, rich_markup_mode=None)
            if isinstance(found, typer.Typer):
                parent.add_typer(found, name=cmd_name)
            else:
                parent.command(cmd_name)(found)
            self.add_command(get_group(parent).commands[cmd_name])
        return super().get_command(ctx, cmd_name)


app = typer.Typer(
    name="mnema",
    help="A chat bot for your own platforms that does not forget.",
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def run_command(args: list[str]) -> int:
    """Run one command line, given without the program's name; returns the exit code."""
    try:
        code = app(args, standalone_mode=False, prog_name="mnema")
    except typer.Abort:
        return EXIT_INTERRUPTED
    except TyperException as err:
        text = err.format_message() or str(err)
        print(text if "\n" in text else f"mnema: {text} See mnema --help.", file=sys.stderr)
        return err.exit_code
    return code if isinstance(code, int) else EXIT_DONE


def _version(given: bool) -> None:
    if given:
        from bot.cli.program.installation import describe_version

        print(describe_version())
        raise typer.Exit(EXIT_DONE)


@app.callback()
def _options(
    ctx: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(
            "--home",
            help="The bot's folder [default: this one if it has a config.json, else ~/.mnema].",
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_version
        ),
    ] = False,
) -> None:
    ctx.obj = resolve_home(home)  # a HomeFolder, for all commands
    resume_restore(ctx.obj.root)


@app.command()
def chat(
    ctx: typer.Context,
    conversation: Annotated[
        str, typer.Option("--conversation", help="Name of the conversation.")
    ] = "main",
    once: Annotated[
        str | None, typer.Option("--once", help="Send this, print one reply and exit.")
    ] = None,
) -> int:
    """Talk to the bot in this terminal."""
    _confirm_new_home(ctx)
    home = create_home(ctx.obj)
    from bot.cli import chat as terminal

    return terminal.chat(home, conversation, once)


def _confirm_new_home(ctx: typer.Context) -> None:
    """Ask a person before a home is made at a path that they typed: it may hold a slip of the
    keyboard.
    """
    home: HomeFolder = ctx.obj
    is_typed = ctx.parent is not None and ctx.parent.params.get("home") is not None
    if is_typed and not home.config.exists() and sys.stdin.isatty():
        from bot.texts import show_before_messages

        question = Phrase("There is no bot in {home} yet. Create one?", home=home.root)
        typer.confirm(show_before_messages(question), abort=True)


@app.command()
def run(
    ctx: typer.Context,
    role: Annotated[str, typer.Option("--role", help="all, gateway or worker.")] = "all",
    metrics: Annotated[
        int | None,
        typer.Option(
            "--metrics", min=0, max=MAX_PORT, help="A worker's own port for /metrics; 0: any."
        ),
    ] = None,
    opens_browser: Annotated[
        bool,
        typer.Option(
            "--open", help="Open the page in a browser, signed in by a link that works once."
        ),
    ] = False,
) -> int:
    """Run every enabled channel, the page and the scheduler."""
    known_role = _parse_role(role)
    home = create_home(ctx.obj)
    from bot.cli import run as process  # imports the server, the log and the settings

    return process.run(home, known_role, metrics, opens_browser=opens_browser)


def _parse_role(given: str) -> ProcessRole:
    for role in PROCESS_ROLES:
        if role == given:
            return role
    raise typer.BadParameter(f"--role is {given!r}; it must be all, gateway or worker.")


@app.command()
def doctor(
    ctx: typer.Context,
    as_json: JsonOption = False,
    language: Annotated[
        str, typer.Option("--language", help="zh or en [default: as config.json and the terminal].")
    ] = "",
) -> int:
    """Check configuration, database, model, channels and this machine."""
    import structlog

    from bot.cli.doctor.report import run_checks
    from bot.cli.doctor.texts import choose_language

    # Problems are printed below.
    structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
    lang = language or choose_language(ctx.obj)
    checks = asyncio.run(run_checks(ctx.obj, lang))
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            print(f"{'ok  ' if check.ok else 'FAIL'} {check.title}: {check.message}")
            if check.hint:
                print(f"       {check.hint}")
    return EXIT_DONE if ok else EXIT_FAILED
