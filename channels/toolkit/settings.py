"""Base classes and value types of channel settings."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from channels.phrases import NO_PHRASE, Phrase


@dataclass(frozen=True, slots=True)
class ValueForm:
    """Names the form of a value; bot.config.messages describes each form."""

    name: str


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a number."""

    name: str


@dataclass(frozen=True, slots=True)
class TakesEffect:
    """From when on a change of a value is in force, or of all values of a section: where none is
    named, at once.
    """

    when: Literal["turn", "restart"]


@dataclass(frozen=True, slots=True)
class PhraseContext:
    """Tells a field's title and description apart from equal ones that differ in Chinese."""

    name: str


AT_NEXT_TURN, AT_RESTART = TakesEffect("turn"), TakesEffect("restart")


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

    #: The channel's name for people, of a channel of another distribution.
    title: ClassVar[Phrase] = NO_PHRASE
    #: Name of the setting that holds the platform's address, "" for none, and the address where
    #: that is empty.
    endpoint: ClassVar[tuple[str, str]] = ("", "")
    enabled: bool = Field(
        True, title="Enabled", description="Off keeps the settings and starts nothing."
    )
    owners: Texts = Field(
        (), title="Owners", description="User ids with all rights.", examples=[["123456789"]]
    )
    allow: Texts = Field(
        (),
        title="Allowed users and groups",
        description="User ids and group ids that may talk to the bot; empty means nobody.",
        examples=[["123456789"]],
    )
    pairing: bool = Field(
        True,
        title="Pairing",
        description="Strangers who write get a code for you to approve; off: no answer.",
    )
    proxy: SecretUrl = Field(
        "",
        title="Proxy of the channel",
        description="HTTP proxy of this channel; empty means none.",
        examples=["http://127.0.0.1:7890"],
    )

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
        title="Enabled",
        description="Off keeps the settings and starts nothing; if left out, credentials turn it "
        "on.",
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
