"""`mnema run` without the library of the command line, and how a command that failed ends."""

import gc
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bot.config.home import HomeFolder, close_folders
from bot.errors import ConfigError, MnemaError
from memory.store.errors import StoreError

EXIT_DONE, EXIT_FAILED, EXIT_CONFIG, EXIT_INTERRUPTED = 0, 1, 3, 130
PROCESS_ROLES = ("all", "gateway", "worker")
MAX_PORT = 65_535
DEFAULT_ROLE = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The words of a command line that is nothing but `mnema run`."""

    #: As given with --home.
    home: Path | None = None
    debug: bool = False
    role: str = DEFAULT_ROLE
    #: Port of a worker's own metrics; 0 for any.
    metrics: int | None = None

    @classmethod
    def parse(cls, args: Sequence[str]) -> Self | None:
        """Return the options; None for what typer has to read: another command, --help, a mistake, another spelling."""
        values: dict[str, Any] = {}
        words = iter(args)
        for word in words:
            if word == "run":
                break
            if word == "--debug":
                values["debug"] = True
            elif word == "--home" and (given := next(words, "")):
                values["home"] = Path(given)
            else:
                return None
        else:
            return None
        for word in words:
            given = next(words, "")
            if word == "--role" and given in PROCESS_ROLES:
                values["role"] = given
            elif word == "--metrics" and given.isascii() and given.isdigit() and int(given) <= MAX_PORT:
                values["metrics"] = int(given)
            else:
                return None
        return cls(**values)


def run_bot(home: HomeFolder, role: str = DEFAULT_ROLE, metrics: int | None = None) -> int:
    """Run every enabled channel, the page and the scheduler; returns the exit code. Arguments as in RunOptions."""
    gc.disable()  # until the bot is ready: what is imported and built now stays
    create_home(home)
    from bot.runtime import startup

    return startup.run(home, role, _attach_console, _attach_metrics, _restore, metrics=metrics)


def report_error(err: Exception, *, debug: bool) -> int:
    """Print what a command ended with on stderr; returns its exit code."""
    if debug:
        traceback.print_exception(err)
    print(f"mnema: {_format_error(err)}", file=sys.stderr)
    return EXIT_CONFIG if isinstance(err, ConfigError) else EXIT_FAILED


def _format_error(err: Exception) -> str:
    """Return one sentence for what a command or a restore ended with."""
    if isinstance(err, OSError) and err.strerror:
        return f"{err.filename}: {err.strerror}." if err.filename else f"{err.strerror}."
    if isinstance(err, MnemaError | StoreError | OSError) and str(err):
        return str(err)
    return f"unexpected error ({type(err).__name__}: {err}); --debug shows where."


def create_home(home: HomeFolder) -> HomeFolder:
    """Create the folders, live files and config.json that are missing."""
    from bot.config.file import ConfigFile

    home.ensure()
    close_folders(home)
    if ConfigFile(home.config).create():
        print(f"mnema: created {home.config} from the defaults.", file=sys.stderr)
    return home


def _attach_console(site: Any, bot: Any) -> None:
    from bot.console.site import attach_console  # imports the whole bot, so only after the port is open

    attach_console(site, bot)


def _restore(home: HomeFolder, file: Path, passphrase: str) -> None:
    from bot.cli.database import record_restore, restore_for_page  # only when somebody restores in the page

    try:
        restore_for_page(home, file, passphrase)
    except Exception as err:
        report_error(err, debug=True)
        record_restore(home, file, {"ok": False, "error": _format_error(err)})


def _attach_metrics(site: Any, bot: Any) -> None:
    from bot.console.site import attach_metrics

    attach_metrics(site, bot)
