"""What a test may make go wrong between the Feishu emulator and its client."""

import random
import re
from dataclasses import dataclass, field
from typing import Any, Literal

Action = Literal[
    "delay",
    "status",
    "refuse",
    "too_many",
    "html_502",
    "close_before_reply",
    "accept_then_drop",
    "half_open",
    "truncate",
    "drip",
]
AFTER = ("accept_then_drop", "truncate", "drip")  # these let the call have its effect; the others come before it


@dataclass(slots=True, kw_only=True)
class Fault:
    """A rule: which calls (verb, pattern in the path, nth match, how often, how probably) and what happens to them.

    code, text: of a refusal; http: its status, and that of a too_many. seconds: of a delay, of a rate limit, or between
    two bytes of a drip; size: bytes that a truncated answer keeps; body: of a status.
    """

    action: Action
    verb: str = ""
    path: str = ""
    chat: str = ""
    nth: int = 0
    times: int = 0
    probability: float = 1.0
    seed: int = 0
    seconds: float = 0.0
    code: int = 0
    text: str = ""
    http: int = 400
    body: str = ""
    size: int = 0
    seen: int = 0
    used: int = 0
    chance: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self.chance.seed(self.seed)

    def strikes(self, verb: str, path: str, body: Any) -> bool:
        """Whether this call is hit; counts it."""
        if (self.verb and self.verb != verb) or not re.search(self.path, path):
            return False
        if self.chat and not (isinstance(body, dict) and body.get("receive_id") == self.chat):
            return False
        self.seen += 1
        if (self.nth and self.seen != self.nth) or (self.times and self.used >= self.times):
            return False
        if self.chance.random() >= self.probability:
            return False
        self.used += 1
        return True
