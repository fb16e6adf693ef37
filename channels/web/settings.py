"""Settings of the page and API."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from channels.toolkit.settings import ChannelSettings, ValueForm
from channels.web.public_url import parse_networks, parse_public_url


def _check_public_url(url: str) -> str:
    if url:
        parse_public_url(url)
    return url


def _check_networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    parse_networks(texts)
    return texts


PublicUrl = Annotated[str, AfterValidator(_check_public_url), ValueForm("public_url")]
Networks = Annotated[tuple[str, ...], Field(strict=False), AfterValidator(_check_networks), ValueForm("networks")]


class WebSettings(ChannelSettings):
    """The page and API on this machine."""

    host: Literal["127.0.0.1", "::1"] = Field("127.0.0.1", description="Loopback only; a proxy with TLS goes in front.")
    port: int = Field(8642, ge=0, le=65_535, description="0 takes any free port.")
    public_url: PublicUrl = Field("", description="https address of the proxy with TLS in front, without a path.")
    trusted_proxies: Networks = Field(
        (), description="Addresses of proxies whose X-Forwarded-For tells clients apart at rate limits; nothing more."
    )
