"""Settings of the Feishu channel."""

from typing import Annotated, Literal

from pydantic import Field

from channels.toolkit.settings import CredentialChannelSettings, PhraseContext, Secret, Url

SERVER = "https://open.feishu.cn"


class FeishuSettings(CredentialChannelSettings):
    """A Feishu or Lark app."""

    needed = ("app_id", "app_secret")
    endpoint = ("domain", SERVER)
    app_id: str = Field(
        "",
        title="App id",
        description="The app's id; the channel starts once id and secret are given.",
        examples=["cli_a1b2c3"],
    )
    app_secret: Secret = Field(
        "", title="App secret", description="The app's secret.", examples=["${FEISHU_SECRET}"]
    )
    domain: Url = Field(
        "",
        title="API endpoint",
        description="API endpoint; empty means Feishu's own.",
        examples=["https://open.larksuite.com"],
    )
    mode: Annotated[Literal["socket", "webhook"], PhraseContext("Feishu")] = Field(
        "socket",
        title="How messages arrive",
        description="socket: a long connection; webhook: pushed by the platform.",
    )
    encrypt_key: Annotated[Secret, PhraseContext("to decrypt")] = Field(
        "",
        title="Encrypt key",
        description="Decrypts pushed messages in webhook mode.",
        examples=["${FEISHU_ENCRYPT_KEY}"],
    )
    verification_token: Secret = Field(
        "",
        title="Verification token",
        description="Verifies pushed messages in webhook mode.",
        examples=["${FEISHU_TOKEN}"],
    )
