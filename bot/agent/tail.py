"""What travels with the running message and is in no prefix: what was recalled and remembered since, and the clock."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.agent.recalling import MOST_TOKENS, NOTHING, Block, Recalled, block
from memory.context.counter import Counter

SHARE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """Made once for a turn; what it shows is asked for with each request. clock: see `clock_note`.

    last: what the model is to read last of all, behind the newest results; with it no tool may be called.
    """

    clock: str
    recalled: Recalled = NOTHING
    last: str = ""

    def shown(self, system: Iterable[str], since: str, room: int, counter: Counter) -> Block:
        """The last text of the running message, and whether it is tainted; `last` is not in it.

        Args:
            system: what the request's prefix shows; what stands there is not recalled once more.
            since: what was remembered since that was taken, as `Prompt.since` tells it.
            room: tokens that the conversation may have; what is recalled gets at most a fifth of it.
        """
        most = min(MOST_TOKENS, room // SHARE)
        recalled = block(self.recalled, "\n".join((*system, since)), most, counter)
        return Block(text="\n".join(filter(None, (recalled.text, since, self.clock))), tainted=recalled.tainted)


def clock_note(now: datetime) -> str:
    """What time it is where the person is."""
    return f"[Now: {now:%Y-%m-%d %H:%M %A}, {now.tzname()}]"
