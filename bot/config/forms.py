"""The forms a setting's value may take: texts, lists, addresses and secrets, each with its check."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from channels.web.public import networks, public_address


@dataclass(frozen=True, slots=True)
class Form:
    """Names what a value must look like; the words for it are in bot.config.words."""

    name: str


class Section(BaseModel):
    """A group of settings: frozen, exact types, nothing unknown."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


def _address(*schemes: str) -> AfterValidator:
    def check(url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in schemes or not parts.hostname or any(sign.isspace() for sign in url)):
            raise ValueError("not an address")
        return url

    return AfterValidator(check)


def _public_url(url: str) -> str:
    if url:
        public_address(url)
    return url


def _networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    networks(texts)
    return texts


Secret = Annotated[str, Field(repr=False), Form("secret")]
Url = Annotated[str, _address("http", "https"), Form("url")]
SocketUrl = Annotated[str, _address("ws", "wss"), Form("socket_url")]
SecretUrl = Annotated[str, Field(repr=False), _address("http", "https", "socks5"), Form("secret_url")]
PublicUrl = Annotated[str, AfterValidator(_public_url), Form("public_url")]
Networks = Annotated[tuple[str, ...], Field(strict=False), AfterValidator(_networks), Form("networks")]
Texts = Annotated[tuple[str, ...], Field(strict=False), Form("texts")]
