"""What goes wrong on both wires of a soak, seldom and by a seed."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.emulators.model_replies import Reply, extract_text, is_extract, refuse
from tests.emulators.telegram import TelegramEmulator
from tests.walk.speech import answer

# seconds until a server without a word hangs up: of one at home the bot bears ten minutes
SILENT = 120.0
# Refused three ways, broken before a byte, no byte at all, and three ends in the middle of an
# answer.
MODEL: dict[str, Callable[[Reply], Reply]] = {
    "429": lambda _: refuse(429, retry_after="2"),
    "529": lambda _: refuse(529),
    "500": lambda _: refuse(500),
    "reset": lambda _: Reply(then="reset"),
    "stall": lambda _: Reply(wait=SILENT, then="reset"),
    "cut": lambda told: Reply(text=told.text, then="cut", after=3),
    "gap": lambda told: Reply(text=told.text, then="stall", after=3),
    "error": lambda told: Reply(text=told.text, then="error", after=3),
}
# Actions of the emulator's faults: flooded, refused twice, broken before and after the effect, cut,
# no answer.
TELEGRAM: dict[str, dict[str, Any]] = {
    "retry_after": {"seconds": 2},
    "status": {"code": 500},
    "html_502": {},
    "close_before_reply": {},
    "accept_then_drop": {},
    "truncate": {"size": 10},
    "half_open": {},
}


class Moody:
    """A model that hesitates, and fails in a share of its answers. struck: how often which fault
    came.
    """

    def __init__(self, share: float, seed: int, longest: float) -> None:
        self.struck: Counter[str] = Counter()
        self._share, self._longest = share, longest
        self._chance = random.Random(seed)

    def __call__(self, body: dict[str, Any]) -> Reply:
        told = Reply(text=extract_text(body)) if is_extract(body) else answer(body)
        if self._chance.random() < self._share:
            name = self._chance.choice([*MODEL])
            self.struck[name] += 1
            return MODEL[name](told)
        wait = self._chance.uniform(0, self._longest)
        return Reply(text=told.text, calls=told.calls, delta=told.delta, wait=wait)


def disturb(telegram: TelegramEmulator, share: float, seed: int) -> None:
    """From now on this share of all calls to the platform goes wrong."""
    each = share / len(TELEGRAM)
    for number, (action, rule) in enumerate(TELEGRAM.items()):
        telegram.fault(action, probability=each, seed=seed + number, **rule)  # type: ignore[arg-type]


def struck(telegram: TelegramEmulator) -> Counter[str]:
    """How often which fault came on that wire."""
    return Counter({fault.action: fault.used for fault in telegram.faults})
