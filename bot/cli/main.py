"""The command line `mnema`: its commands, and errors as one sentence and an exit code."""

import asyncio
import gc
import importlib
import os
import sys
import traceback
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_group

from bot.cli.common import JsonOption, format_error, print_json
from bot.config.home import OTHERS_MODE, HomeFolder, close_folders, resolve_home
from bot.errors import ConfigError
from bot.runtime.store_access import resume_restore
from channels.toolkit.deferred_dataclasses import defer_dataclasses
from channels.toolkit.partial_import import import_part
from memory import failpoints

EXIT_DONE, EXIT_FAILED, EXIT_CONFIG, EXIT_INTERRUPTED = 0, 1, 3, 130
STDOUT_DESCRIPTOR = 1
PROCESS_ROLES = ("all", "gateway", "worker")


# Commands in the order of --help, with the module that has them; "" for those of this one.
COMMANDS = {
    "init": "bot.cli.config:init",
    "chat": "",
    "run": "",
    "doctor": "",
    "config": "bot.cli.config:app",
    "channels": "bot.cli.connections.channels:app",
    "sessions": "bot.cli.sessions:app",
    "memory": "bot.cli.memory:app",
    "pair": "bot.cli.people:pair_app",
    "owner": "bot.cli.people:owner_app",
    "people": "bot.cli.people:people_app",
    "mcp": "bot.cli.connections.mcp:app",
    "audit": "bot.cli.database:app",
    "skills": "bot.cli.skills:app",
    "exec": "bot.cli.doctor.sandbox:app",
    "tools": "bot.cli.connections.plugins:app",
    "replay": "bot.cli.sessions:replay",
    "backup": "bot.cli.database:backup",
    "restore": "bot.cli.database:restore",
    "migrate": "bot.cli.database:migrate",
}


class LazyGroup(TyperGroup):
    """The commands of `mnema`; a module of commands is imported when one of them is named, or for --help."""

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


def main(argv: list[str] | None = None) -> int:
    """Run one command line, given without the program's name; returns the exit code."""
    args = sys.argv[1:] if argv is None else argv
    os.umask(OTHERS_MODE)
    try:
        if not failpoints.arm(dict(os.environ)):
            print("mnema: MNEMA_FP is set without MNEMA_TEST=1 and does nothing.", file=sys.stderr)
        code = app(args, standalone_mode=False, prog_name="mnema")
        sys.stdout.flush()
        return code if isinstance(code, int) else EXIT_DONE
    except (BrokenPipeError, SystemExit):  # typer converts the former to the latter
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT_DESCRIPTOR)
        return EXIT_DONE
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except Exception as err:
        return _exit_code(err, debug="--debug" in args)


def _exit_code(err: Exception, *, debug: bool) -> int:
    """Print an error on stderr; returns its exit code."""
    if debug and not isinstance(err, TyperException):
        traceback.print_exception(err)
    if isinstance(err, TyperException):
        text = err.format_message() or str(err)
        print(text if "\n" in text else f"mnema: {text} See mnema --help.", file=sys.stderr)
        return err.exit_code
    print(f"mnema: {format_error(err)}", file=sys.stderr)
    return EXIT_CONFIG if isinstance(err, ConfigError) else EXIT_FAILED


def _version(given: bool) -> None:
    if given:
        from importlib import metadata

        print(f"mnema {metadata.version('mnema')}")
        raise typer.Exit(EXIT_DONE)


@app.callback()
def _options(
    ctx: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option("--home", help="The bot's folder [default: this one if it has a config.json, else ~/.mnema]."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    ctx.obj = resolve_home(home)  # a HomeFolder, for all commands
    resume_restore(ctx.obj.root)


def _import_alone(package: str, *optional: str) -> None:
    """Import a package as if other packages, which it uses if it can, were not installed."""
    hidden = [name for name in optional if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden, cast(Any, None)))  # Python's own mark of a module that cannot be imported
    try:
        importlib.import_module(package)
    finally:
        for name in hidden:
            del sys.modules[name]


def _import_uvicorn() -> None:
    """Import uvicorn's server without what its own command line needs."""
    packages = ("uvicorn",)
    config = import_part("uvicorn.config", packages)
    import_part("uvicorn.protocols.http.h11_impl", packages)
    import_part("uvicorn.lifespan.off", packages, {"uvicorn": partial(getattr, config)})


def _create_home(home: HomeFolder) -> HomeFolder:
    """Create the folders, live files and config.json that are missing."""
    from bot.config.file import ConfigFile

    home.ensure()
    close_folders(home)
    if ConfigFile(home.config).create():
        print(f"mnema: created {home.config} from the defaults.", file=sys.stderr)
    return home


@app.command()
def chat(
    ctx: typer.Context,
    conversation: Annotated[str, typer.Option("--conversation", help="Name of the conversation.")] = "main",
    once: Annotated[str | None, typer.Option("--once", help="Send this, print one reply and exit.")] = None,
) -> int:
    """Talk to the bot in this terminal."""
    home = _create_home(ctx.obj)
    from bot.cli import chat as terminal

    return terminal.chat(home, conversation, once)


@app.command()
def run(
    ctx: typer.Context,
    role: Annotated[str, typer.Option("--role", help="all, gateway or worker.")] = "all",
    metrics: Annotated[
        int | None, typer.Option("--metrics", min=0, max=65_535, help="A worker's own port for /metrics; 0: any.")
    ] = None,
) -> int:
    """Run every enabled channel, the page and the scheduler."""
    if role not in PROCESS_ROLES:
        raise typer.BadParameter(f"--role is {role!r}; it must be all, gateway or worker.")
    gc.disable()  # until the bot is ready: what is imported and built now stays
    defer_dataclasses("bot", "channels", "memory")
    home = _create_home(ctx.obj)
    _import_alone("structlog", "rich", "greenlet")
    _import_uvicorn()
    from bot.runtime import startup

    return startup.run(home, role, _attach_console, _attach_metrics, _restore, metrics=metrics)


def _attach_console(site: Any, bot: Any) -> None:
    from bot.console.site import attach_console  # imports the whole bot, so only after the port is open

    attach_console(site, bot)


def _restore(home: HomeFolder, file: Path, passphrase: str) -> None:
    from bot.cli.database import record_restore, restore_for_page  # only when somebody restores in the page

    try:
        restore_for_page(home, file, passphrase)
    except Exception as err:
        _exit_code(err, debug=True)
        record_restore(home, file, {"ok": False, "error": format_error(err)})


def _attach_metrics(site: Any, bot: Any) -> None:
    from bot.console.site import attach_metrics

    attach_metrics(site, bot)


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
    from bot.cli.doctor.texts import choose_language, title_of

    structlog.reset_defaults()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # problems are printed below
    lang = language or choose_language(ctx.obj)
    checks = asyncio.run(run_checks(ctx.obj, lang))
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": [{**asdict(check), "title": title_of(check.name, lang)} for check in checks]})
    else:
        for check in checks:
            print(f"{'ok  ' if check.ok else 'FAIL'} {title_of(check.name, lang)}: {check.message}")
            if check.hint:
                print(f"       {check.hint}")
    return EXIT_DONE if ok else EXIT_FAILED
