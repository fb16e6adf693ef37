"""Base classes and value types of channel settings."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


@dataclass(frozen=True, slots=True)
class ValueForm:
    """Names the form of a value; bot.config.messages describes each form."""

    name: str


class ConfigSection(BaseModel):
    """A group of settings: frozen, exact types, nothing unknown."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


def _url_validator(*schemes: str) -> AfterValidator:
    def check(url: str) -> str:
        parts = urlsplit(url)
        if url and (
            parts.scheme not in schemes or not parts.hostname or any(sign.isspace() for sign in url)
        ):
            raise ValueError("not an address")
        return url

    return AfterValidator(check)


Secret = Annotated[str, Field(repr=False), ValueForm("secret")]
Url = Annotated[str, _url_validator("http", "https"), ValueForm("url")]
SocketUrl = Annotated[str, _url_validator("ws", "wss"), ValueForm("socket_url")]
SecretUrl = Annotated[
    str, Field(repr=False), _url_validator("http", "https", "socks5"), ValueForm("secret_url")
]
Texts = Annotated[tuple[str, ...], Field(strict=False), ValueForm("texts")]


class ChannelSettings(ConfigSection):
    """Settings of every channel."""

    #: The channel's name for people in Chinese and in English, of a channel of another
    #: distribution.
    title: ClassVar[tuple[str, str]] = ("", "")
    #: Name of the setting that holds the platform's address, "" for none, and the address where
    #: that is empty.
    endpoint: ClassVar[tuple[str, str]] = ("", "")
    enabled: bool = Field(True, description="Off keeps the settings and starts nothing.")
    owners: Texts = Field((), description="User ids with all rights.")
    allow: Texts = Field(
        (), description="User ids and group ids that may talk to the bot; empty means nobody."
    )
    pairing: bool = Field(
        True, description="A stranger who writes gets a code for you to approve; off: no answer."
    )
    proxy: SecretUrl = Field("", description="HTTP proxy of this channel; empty means none.")

    @property
    def on(self) -> bool:
        """Whether to start the channel."""
        return self.enabled


class CredentialChannelSettings(ChannelSettings):
    """Settings of a channel that is on once its credentials are set, unless `enabled` says
    otherwise.
    """

    #: Fields without which it cannot start.
    needed: ClassVar[tuple[str, ...]]
    enabled: bool = Field(
        False,
        description="Off keeps the settings and starts nothing; left out, credentials turn it on.",
    )

    @model_validator(mode="before")
    @classmethod
    def _enable(cls, given: Any) -> Any:
        if (
            isinstance(given, dict)
            and "enabled" not in given
            and all(given.get(key) for key in cls.needed)
        ):
            return {**given, "enabled": True}
        return given

    @property
    def complete(self) -> bool:
        """Whether all its credentials are set."""
        return all(getattr(self, key) for key in self.needed)

    @property
    def on(self) -> bool:
        """Whether to start the channel."""
        return self.enabled and self.complete
