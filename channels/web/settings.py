"""Settings of the page and API."""

import ipaddress
import re
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from channels.toolkit.settings import ChannelSettings, ValueForm

IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
HTTPS = 443
_URL = re.compile(
    r"https://([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:]{2,39}\])(?::([0-9]{1,5}))?",
    re.ASCII,
)


def parse_public_host(url: str) -> str:
    """Parse an https URL; return its host as browsers send it: in lower case, with any port but
    443.

    Raises:
        ValueError: it is not just scheme, host and port.
    """
    found = _URL.fullmatch(url.lower())
    if found is None or not 0 < (port := int(found[2] or HTTPS)) < 65_536:
        raise ValueError("not an https address of host and port alone")
    return found[1] if port == HTTPS else f"{found[1]}:{port}"


def parse_networks(texts: Iterable[str]) -> tuple[IpNetwork, ...]:
    """Parse IP addresses and CIDR ranges.

    Raises:
        ValueError: one of them is neither.
    """
    return tuple(ipaddress.ip_network(text) for text in texts)


def _check_public_url(url: str) -> str:
    if url:
        parse_public_host(url)
    return url


def _check_networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    parse_networks(texts)
    return texts


PublicUrl = Annotated[str, AfterValidator(_check_public_url), ValueForm("public_url")]
Networks = Annotated[
    tuple[str, ...], Field(strict=False), AfterValidator(_check_networks), ValueForm("networks")
]


class WebSettings(ChannelSettings):
    """The page and API on this machine."""

    host: Literal["127.0.0.1", "::1"] = Field(
        "127.0.0.1",
        title="Listening address",
        description="Loopback only; a proxy with TLS goes in front.",
    )
    port: int = Field(
        8642,
        ge=0,
        le=65535,
        title="Port",
        description="Port of the page; 0 takes any free port. Takes effect at the next start.",
        examples=[8700],
    )
    public_url: PublicUrl = Field(
        "",
        title="Public address",
        description="https address of the proxy with TLS in front, without a path.",
        examples=["https://bot.example.org"],
    )
    push: bool = Field(
        False,
        title="Notifications",
        description=(
            "Let browsers that ask for it be notified of new messages by Web Push; needs "
            "public_url."
        ),
    )
    trusted_proxies: Networks = Field(
        (),
        title="Trusted proxies",
        description="Addresses of proxies whose X-Forwarded-For tells clients apart for rate "
        "limits, and for nothing else.",
        examples=[["127.0.0.1"]],
    )
