"""Settings of the page and API."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from channels.toolkit.settings import ChannelSettings, ValueForm

IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
HTTPS = 443
_URL = re.compile(r"https://([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:]{2,39}\])(?::([0-9]{1,5}))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicOrigin:
    """The page's public address behind a proxy with TLS."""

    #: As a browser writes it into Host: lower case, with a port that is not 443.
    host: bytes

    @property
    def origin(self) -> bytes:
        """As a browser writes it into Origin."""
        return b"https://" + self.host


def parse_public_url(url: str) -> PublicOrigin:
    """Parse an https URL.

    Raises:
        ValueError: it is not just scheme, host and port.
    """
    found = _URL.fullmatch(url.lower())
    if found is None or not 0 < (port := int(found[2] or HTTPS)) < 65_536:
        raise ValueError("not an https address of host and port alone")
    return PublicOrigin(host=(found[1] if port == HTTPS else f"{found[1]}:{port}").encode())


def parse_networks(texts: Iterable[str]) -> tuple[IpNetwork, ...]:
    """Parse IP addresses and CIDR ranges.

    Raises:
        ValueError: one of them is neither.
    """
    return tuple(ipaddress.ip_network(text) for text in texts)


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
