"""The program with few file descriptors: `main([SOFT, HARD, command line])`."""

import resource
from collections.abc import Sequence

from bot.cli.main import main as run


def main(words: Sequence[str]) -> int:
    """Run the command line with these two limits."""
    soft, hard, *command_line = words
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(soft), int(hard)))
    return run(command_line)
