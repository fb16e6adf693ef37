"""What config.json may say of each channel."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from bot.config.forms import Networks, PublicUrl, Secret, SecretUrl, Section, SocketUrl, Texts, Url


class ChannelSettings(Section):
    """What every channel takes."""

    enabled: bool = Field(True, description="Off keeps the settings and starts nothing.")
    owners: Texts = Field((), description="User ids with all rights.")
    allow: Texts = Field((), description="User ids and group ids that may talk to the bot; empty means nobody.")
    pairing: bool = Field(True, description="A stranger who writes gets a code for you to approve; off: no answer.")
    proxy: SecretUrl = Field("", description="HTTP proxy of this channel; empty means none.")


class WithCredentials(ChannelSettings):
    """What a channel takes that is on once its credentials are there, unless `enabled` says otherwise."""

    #: Keys without which it cannot start.
    needed: ClassVar[tuple[str, ...]]
    enabled: bool = Field(
        False, description="Off keeps the settings and starts nothing; left out, credentials turn it on."
    )

    @model_validator(mode="before")
    @classmethod
    def _enable(cls, given: Any) -> Any:
        if isinstance(given, dict) and "enabled" not in given and all(given.get(key) for key in cls.needed):
            return {**given, "enabled": True}
        return given

    @property
    def complete(self) -> bool:
        """Whether its credentials are there."""
        return all(getattr(self, key) for key in self.needed)

    @property
    def on(self) -> bool:
        """Whether it is to be started."""
        return self.enabled and self.complete


class Web(ChannelSettings):
    """The page and API on this machine."""

    host: Literal["127.0.0.1", "::1"] = Field("127.0.0.1", description="Loopback only; a proxy with TLS goes in front.")
    port: int = Field(8642, ge=0, le=65_535, description="0 takes any free port.")
    public_url: PublicUrl = Field("", description="https address of the proxy with TLS in front, without a path.")
    trusted_proxies: Networks = Field(
        (), description="Addresses of proxies whose X-Forwarded-For tells clients apart at rate limits; nothing more."
    )

    @property
    def on(self) -> bool:
        """Whether it is to be started."""
        return self.enabled


class Telegram(WithCredentials):
    """A Telegram bot."""

    needed = ("token",)
    token: Secret = Field("", description="From BotFather; the channel starts once there is one.")
    base_url: Url = Field("", description="Bot API endpoint; empty means Telegram's own.")
    mode: Literal["polling", "webhook"] = Field("polling", description="How messages come in.")
    webhook_secret: Secret = Field("", description="Checked on every webhook call; at least 32 signs.")
    webhook_url: Url = Field("", description="Public https address of this program, told to Telegram at the start.")
    reactions: bool = Field(False, description="Mark what was received with an emoji.")


class Feishu(WithCredentials):
    """A Feishu or Lark app."""

    needed = ("app_id", "app_secret")
    app_id: str = Field("", description="The app's id; the channel starts once id and secret are given.")
    app_secret: Secret = Field("", description="The app's secret.")
    domain: Url = Field("", description="API endpoint; empty means Feishu's own.")
    mode: Literal["socket", "webhook"] = Field("socket", description="How messages come in.")
    encrypt_key: Secret = Field("", description="For webhook mode.")
    verification_token: Secret = Field("", description="For webhook mode.")


class Wechat(ChannelSettings):
    """A personal WeChat account, logged in by QR code."""

    enabled: bool = Field(False, description="On shows a QR code.")
    base_url: Url = Field("", description="API endpoint; empty means the platform's own.")
    cdn_url: Url = Field("", description="Where files are; empty means the platform's own.")

    @property
    def on(self) -> bool:
        """Whether it is to be started."""
        return self.enabled


class WechatMp(WithCredentials):
    """A WeChat official account."""

    needed = ("app_id", "app_secret", "token")
    app_id: str = Field("", description="The account's id; the channel starts once id, secret and token are given.")
    app_secret: Secret = Field("", description="The account's secret.")
    token: Secret = Field("", description="Signs the platform's calls.")
    encoding_aes_key: Secret = Field("", description="For safe mode, 43 signs; without it nobody is more than a guest.")
    base_url: Url = Field("", description="API endpoint; empty means the platform's own.")


class Wecom(WithCredentials):
    """A WeCom bot."""

    needed = ("bot_id", "secret")
    bot_id: str = Field("", description="The bot's id; the channel starts once id and secret are given.")
    secret: Secret = Field("", description="The bot's secret.")
    ws_url: SocketUrl = Field("", description="Socket endpoint; empty means the platform's own.")


class Channels(Section):
    """Every channel there is."""

    web: Web = Field(Web(), description="The page and API on this machine.")
    telegram: Telegram = Field(Telegram(), description="A Telegram bot.")
    feishu: Feishu = Field(Feishu(), description="A Feishu or Lark app.")
    wechat: Wechat = Field(Wechat(), description="A personal WeChat account.")
    wechat_mp: WechatMp = Field(WechatMp(), description="A WeChat official account.")
    wecom: Wecom = Field(Wecom(), description="A WeCom bot.")
