"""SIGKILL at random moments while Telegram tells many sends to wait: a send that waits is neither
lost nor repeated.
"""

import random
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.walk.channel_worlds import AGAIN, TelegramWorld
from tests.walk.test_kill_channels import SEED, walk

pytestmark = pytest.mark.kill
# Shares of messages that are told to wait a second, and three, where that is said in words alone;
# of all calls.
FLOODED, FLOODED_LONG, FLOODED_OTHERS = 0.3, 0.05, 0.05


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=by_night)])
async def test_whoever_writes_is_answered_while_many_sends_have_to_wait_and_the_process_is_killed(
    tmp_path: Path, kills: int
) -> None:
    world = FloodedWorld(SEED)
    await walk(tmp_path, world, kills)
    assert world.refused() > 0


class FloodedWorld(TelegramWorld):
    """Telegram that answers many sends with 429 and how long to wait, for all of the walk; nothing
    else goes wrong.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        floods = (
            ("sendMessage", FLOODED, 1, True),
            ("sendMessage", FLOODED_LONG, 3, False),
            ("", FLOODED_OTHERS, 1, True),
        )
        for number, (method, share, seconds, parameters) in enumerate(floods):
            rule = {
                "method": method,
                "probability": share,
                "seconds": seconds,
                "parameters": parameters,
            }
            self.emulator.fault("retry_after", seed=seed + number, **rule)

    def disturb(self, chance: random.Random) -> None:
        if chance.random() < AGAIN:
            self.emulator.world.repeat(max(self._texts), fresh=chance.random() < 0.5)

    def calm(self) -> None:
        """It stays as it is: whoever waits as long as was said comes through."""

    def refused(self) -> int:
        """Calls that were told to wait."""
        return sum(fault.used for fault in self.emulator.faults)
