"""Settings of a WeCom smart bot."""

from pydantic import Field

from channels.toolkit.settings import CredentialChannelSettings, Secret, SocketUrl

SERVER = "wss://openws.work.weixin.qq.com"


class WecomSettings(CredentialChannelSettings):
    """A WeCom bot."""

    needed = ("bot_id", "secret")
    endpoint = ("ws_url", SERVER)
    bot_id: str = Field(
        "",
        title="Bot id",
        description="The bot's id; the channel starts once id and secret are given.",
        examples=["bot-1234"],
    )
    secret: Secret = Field(
        "", title="Bot secret", description="The bot's secret.", examples=["${WECOM_SECRET}"]
    )
    ws_url: SocketUrl = Field(
        "",
        title="Socket endpoint",
        description="Socket endpoint; empty means the platform's own.",
        examples=["ws://127.0.0.1:8083"],
    )
