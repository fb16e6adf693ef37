"""What a test may make go wrong between the Telegram emulator and its client."""

import random
from dataclasses import dataclass, field
from typing import Literal

Action = Literal[
    "delay",
    "status",
    "html_502",
    "retry_after",
    "close_before_reply",
    "accept_then_drop",
    "half_open",
    "truncate",
    "drip",
]
AFTER = ("accept_then_drop", "truncate", "drip")  # these let the call have its effect; the others come before it


@dataclass(slots=True, kw_only=True)
class Fault:
    """A rule: which calls (method, chat, the nth match, how often, how probably) and what happens to them.

    seconds: of the delay, the retry_after, or between two bytes of a drip; size: bytes that a truncated answer keeps.
    parameters: whether a 429 carries its seconds as a field and header, or only in its words.
    """

    action: Action
    method: str = ""
    chat: str = ""
    nth: int = 0
    times: int = 0
    probability: float = 1.0
    seed: int = 0
    seconds: float = 0.0
    code: int = 500
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    size: int = 0
    parameters: bool = True
    seen: int = 0
    used: int = 0
    chance: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self.chance.seed(self.seed)

    def strikes(self, method: str, chat: str) -> bool:
        """Whether this call is hit; counts it."""
        if self.method and self.method.lower() != method.lower():
            return False
        if self.chat and self.chat != chat:
            return False
        self.seen += 1
        if (self.nth and self.seen != self.nth) or (self.times and self.used >= self.times):
            return False
        if self.chance.random() >= self.probability:
            return False
        self.used += 1
        return True
