"""Settings of a personal WeChat account."""

from pydantic import Field

from channels.toolkit.settings import ChannelSettings, Url

SERVER = "https://ilinkai.weixin.qq.com"


class WechatSettings(ChannelSettings):
    """A personal WeChat account, logged in by QR code."""

    endpoint = ("base_url", SERVER)
    enabled: bool = Field(False, title="Enabled", description="On shows a QR code.")
    base_url: Url = Field(
        "",
        title="API endpoint",
        description="API endpoint; empty means the platform's own.",
        examples=["http://127.0.0.1:8081"],
    )
    cdn_url: Url = Field(
        "",
        title="File endpoint",
        description="Where files are stored; empty means the platform's own.",
        examples=["http://127.0.0.1:8082"],
    )
