"""Settings of a WeChat official account."""

from pydantic import Field

from channels.toolkit.settings import CredentialChannelSettings, Secret, Url

SERVER = "https://api.weixin.qq.com"


class WechatMpSettings(CredentialChannelSettings):
    """A WeChat official account."""

    needed = ("app_id", "app_secret", "token")
    endpoint = ("base_url", SERVER)
    app_id: str = Field(
        "", description="The account's id; the channel starts once id, secret and token are given."
    )
    app_secret: Secret = Field("", description="The account's secret.")
    token: Secret = Field("", description="Signs the platform's calls.")
    encoding_aes_key: Secret = Field(
        "", description="For safe mode, 43 signs; without it nobody is more than a guest."
    )
    base_url: Url = Field("", description="API endpoint; empty means the platform's own.")
