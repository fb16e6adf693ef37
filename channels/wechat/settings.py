"""Settings of a personal WeChat account."""

from pydantic import Field

from channels.toolkit.settings import ChannelSettings, Url

SERVER = "https://ilinkai.weixin.qq.com"


class WechatSettings(ChannelSettings):
    """A personal WeChat account, logged in by QR code."""

    endpoint = ("base_url", SERVER)
    enabled: bool = Field(False, description="On shows a QR code.")
    base_url: Url = Field("", description="API endpoint; empty means the platform's own.")
    cdn_url: Url = Field("", description="Where files are; empty means the platform's own.")
