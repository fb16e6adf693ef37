"""Settings of the Feishu channel."""

from typing import Literal

from pydantic import Field

from channels.toolkit.settings import CredentialChannelSettings, Secret, Url

SERVER = "https://open.feishu.cn"


class FeishuSettings(CredentialChannelSettings):
    """A Feishu or Lark app."""

    needed = ("app_id", "app_secret")
    endpoint = ("domain", SERVER)
    app_id: str = Field(
        "", description="The app's id; the channel starts once id and secret are given."
    )
    app_secret: Secret = Field("", description="The app's secret.")
    domain: Url = Field("", description="API endpoint; empty means Feishu's own.")
    mode: Literal["socket", "webhook"] = Field("socket", description="How messages come in.")
    encrypt_key: Secret = Field("", description="For webhook mode.")
    verification_token: Secret = Field("", description="For webhook mode.")
