"""The command line `mnema`: runs one command, and turns errors into one sentence and an exit code."""

import os
import sys

from bot.cli.run import EXIT_DONE, EXIT_INTERRUPTED, RunOptions, report_error, run_bot
from bot.config.home import OTHERS_MODE, resolve_home
from bot.runtime.store_access import resume_restore
from memory import failpoints

STDOUT_DESCRIPTOR = 1


def main(argv: list[str] | None = None) -> int:
    """Run one command line, given without the program's name; returns the exit code."""
    args = sys.argv[1:] if argv is None else argv
    os.umask(OTHERS_MODE)
    try:
        if not failpoints.arm(dict(os.environ)):
            print("mnema: MNEMA_FP is set without MNEMA_TEST=1 and does nothing.", file=sys.stderr)
        options = RunOptions.parse(args)
        code = _run_by_typer(args) if options is None else _run(options)
        sys.stdout.flush()
        return code
    except (BrokenPipeError, SystemExit):  # typer converts the former to the latter
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT_DESCRIPTOR)
        return EXIT_DONE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as err:
        return report_error(err, debug="--debug" in args)


def _run(options: RunOptions) -> int:
    home = resolve_home(options.home)
    resume_restore(home.root)
    return run_bot(home, options.role, options.metrics)


def _run_by_typer(args: list[str]) -> int:
    from bot.cli.commands import run_command  # a running bot would keep typer's 2 MB, and starts 50 ms sooner without

    return run_command(args)
