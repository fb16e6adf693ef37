"""What a Telegram bot is set up with."""

import re
from dataclasses import dataclass
from typing import Literal

MIN_SECRET = 32
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings:
    """Raises: ValueError: mode webhook without a secret that Telegram takes and nobody guesses."""

    token: str
    #: Root of the API server, "" for Telegram's own.
    base_url: str = ""
    mode: Literal["polling", "webhook"] = "polling"
    webhook_secret: str = ""
    #: Our public https address.
    webhook_url: str = ""
    #: Mark what is being worked on with an emoji.
    reactions: bool = False
    #: Its URL.
    proxy: str = ""

    def __post_init__(self) -> None:
        if self.mode != "webhook":
            return
        if len(self.webhook_secret) < MIN_SECRET:
            raise ValueError(
                f"webhook_secret has {len(self.webhook_secret)} signs; mode webhook needs {MIN_SECRET} or more, "
                "random ones"
            )
        if not _SECRET.fullmatch(self.webhook_secret):
            raise ValueError("webhook_secret may hold A-Z, a-z, 0-9, _ and -, at most 256 of them")
