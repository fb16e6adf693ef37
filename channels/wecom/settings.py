"""What a WeCom smart bot is set up with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WecomSettings:
    """ws_url: where its socket is, "" for the platform's own. proxy: its URL."""

    bot_id: str
    secret: str
    ws_url: str = ""
    proxy: str = ""
