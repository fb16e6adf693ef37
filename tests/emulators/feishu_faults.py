"""What a test may make go wrong between the Feishu emulator and its client."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from tests.emulators.kit import FaultRule

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


@dataclass(slots=True, kw_only=True)
class Fault(FaultRule):
    """A fault of the calls with this verb, pattern in the path and receiving chat."""

    action: Action
    verb: str = ""
    path: str = ""
    chat: str = ""
    #: Of a refusal.
    code: int = 0
    text: str = ""
    #: Status of a refusal and of a too_many.
    http: int = 400
    #: Of a status.
    body: str = ""

    def strikes(self, verb: str, path: str, body: Any) -> bool:
        """Whether this call is hit; counts it."""
        if (self.verb and self.verb != verb) or not re.search(self.path, path):
            return False
        if self.chat and not (isinstance(body, dict) and body.get("receive_id") == self.chat):
            return False
        return self.due()
