"""The page's public address behind a proxy with TLS, and whose word about a client's address counts."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from channels.web.requests import Headers, header_values

IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
HTTPS = 443
_URL = re.compile(r"https://([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:]{2,39}\])(?::([0-9]{1,5}))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicOrigin:
    """Where browsers find the page from elsewhere."""

    #: As a browser writes it into Host: lower case, with a port that is not 443.
    host: bytes

    @property
    def origin(self) -> bytes:
        """As a browser writes it into Origin."""
        return b"https://" + self.host


def parse_public_url(url: str) -> PublicOrigin:
    """The address in a URL of scheme, host and port alone.

    Raises:
        ValueError: it has another scheme, a user, a path or whatever else.
    """
    found = _URL.fullmatch(url.lower())
    if found is None or not 0 < (port := int(found[2] or HTTPS)) < 65_536:
        raise ValueError("not an https address of host and port alone")
    return PublicOrigin(host=(found[1] if port == HTTPS else f"{found[1]}:{port}").encode())


def parse_networks(texts: Iterable[str]) -> tuple[IpNetwork, ...]:
    """IP addresses and CIDR ranges.

    Raises:
        ValueError: one of them is neither.
    """
    return tuple(ipaddress.ip_network(text) for text in texts)


def client_address(peer: str, headers: Headers, proxies: Sequence[IpNetwork]) -> str:
    """The address that a request came from, for rate limits and logs alone: anybody may write such a header.

    X-Forwarded-For counts only when the peer is a listed proxy, and of it the right-most hop that is not one.
    """
    address = _parse_address(peer)
    if address is None or not _is_listed(address, proxies):
        return peer
    hops = b",".join(header_values(headers, b"x-forwarded-for")).decode("latin-1").split(",")
    for hop in reversed(hops):
        before = _parse_address(hop.strip())
        if before is None:
            break
        address = before
        if not _is_listed(address, proxies):
            break
    return str(address)


def _is_listed(address: IpAddress, proxies: Sequence[IpNetwork]) -> bool:
    return any(address in network for network in proxies)


def _parse_address(text: str) -> IpAddress | None:
    """An address, also with a port, as some proxies write it."""
    if found := re.fullmatch(r"\[([^\]]*)\](?::\d+)?|([\d.]+):\d+", text):
        text = found[1] or found[2]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
