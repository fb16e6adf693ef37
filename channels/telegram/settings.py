"""Settings of the Telegram channel."""

import re
from typing import Literal

from pydantic import Field

from channels.toolkit.settings import CredentialChannelSettings, Secret, Url

SERVER = "https://api.telegram.org"

MIN_SECRET = 32
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")


class TelegramSettings(CredentialChannelSettings):
    """A Telegram bot."""

    needed = ("token",)
    endpoint = ("base_url", SERVER)
    token: Secret = Field(
        "",
        title="Bot token",
        description="From BotFather; the channel starts once there is one.",
        examples=["${TELEGRAM_TOKEN}"],
    )
    base_url: Url = Field(
        "",
        title="API endpoint",
        description="Bot API endpoint; empty means Telegram's own.",
        examples=["http://127.0.0.1:8081"],
    )
    mode: Literal["polling", "webhook"] = Field(
        "polling",
        title="How messages arrive",
        description="polling: the bot asks for messages; webhook: pushed by the platform.",
    )
    webhook_secret: Secret = Field(
        "",
        title="Webhook secret",
        description="Checked on every webhook call; at least 32 characters.",
        examples=["${TELEGRAM_WEBHOOK_SECRET}"],
    )
    webhook_url: Url = Field(
        "",
        title="Webhook address",
        description="Public https address of this program, registered at the start.",
        examples=["https://bot.example.org/telegram"],
    )
    reactions: bool = Field(
        False, title="Reactions", description="Mark received messages with an emoji."
    )

    def check_webhook(self) -> None:
        """Raise ValueError if the secret of webhook mode can be guessed, or is not accepted by
        Telegram.
        """
        if self.mode != "webhook":
            return
        if len(self.webhook_secret) < MIN_SECRET:
            raise ValueError(
                f"webhook_secret has {len(self.webhook_secret)} characters; mode webhook needs "
                f"{MIN_SECRET} or more, random ones"
            )
        if not _SECRET.fullmatch(self.webhook_secret):
            raise ValueError("webhook_secret may hold A-Z, a-z, 0-9, _ and -, at most 256 of them")
