"""Settings of a WeChat official account."""

from pydantic import Field

from channels.toolkit.settings import CredentialChannelSettings, Secret, Url

SERVER = "https://api.weixin.qq.com"


class WechatMpSettings(CredentialChannelSettings):
    """A WeChat official account."""

    needed = ("app_id", "app_secret", "token")
    endpoint = ("base_url", SERVER)
    app_id: str = Field(
        "",
        title="Account id",
        description="The account's id; the channel starts once id, secret and token are given.",
        examples=["wx1234567890"],
    )
    app_secret: Secret = Field(
        "",
        title="Account secret",
        description="The account's secret.",
        examples=["${WECHAT_MP_SECRET}"],
    )
    token: Secret = Field(
        "",
        title="Token",
        description="Signs the platform's calls.",
        examples=["${WECHAT_MP_TOKEN}"],
    )
    encoding_aes_key: Secret = Field(
        "",
        title="Message key",
        description="For safe mode, 43 characters; without it everyone is only a guest.",
        examples=["${WECHAT_MP_AES_KEY}"],
    )
    base_url: Url = Field(
        "",
        title="API endpoint",
        description="API endpoint; empty means the platform's own.",
        examples=["http://127.0.0.1:8081"],
    )
