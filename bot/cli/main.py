"""The command line `mnema`: runs one command, and turns errors into one sentence and an exit
code.
"""

import os
import sys

from bot.cli.commands import run_command
from bot.cli.common import EXIT_DONE, EXIT_INTERRUPTED, report_error
from bot.config.home import OTHERS_MODE
from memory import failpoints

STDOUT_DESCRIPTOR = 1


def main(argv: list[str] | None = None) -> int:
    """Run one command line, given without the program's name; returns the exit code."""
    args = sys.argv[1:] if argv is None else argv
    os.umask(OTHERS_MODE)
    try:
        if not failpoints.arm(dict(os.environ)):
            print("mnema: MNEMA_FP is set without MNEMA_TEST=1 and does nothing.", file=sys.stderr)
        code = run_command(args)
        sys.stdout.flush()
        return code
    except (BrokenPipeError, SystemExit):  # typer converts the former to the latter
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT_DESCRIPTOR)
        return EXIT_DONE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as err:
        return report_error(err, debug="--debug" in args)
