"""Processes whose wall clock is wrong, while the others', the database's and all monotonic ones are
right.
"""

import os
from pathlib import Path

from tests.walk.harness import Bot, ColdBot
from tests.walk.processes import Several

HOUR = 3600
_HERE = Path(__file__).parent / "moved_clock"
_FILE = "MNEMA_TEST_CLOCK"
_WIDTH = 16


def moved(bots: Several, role: str, seconds: int, through: int = 0) -> Bot:
    """One more process, not yet started, whose clock is so far ahead, or behind."""
    bot = bots.process(role, through=through, kind=ColdBot)
    bot.extra |= {"PYTHONPATH": str(_HERE), _FILE: str(bots.home / f"clock-{len(bots.made)}")}
    set_clock(bot, seconds)
    return bot


def set_clock(bot: Bot, seconds: int) -> None:
    """From now on the clock of this process is so far ahead, or behind."""
    handle = os.open(bot.extra[_FILE], os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.pwrite(handle, f"{seconds:+{_WIDTH}d}".encode(), 0)
    finally:
        os.close(handle)
