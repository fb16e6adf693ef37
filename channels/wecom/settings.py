"""Settings of a WeCom smart bot."""

from pydantic import Field

from channels.toolkit.settings import CredentialChannelSettings, Secret, SocketUrl

SERVER = "wss://openws.work.weixin.qq.com"


class WecomSettings(CredentialChannelSettings):
    """A WeCom bot."""

    needed = ("bot_id", "secret")
    endpoint = ("ws_url", SERVER)
    bot_id: str = Field(
        "", description="The bot's id; the channel starts once id and secret are given."
    )
    secret: Secret = Field("", description="The bot's secret.")
    ws_url: SocketUrl = Field("", description="Socket endpoint; empty means the platform's own.")
