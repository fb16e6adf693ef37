"""The program with a shutdown deadline of its own: `main(["HOME", "SECONDS"])`."""

import os
from collections.abc import Sequence
from pathlib import Path

from bot.cli.run import run
from bot.config.home import HomeFolder
from memory.failpoints import arm


def main(words: Sequence[str]) -> int:
    """Run a bot on this home; at its end it has so many seconds."""
    arm(dict(os.environ))
    home = HomeFolder(root=Path(words[0]))
    home.ensure()
    return run(home, "all", end_seconds=float(words[1]))
